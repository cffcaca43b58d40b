//! Shims that live and do not act: stopped by somebody, or silent at their socket.
//!
//! That a shim is stopped is a fact of the kernel, seen by whoever looks. Since when, and that it did
//! not answer, only the daemon knows: it leaves a note in the job directory, and takes it away when
//! the shim answers again. It concludes nothing about the job: its lock is held.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use tidegate_core::exit::Identity;
use tidegate_core::time::WallMs;

use crate::identity;
use crate::procfs;

/// Name of the note; its time is the moment when it was noticed first.
const NOTE: &str = "unresponsive";

/// A shim that does not act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stalled {
    /// Its pid.
    pub pid: u32,
    /// Since when it is known; `None` when nobody has noted it yet.
    pub since: Option<WallMs>,
    /// Whether it is stopped; else it does not answer.
    pub stopped: bool,
}

/// Whether the shim of a job directory is stopped, or was noted as silent. Asked about a shim whose
/// lock is held. Writes nothing.
pub fn stalled(job_dir: &Path, shim: &Identity) -> Option<Stalled> {
    let stopped = is_stopped(shim);
    let since = noted(job_dir);
    (stopped || since.is_some()).then_some(Stalled { pid: shim.pid, since, stopped })
}

/// Whether this process is stopped by a signal or a tracer.
pub fn is_stopped(process: &Identity) -> bool {
    let proc = procfs::stat(process.pid).ok().flatten();
    let stopped = proc.is_some_and(|proc| {
        matches!(proc.state, b'T' | b't') && proc.start_ticks == process.start_ticks
    });
    stopped && identity::is_alive(process).unwrap_or(false)
}

/// Notes that a shim does not act; the first note stays.
///
/// # Errors
/// When the directory cannot be written.
pub fn note(job_dir: &Path) -> io::Result<()> {
    let made = std::fs::OpenOptions::new().write(true).create_new(true).open(job_dir.join(NOTE));
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Takes the note away, if there is one.
///
/// # Errors
/// When the directory cannot be written.
pub fn clear(job_dir: &Path) -> io::Result<()> {
    match std::fs::remove_file(job_dir.join(NOTE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn noted(job_dir: &Path) -> Option<WallMs> {
    let at = std::fs::metadata(job_dir.join(NOTE)).ok()?.modified().ok()?;
    let at = at.duration_since(UNIX_EPOCH).ok()?.as_millis();
    u64::try_from(at).ok().map(WallMs)
}
