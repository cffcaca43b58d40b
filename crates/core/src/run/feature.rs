//! What a feature of a plan run is at one moment.

use super::backoff::Wait;
use super::block::Block;
use super::feedback::Feedback;
use super::inspection::Inspection;
use super::limited::Limit;
use super::locks::InLine;
use super::planned::PlannedChange;
use super::round::Round;
use crate::ids::{AgentName, FeatureId, GateName, JobId, Oid};
use crate::plan::{FeatureSpec, Role};
use crate::time::WallMs;
use crate::workplace::Furnished;

/// How far one feature is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Feature {
    /// Where it stands in the pipeline.
    pub state: FeatureState,
    /// Its iteration, from 1; 0 until it first starts. The next one begins with its slot.
    pub iteration: u32,
    /// Attempts of the current job purpose that count against the limit.
    pub failures: u32,
    /// Set while its next attempt waits for its time.
    pub wait: Option<Wait>,
    /// The limit that its last agent ran into, until one ends otherwise.
    pub limited: Option<Limit>,
    /// The run and the feature whose agent was refused, while that keeps its own from work.
    pub held_by: Option<String>,
    /// The agent that stands in for its role's own.
    pub stand_in: Option<AgentName>,
    /// The commit that its branch began at.
    pub base: Option<Oid>,
    /// Its worktree, once there is one.
    pub worktree: Option<String>,
    /// Its newest commit that Tidegate saw.
    pub tested: Option<Tested>,
    /// Whether consent to land that commit was given.
    pub approved: bool,
    /// What the next builder is told about the last failure.
    pub feedback: Option<Feedback>,
    /// The target commit to merge into its branch before the next builder starts.
    pub sync: Option<Oid>,
    /// What its planner said.
    pub planned: Option<PlannedChange>,
    /// The paths in conflict with the target, until they are resolved.
    pub conflict: Option<Vec<String>>,
    /// What was found in it before its review.
    pub inspected: Option<Inspection>,
    /// The commit whose landing may take back what others landed: a person saw it.
    pub reverts_accepted: Option<Oid>,
    /// Conflicts that its reconciler was given.
    pub reconciliations: u32,
    /// Times that consent to it was asked for: tells one review from the next.
    pub reviews: u32,
    /// How often a person gave it its budget anew.
    pub raised: u32,
    /// How often a person gave the run its budget anew for its sake.
    pub run_raised: u32,
    /// Since when it has its locks, on the wall clock; `None` while it does not.
    pub locked: Option<WallMs>,
    /// Its place in the line for its locks.
    pub in_line: Option<InLine>,
    /// What its worktree got beside the files of its commit.
    pub furnished: Furnished,
}

/// What the pipeline remembers of a feature beside what is shown of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Trail {
    /// State changes so far: tells one dispatch of an effect from the next one of its kind.
    pub(super) turns: u32,
    /// The agent whose work stands: it ended well, and nothing has refused what it left.
    pub(super) built: Option<JobId>,
    /// Whether qa has looked at what the last builder made.
    pub(super) checked: bool,
    /// Whether its next builder is a further attempt of the same iteration.
    pub(super) again: bool,
    /// The mark of the last failure that had one, and how often it came in a row.
    pub(super) same: Option<(String, u32)>,
    /// The newest snapshot that is recorded.
    pub(super) snapshot: u32,
    /// Whether its worktree stands, and was not torn down since.
    pub(super) stands: bool,
    /// The making of its worktree whose setup ended well.
    pub(super) set_up: Option<String>,
    /// The making whose setup has begun and not ended well.
    pub(super) setting_up: Option<String>,
    /// The making that an agent was let into last.
    pub(super) worked_in: Option<String>,
    /// Where it stands among those that wait for the target: the smallest is next.
    pub(super) place: u32,
}

/// A commit and its tree: what a gate is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

/// Where a feature stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FeatureState {
    /// Waits for its wave, its needs or a slot.
    #[default]
    Queued,
    /// An agent works, or is about to.
    Working {
        /// What for.
        role: Role,
        /// How far that is.
        step: WorkStep,
    },
    /// Gates check its commit.
    Verifying {
        /// How far they are.
        round: Round,
    },
    /// Waits for consent to land.
    InReview,
    /// On its way to the target.
    Landing(LandStep),
    /// Cannot go on by itself.
    Blocked(Block),
    /// On the target.
    Landed {
        /// The commit on the target; `None` when there was nothing to change.
        commit: Option<Oid>,
    },
    /// Given up.
    Failed {
        /// Why, for a person.
        reason: String,
    },
    /// Ended because someone asked for it.
    Cancelled {
        /// Who asked.
        actor: String,
    },
    /// Not tried, because of another one.
    Skipped {
        /// The feature that it waited for.
        cause: FeatureId,
    },
}

