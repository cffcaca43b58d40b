//! Messages of people to agents at work: what is known of the delivery of one, and nothing guessed.
//!
//! A message that no agent was seen to act on goes into the task of the next attempt, however far its
//! delivery to an earlier one came. It must not know how bytes reach a job.

use super::effect::{Effect, EffectKey};
use super::event::Event;
use super::feature::{Feature, FeatureState, WorkStep};
use super::input::Rejected;
use super::state::{JobState, Purpose, Run};
use super::step::Draft;
use super::talk::Talk;
use crate::ids::{FeatureId, JobId};
use crate::limits::MESSAGES_OPEN_MAX;
use crate::time::WallMs;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The feature whose agent is meant.
    pub feature: FeatureId,
    /// What it says.
    pub text: String,
    /// Whether the turn that is under way is to be broken off for it.
    pub interrupts: bool,
    /// Who sent it.
    pub by: String,
    /// When, on the wall clock.
    pub at: WallMs,
    /// The newest job whose task has it.
    pub told: Option<JobId>,
    /// The newest job whose terminal was to get it.
    pub typed: Option<Typed>,
    /// How far it is known to have come.
    pub delivery: Delivery,
}

/// A job whose terminal was to get a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Which.
    pub job: JobId,
    /// Whether it took it.
    pub taken: bool,
}

/// How far a message is known to have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// It is recorded, and no job has it.
    Queued,
    /// A job has its bytes.
    Written {
        /// Which.
        job: JobId,
        /// Where.
        way: Way,
    },
    /// A job fetched it.
    Accepted {
        /// Which.
        job: JobId,
    },
    /// A job says that it has acted on it.
    Consumed {
        /// Which.
        job: JobId,
    },
    /// It came to nobody, and nobody is left.
    Failed,
}

/// Where a job has a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// In the task that it was started with.
    Task,
    /// Typed into its terminal.
    Terminal,
    /// Said to it by its protocol.
    Conversation,
}

impl Delivery {
    /// Its word in documents.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Written { .. } => "written",
            Self::Accepted { .. } => "accepted",
            Self::Consumed { .. } => "consumed",
            Self::Failed => "failed",
        }
    }

    /// The job that it came to.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::Written { job, .. } | Self::Accepted { job } | Self::Consumed { job } => {
                Some(job)
            }
            Self::Queued | Self::Failed => None,
        }
    }

    /// Whether nothing more becomes of it.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Consumed { .. } | Self::Failed => true,
            Self::Queued | Self::Written { .. } | Self::Accepted { .. } => false,
        }
    }
}

/// What came of typing a message into a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeOutcome {
    /// Its bytes are in the terminal.
    Written,
    /// The job takes no input.
    Refused,
}

/// A message that is to be typed into a job's terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToType<'r> {
    /// Its number.
    pub message: u32,
    /// The job.
    pub job: &'r JobId,
    /// Its number among the inputs of the job, from 1.
    pub seq: u64,
    /// What it says.
    pub text: &'r str,
}

impl Draft {
    /// A person sends a message to the agent of a feature: the one that works, or the next one.
    pub(super) fn send(
        &mut self,
        id: &FeatureId,
        (text, interrupts): (&str, bool),
        actor: &str,
    ) -> Result<(), Rejected> {
        self.require_going_on()?;
        let (_, feature) = self.require_feature(id)?;
        if feature.is_terminal() {
            return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
        }
        let open = self.run.messages.values().filter(|one| one.feature == *id);
        if open.filter(|one| !one.delivery.is_final()).count() >= MESSAGES_OPEN_MAX {
            let why = format!("{MESSAGES_OPEN_MAX} messages to it wait to be acted on");
            return Err(Rejected::NotWhile(why));
        }
        let message = self.run.messages.keys().next_back().map_or(1, |last| last + 1);
        self.say(Talk::MessageSent {
            feature: id.clone(),
            message,
            text: text.to_owned(),
            interrupts,
            by: actor.to_owned(),
            at: self.now.wall,
        });
        Ok(())
    }

