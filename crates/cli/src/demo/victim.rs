//! Kills one agent of a run, and the daemon. A process id alone proves nothing, so the process is held by a descriptor
//! first and the product is asked again whether it is still the one.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tidegate_protocol::AgentDoc;

use crate::demo::product::Product;
use crate::error::CliError;

/// An agent that was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agent {
    /// Its job.
    pub(super) job: String,
    /// Its process.
    pub(super) pid: u32,
}

/// A daemon that was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Daemon {
    /// Its process.
    pub(super) pid: u32,
    /// Its reign.
    pub(super) epoch: u64,
}

/// The living agent of `feature`.
///
/// # Errors
/// When the product cannot be asked.
pub(super) fn agent(
    product: &Product<'_>,
    run: &str,
    feature: &str,
) -> Result<Option<Agent>, CliError> {
    let run = product.run(run)?;
    let mut agents = run.agent_runtime_summary.iter().filter(|agent| is_alive(agent, feature));
    Ok(agents.find_map(|agent| Some(Agent { job: agent.job_id.clone()?, pid: agent.pid? })))
}

/// Kills the living agent of `feature`; `None` when there is none just now.
///
/// # Errors
/// When the product cannot be asked.
pub(super) fn kill_agent(
    product: &Product<'_>,
    run: &str,
    feature: &str,
) -> Result<Option<Agent>, CliError> {
    proved(|| agent(product, run, feature), |agent| agent.pid)
}

/// Kills the daemon; `None` when none runs just now.
///
/// # Errors
/// When the product cannot be asked.
pub(super) fn kill_daemon(product: &Product<'_>) -> Result<Option<Daemon>, CliError> {
    proved(|| product.daemon(), |daemon| daemon.pid)
}

/// Kills what `look` finds, if `look` still finds it once it is held.
fn proved<T: PartialEq>(
    look: impl Fn() -> Result<Option<T>, CliError>,
    pid: impl Fn(&T) -> u32,
) -> Result<Option<T>, CliError> {
    let Some(victim) = look()? else { return Ok(None) };
    let number = i32::try_from(pid(&victim)).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw);
    let Some(process) = number.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return Ok(None);
    };
    let unchanged = look()?.is_some_and(|now| now == victim);
    let killed = unchanged && pidfd_send_signal(&process, Signal::KILL).is_ok();
    Ok(killed.then_some(victim))
}

fn is_alive(agent: &AgentDoc, feature: &str) -> bool {
    agent.feature.as_deref() == Some(feature) && agent.ended_at.is_none()
}
