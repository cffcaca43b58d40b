//! Launchers: a user's own orchestrating command, and what becomes of its run.

mod fate;
mod resume;

pub use fate::{Fate, Known, LauncherEnd, fate};
pub use resume::{Selection, SelectionStyle, final_wave, resume_argv, start_argv};

use std::collections::BTreeMap;

use crate::exit::{Exit, Identity};
use crate::ids::{AgentId, JobId};
use crate::time::WallMs;

/// What a launcher run was submitted with. Never changes after the submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherSpec {
    /// The argv as submitted; resolved on the captured `PATH` at start.
    pub argv: Vec<String>,
    /// Working directory: the repository's root.
    pub cwd: String,
    /// The waves that it was asked to run.
    pub selection: Selection,
    /// How it learns of the selection beside its environment.
    pub style: SelectionStyle,
    /// How often it may be started again without progress.
    pub resumes_max: u32,
    /// Limit of one attempt, in milliseconds on the monotonic clock.
    pub timeout_ms: Option<u64>,
    /// Whether it gets a terminal of its own, which people can attach to.
    pub terminal: bool,
    /// Silence after which it is said, in milliseconds; 0: never, `None`: the usual.
    pub stall_after_ms: Option<u64>,
}

/// What a launcher told of its progress: the newest entry of its journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Journal {
    /// The wave that it works on.
    pub wave: Option<u32>,
    /// Its own word for what it does.
    pub phase: Option<String>,
    /// Set when it says that the whole run has ended.
    pub finalized: Option<Finalized>,
    /// When it said so, on the wall clock.
    pub at: WallMs,
}

/// A launcher's own final word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finalized {
    /// Whether the run succeeded.
    pub completed: bool,
    /// The exit code that it gave, if any.
    pub exit_code: Option<i32>,
}

/// An agent that a launcher registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The process, for agents of this host.
    pub process: AgentProcess,
    /// Its log, as the launcher named it.
    pub log: Option<String>,
    /// Its terminal session, as the launcher named it.
    pub session: Option<String>,
    /// When it registered, on the wall clock.
    pub at: WallMs,
    /// Its last heartbeat, on the wall clock.
    pub heartbeat_at: WallMs,
    /// Its end, when one was recorded.
    pub end: Option<AgentEnd>,
}

/// Where a registered agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentProcess {
    /// On this host; its identity was taken when it registered.
    Local(Identity),
    /// Elsewhere: only heartbeats speak for it, and it is never signalled.
    Remote,
}

/// How a registered agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEnd {
    /// The exit code that was reported.
    pub code: Option<i32>,
    /// The disposition that was reported: `completed`, `failed` or `terminated`.
    pub disposition: AgentDisposition,
    /// When, on the wall clock.
    pub at: WallMs,
}

/// The closed set of an agent's dispositions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentDisposition {
    /// Recorded, not known to run.
    Launching,
    /// Runs.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Was ended.
    Terminated,
}

/// The changing half of a launcher run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launcher {
    /// The latest attempt.
    pub job: Option<JobId>,
    /// Times that it was started again; never falls.
    pub resumes: u32,
    /// Times since the journal last recorded a later wave than the one resumed.
    pub resumes_since_progress: u32,
    /// The wave of the latest resume.
    pub resumed_wave: Option<u32>,
    /// Its journal's newest entry.
    pub journal: Option<Journal>,
    /// The wave recorded by a resume, when the journal has none.
    pub active_wave: Option<u32>,
    /// Agents that it registered.
    pub registered: BTreeMap<AgentId, Registered>,
    /// Agents that Tidegate started for it, by their job.
    pub started: BTreeMap<AgentId, JobId>,
    /// Set while its agents live on without it.
    pub degraded: Option<Degraded>,
    /// Set once its end is known: how the run was settled.
    pub settled: Option<Settled>,
    /// Whether its registered agents were ended after that.
    pub swept: bool,
}

/// The launcher is gone, its agents are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Degraded {
    /// The launcher's end.
    pub end: Exit,
    /// The agents that were found alive.
    pub agents: Vec<AgentId>,
}

/// How a launcher run came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// What the run ends as.
    pub end: End,
    /// Which fact decided.
    pub source: Source,
    /// The code, where one is known.
    pub code: Option<i32>,
    /// The signal, where one is known.
    pub signal: Option<i32>,
    /// When the deciding fact was made, on the wall clock.
    pub at: WallMs,
    /// The wave reached.
    pub wave: Option<u32>,
    /// More for a person to read.
    pub detail: Option<String>,
}

/// What a launcher run ends as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Well.
    Completed,
    /// Badly.
    Failed,
    /// Because someone asked for it.
    Cancelled {
        /// Who asked.
        actor: String,
    },
}

/// The fact that decided the end of a launcher run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The launcher's exit record.
    ExitRecord,
    /// The launcher's own journal.
    ProgressJournal,
    /// Nothing: it was lost before it left a word.
    Nothing,
}
