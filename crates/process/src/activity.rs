//! Signs of life of a job: what it wrote, and what its processes worked. It says nothing of whether
//! the job lives: its lock does.

use std::io;
use std::path::Path;

use tidegate_core::exit::Started;

use crate::jobdir::INDEX;
use crate::tree::Claim;

/// What a job has done since its start. Only differences mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Length of its output's index, in bytes: it grows with every piece of output.
    pub written: u64,
    /// Processor time of its living processes and of their reaped children, in milliseconds.
    pub cpu_ms: u64,
}

/// Looks at a running job.
///
/// # Errors
/// When the process table or the job directory cannot be read.
pub fn of(job_dir: &Path, started: &Started) -> io::Result<Activity> {
    let written = match std::fs::metadata(job_dir.join(INDEX)) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let shim = started.shim.pid;
    let claim =
        Claim { subreaper: Some(shim), since_ticks: started.shim.start_ticks, ..Claim::default() };
    // The shim's own work is no sign of the job's.
    let ticks: u64 = claim.members()?.iter().map(|proc| proc.cpu_ticks).sum();
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Activity { written, cpu_ms: ticks.saturating_mul(1_000) / per_second })
}
