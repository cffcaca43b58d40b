//! The facts of a run. Its state is what [`super::Run::apply`] makes of them, and nothing else.

use super::backoff::Wait;
use super::block::Block;
use super::capture::Captured;
use super::enrol::Added;
use super::feature::{Merged, Tested};
use super::feedback::Feedback;
use super::inspection::Inspection;
use super::locks::InLine;
use super::planned::PlannedChange;
use super::state::{Purpose, Work};
use super::talk::Talk;
use super::telling::Telling;
use crate::evidence::Evidence;
use crate::exit::{Exit, Started};
use crate::ids::{AgentId, BlobId, FeatureId, GateName, JobId, LockName, Oid, QueueKey, RunId};
use crate::launcher::{AgentEnd, Journal, Registered, Settled};
use crate::pause::Pause;
use crate::plan::Role;
use crate::time::WallMs;
use crate::workplace::Furnished;

/// The first fact of every run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submitted {
    /// Its id.
    pub id: RunId,
    /// The store's sequence.
    pub seq: u64,
    /// Its queue.
    pub queue: QueueKey,
    /// Who submitted it.
    pub actor: String,
    /// When, on the wall clock.
    pub at: WallMs,
    /// The pinned environment.
    pub env: BlobId,
    /// The run whose job submitted it, or whose failed half it repeats.
    pub parent: Option<RunId>,
    /// Its place among the runs of its queue: higher ones first.
    pub priority: i32,
    /// What it executes, at its beginning.
    pub work: Work,
}

/// One fact of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields repeat the words of the variants' documentation")]
pub enum Event {
    /// The run exists.
    Submitted(Box<Submitted>),
    /// The daemon took it from its queue.
    Claimed { supervisor: String, at: WallMs },
    /// A new daemon took over a running run.
    Adopted { supervisor: String },
    /// Someone asked for its end.
    CancelRequested { actor: String },
    /// Someone keeps it from beginning anything more.
    Held { pause: Pause },
    /// It may begin again.
    Released { actor: String, at: WallMs },
    /// Its place among the runs of its queue was changed.
    PriorityChanged { priority: i32, actor: String },
    /// Features joined it, in this wave.
    FeaturesAdded { wave: u32, added: Box<Added>, actor: String },
    /// It ended well.
    Completed { at: WallMs },
    /// It ended badly.
    Failed { at: WallMs, detail: Option<String> },
    /// It ended because someone asked for it.
    Cancelled { at: WallMs, actor: String },

    /// A job was decided on; it may be spawned from now on.
    JobCreated { job: JobId, purpose: Purpose, attempt: u32, nonce: String, at: WallMs },
    /// A job's main process exists.
    JobStarted { job: JobId, started: Started },
    /// The launcher's main process exists.
    LauncherStarted { job: JobId, started: Started, resumed: bool },
    /// A job was asked to end.
    JobStopping { job: JobId, actor: String },
    /// A job ended.
    JobFinished { job: JobId, exit: Exit },
    /// A job's records contradict each other.
    JobQuarantined { job: JobId, detail: String },
    /// A job gives no sign of life: no output and no work of its processes for so long.
    JobStalled { job: JobId, silent_ms: u64, at: WallMs },
    /// A job that gave no sign of life goes on.
    JobWentOn { job: JobId },

    /// The journal's newest entry.
    Progress { journal: Journal },
    /// The launcher registered an agent.
    AgentRegistered { agent: AgentId, registered: Registered },
    /// An end of a registered agent was reported.
    AgentExited { agent: AgentId, end: AgentEnd },
    /// The launcher is gone, these agents of it live on.
    AgentsAdopted { end: Exit, agents: Vec<AgentId> },
    /// The launcher is to be started again at `wave`.
    Resuming { wave: u32 },
    /// The launcher's end is known from its exit record or its journal.
    StatusReconciled { settled: Settled },
    /// The launcher was lost before it left a word.
    FailedBeforeStatus { settled: Settled, launcher_pid: Option<u32> },
    /// Its agents are gone, but for those named.
    AgentsSwept { remaining: Vec<AgentId> },

