//! The shim: the process that owns one job, from its lock to its exit record.
//!
//! Single-threaded, no runtime, no store. It takes the lock, starts the main process at most once,
//! drains its output, ends its tree, and records the end. It never talks to the daemon on its own:
//! what it has to say are files.

mod child;
mod ending;
mod event_loop;
mod input;
mod launch;
mod lock_name;
mod requests;
mod server;
mod slot;
mod state;
mod stdio;
mod streams;
mod terminal;
mod terminate;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use fail::fail_point;
use rustix::fs::{Mode, OFlags};

use crate::jobdir::JobDir;
use crate::sys::fork;

/// Exit codes of a shim. They are advice for the daemon's log; the files are the facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShimExit {
    /// The job ended and its exit record is durable.
    Recorded = 0,
    /// Nothing was started: the operating system refused (fork, descriptors).
    Refused = 71,
    /// Nothing was started: a file could not be written; try again when there is room.
    Storage = 74,
    /// Nothing was started: another shim holds the lock.
    LockNotHad = 75,
    /// Nothing was started: this attempt was started or withdrawn before.
    StartedBefore = 76,
    /// Nothing was started: `spec.json` is missing or damaged.
    BadSpec = 78,
}

impl ShimExit {
    /// The meaning of an exit code, if it is one of these.
    pub fn from_code(code: i32) -> Option<Self> {
        let all = [
            Self::Recorded,
            Self::Refused,
            Self::Storage,
            Self::LockNotHad,
            Self::StartedBefore,
            Self::BadSpec,
        ];
        all.into_iter().find(|exit| *exit as i32 == code)
    }
}

/// Runs the job of `job_dir` (an absolute path) to its end. Must be the first thing that a process
/// with a single thread does: it closes every descriptor but the first three and takes over
/// signals, session and umask.
pub fn main(job_dir: &Path) -> ExitCode {
    let exit = run(job_dir);
    ExitCode::from(exit as u8)
}

fn run(job_dir: &Path) -> ShimExit {
    if detach().is_err() {
        return ShimExit::Refused;
    }
    let Ok(dir) = JobDir::open(job_dir) else { return ShimExit::BadSpec };
    let _ = std::env::set_current_dir("/");
    match launch::launch(dir) {
        Ok(shim) => {
            event_loop::run(shim);
            ShimExit::Recorded
        }
        Err(refusal) => {
            fail_point!("shim.before_refuse");
            refusal.exit
        }
    }
}

/// Leaves everything that was inherited: descriptors, session, umask.
fn detach() -> io::Result<()> {
    fork::close_inherited();
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let null = rustix::fs::open("/dev/null", flags, Mode::empty())?;
    for target in 0..3 {
        fork::redirect(std::os::fd::AsFd::as_fd(&null), target)?;
    }
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    // Fails for a process group leader only, such as a shim started by hand in a terminal.
    let _ = rustix::process::setsid();
    Ok(())
}