    /// A job fetched messages, or says that it has acted on them. What it was not sent is passed over.
    pub(super) fn receive(
        &mut self,
        job: &JobId,
        messages: &[u32],
        acted: bool,
    ) -> Result<(), Rejected> {
        self.require_running()?;
        let found = self.run.jobs.get(job).ok_or(Rejected::Unknown("job"))?;
        let Purpose::Agent { feature, .. } = &found.purpose else {
            return Err(Rejected::NotWhile("only agents of features get messages".to_owned()));
        };
        if !found.state.is_live() {
            return Err(Rejected::Late("the job is closed"));
        }
        let feature = feature.clone();
        for number in messages {
            let Some(message) = self.run.messages.get(number) else { continue };
            let known = match &message.delivery {
                Delivery::Queued | Delivery::Written { .. } => false,
                Delivery::Accepted { job: by } => !acted && by == job,
                Delivery::Consumed { .. } | Delivery::Failed => true,
            };
            if message.feature != feature || known {
                continue;
            }
            let (feature, message, job) = (feature.clone(), *number, job.clone());
            self.say(if acted {
                Talk::MessageConsumed { feature, message, job }
            } else {
                Talk::MessageAccepted { feature, message, job }
            });
        }
        Ok(())
    }

    /// A message was typed into a job's terminal, or could not be.
    pub(super) fn message_typed(
        &mut self,
        id: &FeatureId,
        number: u32,
        job: &JobId,
        outcome: TypeOutcome,
    ) -> Result<(), Rejected> {
        let due = self.run.to_type(id).is_some_and(|due| due.message == number && due.job == job);
        if !due {
            return Err(Rejected::Late("the job waits for no such message"));
        }
        let (feature, message, job) = (id.clone(), number, job.clone());
        self.say(match outcome {
            TypeOutcome::Written => {
                Talk::MessageWritten { feature, message, job, way: Way::Terminal }
            }
            TypeOutcome::Refused => Talk::MessageRefused { feature, message, job },
        });
        Ok(())
    }

    /// The task of a job that has just started is in its hands.
    pub(super) fn note_told(&mut self, job: &JobId) {
        let told = self.run.messages.iter().filter(|(_, one)| one.told.as_ref() == Some(job));
        // It may have fetched some before its start was seen.
        let news = told.filter(|(_, one)| one.delivery.job() != Some(job));
        let told: Vec<(u32, FeatureId)> =
            news.map(|(number, one)| (*number, one.feature.clone())).collect();
        for (message, feature) in told {
            let job = job.clone();
            self.say(Talk::MessageWritten { feature, message, job, way: Way::Task });
        }
    }
}

