//! What is attached to: a job with a terminal, a log that grows, or the end of one that is complete.

use tidegate_protocol::{AttachMode, ErrorCode, JobDoc, RunDoc};

use crate::error::CliError;

/// What there is to be shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target {
    /// The terminal of a job that runs.
    Terminal(Box<JobDoc>),
    /// The log of a job.
    Log(Box<JobDoc>),
    /// The log of an agent that its launcher started by itself.
    File {
        /// Its path.
        path: String,
        /// The agent has ended.
        ended: bool,
    },
}

/// Chooses what `attach` shows of a run: of an agent, or of the run's launcher, or of the one agent
/// that runs.
///
/// # Errors
/// `not_found` names the agents when there is none of that name or more than one to choose from;
/// `no_log` when an agent has none.
pub(crate) fn choose(
    run: &RunDoc,
    jobs: &[JobDoc],
    agent: Option<&str>,
) -> Result<Target, CliError> {
    let Some(agent) = agent else { return of_run(run, jobs) };
    let is_it =
        |id: &str| id == agent || id.split_once('/').is_some_and(|(feature, _)| feature == agent);
    let job = jobs.iter().rfind(|job| job.agent_id.as_deref().is_some_and(is_it));
    let known = run.agent_runtime_summary.iter().find(|known| is_it(&known.agent_id));
    match (job, known) {
        (Some(job), _) => Ok(of_job(job)),
        (None, Some(known)) => {
            let path = known.log_path.clone().ok_or_else(|| {
                let text = format!("agent `{agent}` named no log when it registered");
                CliError::new(ErrorCode::NoLog, text)
            })?;
            Ok(Target::File { path, ended: known.alive == Some(false) })
        }
        (None, None) => {
            let text = format!("run {} has no agent `{agent}`", run.run_id);
            Err(CliError::new(ErrorCode::NotFound, text).hint(known_agents(run)))
        }
    }
}

fn of_run(run: &RunDoc, jobs: &[JobDoc]) -> Result<Target, CliError> {
    if let Some(launcher) = jobs.iter().rfind(|job| job.purpose == "launcher") {
        return Ok(of_job(launcher));
    }
    let agents = || jobs.iter().filter(|job| job.agent_id.is_some());
    let mut living = agents().filter(|job| job.state == "running" || job.state == "stopping");
    match (living.next(), living.next()) {
        (Some(only), None) => Ok(of_job(only)),
        (Some(_), Some(_)) => {
            let text = format!("several agents of run {} are at work", run.run_id);
            Err(CliError::new(ErrorCode::AmbiguousId, text).hint(known_agents(run)))
        }
        (None, _) => agents().next_back().map(of_job).ok_or_else(|| {
            let text = format!("run {} has started no agent yet", run.run_id);
            CliError::new(ErrorCode::NotFound, text)
                .hint(format!("`tidegate explain {}` says what it waits for", run.run_id))
        }),
    }
}

fn of_job(job: &JobDoc) -> Target {
    let runs = job.state == "running" || job.state == "stopping";
    if runs && job.attach_mode == AttachMode::Session {
        Target::Terminal(Box::new(job.clone()))
    } else {
        Target::Log(Box::new(job.clone()))
    }
}

fn known_agents(run: &RunDoc) -> String {
    let ids: Vec<&str> = run.agent_runtime_summary.iter().map(|a| a.agent_id.as_str()).collect();
    if ids.is_empty() {
        return "it has no agents so far".to_owned();
    }
    format!("its agents are {}; choose one by `--agent`", ids.join(", "))
}
