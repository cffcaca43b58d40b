//! What clients ask of the engine, after the edge has parsed it: only valid values from here on.

use tidegate_core::cleanup::{CleanupEnd, CleanupScope, Removal, Restoration};
use tidegate_core::home::Place;
use tidegate_core::ids::{
    AdhocId, AgentId, BlobId, FeatureId, JobId, LaneName, Oid, ProjectId, QuestionId, RoleName,
    RunId,
};
use tidegate_core::pause::Scope;
use tidegate_core::run::{Added, Work};

/// One request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Make a run.
    Submit(Box<Submit>),
    /// Have features built: in the lane's active run, or in a run of their own.
    Launch(Box<Launch>),
    /// Go on with a feature: in the run that has it, or in a run of its own.
    ResumeFeature {
        /// The repository.
        place: Place,
        /// The lane of a new run.
        lane: LaneName,
        /// Which feature.
        feature: FeatureId,
        /// Who asks.
        actor: String,
    },
    /// End a run.
    Cancel {
        /// Which.
        run: RunId,
        /// Who asks.
        actor: String,
    },
    /// Try a feature of a running run again.
    RetryFeature {
        /// Which run.
        run: RunId,
        /// Which of its features.
        feature: FeatureId,
        /// Who asks.
        actor: String,
    },
    /// Make a new run of what a terminal run did not land.
    RetryRun {
        /// Which.
        run: RunId,
        /// Who asks.
        actor: String,
    },
    /// Consent to the landing of a commit.
    Approve {
        /// Which run.
        run: RunId,
        /// Which of its features.
        feature: FeatureId,
        /// The commit that was looked at.
        commit: Oid,
        /// The review that the consent is for, where a token names it.
        review: Option<u32>,
        /// Who consents.
        actor: String,
    },
    /// Keep a run from beginning anything more, or let it begin again.
    Hold {
        /// Which.
        run: RunId,
        /// Whether it is to be held; else it is released.
        held: bool,
        /// Why.
        reason: Option<String>,
        /// Who asks.
        actor: String,
    },
    /// Change a run's place among those of its queue.
    Prioritise {
        /// Which.
        run: RunId,
        /// Higher ones first.
        priority: i32,
        /// Who asks.
        actor: String,
    },
    /// Clean up after ended runs.
    CleanUp {
        /// After which.
        scope: CleanupScope,
        /// Who asks.
        actor: String,
    },
    /// Record that a clean-up proved a thing to be safe to remove, right before it goes. The cleaner asks, no client.
    RecordRemoval {
        /// Which clean-up.
        number: u64,
        /// The thing.
        removal: Box<Removal>,
    },
    /// Record that a clean-up has ended. The cleaner asks, no client.
    EndCleanup {
        /// Which.
        number: u64,
        /// How.
        end: Box<CleanupEnd>,
    },
    /// Put a worktree of an ended run back to a snapshot.
    Restore {
        /// What is put back.
        restoration: Restoration,
        /// Who asks.
        actor: String,
    },
    /// Record that a worktree was put back, or could not be. The cleaner asks, no client.
    EndRestore {
        /// Which.
        number: u64,
        /// Why it could not be.
        failure: Option<String>,
    },
    /// Pause queues: no run of theirs is claimed.
    PauseLanes {
        /// Which.
        scope: Scope,
        /// Why.
        reason: Option<String>,
        /// Who asks.
        actor: String,
    },
    /// End a pause of queues.
    ResumeLanes {
        /// The pause, by what it is about.
        scope: Scope,
        /// Who asks.
        actor: String,
    },
    /// Put a feature's worktree back to a snapshot.
    Rollback {
        /// Which run.
        run: RunId,
        /// Which of its features.
        feature: FeatureId,
        /// The snapshot's number.
        to: u32,
        /// Who asks.
        actor: String,
    },
    /// Want a change otherwise.
    Deny {
        /// Which run.
        run: RunId,
        /// Which of its features.
        feature: FeatureId,
        /// The commit that was looked at.
        commit: Oid,
        /// Who denies.
        actor: String,
        /// What its builder is told.
        comments: String,
    },
    /// Ask people something, from inside a job.
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
    /// Answer a question.
    AnswerQuestion {
        /// Which.
        question: QuestionId,
        /// The words, or one of the offered answers by its number.
        answer: Wording,
        /// Who answers.
        actor: String,
    },
    /// Send a message to the agent of a feature.
    Send {
        /// Which run.
        run: RunId,
        /// Which of its features.
        feature: FeatureId,
        /// What it says.
        text: String,
        /// Whether the turn that is under way is to be broken off for it.
        interrupts: bool,
        /// Who sends it.
        actor: String,
    },
    /// Note that a job fetched messages, or has acted on them.
    Receive {
        /// The job.
        job: JobId,
        /// Their numbers.
        messages: Vec<u32>,
        /// Whether it has acted on them.
        acted: bool,
    },
    /// Start an agent for a launcher.
    StartAgent {
        /// Which run.
        run: RunId,
        /// The agent's id.
        agent: AgentId,
        /// Its role, for people.
        role: Option<RoleName>,
        /// Its argv.
        argv: Vec<String>,
        /// Whether it gets a terminal of its own.
        terminal: bool,
    },
    /// The files of a launcher's job directory changed.
    Nudge {
        /// Which run.
        run: RunId,
    },
    /// Register a repository.
    RegisterProject {
        /// Where it is.
        place: Place,
    },
    /// Forget a repository.
    RemoveProject {
        /// Which.
        project: ProjectId,
    },
    /// A repository was moved.
    MoveProject {
        /// Which.
        project: ProjectId,
        /// Where it is now.
        place: Place,
    },
}

