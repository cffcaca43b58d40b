//! The run document: what `status`, `list` and the API say of a run.

use serde::{Deserialize, Serialize};

use crate::UsageDoc;
use crate::{
    AttachMode, Disposition, FeatureDoc, IdentityDoc, PauseDoc, RecoveryState, ResumeAction,
    RunKind, RunStatus, SessionBackend, Text, Timestamp,
};

/// One run. Fields that do not apply are null, never absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDoc {
    /// Its id.
    pub run_id: String,
    /// Its project.
    pub project: String,
    /// Its lane.
    pub lane: String,
    /// Its ad-hoc queue.
    pub adhoc_run_id: Option<String>,
    /// What it works at.
    pub kind: RunKind,
    /// A line for people: the plan's title, or the launcher's command.
    pub title: String,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When its launcher, or its first job, started.
    pub started_at: Option<Timestamp>,
    /// When the last fact about it was recorded.
    pub updated_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The argv as submitted; empty for plans.
    pub launcher_args: Vec<Text>,
    /// The launcher's own process id.
    pub launcher_pid: Option<u32>,
    /// The latest attempt's exit record, whether it exists yet or not.
    pub launcher_status_path: Option<String>,
    /// The latest attempt's current output segment.
    pub launcher_log_path: Option<String>,
    /// The latest attempt's job directory; null while pending.
    pub state_path: Option<String>,
    /// The exit code of the run, where one is known.
    pub exit_code: Option<i32>,
    /// The signal that ended the launcher, where one is known.
    pub signal: Option<i32>,
    /// The wave that it is at.
    pub active_wave: Option<u32>,
    /// How it ended, or what it is about to be.
    pub terminal_disposition: Disposition,
    /// How sound its supervision is.
    pub recovery_state: RecoveryState,
    /// What happens next without its launcher.
    pub resume_action: Option<ResumeAction>,
    /// Times that its launcher was started again; never falls.
    pub resume_attempts: u32,
    /// The limit of resumes without progress.
    pub resume_limit: Option<u32>,
    /// What its jobs' standard streams are.
    pub session_backend: SessionBackend,
    /// The daemon that supervises it; null when none does.
    pub supervisor_id: Option<String>,
    /// Derived from the held lock when read; null when nobody holds it.
    pub lease_expires_at: Option<Timestamp>,
    /// Why it is as it is; null when its reason is gone.
    pub detail: Option<String>,
    /// Agents of the run.
    pub agent_runtime_summary: Vec<AgentDoc>,
    /// What a person should look at.
    pub attention: Vec<AttentionDoc>,
    /// Whether this is what the store says; false when derived from facts that no daemon recorded.
    pub recorded: bool,
    /// Whether what it left was deleted: worktrees, branches, snapshots and output of its jobs.
    pub deleted: bool,
    /// Whether a daemon supervises it now.
    pub supervised: bool,
    /// Identity of the launcher.
    pub launcher_identity: Option<IdentityDoc>,
    /// Identity of the launcher's shim.
    pub shim_identity: Option<IdentityDoc>,
    /// Fencing epoch of the daemon that holds the home, as the lock file says.
    pub epoch: Option<u64>,
    /// Ages of facts when this was read.
    pub ages: Ages,
    /// Features, for plan runs.
    pub features: Vec<FeatureDoc>,
    /// Path of the plan, for plan runs.
    pub plan_path: Option<String>,
    /// Target ref, for plan runs.
    pub target: Option<String>,
    /// Who submitted it.
    pub actor: String,
    /// The run whose job submitted it, or whose failed half it repeats.
    pub parent_run_id: Option<String>,
    /// Who asked for its end.
    pub cancel_requested_by: Option<String>,
    /// Its place among the runs of its queue: higher ones first, within one by submit.
    #[serde(default)]
    pub priority: i32,
    /// Set while a person keeps it from beginning anything more.
    #[serde(default)]
    pub held: Option<PauseDoc>,
    /// Set while it waits in a queue that is paused.
    #[serde(default)]
    pub paused: Option<PauseDoc>,
    /// What it waits for, in one line; null when it does not wait.
    pub waits_for: Option<String>,
    /// What its agents used, by their own figures; absent when none told any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageDoc>,
}

/// Ages of facts at the moment of reading, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ages {
    /// Since the submit.
    pub submitted_ms: u64,
    /// Since its first start.
    pub started_ms: Option<u64>,
    /// Since the last recorded fact.
    pub updated_ms: u64,
    /// Since its end.
    pub completed_ms: Option<u64>,
}

/// One agent of a run, latest attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDoc {
    /// Its id within the run; `<feature>/<role>` for agents of a plan.
    pub agent_id: String,
    /// Its role.
    pub role: Option<String>,
    /// The feature that it works for.
    pub feature: Option<String>,
    /// Its job, when Tidegate started it.
    pub job_id: Option<String>,
    /// The n-th attempt.
    pub attempt: u32,
    /// The agent's process.
    pub pid: Option<u32>,
    /// Its process group.
    pub pgid: Option<u32>,
    /// Its shim, when it has one.
    pub runner_pid: Option<u32>,
    /// The process that does the work; the same as `pid` here.
    pub executor_pid: Option<u32>,
    /// When it last gave a sign of life by itself.
    pub last_heartbeat_at: Option<Timestamp>,
    /// Age of that sign when read, in milliseconds.
    pub heartbeat_age_ms: Option<u64>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How it ended, or that it runs.
    pub terminal_disposition: Disposition,
    /// What its standard streams are.
    pub session_backend: SessionBackend,
    /// How one looks at it.
    pub attach_mode: AttachMode,
    /// Its log.
    pub log_path: Option<String>,
    /// Its terminal session, as its launcher named it.
    pub session: Option<String>,
    /// It runs on another host: only heartbeats speak for it.
    pub remote: bool,
    /// Whether it is alive: proved, disproved, or not known.
    pub alive: Option<bool>,
    /// When it started or registered.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Whether this is what the store says.
    pub recorded: bool,
}

/// One thing that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttentionDoc {
    /// A typed reason: a blocked reason, `review`, `quarantine`, `requires_human`, `corrupt`.
    pub reason: String,
    /// The feature, when it is about one.
    pub feature: Option<String>,
    /// The job, when it is about one.
    pub job_id: Option<String>,
    /// A line for people.
    pub message: String,
    /// What ends it.
    pub unblocks: String,
    /// The exact commit that waits for consent.
    pub commit: Option<String>,
}

impl AttentionDoc {
    /// The reason of a warning about a job that gives no sign of life.
    pub const STALLED: &str = "stalled";

    /// Whether nothing waits for a person: it is said, and goes away by itself.
    pub fn is_warning(&self) -> bool {
        self.reason == Self::STALLED
    }
}

/// A page of runs, in the order of the first screen: waits for a person, running, failed, the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunDoc>,
    /// Cursor of the next page; null when this is the last one.
    pub next: Option<String>,
    /// Runs whose records do not read back. They hide no other run.
    pub corrupt: Vec<CorruptDoc>,
}

/// A run whose records do not read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CorruptDoc {
    /// Its id, where that much is known.
    pub run_id: Option<String>,
    /// What does not read back.
    pub message: String,
}
