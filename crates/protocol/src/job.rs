//! One job of a run: a supervised process tree.

use serde::{Deserialize, Serialize};

use crate::{AttachMode, SaidDoc, SessionBackend, Timestamp, ToldDoc, UsageDoc};

/// What names a process for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityDoc {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// Boot id of the kernel that gave the pid.
    pub boot_id: String,
    /// Inode of its pidfd where the kernel has pidfs, else 0.
    pub pidfs_inode: u64,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobDoc {
    /// Its id.
    pub job_id: String,
    /// Its run.
    pub run_id: String,
    /// What it is for: `launcher`, `launcher_agent`, `agent`, `gate`.
    pub purpose: String,
    /// The n-th job for that purpose.
    pub attempt: u32,
    /// The feature that it works for.
    pub feature: Option<String>,
    /// The gate that it runs.
    pub gate: Option<String>,
    /// The agent that it is.
    pub agent_id: Option<String>,
    /// The iteration that it works in.
    pub iteration: Option<u32>,
    /// Where it stands: `launching`, `running`, `stopping`, `finished`, `quarantined`.
    pub state: String,
    /// Why it ended: `exited`, `signalled`, `stopped`, `timeout`, `limit`, `oom`, `lost_shim`,
    /// `lost_reboot`, `exec_failed`, `storage`.
    pub reason: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its main process.
    pub pid: Option<u32>,
    /// Its shim.
    pub runner_pid: Option<u32>,
    /// When it was decided on.
    pub created_at: Timestamp,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it ran, in milliseconds.
    pub ran_ms: Option<u64>,
    /// Output that it wrote, in bytes.
    pub output_bytes: Option<u64>,
    /// More for a person.
    pub detail: Option<String>,
    /// Whether a person must look.
    pub requires_human: bool,
    /// What its standard streams are.
    pub session_backend: SessionBackend,
    /// How one looks at it.
    pub attach_mode: AttachMode,
    /// Its directory.
    pub dir: String,
    /// Whether this is what the store says.
    pub recorded: bool,
    /// The id of the conversation that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whether that was begun by an earlier job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
    /// What its agent told by its stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<ToldDoc>,
    /// What its agents used, by their own figures; absent when none told any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageDoc>,
    /// What its agent said last of its own work, by its tools: words, and no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<SaidDoc>,
}

/// The jobs of a run, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobList {
    /// The run.
    pub run_id: String,
    /// Its jobs.
    pub jobs: Vec<JobDoc>,
}
