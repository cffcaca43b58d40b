//! `exit`: how a job ended. Its presence is the end; there is no other proof of it.

use serde::{Deserialize, Serialize};
use tidegate_core::exit::{Exit, Reason};
use tidegate_core::time::WallMs;

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// Version of the record.
    pub v: u32,
    /// Job id.
    pub job: String,
    /// Run id.
    pub run: String,
    /// Attempt number.
    pub attempt: u32,
    /// Nonce of the spec.
    pub nonce: String,
    /// Generation of the spec.
    pub generation: u64,
    /// Epoch of the spec.
    pub epoch: u64,
    /// Boot id of the kernel that ran it.
    pub boot_id: String,
    /// Why it ended.
    pub reason: ReasonRecord,
    /// Exit code of the main process, if it ended with one.
    pub code: Option<i32>,
    /// Signal that ended the main process, if one did.
    pub signal: Option<i32>,
    /// Whether that signal left a core dump.
    #[serde(default)]
    pub core_dumped: bool,
    /// More for a person to read.
    pub detail: Option<String>,
    /// Start on the wall clock, in milliseconds.
    pub started_wall_ms: u64,
    /// End of the main process on the wall clock, in milliseconds.
    pub ended_wall_ms: u64,
    /// From release to end of the main process on `CLOCK_MONOTONIC`, in milliseconds.
    pub ran_ms: u64,
    /// What the main process and those it waited for used.
    pub usage: Usage,
    /// What it wrote.
    pub bytes: Bytes,
    /// Pids of processes that were still there and were ended, the first 64.
    #[serde(default)]
    pub swept: Vec<u32>,
    /// Ids of registered agents that were left alive.
    #[serde(default)]
    pub spared: Vec<String>,
    /// What could not be ended or recorded, for a person. Empty when the tree is proved empty.
    #[serde(default)]
    pub requires_human: Vec<String>,
}

impl ExitRecord {
    /// The part that decisions need.
    pub fn to_core(&self) -> Exit {
        let detail = self.detail.iter().chain(&self.requires_human);
        let detail = detail.map(String::as_str).collect::<Vec<_>>().join("; ");
        Exit {
            reason: self.reason.to_core(),
            code: self.code,
            signal: self.signal,
            at: WallMs(self.ended_wall_ms),
            ran_ms: self.ran_ms,
            output_bytes: self.bytes.stdout + self.bytes.stderr,
            detail: (!detail.is_empty()).then_some(detail),
            requires_human: !self.requires_human.is_empty(),
        }
    }
}

/// Why a job ended. Mirror of core's closed set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is documented at core's `Reason`")]
pub enum ReasonRecord {
    Exited,
    Signalled,
    Stopped { actor: String },
    Timeout,
    Limit,
    Oom,
    LostShim,
    LostReboot,
    ExecFailed,
    Storage,
}

impl ReasonRecord {
    fn to_core(&self) -> Reason {
        match self {
            Self::Exited => Reason::Exited,
            Self::Signalled => Reason::Signalled,
            Self::Stopped { actor } => Reason::Stopped { actor: actor.clone() },
            Self::Timeout => Reason::Timeout,
            Self::Limit => Reason::Limit,
            Self::Oom => Reason::Oom,
            Self::LostShim => Reason::LostShim,
            Self::LostReboot => Reason::LostReboot,
            Self::ExecFailed => Reason::ExecFailed,
            Self::Storage => Reason::Storage,
        }
    }
}

/// What a process and the children that it waited for used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in user mode, in microseconds.
    pub user_us: u64,
    /// Processor time in the kernel, in microseconds.
    pub system_us: u64,
    /// Largest resident set, in KiB.
    pub max_rss_kib: u64,
}

/// What a job wrote, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bytes {
    /// To standard output.
    pub stdout: u64,
    /// To standard error.
    pub stderr: u64,
    /// Of both, drained but not stored because the disk refused them.
    pub lost: u64,
}
