//! Everything that can change a run, and how an input is refused.

use super::conversing::Conversed;
use super::effect::EffectKey;
use super::enrol::Added;
use super::grant::Grant;
use super::message::TypeOutcome;
use super::outcome::{
    CaptureOutcome, CommitOutcome, ConflictOutcome, InspectOutcome, MergeOutcome, ResultOutcome,
    RollbackOutcome, UpdateOutcome, WorktreeOutcome,
};
use crate::evidence::Evidence;
use crate::exit::{Exit, Started};
use crate::ids::{AgentId, FeatureId, JobId, Oid, QuestionId, RoleName};
use crate::launcher::{AgentEnd, Journal, Registered};
use crate::told::Told;

/// One thing that happened or is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The queue gives the run its turn.
    Claim {
        /// The daemon that claims.
        supervisor: String,
    },
    /// A new daemon takes the run over.
    Adopt {
        /// The daemon that adopts.
        supervisor: String,
    },
    /// Someone asks for the end of the run.
    Cancel {
        /// Who.
        actor: String,
    },
    /// Someone keeps the run from beginning anything more.
    Hold {
        /// Who.
        actor: String,
        /// Why.
        reason: Option<String>,
    },
    /// Someone lets a held run begin again.
    Release {
        /// Who.
        actor: String,
    },
    /// Someone changes its place among the runs of its queue.
    Prioritise {
        /// The new one: higher ones first.
        priority: i32,
        /// Who.
        actor: String,
    },
    /// Someone asks to try a feature of a running run again.
    RetryFeature {
        /// Which.
        feature: FeatureId,
        /// Who.
        actor: String,
    },
    /// Someone has features join the run.
    AddFeatures {
        /// Which.
        added: Box<Added>,
        /// Who.
        actor: String,
    },
    /// Someone consents to the landing of a feature's commit.
    Approve {
        /// Which.
        feature: FeatureId,
        /// The commit that was looked at.
        commit: Oid,
        /// Who.
        actor: String,
    },
    /// Someone wants a feature that waits for consent to be changed.
    Deny {
        /// Which.
        feature: FeatureId,
        /// The commit that was looked at.
        commit: Oid,
        /// Who.
        actor: String,
        /// What its builder is told.
        comments: String,
    },
    /// Someone asks to put a feature's worktree back to a snapshot.
    Rollback {
        /// Which.
        feature: FeatureId,
        /// The snapshot's number.
        to: u32,
        /// Who.
        actor: String,
    },
    /// A job asks people something.
    Ask {
        /// The job.
        job: JobId,
        /// What it asks.
        text: String,
        /// The answers that it offers.
        choices: Vec<String>,
        /// Whether its agent ends its turn and cannot go on without the answer.
        waits: bool,
    },
    /// Someone sends a message to a feature's agent.
    Send {
        /// Which feature.
        feature: FeatureId,
        /// What it says.
        text: String,
        /// Whether the turn that is under way is to be broken off for it, where that can be.
        interrupts: bool,
        /// Who.
        actor: String,
    },
    /// A job fetched messages that it was sent, or says that it has acted on them.
    Receive {
        /// The job.
        job: JobId,
        /// Their numbers.
        messages: Vec<u32>,
        /// Whether it has acted on them.
        acted: bool,
    },
    /// Someone answers a question.
    AnswerQuestion {
        /// Which.
        question: QuestionId,
        /// The words.
        text: String,
        /// Which of the offered answers they are, from 1.
        choice: Option<u32>,
        /// Who.
        actor: String,
    },
    /// The launcher asks Tidegate to start an agent.
    StartAgent {
        /// The agent's id within the run.
        agent: AgentId,
        /// Its role, for people.
        role: Option<RoleName>,
        /// Its argv.
        argv: Vec<String>,
        /// Whether it gets a terminal of its own.
        terminal: bool,
    },
    /// Admission gives a resource.
    Grant(Grant),
    /// An adapter saw something, whether asked or not.
    Report(Report),
    /// An adapter answers an effect; late when that is no longer open.
    Answer {
        /// The effect.
        key: EffectKey,
        /// What came of it.
        report: Report,
    },
}

