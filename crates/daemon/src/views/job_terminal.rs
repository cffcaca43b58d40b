//! Where a job's terminal is found, for whoever is to be attached to it.

use std::path::PathBuf;

use tidegate_core::ids::JobId;
use tidegate_core::run::JobState;
use tidegate_protocol::{ErrorCode, Problem};

use super::viewer::Viewer;

/// A living job with a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTerminal {
    /// Its directory.
    pub dir: PathBuf,
    /// Names its attempt.
    pub nonce: String,
}

impl Viewer {
    /// The terminal of a job of a run.
    ///
    /// # Errors
    /// As [`Viewer::run`]; `not_found` for a job of another run, `invalid_status_transition` for one
    /// that has ended or not begun, `no_terminal`.
    pub fn terminal(&mut self, prefix: &str, job: &str) -> Result<JobTerminal, Problem> {
        let missing = || Problem::not_found(format!("the run has no job `{}`", job.escape_debug()));
        let id = JobId::parse(job).map_err(|_| missing())?;
        let run = self.derived(prefix)?;
        let job = run.jobs.get(&id).ok_or_else(missing)?;
        if !run.has_terminal(&job.purpose) {
            let message = format!("job {id} has no terminal");
            return Err(Problem::new(ErrorCode::NoTerminal, message)
                .hint(format!("`tidegate logs {} -f --job {id}` follows its output", run.id)));
        }
        match &job.state {
            JobState::Running(_) | JobState::Stopping { started: Some(_), .. } => {}
            JobState::Launching
            | JobState::Stopping { started: None, .. }
            | JobState::Finished { .. }
            | JobState::Quarantined { .. } => {
                let message = format!("job {id} does not run");
                return Err(Problem::new(ErrorCode::InvalidStatusTransition, message));
            }
        }
        Ok(JobTerminal { dir: self.paths().job(&id), nonce: job.nonce.clone() })
    }
}