/// How an answer is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wording {
    /// In words; those of an offered answer are that answer.
    Text(String),
    /// By the number of an offered answer, from 1.
    Choice(u32),
}

/// A run to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submit {
    /// The repository; registered when it is not yet.
    pub place: Place,
    /// The project that the client named; must be the repository's.
    pub project: Option<ProjectId>,
    /// Its lane.
    pub lane: LaneName,
    /// Set for a queue of its own.
    pub adhoc: Option<AdhocId>,
    /// Its place among the runs of its queue: higher ones first.
    pub priority: i32,
    /// Who submits.
    pub actor: String,
    /// The client's environment, encoded by [`crate::environment::encode`].
    pub env: Vec<u8>,
    /// What it executes.
    pub work: Work,
    /// The pinned bytes that the work names.
    pub blobs: Vec<(BlobId, Vec<u8>)>,
    /// The run whose job submits it.
    pub parent: Option<RunId>,
}

/// Features that are to be built, checked against the run that they would join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The repository.
    pub place: Place,
    /// The lane.
    pub lane: LaneName,
    /// The features as they were asked for, sorted.
    pub features: Vec<FeatureId>,
    /// Who asks.
    pub actor: String,
    /// Where they go, as the lane was when it was looked at.
    pub way: LaunchWay,
}

/// Where launched features go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchWay {
    /// They join the lane's active run.
    Join {
        /// The run.
        run: RunId,
        /// What joins.
        added: Box<Added>,
        /// The pinned bytes that it names.
        blobs: Vec<(BlobId, Vec<u8>)>,
    },
    /// They make a run of their own.
    Start(Box<Submit>),
    /// Nowhere: the lane's active run is a launcher's.
    Nowhere,
}

/// Names one request of one actor for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// Who sent it.
    pub actor: String,
    /// The client's key.
    pub key: String,
    /// SHA-256 of the body, hex.
    pub body_hash: String,
    /// What was asked, for the record.
    pub args: serde_json::Value,
}

impl Command {
    /// Its name in the record of commands.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Submit(_) => "run.submit",
            Self::Launch(_) => "launch.submit",
            Self::ResumeFeature { .. } => "feature.resume",
            Self::Cancel { .. } => "run.cancel",
            Self::RetryFeature { .. } => "feature.retry",
            Self::RetryRun { .. } => "run.retry",
            Self::Approve { .. } => "review.approve",
            Self::Deny { .. } => "review.deny",
            Self::Hold { held: true, .. } => "run.pause",
            Self::Hold { held: false, .. } => "run.resume",
            Self::Prioritise { .. } => "run.prioritise",
            Self::CleanUp { .. } => "home.cleanup",
            Self::RecordRemoval { .. } => "cleanup.record",
            Self::EndCleanup { .. } => "cleanup.end",
            Self::Restore { .. } => "feature.restore",
            Self::EndRestore { .. } => "restore.end",
            Self::PauseLanes { .. } => "lane.pause",
            Self::ResumeLanes { .. } => "lane.resume",
            Self::Rollback { .. } => "feature.rollback",
            Self::Ask { .. } => "question.ask",
            Self::AnswerQuestion { .. } => "question.answer",
            Self::Send { .. } => "feature.send",
            Self::Receive { .. } => "message.receive",
            Self::StartAgent { .. } => "agent.start",
            Self::Nudge { .. } => "run.nudge",
            Self::RegisterProject { .. } => "project.register",
            Self::RemoveProject { .. } => "project.remove",
            Self::MoveProject { .. } => "project.move",
        }
    }

    /// The run and the feature that it is about, where it names them.
    pub fn about(&self) -> (Option<&RunId>, Option<&FeatureId>) {
        match self {
            Self::RetryFeature { run, feature, .. }
            | Self::Approve { run, feature, .. }
            | Self::Deny { run, feature, .. }
            | Self::Send { run, feature, .. }
            | Self::Rollback { run, feature, .. } => (Some(run), Some(feature)),
            Self::Ask { job, .. } | Self::Receive { job, .. } => (Some(job.run()), None),
            Self::AnswerQuestion { question, .. } => (Some(question.run()), None),
            Self::Launch(launch) => (None, launch.features.first()),
            Self::ResumeFeature { feature, .. } => (None, Some(feature)),
            Self::Restore { restoration, .. } => {
                (Some(&restoration.run), Some(&restoration.feature))
            }
            Self::Cancel { run, .. }
            | Self::RetryRun { run, .. }
            | Self::Hold { run, .. }
            | Self::Prioritise { run, .. }
            | Self::StartAgent { run, .. }
            | Self::Nudge { run } => (Some(run), None),
            Self::CleanUp { scope, .. } => (scope.run.as_ref(), None),
            Self::Submit(_)
            | Self::RecordRemoval { .. }
            | Self::EndCleanup { .. }
            | Self::EndRestore { .. }
            | Self::PauseLanes { .. }
            | Self::ResumeLanes { .. }
            | Self::RegisterProject { .. }
            | Self::RemoveProject { .. }
            | Self::MoveProject { .. } => (None, None),
        }
    }
}
