//! What a run is at one moment. Only [`Run::apply`] changes it.

use std::collections::BTreeMap;

use super::feature::{Feature, FeatureState, Trail};
use super::limited::Limit;
use super::message::Message;
use super::question::Question;
use super::sessions::Conversation;
use crate::evidence::Evidence;
use crate::exit::{Exit, Started};
use crate::ids::{
    AgentId, AgentName, BlobId, FeatureId, GateName, JobId, Oid, QuestionId, QueueKey, RoleName,
    RunId,
};
use crate::launcher::{Launcher, LauncherSpec};
use crate::pause::Pause;
use crate::plan::PlanSpec;
use crate::time::WallMs;
use crate::told::Told;
use crate::workplace::Hook;

/// One submitted execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The store's sequence at submit: the order of its queue.
    pub seq: u64,
    /// Its queue.
    pub queue: QueueKey,
    /// Who submitted it.
    pub actor: String,
    /// When, on the wall clock.
    pub submitted_at: WallMs,
    /// The environment of the client at submit, pinned.
    pub env: BlobId,
    /// The run whose job submitted it, or whose failed half it repeats.
    pub parent: Option<RunId>,
    /// The daemon that claimed it, or adopted it last.
    pub supervisor: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// Runs of its queue with a lower one wait for it; within one it is first come, first served.
    pub priority: i32,
    /// Set while a person keeps it from beginning anything.
    pub hold: Option<Pause>,
    /// What it executes, and how far that is.
    pub work: Work,
    /// Its jobs, finished ones included.
    pub jobs: BTreeMap<JobId, Job>,
    /// What its agents and launchers asked people.
    pub questions: BTreeMap<QuestionId, Question>,
    /// What people told its agents, by number from 1.
    pub messages: BTreeMap<u32, Message>,
    /// What the pipeline remembers of its features beside what is shown of them.
    pub(super) trails: BTreeMap<FeatureId, Trail>,
    /// The agents of jobs that are not their role's own.
    pub(super) stand_ins: BTreeMap<JobId, AgentName>,
    /// The newest limit of each account that an agent of it met, until one of it ends well.
    pub(super) limits: BTreeMap<String, (FeatureId, Limit)>,
    /// Registrations of agents so far: tells one sweep of them from the next.
    pub(super) registrations: u32,
    /// Times that a feature began to wait for the target: who came first lands first.
    pub(super) queued_up: u32,
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Waits for its turn in its queue.
    Pending,
    /// Claimed by the daemon.
    Running {
        /// When it was claimed, on the wall clock.
        since: WallMs,
        /// Who asked for its end, if anybody.
        cancel: Option<String>,
    },
    /// Ended well.
    Completed {
        /// When, on the wall clock.
        at: WallMs,
    },
    /// Ended badly.
    Failed {
        /// When, on the wall clock.
        at: WallMs,
        /// Why, for a person.
        detail: Option<String>,
    },
    /// Ended because someone asked for it.
    Cancelled {
        /// When, on the wall clock.
        at: WallMs,
        /// Who asked.
        actor: String,
    },
}

/// What a run executes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it in a run, and plans are the rule"
)]
pub enum Work {
    /// A command that orchestrates by itself.
    Launcher {
        /// As submitted.
        spec: LauncherSpec,
        /// How far it is.
        state: Launcher,
    },
    /// A plan that the engine executes.
    Plan {
        /// As submitted.
        spec: PlanSpec,
        /// How far it is.
        state: Plan,
    },
}

/// How far a plan is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Every feature of the spec.
    pub features: BTreeMap<FeatureId, Feature>,
}

/// One supervised process tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// What it is for.
    pub purpose: Purpose,
    /// The n-th job for that purpose, from 1.
    pub attempt: u32,
    /// Names this attempt in its records.
    pub nonce: String,
    /// When it was recorded, on the wall clock.
    pub created_at: WallMs,
    /// Set while it gives no sign of life.
    pub stalled: Option<Stall>,
    /// The conversation that it was started for, for an agent that has one.
    pub session: Option<Conversation>,
    /// What it told by its stream, once it has ended.
    pub told: Option<Box<Told>>,
    /// What a gate left beside its exit code, once that was read.
    pub evidence: Option<Evidence>,
    /// Where it stands.
    pub state: JobState,
}

/// A job without a sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Its last sign of life, about, on the wall clock.
    pub since: WallMs,
}

/// Where a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// Recorded; not known to have started.
    Launching,
    /// Known to have started.
    Running(Started),
    /// Asked to end.
    Stopping {
        /// Its start, where known.
        started: Option<Started>,
        /// Who asked.
        actor: String,
    },
    /// Ended.
    Finished {
        /// Its start, if it ever started.
        started: Option<Started>,
        /// Its end.
        exit: Exit,
    },
    /// Its records contradict each other; a person must look.
    Quarantined {
        /// Its start, where known.
        started: Option<Started>,
        /// What contradicts.
        detail: String,
    },
}