/// What an adapter saw.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a report is short-lived, and the largest is the commonest"
)]
pub enum Report {
    /// The job's main process exists.
    JobStarted {
        /// The job.
        job: JobId,
        /// The record.
        started: Started,
    },
    /// The job ended: its record was read, or its loss was concluded.
    JobFinished {
        /// The job.
        job: JobId,
        /// Its start, where its record survived.
        started: Option<Started>,
        /// Its end.
        exit: Exit,
        /// What its launcher left in its files, read after the end.
        ingested: Ingested,
        /// What a gate left beside its exit code, read after the end.
        evidence: Option<Box<Evidence>>,
    },
    /// The job's records contradict each other.
    JobQuarantined {
        /// The job.
        job: JobId,
        /// What contradicts.
        detail: String,
    },
    /// A launcher's files were read, or its agents were looked at.
    Ingested(Ingested),
    /// The agents of a settled run were ended.
    AgentsSwept {
        /// Those that could not be.
        remaining: Vec<AgentId>,
    },
    /// A worktree was made or brought up to date.
    Worktree {
        /// The feature.
        feature: FeatureId,
        /// What came of it.
        outcome: WorktreeOutcome,
    },
    /// A worktree was captured, or not.
    Captured {
        /// The feature.
        feature: FeatureId,
        /// The agent's job.
        job: JobId,
        /// What came of it.
        outcome: CaptureOutcome,
    },
    /// A worktree was put back to a snapshot, or not.
    RolledBack {
        /// The feature.
        feature: FeatureId,
        /// The snapshot's number.
        to: u32,
        /// What came of it.
        outcome: RollbackOutcome,
    },
    /// What a builder left was committed, or not.
    Commit {
        /// The feature.
        feature: FeatureId,
        /// The builder's job.
        job: JobId,
        /// What came of it.
        outcome: CommitOutcome,
    },
    /// What an agent was to say was read, or not.
    Result {
        /// The feature.
        feature: FeatureId,
        /// The agent's job.
        job: JobId,
        /// What came of it.
        outcome: ResultOutcome,
    },
    /// A conflict was laid out in the worktree for a reconciler, or not.
    Conflict {
        /// The feature.
        feature: FeatureId,
        /// What came of it.
        outcome: ConflictOutcome,
    },
    /// A commit was looked at for what it did to its checks, or not.
    Inspected {
        /// The feature.
        feature: FeatureId,
        /// The commit.
        commit: Oid,
        /// What came of it.
        outcome: InspectOutcome,
    },
    /// A merge was prepared, or not.
    Merge {
        /// The feature.
        feature: FeatureId,
        /// What came of it.
        outcome: MergeOutcome,
    },
    /// The target was moved, or not.
    Update {
        /// The feature.
        feature: FeatureId,
        /// The commit that it was to be moved to.
        commit: Oid,
        /// What came of it.
        outcome: UpdateOutcome,
    },
    /// The work was not begun: another home serves the repository.
    RepoHeld {
        /// The feature.
        feature: FeatureId,
        /// Who holds it.
        by: String,
    },
    /// Another home has given the repository back.
    RepoFree {
        /// The feature.
        feature: FeatureId,
    },
    /// The target's remote answers again.
    RemoteBack {
        /// The feature.
        feature: FeatureId,
    },
    /// Something else of the target's checkout stands in the way than was told.
    TargetDirty {
        /// The feature.
        feature: FeatureId,
        /// The paths.
        paths: Vec<String>,
        /// What is the matter with the checkout.
        why: String,
    },
    /// The time of a feature's next attempt has come.
    RetryDue {
        /// The feature.
        feature: FeatureId,
    },
    /// A job gave no sign of life for a while.
    JobSilent {
        /// The job.
        job: JobId,
        /// For how long, in milliseconds.
        silent_ms: u64,
    },
    /// A job that gave no sign of life does again.
    JobActive {
        /// The job.
        job: JobId,
    },
    /// A message was typed into a job's terminal, or could not be.
    MessageTyped {
        /// The feature.
        feature: FeatureId,
        /// Its number.
        message: u32,
        /// The job.
        job: JobId,
        /// What came of it.
        outcome: TypeOutcome,
    },
    /// A conversation with an agent told something beside its work.
    Conversed {
        /// The job.
        job: JobId,
        /// What.
        fact: Conversed,
    },
    /// The checkout of the target no longer stands in the way.
    TargetClean {
        /// The feature.
        feature: FeatureId,
    },
}

/// What was read from a launcher's files and seen of its agents, or of an agent's own output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingested {
    /// The journal's newest entry.
    pub journal: Option<Journal>,
    /// Agents registered, whether new or known.
    pub registered: Vec<(AgentId, Registered)>,
    /// Ends of agents, whether new or known.
    pub ends: Vec<(AgentId, AgentEnd)>,
    /// Agents without an end that were looked at and found gone, as they were registered: proved dead,
    /// or a remote one's heartbeat not fresh. Who is not named may be alive, as who registered meanwhile.
    pub gone: Vec<(AgentId, Registered)>,
    /// What an agent told by its stream.
    pub told: Option<Told>,
}

/// Why an input changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The state that was asked for is there already.
    #[error("already {0}")]
    Already(&'static str),
    /// The input is not legal in this state.
    #[error("not possible while {0}")]
    NotWhile(String),
    /// What was named is no longer the newest.
    #[error("{0}")]
    Outdated(&'static str),
    /// The report is about something that the run no longer waits for.
    #[error("late report: {0}")]
    Late(&'static str),
    /// The run has no such part.
    #[error("no such {0}")]
    Unknown(&'static str),
}
