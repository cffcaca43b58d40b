//! Questions that agents and launchers ask people: what is known of one, and how its fate follows
//! from the facts of the run. It must not know how a person is reached.

use super::event::Event;
use super::state::Run;
use super::talk::Talk;
use crate::exit::Exit;
use crate::ids::{FeatureId, JobId, QuestionId};
use crate::time::WallMs;

/// The exit code of an agent that cannot go on without an answer: it waits for a person.
const NEEDS_A_PERSON: i32 = 12;

/// One question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The feature whose agent asks; `None` for a launcher's.
    pub feature: Option<FeatureId>,
    /// The job that asks.
    pub job: JobId,
    /// What it asks.
    pub text: String,
    /// The answers that it offers; none: it takes any.
    pub choices: Vec<String>,
    /// Whether its agent ends its turn and cannot go on without the answer.
    pub waits: bool,
    /// What an agent calls it that asks a permission by its protocol.
    pub request: Option<String>,
    /// When, on the wall clock.
    pub at: WallMs,
    /// What came of it.
    pub fate: Fate,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Nobody has answered yet.
    Open,
    /// Somebody has, once and for all.
    Answered(Answer),
    /// It needs no answer any more.
    Closed(Closing),
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The words.
    pub text: String,
    /// Which of the offered answers it is, from 1; `None` for words of their own.
    pub choice: Option<u32>,
    /// Who gave it.
    pub by: String,
    /// When, on the wall clock.
    pub at: WallMs,
}

/// Why a question needs no answer any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// The agent's work was taken without it.
    WentOn,
    /// A person had the feature tried again, or put back, without it.
    Restarted,
    /// The feature or the run has ended.
    Ended,
}

impl Question {
    /// Whether it waits for an answer.
    pub fn is_open(&self) -> bool {
        self.fate == Fate::Open
    }

    /// Its answer, where it has one.
    pub fn answer(&self) -> Option<&Answer> {
        match &self.fate {
            Fate::Answered(answer) => Some(answer),
            Fate::Open | Fate::Closed(_) => None,
        }
    }
}

impl Fate {
    /// Its word in documents.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered(_) => "answered",
            Self::Closed(_) => "closed",
        }
    }
}

impl Closing {
    /// Why, for a person.
    pub fn describe(self) -> &'static str {
        match self {
            Self::WentOn => "its agent went on without the answer",
            Self::Restarted => "its work was begun anew without the answer",
            Self::Ended => "what it was about has ended",
        }
    }
}

impl Exit {
    /// Whether an agent says by its code that it waits for a person.
    pub fn asks_for_a_person(&self) -> bool {
        self.code == Some(NEEDS_A_PERSON)
    }
}

impl Run {
    /// The open questions about a feature, oldest first.
    pub fn open_questions_of(&self, feature: &FeatureId) -> Vec<&QuestionId> {
        let open = self.questions.iter().filter(|(_, question)| question.is_open());
        open.filter(|(_, question)| question.feature.as_ref() == Some(feature))
            .map(|(id, _)| id)
            .collect()
    }

    /// Whether a job has ended its turn for an answer: it does not know that, whoever gave it by now.
    pub(super) fn waits_for_an_answer(&self, job: &JobId) -> bool {
        let closed = |one: &Question| matches!(one.fate, Fate::Closed(_));
        self.questions.values().any(|one| one.job == *job && one.waits && !closed(one))
    }

    /// Whether a job has asked anything.
    pub(super) fn has_asked(&self, job: &JobId) -> bool {
        self.questions.values().any(|question| question.job == *job)
    }

    /// The id of the next question.
    pub(super) fn next_question(&self) -> QuestionId {
        let number = self.questions.keys().next_back().map_or(0, QuestionId::number);
        QuestionId::new(self.id.clone(), number + 1)
    }

    /// How questions evolve by one fact: those about them, and those that settle what they are about.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other facts leave questions as they are, whatever they will be"
    )]
    pub(super) fn apply_to_questions(&mut self, event: &Event) {
        match event {
            Event::Talk(Talk::Asked { question, asked }) => {
                self.questions.insert(question.clone(), asked.clone());
            }
            Event::Talk(Talk::Withdrawn { question, .. }) => {
                if let Some(question) = self.questions.get_mut(question) {
                    question.fate = Fate::Closed(Closing::Ended);
                }
            }
            Event::JobFinished { job, .. } | Event::JobQuarantined { job, .. } => {
                // Whoever asked a permission by its protocol is gone.
                let of_it = |one: &Question| one.job == *job && one.request.is_some();
                self.close_all(of_it, Closing::Ended);
            }
            Event::Talk(Talk::Answered { question, answer, .. }) => {
                if let Some(question) = self.questions.get_mut(question) {
                    question.fate = Fate::Answered(answer.clone());
                }
            }
            Event::Committed { feature, .. }
            | Event::Checked { feature, .. }
            | Event::Planned { feature, .. }
            | Event::Reviewed { feature, .. } => self.close_of(feature, Closing::WentOn),
            Event::FeatureRetried { feature, .. } | Event::RollbackRequested { feature, .. } => {
                self.close_of(feature, Closing::Restarted);
            }
            Event::FeatureFailed { feature, .. }
            | Event::FeatureSkipped { feature, .. }
            | Event::FeatureCancelled { feature, .. }
            | Event::Landed { feature, .. } => self.close_of(feature, Closing::Ended),
            Event::Completed { .. } | Event::Failed { .. } | Event::Cancelled { .. } => {
                self.close_all(|_| true, Closing::Ended);
            }
            _ => {}
        }
    }

    fn close_of(&mut self, feature: &FeatureId, why: Closing) {
        self.close_all(|question| question.feature.as_ref() == Some(feature), why);
    }

    fn close_all(&mut self, of: impl Fn(&Question) -> bool, why: Closing) {
        for question in self.questions.values_mut() {
            if question.is_open() && of(question) {
                question.fate = Fate::Closed(why);
            }
        }
    }
}
