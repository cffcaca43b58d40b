//! What passes between agents and people, as documents: questions, messages, and who finds what in
//! their inbox.

use tidegate_core::ids::{FeatureId, JobId, QuestionId, RunId};
use tidegate_core::run::{Delivery, Fate, Message, Purpose, Question, Run, Way};
use tidegate_protocol::{
    AnswerDoc, AttentionDoc, ErrorCode, Fact, InboxDoc, InboxItem, MessageDoc, Problem, QuestionDoc,
};
use tidegate_store::{ListFilter, RunStatus};

use super::explain::fact;
use super::moment::stamp;
use super::viewer::Viewer;

/// Ended runs that `inbox --all` looks at, newest first.
const ENDED_RUNS_MAX: u32 = 100;

/// What of the inbox is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxQuery {
    /// Of this run only: its id or the beginning of it.
    pub run: Option<String>,
    /// What needs nobody any more, too.
    pub all: bool,
}

impl Viewer {
    /// What waits for people.
    ///
    /// # Errors
    /// As [`Viewer::resolve`] for a run; `corrupt`, `io`.
    pub fn inbox(&mut self, query: &InboxQuery) -> Result<InboxDoc, Problem> {
        let ids = match &query.run {
            Some(prefix) => vec![self.resolve(prefix)?],
            None => self.runs_with_an_inbox(query.all)?,
        };
        let mut inbox = empty(None);
        for id in &ids {
            let Ok((run, attention)) = self.run_and_attention(id.as_str()) else {
                // A corrupt run is told by `list`, and hides no other.
                continue;
            };
            let questions = run.questions.iter();
            let questions = questions.filter(|(_, one)| query.all || one.is_open());
            inbox.questions.extend(questions.map(|(id, one)| question_doc(id, one)));
            let messages = run.messages.iter();
            let messages = messages.filter(|(_, one)| query.all || waits(&run, one));
            inbox.messages.extend(messages.map(|(number, one)| message_doc(id, *number, one)));
            for item in attention.into_iter().filter(|item| !item.is_warning()) {
                match item.reason.as_str() {
                    // Told as the questions that they are.
                    "input" => {}
                    "review" | "silent_revert" => inbox.approvals.push(item_of(id, item)),
                    _ => inbox.blocks.push(item_of(id, item)),
                }
            }
        }
        inbox.questions.sort_by(|one, other| one.asked_at.cmp(&other.asked_at));
        Ok(inbox)
    }

    /// What a job finds: the messages to it, and its own questions with their answers.
    ///
    /// # Errors
    /// `not_found` when there is no such job; `corrupt`, `io`.
    pub fn inbox_of_job(&mut self, job: &JobId) -> Result<InboxDoc, Problem> {
        let (run, _) = self.run_and_attention(job.run().as_str())?;
        let missing = || Problem::not_found(format!("there is no job `{job}`"));
        let purpose = &run.jobs.get(job).ok_or_else(missing)?.purpose;
        let feature = match purpose {
            Purpose::Agent { feature, .. } => Some(feature.clone()),
            Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => None,
        };
        let mut inbox = empty(Some(job.to_string()));
        // A launcher's is what its run asks, whichever of its jobs does.
        let questions = run.questions.iter().filter(|(_, one)| one.feature == feature);
        inbox.questions.extend(questions.map(|(id, one)| question_doc(id, one)));
        let messages = run.messages.iter();
        let messages = messages
            .filter(|(_, one)| Some(&one.feature) == feature.as_ref() && !one.delivery.is_final());
        inbox.messages.extend(messages.map(|(number, one)| message_doc(job.run(), *number, one)));
        Ok(inbox)
    }

    /// The feature that a text names: `RUN/FEATURE`, or the id of a feature that only one run that
    /// has not ended has, else the newest run that has it.
    ///
    /// # Errors
    /// `not_found`, `ambiguous_id` with `details.candidates`; as [`Viewer::resolve`].
    pub fn feature_named(&mut self, text: &str) -> Result<(RunId, FeatureId), Problem> {
        let parse = |id: &str| {
            FeatureId::new(id).map_err(|error| Problem::invalid_input(error.to_string()))
        };
        if let Some((run, feature)) = text.split_once('/') {
            return Ok((self.resolve(run)?, parse(feature)?));
        }
        let feature = parse(text)?;
        let found = self.ask(|view| view.runs_with_feature(&feature))?.unwrap_or_default();
        let open: Vec<&RunId> =
            found.iter().filter(|(_, ended)| !ended).map(|(run, _)| run).collect();
        match (open.as_slice(), found.first()) {
            ([run], _) => Ok(((*run).clone(), feature)),
            ([], Some((run, _))) => Ok((run.clone(), feature)),
            ([], None) => Err(Problem::not_found(format!("no run has a feature `{feature}`"))
                .hint("`tidegate list` shows the runs")),
            (several, _) => {
                let names: Vec<String> =
                    several.iter().map(|run| format!("{run}/{feature}")).collect();
                let message =
                    format!("several runs that have not ended have a feature `{feature}`");
                Err(Problem::new(ErrorCode::AmbiguousId, message)
                    .hint(format!("one of {}", names.join(", ")))
                    .with("candidates", names))
            }
        }
    }

    /// One question.
    ///
    /// # Errors
    /// `not_found`; `corrupt`, `io`.
    pub fn question(&mut self, id: &QuestionId) -> Result<QuestionDoc, Problem> {
        let (run, _) = self.run_and_attention(id.run().as_str())?;
        let missing = || Problem::not_found(format!("there is no question `{id}`"));
        Ok(question_doc(id, run.questions.get(id).ok_or_else(missing)?))
    }