/// The steps of an agent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkStep {
    /// Waits for a slot of the run and the home.
    AwaitingSlot,
    /// Its worktree is being made or brought up to date.
    Preparing,
    /// Its worktree is being set up.
    SettingUp(JobId),
    /// Its builder runs.
    Agent(JobId),
    /// What the agent left is being committed.
    Committing(JobId),
    /// What the agent said is being read.
    Reading(JobId),
    /// Its worktree is being put back to the snapshot with this number.
    RollingBack(u32),
}

/// The steps of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandStep {
    /// Waits until no other landing works on the target.
    AwaitingTarget,
    /// The merged commit is being made.
    Merging,
    /// Gates check the merged commit.
    Gates {
        /// The merged commit.
        merged: Merged,
        /// How far they are.
        round: Round,
    },
    /// The target is being moved, by compare-and-swap.
    Updating {
        /// The merged commit.
        merged: Merged,
    },
}

/// A merged commit, not yet on the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The target's commit that it builds on.
    pub onto: Oid,
    /// The merged commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
}

impl Feature {
    /// The gates that its commit must pass: those of the plan, then those that its planner added.
    pub fn gates<'a>(&'a self, spec: &'a FeatureSpec) -> Vec<&'a GateName> {
        let added = self.planned.iter().flat_map(|planned| &planned.gates);
        spec.gates.iter().chain(added.filter(|gate| !spec.gates.contains(gate))).collect()
    }

    /// Whether nothing more happens to it.
    pub fn is_terminal(&self) -> bool {
        match self.state {
            FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => true,
            FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Blocked(_) => false,
        }
    }

    /// Whether it waits for a slot: of its run for an agent, or of the home for gates.
    pub fn awaits_slot(&self) -> bool {
        match &self.state {
            FeatureState::Working { step: WorkStep::AwaitingSlot, .. } => true,
            FeatureState::Verifying { round }
            | FeatureState::Landing(LandStep::Gates { round, .. }) => round.failed.is_empty(),
            FeatureState::Working { .. }
            | FeatureState::Landing(_)
            | FeatureState::Queued
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => false,
        }
    }

    /// Whether it counts against the slots of its run and its home.
    pub fn holds_slot(&self) -> bool {
        match self.state {
            FeatureState::Working {
                step:
                    WorkStep::Preparing
                    | WorkStep::SettingUp(_)
                    | WorkStep::Agent(_)
                    | WorkStep::Committing(_)
                    | WorkStep::Reading(_),
                ..
            }
            | FeatureState::Verifying { .. } => true,
            FeatureState::Working {
                step: WorkStep::AwaitingSlot | WorkStep::RollingBack(_),
                ..
            }
            | FeatureState::Queued
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => false,
        }
    }

    /// Whether git works for it, and will answer: it must not be left before.
    pub fn awaits_git(&self) -> bool {
        match self.state {
            FeatureState::Working {
                step: WorkStep::Preparing | WorkStep::Committing(_) | WorkStep::RollingBack(_),
                ..
            }
            | FeatureState::Landing(LandStep::Merging | LandStep::Updating { .. }) => true,
            FeatureState::Working {
                step:
                    WorkStep::AwaitingSlot
                    | WorkStep::SettingUp(_)
                    | WorkStep::Agent(_)
                    | WorkStep::Reading(_),
                ..
            }
            | FeatureState::Landing(LandStep::AwaitingTarget | LandStep::Gates { .. })
            | FeatureState::Queued
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => false,
        }
    }
}

impl FeatureState {
    /// A builder at this step.
    pub fn building(step: WorkStep) -> Self {
        Self::Working { role: Role::Builder, step }
    }

    /// Why it cannot go on by itself, when it cannot.
    pub fn block(&self) -> Option<&Block> {
        match self {
            Self::Blocked(block) => Some(block),
            Self::Queued
            | Self::Working { .. }
            | Self::Verifying { .. }
            | Self::InReview
            | Self::Landing(_)
            | Self::Landed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. }
            | Self::Skipped { .. } => None,
        }
    }

    /// What an agent works for on it, while one does or is about to.
    pub fn role(&self) -> Option<Role> {
        match self {
            Self::Working { role, .. } => Some(*role),
            Self::Queued
            | Self::Verifying { .. }
            | Self::InReview
            | Self::Landing(_)
            | Self::Blocked(_)
            | Self::Landed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. }
            | Self::Skipped { .. } => None,
        }
    }

    /// How far the agent's work is, while one works or is about to.
    pub fn work_step(&self) -> Option<&WorkStep> {
        match self {
            Self::Working { step, .. } => Some(step),
            Self::Queued
            | Self::Verifying { .. }
            | Self::InReview
            | Self::Landing(_)
            | Self::Blocked(_)
            | Self::Landed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. }
            | Self::Skipped { .. } => None,
        }
    }

    /// Its word in the run document.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Working { role, .. } => role.state_word(),
            Self::Verifying { .. } => "verifying",
            Self::InReview => "in_review",
            Self::Landing(_) => "landing",
            Self::Blocked(_) => "blocked",
            Self::Landed { .. } => "landed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
            Self::Skipped { .. } => "skipped",
        }
    }
}