impl Run {
    /// The next message that is to be typed into the terminal of a feature's agent.
    pub fn to_type(&self, id: &FeatureId) -> Option<ToType<'_>> {
        let (_, plan) = self.plan()?;
        let job = plan.features.get(id)?.state.agent()?;
        let row = self.jobs.get(job)?;
        let runs = match row.state {
            JobState::Running(_) => true,
            JobState::Launching
            | JobState::Stopping { .. }
            | JobState::Finished { .. }
            | JobState::Quarantined { .. } => false,
        };
        if !runs || !self.has_terminal(&row.purpose) || self.status.cancel().is_some() {
            return None;
        }
        let of_job = |one: &Message| one.typed.as_ref().is_some_and(|typed| typed.job == *job);
        let waits = |one: &Message| {
            one.feature == *id
                && !one.delivery.is_final()
                && one.delivery.job() != Some(job)
                && one.told.as_ref() != Some(job)
                && !of_job(one)
        };
        let (number, message) = self.messages.iter().find(|(_, one)| waits(one))?;
        let taken = |one: &&Message| of_job(one) && one.typed.as_ref().is_some_and(|t| t.taken);
        let before = self.messages.values().filter(taken).count();
        let seq = u64::try_from(before).unwrap_or(u64::MAX).saturating_add(1);
        Some(ToType { message: *number, job, seq, text: &message.text })
    }

    /// The message that is to be typed next. Its number among the inputs of the job makes a repetition
    /// harmless.
    pub(super) fn typing(&self, id: &FeatureId) -> Option<(EffectKey, Effect)> {
        let due = self.to_type(id)?;
        let key = EffectKey(format!("message:{}:{}", due.message, due.job.number()));
        let (feature, job) = (id.clone(), due.job.clone());
        let (message, seq, text) = (due.message, due.seq, due.text.to_owned());
        Some((key, Effect::TypeMessage { feature, job, message, seq, text }))
    }

    /// The messages that the task of a job has.
    pub fn messages_told(&self, job: &JobId) -> impl Iterator<Item = &Message> {
        self.messages.values().filter(move |one| one.told.as_ref() == Some(job))
    }

    /// A message that came to nobody although its feature has ended.
    pub(super) fn undeliverable(&self, id: &FeatureId, feature: &Feature) -> Option<Event> {
        if !feature.is_terminal() {
            return None;
        }
        let lost = |one: &Message| one.feature == *id && one.delivery == Delivery::Queued;
        let (message, _) = self.messages.iter().find(|(_, one)| lost(one))?;
        Some(Event::Talk(Talk::MessageFailed { feature: id.clone(), message: *message }))
    }

    /// How messages evolve by one fact.
    pub(super) fn apply_to_messages(&mut self, event: &Event) {
        if let Event::JobCreated { job, purpose: Purpose::Agent { feature, .. }, .. } = event {
            let open = self.messages.values_mut().filter(|one| one.feature == *feature);
            for message in open.filter(|one| !one.delivery.is_final()) {
                message.told = Some(job.clone());
            }
        }
        if let Event::Talk(talk) = event {
            self.apply_talk_to_messages(talk);
        }
    }

    fn apply_talk_to_messages(&mut self, talk: &Talk) {
        match talk {
            Talk::Asked { .. } | Talk::Answered { .. } | Talk::Withdrawn { .. } => {}
            Talk::MessageSent { feature, message, text, interrupts, by, at } => {
                let sent = Message {
                    feature: feature.clone(),
                    text: text.clone(),
                    interrupts: *interrupts,
                    by: by.clone(),
                    at: *at,
                    told: None,
                    typed: None,
                    delivery: Delivery::Queued,
                };
                self.messages.insert(*message, sent);
            }
            Talk::MessageWritten { message, job, way, .. } => self.with_message(*message, |one| {
                match way {
                    Way::Terminal => one.typed = Some(Typed { job: job.clone(), taken: true }),
                    Way::Task | Way::Conversation => {}
                }
                one.delivery = Delivery::Written { job: job.clone(), way: *way };
            }),
            Talk::MessageRefused { message, job, .. } => self.with_message(*message, |one| {
                one.typed = Some(Typed { job: job.clone(), taken: false });
            }),
            Talk::MessageAccepted { message, job, .. } => self.with_message(*message, |one| {
                one.delivery = Delivery::Accepted { job: job.clone() };
            }),
            Talk::MessageConsumed { message, job, .. } => self.with_message(*message, |one| {
                one.delivery = Delivery::Consumed { job: job.clone() };
            }),
            Talk::MessageFailed { message, .. } => {
                self.with_message(*message, |one| one.delivery = Delivery::Failed);
            }
        }
    }

    fn with_message(&mut self, number: u32, change: impl FnOnce(&mut Message)) {
        if let Some(message) = self.messages.get_mut(&number) {
            change(message);
        }
    }
}

impl FeatureState {
    /// The agent that works, if one does.
    pub fn agent(&self) -> Option<&JobId> {
        match self.work_step() {
            Some(WorkStep::Agent(job)) => Some(job),
            Some(
                WorkStep::AwaitingSlot
                | WorkStep::Preparing
                | WorkStep::SettingUp(_)
                | WorkStep::Committing(_)
                | WorkStep::Reading(_)
                | WorkStep::RollingBack(_),
            )
            | None => None,
        }
    }
}
