//! Waiting for an agent that the daemon started for a launcher.

use tidegate_protocol::{ErrorCode, ExitCode, JobDoc, StartAgentAnswer};

use crate::client::{Client, Feed, Filter, Wake};
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, Out, talk};
use crate::read;

/// Waits until the end of the job is recorded, and gives its exit code.
///
/// # Errors
/// When no daemon answers and none may be started, or the job is gone.
pub(crate) fn wait_for_agent(
    home: &Home,
    started: &StartAgentAnswer,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let client = Client::new(home)?;
    let job = client.block_on(follow(home, started))?;
    let Some(job) = job else { return Ok(Exit::DETACHED) };
    if out.is_json() {
        out.data(&job)?;
    }
    Ok(exit(&job))
}

async fn follow(home: &Home, started: &StartAgentAnswer) -> Result<Option<JobDoc>, CliError> {
    let filter = Filter { run: Some(started.run_id.clone()), ..Filter::default() };
    let mut feed = Feed::new(home, filter)?;
    loop {
        match feed.next(None, std::future::pending()).await? {
            Wake::Connected | Wake::Events(_) | Wake::Extra | Wake::TimedOut => {}
            Wake::Interrupted => {
                talk(format!("detached; job {} goes on", started.job_id));
                return Ok(None);
            }
        }
        let jobs = read::jobs(home, &started.run_id)?.jobs;
        let job = jobs.into_iter().find(|job| job.job_id == started.job_id).ok_or_else(|| {
            CliError::new(ErrorCode::NotFound, format!("there is no job {}", started.job_id))
        })?;
        if job.state == "finished" && job.recorded {
            return Ok(Some(job));
        }
    }
}

/// The job's own code; a stopped one counts as cancelled, one without a code as failed.
fn exit(job: &JobDoc) -> Exit {
    match (job.reason.as_deref(), job.exit_code) {
        (Some("stopped"), _) => ExitCode::RunCancelled.into(),
        (_, Some(code)) => Exit::passed_through(code),
        (_, None) => ExitCode::RunFailed.into(),
    }
}