    /// Agents and people told each other something.
    Talk(Talk),
    /// What an agent told by its stream.
    Telling(Telling),

    /// A feature got a slot for its iteration.
    FeatureAdmitted { feature: FeatureId },
    /// It cannot have its locks yet.
    LocksAwaited { feature: FeatureId, wait: InLine },
    /// It has its locks, until it has ended.
    LocksTaken { feature: FeatureId, locks: Vec<LockName>, at: WallMs },
    /// Its worktree stands at `head`.
    WorktreeReady { feature: FeatureId, path: String, base: Oid },
    /// What its worktree got beside the files of its commit.
    WorktreeFurnished { feature: FeatureId, furnished: Furnished },
    /// The setup of its worktree ended well.
    WorktreeSetUp { feature: FeatureId, job: JobId },
    /// A job for it ended without a result, and may be tried again.
    AttemptFailed { feature: FeatureId, job: JobId, counted: bool, wait: Option<Wait> },
    /// The time of its next attempt has come.
    RetryDue { feature: FeatureId },
    /// Its builder ended well; what it left is to be committed.
    BuilderFinished { feature: FeatureId, job: JobId },
    /// An agent in another role than the builder's ended well.
    RoleFinished { feature: FeatureId, role: Role, job: JobId },
    /// What an agent was to leave cannot be used; it is tried again with this.
    ResultRefused { feature: FeatureId, job: JobId, feedback: Feedback },
    /// An agent of this role is to work on it next.
    HandedOver { feature: FeatureId, role: Role },
    /// Its planner said what is to change.
    Planned { feature: FeatureId, job: JobId, planned: PlannedChange },
    /// Qa left its commit as it was.
    Checked { feature: FeatureId, job: JobId },
    /// Its reviewer gave a verdict.
    Reviewed { feature: FeatureId, job: JobId, approved: bool, comments: String },
    /// What its commit did to its checks is known.
    Inspected { feature: FeatureId, inspection: Inspection },
    /// A person saw what the landing takes back, and wants it.
    RevertAccepted { feature: FeatureId, commit: Oid, by: String },
    /// The merge with the target conflicts; its reconciler is given these paths.
    ConflictFound { feature: FeatureId, paths: Vec<String> },
    /// A snapshot of its worktree was taken: while the job ran, or at its end.
    SnapshotTaken { feature: FeatureId, job: JobId, captured: Captured },
    /// Someone asked to put its worktree back to a snapshot.
    RollbackRequested { feature: FeatureId, to: u32, actor: String },
    /// Its worktree is as the snapshot has it; what was there before is in another one.
    RolledBack { feature: FeatureId, to: u32, captured: Option<Captured> },
    /// No snapshot was taken.
    SnapshotSkipped { feature: FeatureId, job: JobId, why: String },
    /// Its commit for this iteration is known.
    Committed { feature: FeatureId, tested: Tested },
    /// The iteration failed; the next one, if there is one, begins with this feedback.
    IterationFailed {
        feature: FeatureId,
        feedback: Feedback,
        sync: Option<Oid>,
        /// What failed and why, the same for the same: tells a failure that repeats itself.
        mark: Option<String>,
    },
    /// What a gate left beside its exit code was read.
    EvidenceRead { feature: FeatureId, gate: GateName, job: JobId, evidence: Box<Evidence> },
    /// A gate passed; its job's record is the evidence.
    GatePassed { feature: FeatureId, gate: GateName, job: JobId },
    /// A gate failed; its job's record is the evidence.
    GateFailed { feature: FeatureId, gate: GateName, job: JobId },
    /// A gate failed on its commit, and is tried again there.
    GateRetried { feature: FeatureId, gate: GateName, job: JobId },
    /// All gates of the branch passed.
    Verified { feature: FeatureId },
    /// Consent to land this commit was given.
    Approved { feature: FeatureId, commit: Option<Oid>, by: String },
    /// The target is free for this landing.
    LandingAdmitted { feature: FeatureId },
    /// The merged commit exists.
    MergePrepared { feature: FeatureId, merged: Merged },
    /// The target is to be moved to this commit: the intent, before the deed.
    LandingIntended { feature: FeatureId, merged: Merged },
    /// The target moved meanwhile; the merge is made anew.
    TargetMoved { feature: FeatureId },
    /// The change is on the target.
    Landed { feature: FeatureId, commit: Option<Oid> },
    /// The feature cannot go on by itself.
    Blocked { feature: FeatureId, block: Block },
    /// What was in the way of its landing is gone.
    Unblocked { feature: FeatureId },
    /// The feature is given up.
    FeatureFailed { feature: FeatureId, reason: String },
    /// The feature is not tried, because of another one.
    FeatureSkipped { feature: FeatureId, cause: FeatureId },
    /// The feature was ended because someone asked for it.
    FeatureCancelled { feature: FeatureId, actor: String },
    /// The feature was put back into its queue.
    FeatureRetried { feature: FeatureId, actor: String },
}

