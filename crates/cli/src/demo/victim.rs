//! Kills one agent of a run. A process id alone proves nothing, so the process is held by a descriptor first and the
//! product is asked again whether it is still the one.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tidegate_protocol::AgentDoc;

use crate::demo::product::Product;
use crate::error::CliError;

/// An agent that was killed.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    /// Its job.
    pub(super) job: String,
    /// Its process.
    pub(super) pid: u32,
}

/// Kills the living agent of `feature`; `None` when there is none just now.
///
/// # Errors
/// When the product cannot be asked.
pub(super) fn kill(
    product: &Product,
    run: &str,
    feature: &str,
) -> Result<Option<Victim>, CliError> {
    let Some(victim) = alive(product, run, feature)? else { return Ok(None) };
    let pid = i32::try_from(victim.pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw);
    let Some(process) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return Ok(None);
    };
    let unchanged = alive(product, run, feature)?
        .is_some_and(|now| now.job == victim.job && now.pid == victim.pid);
    if unchanged && pidfd_send_signal(&process, Signal::KILL).is_ok() {
        return Ok(Some(victim));
    }
    Ok(None)
}

fn alive(product: &Product, run: &str, feature: &str) -> Result<Option<Victim>, CliError> {
    let run = product.run(run)?;
    Ok(run
        .agent_runtime_summary
        .iter()
        .filter(|agent| is_alive(agent, feature))
        .find_map(|agent| Some(Victim { job: agent.job_id.clone()?, pid: agent.pid? })))
}

fn is_alive(agent: &AgentDoc, feature: &str) -> bool {
    agent.feature.as_deref() == Some(feature) && agent.ended_at.is_none()
}
