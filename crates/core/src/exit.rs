//! How a job was started and how it ended: the facts that the shim recorded.

use crate::time::WallMs;

/// What names a process for good: a pid alone is reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot (`/proc/PID/stat`, field 22).
    pub start_ticks: u64,
    /// Boot id of the kernel that gave the pid.
    pub boot_id: String,
    /// Inode of its pidfd where the kernel has pidfs (6.9 and newer), else 0.
    pub pidfs_inode: u64,
}

/// The `started` record: this attempt began, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The shim that owns the job.
    pub shim: Identity,
    /// The job's main process.
    pub child: Identity,
    /// When, on the wall clock.
    pub at: WallMs,
}

/// Why a job ended. Closed: what is not listed is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Its main process ended by itself.
    Exited,
    /// A signal that Tidegate did not send ended it.
    Signalled,
    /// Someone asked for its end.
    Stopped {
        /// Who asked.
        actor: String,
    },
    /// It ran longer than its limit.
    Timeout,
    /// It went over another limit.
    Limit,
    /// The kernel ended it for its memory.
    Oom,
    /// Its shim vanished without a record.
    LostShim,
    /// The host restarted.
    LostReboot,
    /// Its program could not be executed.
    ExecFailed,
    /// Its records could not be stored.
    Storage,
}

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Why it ended.
    pub reason: Reason,
    /// Its exit code, when its main process ended with one.
    pub code: Option<i32>,
    /// The signal that ended it, when one did.
    pub signal: Option<i32>,
    /// When, on the wall clock.
    pub at: WallMs,
    /// How long it ran on the monotonic clock, in milliseconds.
    pub ran_ms: u64,
    /// Output that it wrote, in bytes.
    pub output_bytes: u64,
    /// More for a person to read: an errno text, the processes that could not be ended.
    pub detail: Option<String>,
    /// Whether a person must look: something of the tree could not be ended.
    pub requires_human: bool,
}

impl Exit {
    /// One line about it, for people.
    pub fn describe(&self) -> String {
        let what = match (&self.reason, self.code, self.signal) {
            (Reason::Exited, Some(code), _) => format!("exit code {code}"),
            (Reason::Exited, None, _) => "ended without a code".to_owned(),
            (Reason::Signalled, _, Some(signal)) => format!("signal {signal}"),
            (Reason::Signalled, _, None) => "a signal".to_owned(),
            (Reason::Stopped { actor }, _, _) => format!("stopped by {actor}"),
            (Reason::Timeout, _, _) => format!("timeout after {} ms", self.ran_ms),
            (Reason::Limit, _, _) => "over its limit".to_owned(),
            (Reason::Oom, _, _) => "out of memory".to_owned(),
            (Reason::LostShim, _, _) => "its shim was lost".to_owned(),
            (Reason::LostReboot, _, _) => "lost by a reboot".to_owned(),
            (Reason::ExecFailed, _, _) => "could not be executed".to_owned(),
            (Reason::Storage, _, _) => "its records could not be stored".to_owned(),
        };
        match &self.detail {
            Some(detail) => format!("{what}: {detail}"),
            None => what,
        }
    }

    /// An end that Tidegate concludes because nobody recorded one.
    pub fn lost(reason: Reason, at: WallMs) -> Self {
        Self {
            reason,
            code: None,
            signal: None,
            at,
            ran_ms: 0,
            output_bytes: 0,
            detail: None,
            requires_human: false,
        }
    }

    /// Whether the main process ended by itself with code 0.
    pub fn is_success(&self) -> bool {
        self.reason == Reason::Exited && self.code == Some(0)
    }

    /// Whether the end of a gate is a word against its commit: it did not succeed, and was neither
    /// lost nor killed from outside.
    pub fn says_no(&self) -> bool {
        const SIGKILL: i32 = 9;
        match self.reason {
            Reason::LostShim | Reason::LostReboot | Reason::Storage | Reason::Stopped { .. } => {
                false
            }
            Reason::Signalled => self.signal != Some(SIGKILL),
            Reason::Exited => !self.is_success(),
            Reason::Timeout | Reason::Limit | Reason::Oom | Reason::ExecFailed => true,
        }
    }

    /// Whether the end says nothing about the work: the host or Tidegate failed, not the job.
    pub fn is_excused(&self) -> bool {
        matches!(self.reason, Reason::LostReboot)
    }
}