/// What a job is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The run's launcher.
    Launcher {
        /// The wave of a resume; `None` at the first start.
        resume_wave: Option<u32>,
    },
    /// An agent that a launcher asked Tidegate to start.
    LauncherAgent {
        /// Its id within the run.
        agent: AgentId,
        /// Its role, for people.
        role: Option<RoleName>,
        /// Its argv.
        argv: Vec<String>,
        /// Whether it gets a terminal of its own.
        terminal: bool,
    },
    /// A builder of a feature.
    Agent {
        /// The feature.
        feature: FeatureId,
        /// Its role.
        role: RoleName,
        /// The iteration that it works in, from 1.
        iteration: u32,
    },
    /// A gate on a feature's commit, or on the merged commit.
    Gate {
        /// The feature.
        feature: FeatureId,
        /// The gate.
        gate: GateName,
        /// The exact commit that is checked out.
        commit: Oid,
        /// Whether it is about the branch or about the merged tree.
        phase: Phase,
        /// The checkout slot of the home that it uses, from 0.
        slot: u32,
    },
    /// A command of the config in a feature's worktree.
    Hook {
        /// The feature.
        feature: FeatureId,
        /// Which.
        hook: Hook,
        /// The making of the worktree that it works in.
        making: String,
    },
}

/// Which commit a gate is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The feature's own commit.
    Branch,
    /// The commit that would become the target.
    Merge,
}

impl Status {
    /// When it ended, on the wall clock; `None` while it has not.
    pub fn ended_at(&self) -> Option<WallMs> {
        match self {
            Self::Completed { at } | Self::Failed { at, .. } | Self::Cancelled { at, .. } => {
                Some(*at)
            }
            Self::Pending | Self::Running { .. } => None,
        }
    }

    /// Whether the run has ended.
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Pending | Self::Running { .. } => false,
            Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled { .. } => true,
        }
    }

    /// Who asked for the end of a running run.
    pub fn cancel(&self) -> Option<&str> {
        match self {
            Self::Running { cancel, .. } => cancel.as_deref(),
            Self::Pending
            | Self::Completed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }
}

impl JobState {
    /// Whether its end is recorded.
    pub fn is_finished(&self) -> bool {
        match self {
            Self::Finished { .. } => true,
            Self::Launching
            | Self::Running(_)
            | Self::Stopping { .. }
            | Self::Quarantined { .. } => false,
        }
    }

    /// Whether it may have a living process.
    pub fn is_live(&self) -> bool {
        match self {
            Self::Launching | Self::Running(_) | Self::Stopping { .. } => true,
            Self::Finished { .. } | Self::Quarantined { .. } => false,
        }
    }

    /// Its start, where known.
    pub fn started(&self) -> Option<&Started> {
        match self {
            Self::Launching => None,
            Self::Running(started) => Some(started),
            Self::Stopping { started, .. }
            | Self::Finished { started, .. }
            | Self::Quarantined { started, .. } => started.as_ref(),
        }
    }
}

impl Job {
    /// Its end, once it is recorded.
    pub fn exit(&self) -> Option<&Exit> {
        match &self.state {
            JobState::Finished { exit, .. } => Some(exit),
            JobState::Launching
            | JobState::Running(_)
            | JobState::Stopping { .. }
            | JobState::Quarantined { .. } => None,
        }
    }

    /// Whether the gate that it is passed: it ended well, and what it left says so; `None` before
    /// its end.
    pub fn passed(&self) -> Option<bool> {
        let fine = self.evidence.as_ref().is_none_or(|found| found.problems.is_empty());
        self.exit().map(|exit| exit.is_success() && fine)
    }

    /// Whether the end of the gate that it is is a word against its commit.
    pub fn says_no(&self) -> bool {
        self.exit().is_some_and(|exit| exit.says_no() || exit.is_success())
            && self.passed() == Some(false)
    }
}

impl Run {
    /// The id of the next job.
    pub fn next_job(&self) -> JobId {
        let number = self.jobs.keys().next_back().map_or(0, JobId::number);
        JobId::new(self.id.clone(), number + 1)
    }

    /// The plan, for a plan run.
    pub fn plan(&self) -> Option<(&PlanSpec, &Plan)> {
        match &self.work {
            Work::Plan { spec, state } => Some((spec, state)),
            Work::Launcher { .. } => None,
        }
    }

    /// The launcher, for a launcher run.
    pub fn launcher(&self) -> Option<(&LauncherSpec, &Launcher)> {
        match &self.work {
            Work::Launcher { spec, state } => Some((spec, state)),
            Work::Plan { .. } => None,
        }
    }

    /// Whether any job may have a living process.
    pub fn has_live_jobs(&self) -> bool {
        self.jobs.values().any(|job| job.state.is_live())
    }
}

impl Plan {
    /// A plan whose features all wait.
    pub fn new(spec: &PlanSpec) -> Self {
        let features = spec.features.keys().map(|id| (id.clone(), Feature::default())).collect();
        Self { features }
    }

    /// Whether `feature` has landed.
    pub fn is_landed(&self, feature: &FeatureId) -> bool {
        self.features
            .get(feature)
            .is_some_and(|feature| matches!(feature.state, FeatureState::Landed { .. }))
    }
}

impl Status {
    /// Its word in the run document.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running { .. } => "running",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}