    fn runs_with_an_inbox(&mut self, all: bool) -> Result<Vec<RunId>, Problem> {
        let running = ListFilter {
            status: Some(RunStatus::Running),
            limit: u32::MAX - 1,
            ..ListFilter::default()
        };
        let newest = ListFilter { limit: ENDED_RUNS_MAX, ..ListFilter::default() };
        let found = self.ask(|view| {
            let mut rows = view.list(&running)?.runs;
            if all {
                rows.extend(view.list(&newest)?.runs);
            }
            Ok(rows)
        })?;
        let rows = found.unwrap_or_default().into_iter().flatten();
        let mut ids: Vec<RunId> = rows.map(|row| row.id).collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }
}

fn empty(job_id: Option<String>) -> InboxDoc {
    InboxDoc {
        job_id,
        questions: Vec::new(),
        approvals: Vec::new(),
        blocks: Vec::new(),
        messages: Vec::new(),
    }
}

/// Whether it is not known that an agent acted on a message, and one still may.
fn waits(run: &Run, message: &Message) -> bool {
    !message.delivery.is_final() && !run.status.is_terminal()
}

fn item_of(run: &RunId, item: AttentionDoc) -> InboxItem {
    InboxItem {
        run_id: run.to_string(),
        feature: item.feature,
        reason: item.reason,
        message: item.message,
        unblocks: item.unblocks,
        commit: item.commit,
    }
}

fn question_doc(id: &QuestionId, question: &Question) -> QuestionDoc {
    QuestionDoc {
        question_id: id.to_string(),
        run_id: id.run().to_string(),
        feature: question.feature.as_ref().map(ToString::to_string),
        job_id: question.job.to_string(),
        question: question.text.clone(),
        choices: question.choices.clone(),
        asked_at: stamp(question.at),
        state: question.fate.word().to_owned(),
        answer: question.answer().map(|answer| AnswerDoc {
            text: answer.text.clone(),
            choice: answer.choice,
            by: answer.by.clone(),
            at: stamp(answer.at),
        }),
        closed: match &question.fate {
            Fate::Closed(why) => Some(why.describe().to_owned()),
            Fate::Open | Fate::Answered(_) => None,
        },
    }
}

fn message_doc(run: &RunId, number: u32, message: &Message) -> MessageDoc {
    let way = match &message.delivery {
        Delivery::Written { way: Way::Task, .. } => Some("task"),
        Delivery::Written { way: Way::Terminal, .. } => Some("terminal"),
        Delivery::Written { way: Way::Conversation, .. } => Some("conversation"),
        Delivery::Queued
        | Delivery::Accepted { .. }
        | Delivery::Consumed { .. }
        | Delivery::Failed => None,
    };
    MessageDoc {
        message: number,
        run_id: run.to_string(),
        feature: message.feature.to_string(),
        text: message.text.clone(),
        by: message.by.clone(),
        at: stamp(message.at),
        delivery: message.delivery.word().to_owned(),
        way: way.map(str::to_owned),
        job_id: message.delivery.job().map(ToString::to_string),
    }
}

/// The open questions of a run, for those who look at it.
pub(super) fn of_questions(run: &Run, found: &mut Vec<AttentionDoc>) {
    if run.status.is_terminal() || run.status.cancel().is_some() {
        return;
    }
    for (id, question) in run.questions.iter().filter(|(_, question)| question.is_open()) {
        let who = match &question.feature {
            Some(feature) => format!("`{feature}`"),
            None => format!("job {}", question.job),
        };
        found.push(AttentionDoc {
            reason: "input".to_owned(),
            feature: question.feature.as_ref().map(ToString::to_string),
            job_id: Some(question.job.to_string()),
            message: format!("{who} asks: {}", first_line(&question.text)),
            unblocks: format!("tidegate answer {id} {}", how(question)),
            commit: None,
        });
    }
}

fn how(question: &Question) -> String {
    let offered = (1..).zip(&question.choices);
    let offered: Vec<String> = offered.map(|(n, text)| format!("{n}: {text}")).collect();
    if offered.is_empty() {
        "TEXT".to_owned()
    } else {
        format!("--choice NUMBER ({})", offered.join(", "))
    }
}

/// What a feature asks, in a line; for one that waits for it. `None` when nothing of it is open.
pub(super) fn asked_by(run: &Run, id: &FeatureId) -> Option<String> {
    let open = run.open_questions_of(id);
    let texts = open.iter().filter_map(|open| {
        let question = run.questions.get(open)?;
        Some(format!("an answer to {open}: {}", first_line(&question.text)))
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Questions and messages of a feature, as facts.
pub(super) fn people_facts(run: &Run, id: &FeatureId, found: &mut Vec<Fact>) {
    for (question, asked) in &run.questions {
        if asked.feature.as_ref() == Some(id) {
            let fate = match &asked.fate {
                Fate::Open => "nobody has answered yet".to_owned(),
                Fate::Answered(answer) => {
                    format!("{} answered: {}", answer.by, first_line(&answer.text))
                }
                Fate::Closed(why) => why.describe().to_owned(),
            };
            let text = format!("{question} asks: {} ({fate})", first_line(&asked.text));
            let at = Some(stamp(asked.at));
            found.push(Fact { at, ..fact("question", text) });
        }
    }
    for (number, message) in &run.messages {
        if message.feature == *id {
            let (text, by) = (first_line(&message.text), &message.by);
            let word = message.delivery.word();
            let text = format!("message {number} of {by} is {word}: {text}");
            let at = Some(stamp(message.at));
            found.push(Fact { at, ..fact("message", text) });
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
