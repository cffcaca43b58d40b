//! Asking and answering: who may ask, the one answer, and what waits for it.
//!
//! An agent that asks goes on. When it ends and its question is open, its feature waits without a
//! slot, and the answer starts the next attempt of the same iteration.

use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState, Tested, WorkStep};
use super::input::Rejected;
use super::question::{Answer, Fate, Question};
use super::state::{JobState, Purpose};
use super::step::Draft;
use super::talk::Talk;
use crate::exit::Exit;
use crate::ids::{FeatureId, JobId, QuestionId};
use crate::limits::QUESTIONS_OPEN_MAX;
use crate::plan::Role;

impl Draft {
    /// Records what was told.
    pub(super) fn say(&mut self, talk: Talk) {
        self.emit(Event::Talk(talk));
    }

    /// A job asks. Only agents and launchers do, while they run.
    pub(super) fn ask(
        &mut self,
        job: &JobId,
        (text, waits): (&str, bool),
        choices: &[String],
    ) -> Result<(), Rejected> {
        self.require_going_on()?;
        let asker = self.run.jobs.get(job).ok_or(Rejected::Unknown("job"))?;
        match &asker.state {
            JobState::Launching | JobState::Running(_) => {}
            JobState::Stopping { .. }
            | JobState::Finished { .. }
            | JobState::Quarantined { .. } => {
                return Err(Rejected::NotWhile("the job is ending".to_owned()));
            }
        }
        let feature = match &asker.purpose {
            Purpose::Agent { feature, .. } => Some(feature.clone()),
            Purpose::Launcher { .. } | Purpose::LauncherAgent { .. } => None,
            Purpose::Gate { .. } | Purpose::Hook { .. } => {
                return Err(Rejected::NotWhile("only agents and launchers ask".to_owned()));
            }
        };
        let open = self.run.questions.values().filter(|one| one.is_open() && one.job == *job);
        if open.count() >= QUESTIONS_OPEN_MAX {
            let why = format!("{QUESTIONS_OPEN_MAX} questions of the job are open");
            return Err(Rejected::NotWhile(why));
        }
        let put = Question {
            feature,
            job: job.clone(),
            text: text.to_owned(),
            choices: choices.to_vec(),
            waits,
            request: None,
            at: self.now.wall,
            fate: Fate::Open,
        };
        let question = self.run.next_question();
        self.say(Talk::Asked { question, asked: put });
        Ok(())
    }

    /// A person answers: the first one wins.
    pub(super) fn answer_question(
        &mut self,
        id: &QuestionId,
        text: &str,
        choice: Option<u32>,
        actor: &str,
    ) -> Result<(), Rejected> {
        let question = self.run.questions.get(id).ok_or(Rejected::Unknown("question"))?;
        match &question.fate {
            Fate::Open => {}
            Fate::Answered(_) => return Err(Rejected::Already("answered")),
            Fate::Closed(why) => return Err(Rejected::NotWhile(why.describe().to_owned())),
        }
        self.require_going_on()?;
        let offered = u32::try_from(question.choices.len()).unwrap_or(u32::MAX);
        if choice.is_some_and(|choice| choice == 0 || choice > offered) {
            return Err(Rejected::Unknown("choice"));
        }
        let feature = question.feature.clone();
        let (text, by) = (text.to_owned(), actor.to_owned());
        let answer = Answer { text, choice, by, at: self.now.wall };
        self.say(Talk::Answered { question: id.clone(), feature, answer });
        Ok(())
    }

    /// Has a feature wait for the answers to what its ended agent asked. False when there is nothing
    /// to wait for.
    pub(super) fn await_answer(&mut self, id: &FeatureId, job: &JobId, exit: &Exit) -> bool {
        let Some((_, feature)) = self.feature(id) else { return false };
        let Some(role) = feature.state.role() else { return false };
        let open = !self.run.open_questions_of(id).is_empty();
        // Its question may be answered by now: then the next attempt follows at once.
        let asked = exit.asks_for_a_person() && self.run.has_asked(job);
        if !open && !asked {
            return false;
        }
        self.emit(Event::Blocked { feature: id.clone(), block: Block::Input { role } });
        true
    }

    /// Has a feature wait whose agent ended its turn for an answer, whatever it left. False when it
    /// did not.
    pub(super) fn await_answer_to_turn(&mut self, id: &FeatureId, role: Role, job: &JobId) -> bool {
        let waits = self.run.waits_for_an_answer(job);
        if waits {
            self.emit(Event::Blocked { feature: id.clone(), block: Block::Input { role } });
        }
        waits
    }

    /// Has a feature wait whose agent ended well, asked something, and left nothing new.
    pub(super) fn await_answer_to_nothing(&mut self, id: &FeatureId) -> bool {
        if self.run.open_questions_of(id).is_empty() {
            return false;
        }
        let Some(role) = self.feature(id).and_then(|(_, feature)| feature.state.role()) else {
            return false;
        };
        self.emit(Event::Blocked { feature: id.clone(), block: Block::Input { role } });
        true
    }

    /// The fact that a feature has its answers.
    pub(super) fn answered(&self, id: &FeatureId) -> Option<Event> {
        let open = self.run.open_questions_of(id);
        open.is_empty().then(|| Event::Unblocked { feature: id.clone() })
    }
}

impl Feature {
    /// Whether an agent that left this has committed nothing of its own.
    pub(super) fn is_nothing_new(&self, left: &Tested) -> bool {
        let last = self.tested.as_ref().map(|tested| &tested.commit).or(self.base.as_ref());
        last == Some(&left.commit)
    }

    /// Its agent's next attempt is another one of the same iteration.
    pub(super) fn goes_on_with_answer(&mut self, role: Role, again: &mut bool) {
        *again |= role == Role::Builder;
        self.state = FeatureState::Working { role, step: WorkStep::AwaitingSlot };
    }
}