/// Whose chain a fact belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject<'a> {
    /// The run's.
    Run,
    /// A feature's.
    Feature(&'a FeatureId),
}

impl Event {
    /// Whose chain the fact belongs to.
    #[rustfmt::skip]
    pub fn subject(&self) -> Subject<'_> {
        match self {
            Self::Submitted(_)
            | Self::Claimed { .. }
            | Self::Adopted { .. }
            | Self::CancelRequested { .. }
            | Self::Held { .. } | Self::Released { .. } | Self::PriorityChanged { .. }
            | Self::FeaturesAdded { .. }
            | Self::Completed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. }
            | Self::JobCreated { .. }
            | Self::JobStarted { .. }
            | Self::LauncherStarted { .. }
            | Self::JobStopping { .. }
            | Self::JobFinished { .. }
            | Self::JobQuarantined { .. }
            | Self::JobStalled { .. }
            | Self::JobWentOn { .. }
            | Self::Progress { .. }
            | Self::AgentRegistered { .. }
            | Self::AgentExited { .. }
            | Self::AgentsAdopted { .. }
            | Self::Resuming { .. }
            | Self::StatusReconciled { .. }
            | Self::FailedBeforeStatus { .. }
            | Self::AgentsSwept { .. } => Subject::Run,
            Self::Talk(talk) => talk.subject(),
            Self::Telling(fact) => fact.subject(),
            Self::FeatureAdmitted { feature }
            | Self::LocksAwaited { feature, .. } | Self::LocksTaken { feature, .. }
            | Self::WorktreeReady { feature, .. }
            | Self::WorktreeFurnished { feature, .. }
            | Self::WorktreeSetUp { feature, .. }
            | Self::AttemptFailed { feature, .. }
            | Self::RetryDue { feature }
            | Self::BuilderFinished { feature, .. }
            | Self::SnapshotTaken { feature, .. }
            | Self::SnapshotSkipped { feature, .. }
            | Self::RoleFinished { feature, .. }
            | Self::ResultRefused { feature, .. }
            | Self::HandedOver { feature, .. }
            | Self::Planned { feature, .. }
            | Self::Checked { feature, .. }
            | Self::Reviewed { feature, .. }
            | Self::ConflictFound { feature, .. }
            | Self::RollbackRequested { feature, .. }
            | Self::RolledBack { feature, .. }
            | Self::Inspected { feature, .. }
            | Self::RevertAccepted { feature, .. }
            | Self::Committed { feature, .. }
            | Self::IterationFailed { feature, .. }
            | Self::EvidenceRead { feature, .. }
            | Self::GatePassed { feature, .. } | Self::GateFailed { feature, .. }
            | Self::GateRetried { feature, .. }
            | Self::Verified { feature }
            | Self::Approved { feature, .. }
            | Self::LandingAdmitted { feature }
            | Self::MergePrepared { feature, .. }
            | Self::LandingIntended { feature, .. }
            | Self::TargetMoved { feature }
            | Self::Landed { feature, .. }
            | Self::Blocked { feature, .. }
            | Self::Unblocked { feature }
            | Self::FeatureFailed { feature, .. }
            | Self::FeatureSkipped { feature, .. }
            | Self::FeatureCancelled { feature, .. }
            | Self::FeatureRetried { feature, .. } => Subject::Feature(feature),
        }
    }

    /// Its name in the log, the API and `tidegate events`.
    #[rustfmt::skip]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Submitted(_) => "submitted",
            Self::Claimed { .. } => "daemon-claimed",
            Self::Adopted { .. } => "daemon-adopted",
            Self::CancelRequested { .. } => "cancel-requested",
            Self::Held { .. } => "run-held",
            Self::Released { .. } => "run-released",
            Self::PriorityChanged { .. } => "priority-changed",
            Self::FeaturesAdded { .. } => "features-added",
            Self::Completed { .. } => "run-completed",
            Self::Failed { .. } => "run-failed",
            Self::Cancelled { .. } => "run-cancelled",
            Self::JobCreated { .. } => "job-created",
            Self::JobStarted { .. } => "job-started",
            Self::LauncherStarted { .. } => "launcher-started",
            Self::JobStopping { .. } => "job-stopping",
            Self::JobFinished { .. } => "job-finished",
            Self::JobQuarantined { .. } => "job-quarantined",
            Self::JobStalled { .. } => "stalled",
            Self::JobWentOn { .. } => "stall-cleared",
            Self::Progress { .. } => "progress",
            Self::AgentRegistered { .. } => "agent-registered",
            Self::AgentExited { .. } => "agent-exited",
            Self::AgentsAdopted { .. } => "agent-runtime-adopted",
            Self::Resuming { .. } => "launcher-resuming",
            Self::StatusReconciled { .. } => "launcher-status-reconciled",
            Self::FailedBeforeStatus { .. } => "failed-before-status",
            Self::AgentsSwept { .. } => "agents-swept",
            Self::Talk(talk) => talk.kind(),
            Self::Telling(fact) => fact.kind(),
            Self::FeatureAdmitted { .. } => "feature-admitted",
            Self::LocksAwaited { .. } => "locks-awaited", Self::LocksTaken { .. } => "locks-taken",
            Self::WorktreeReady { .. } => "worktree-ready",
            Self::WorktreeFurnished { .. } => "worktree-furnished",
            Self::WorktreeSetUp { .. } => "worktree-set-up",
            Self::AttemptFailed { .. } => "attempt-failed",
            Self::RetryDue { .. } => "retry-due",
            Self::BuilderFinished { .. } => "builder-finished",
            Self::SnapshotTaken { .. } => "snapshot-taken",
            Self::SnapshotSkipped { .. } => "snapshot-skipped",
            Self::RoleFinished { .. } => "role-finished",
            Self::ResultRefused { .. } => "result-refused",
            Self::HandedOver { .. } => "handed-over",
            Self::Planned { .. } => "planned",
            Self::Checked { .. } => "checked",
            Self::Reviewed { .. } => "reviewed",
            Self::ConflictFound { .. } => "conflict-found",
            Self::RollbackRequested { .. } => "rollback-requested",
            Self::RolledBack { .. } => "rolled-back",
            Self::Inspected { .. } => "inspected",
            Self::RevertAccepted { .. } => "revert-accepted",
            Self::Committed { .. } => "committed",
            Self::IterationFailed { .. } => "iteration-failed",
            Self::EvidenceRead { .. } => "evidence-read", Self::GatePassed { .. } => "gate-passed",
            Self::GateFailed { .. } => "gate-failed", Self::GateRetried { .. } => "gate-retried",
            Self::Verified { .. } => "verified", Self::Approved { .. } => "approved",
            Self::LandingAdmitted { .. } => "landing-admitted",
            Self::MergePrepared { .. } => "merge-prepared",
            Self::LandingIntended { .. } => "landing-intended",
            Self::TargetMoved { .. } => "target-moved",
            Self::Landed { .. } => "landed",
            Self::Blocked { .. } => "feature-blocked",
            Self::Unblocked { .. } => "feature-unblocked",
            Self::FeatureFailed { .. } => "feature-failed",
            Self::FeatureSkipped { .. } => "feature-skipped",
            Self::FeatureCancelled { .. } => "feature-cancelled",
            Self::FeatureRetried { .. } => "feature-retried",
        }
    }
}
