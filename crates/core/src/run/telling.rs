//! The facts of what agents tell by their streams, and of the conversations that they are for.

use super::backoff::Wait;
use super::event::Subject;
use super::feature::{Feature, FeatureState, Trail, WorkStep};
use super::limited::Limit;
use super::sessions::Conversation;
use super::state::Job;
use crate::ids::{AgentName, FeatureId, JobId};
use crate::plan::Role;
use crate::told::Told;

/// One fact of what an agent told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields repeat the words of the variants' documentation")]
pub enum Telling {
    /// An agent's job is for this conversation.
    SessionBegun { job: JobId, conversation: Conversation },
    /// What an agent told by its stream, by its end.
    Told { job: JobId, told: Box<Told> },
    /// Its agent's account is limited, and its next attempt waits for that to pass; without a job
    /// it waits on.
    Limited { feature: FeatureId, job: Option<JobId>, limit: Limit, wait: Wait },
    /// The account of its agent is limited, as another one met: its next attempt waits for that to pass.
    Parked { feature: FeatureId, limit: Limit, wait: Wait },
    /// The account of its agent is refused, as another one met, or is so no more. With a job: this one
    /// met it, too.
    AccountHeld { feature: FeatureId, job: Option<JobId>, by: Option<String> },
    /// Another agent stands in for its role's own, or that one works again.
    StandsIn { feature: FeatureId, agent: Option<AgentName> },
}

impl Telling {
    /// Whose chain the fact belongs to.
    pub fn subject(&self) -> Subject<'_> {
        match self {
            Self::SessionBegun { .. } | Self::Told { .. } => Subject::Run,
            Self::Limited { feature, .. }
            | Self::Parked { feature, .. }
            | Self::AccountHeld { feature, .. }
            | Self::StandsIn { feature, .. } => Subject::Feature(feature),
        }
    }

    /// Its name in the log, the API and `tidegate events`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SessionBegun { .. } => "session-begun",
            Self::Told { .. } => "agent-told",
            Self::Limited { .. } => "limited",
            Self::Parked { .. } => "account-limited",
            Self::AccountHeld { .. } => "account-held",
            Self::StandsIn { .. } => "agent-stands-in",
        }
    }

    /// The job that it is about.
    pub(super) fn job(&self) -> Option<&JobId> {
        match self {
            Self::SessionBegun { job, .. } | Self::Told { job, .. } => Some(job),
            Self::Limited { job, .. } | Self::AccountHeld { job, .. } => job.as_ref(),
            Self::Parked { .. } | Self::StandsIn { .. } => None,
        }
    }
}

impl Job {
    pub(super) fn apply_of_telling(&mut self, fact: &Telling) {
        match fact {
            Telling::SessionBegun { conversation, .. } => self.session = Some(conversation.clone()),
            Telling::Told { told, .. } => self.told = Some(told.clone()),
            Telling::Limited { .. }
            | Telling::Parked { .. }
            | Telling::AccountHeld { .. }
            | Telling::StandsIn { .. } => {}
        }
    }
}

impl Feature {
    pub(super) fn apply_of_telling(&mut self, fact: &Telling, trail: &mut Trail) {
        match fact {
            Telling::SessionBegun { .. } | Telling::Told { .. } => {}
            Telling::Limited { job, limit, wait, .. } => {
                // It waits as before, and yet for another time: another alarm is set.
                trail.turns += u32::from(job.is_none());
                self.tried(false, Some(*wait), trail);
                self.limited = Some(limit.clone());
            }
            Telling::Parked { limit, wait, .. } => {
                trail.turns += 1;
                self.wait = Some(*wait);
                self.limited = Some(limit.clone());
            }
            Telling::StandsIn { agent, .. } => {
                self.stand_in.clone_from(agent);
                // It need not wait any more for what its own agent met.
                self.wait = self.wait.filter(|_| self.limited.is_none());
                self.held_by = None;
            }
            Telling::AccountHeld { by, .. } => {
                self.held_by.clone_from(by);
                let again = self.state.role() == Some(Role::Builder);
                if let FeatureState::Working { step: step @ WorkStep::Agent(_), .. } =
                    &mut self.state
                {
                    *step = WorkStep::AwaitingSlot;
                    trail.again = again;
                }
            }
        }
    }
}
