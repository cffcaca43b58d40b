//! Agents that are talked with while they work, by a protocol over their standard streams: what is to
//! be said to one, and what it is known to have heard or asked. It must not know any protocol, nor how
//! bytes reach a job.
//!
//! All that is to be said follows from the run's questions and messages, so it can be derived again after
//! every restart; what was said already stands in the journal of the job's input.

use super::effect::{Effect, EffectKey};
use super::input::Rejected;
use super::message::{Delivery, Message, Way};
use super::question::{Fate, Question};
use super::state::{Job, JobState, Purpose, Run};
use super::step::Draft;
use super::talk::Talk;
use crate::ids::{FeatureId, JobId, QuestionId};
use crate::manifest::Protocol;

/// Questions of permission that one job may put, at most; later ones are not taken down.
const REQUESTS_MAX: usize = 1_000;

/// What an agent may choose from for a permission that it asks.
const CHOICES: [&str; 2] = ["allow", "deny"];

/// What is to be said to an agent beside its task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToSay {
    /// What people tell it, in their order.
    pub messages: Vec<Saying>,
    /// Answers to what it asked by its protocol.
    pub replies: Vec<Reply>,
}

/// A message on its way into a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// Its number.
    pub message: u32,
    /// What it says.
    pub text: String,
    /// Whether the turn that is under way is broken off for it.
    pub interrupts: bool,
}

/// A person's answer to a permission that an agent asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What the agent calls its request.
    pub request: String,
    /// Whether it may.
    pub allowed: bool,
    /// The person's words.
    pub words: String,
}

/// Something that a conversation told beside the agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversed {
    /// It asks a permission.
    Asked {
        /// What it calls its request.
        request: String,
        /// What it wants to do, for people.
        text: String,
    },
    /// It does not need an answer any more.
    Withdrawn {
        /// What it called its request.
        request: String,
    },
    /// A message stands in its input.
    Written(u32),
    /// It has taken a message into its conversation.
    Accepted(u32),
    /// It has worked on a message, to the end of that turn.
    Consumed(u32),
}

impl Draft {
    /// A conversation told something.
    pub(super) fn conversed(&mut self, job: &JobId, fact: &Conversed) -> Result<(), Rejected> {
        self.require_running()?;
        let (feature, _) = self.run.conversation(job).ok_or(Rejected::Unknown("conversation"))?;
        let feature = feature.clone();
        match fact {
            Conversed::Asked { request, text } => {
                let of_job = self.run.questions.values().filter(|one| one.job == *job);
                if self.run.asked_as(job, request).is_some() || of_job.count() >= REQUESTS_MAX {
                    return Err(Rejected::Late("it has asked that"));
                }
                let asked = Question {
                    feature: Some(feature),
                    job: job.clone(),
                    text: text.clone(),
                    choices: CHOICES.map(str::to_owned).to_vec(),
                    waits: false,
                    request: Some(request.clone()),
                    at: self.now.wall,
                    fate: Fate::Open,
                };
                let question = self.run.next_question();
                self.say(Talk::Asked { question, asked });
                Ok(())
            }
            Conversed::Withdrawn { request } => {
                let open = self.run.asked_as(job, request).filter(|(_, one)| one.is_open());
                let (question, _) = open.ok_or(Rejected::Late("no such question is open"))?;
                let question = question.clone();
                self.say(Talk::Withdrawn { question, feature });
                Ok(())
            }
            Conversed::Written(number) => {
                let message = self.run.messages.get(number).filter(|one| one.feature == feature);
                let queued = message.filter(|one| one.delivery == Delivery::Queued);
                queued.ok_or(Rejected::Late("it is known to have come there"))?;
                let (message, job, way) = (*number, job.clone(), Way::Conversation);
                self.say(Talk::MessageWritten { feature, message, job, way });
                Ok(())
            }
            Conversed::Accepted(number) => self.receive(job, &[*number], false),
            Conversed::Consumed(number) => self.receive(job, &[*number], true),
        }
    }
}

impl Run {
    /// The feature of an agent that runs and is talked with, and its job.
    fn conversation(&self, job: &JobId) -> Option<(&FeatureId, &Job)> {
        let talks = self.manifest_of(job).is_some_and(|one| one.protocol != Protocol::None);
        let row = self.jobs.get(job).filter(|_| talks)?;
        let runs = match row.state {
            JobState::Running(_) => true,
            JobState::Launching
            | JobState::Stopping { .. }
            | JobState::Finished { .. }
            | JobState::Quarantined { .. } => false,
        };
        match &row.purpose {
            Purpose::Agent { feature, .. } if runs => Some((feature, row)),
            Purpose::Agent { .. }
            | Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => None,
        }
    }

    /// Whether a job waits for a permission that it asked.
    pub(super) fn asks_permission(&self, job: &JobId) -> bool {
        let mut asked = self.questions.values();
        asked.any(|one| one.job == *job && one.request.is_some() && one.is_open())
    }

    fn asked_as(&self, job: &JobId, request: &str) -> Option<(&QuestionId, &Question)> {
        let mut asked = self.questions.iter();
        asked.find(|(_, one)| one.job == *job && one.request.as_deref() == Some(request))
    }

    /// What is to be said to the agent of a feature, if it is one that is talked with.
    pub(super) fn converse(&self, id: &FeatureId) -> Option<(EffectKey, Effect)> {
        let (_, plan) = self.plan()?;
        let job = plan.features.get(id)?.state.agent()?;
        self.conversation(job).filter(|_| self.status.cancel().is_none())?;
        let of_it = |one: &Message| {
            let came = one.delivery.job().is_none_or(|came| came == job);
            one.feature == *id
                && one.told.as_ref() != Some(job)
                && came
                && one.delivery != Delivery::Failed
        };
        let messages = self.messages.iter().filter(|(_, one)| of_it(one));
        let messages: Vec<Saying> = messages
            .map(|(number, one)| Saying {
                message: *number,
                text: one.text.clone(),
                interrupts: one.interrupts,
            })
            .collect();
        let asked = self.questions.values().filter(|one| one.job == *job);
        let replies: Vec<Reply> = asked
            .filter_map(|one| {
                let (request, answer) = (one.request.clone()?, one.answer()?);
                let (allowed, words) = (answer.choice == Some(1), answer.text.clone());
                Some(Reply { request, allowed, words })
            })
            .collect();
        // Neither of them ever becomes less, so each number names one list for good.
        let said = messages.len() + replies.len();
        let key = EffectKey(format!("talk:{}:{said}", job.number()));
        let to_say = ToSay { messages, replies };
        Some((key, Effect::Converse { feature: id.clone(), job: job.clone(), to_say }))
    }
}
