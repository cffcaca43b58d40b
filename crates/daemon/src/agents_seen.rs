//! What a launcher's files say and which of its agents live: the one answer that the daemon acts
//! on and readers show. It looks, and changes nothing.

use std::path::Path;

use tidegate_core::exit::Identity;
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{AgentProcess, Registered};
use tidegate_core::limits::HEARTBEAT_FRESH_MS;
use tidegate_core::run::{Ingested, Run};
use tidegate_core::time::WallMs;
use tidegate_process::identity;
use tidegate_process::peer::{KnownShim, Origin, origin};

use crate::spool;

/// What was seen at one moment.
#[derive(Debug, Default)]
pub(crate) struct AgentsSeen {
    /// The facts, as the core takes them.
    pub(crate) ingested: Ingested,
    /// What does not read or does not belong to the run, a sentence each.
    pub(crate) damaged: Vec<String>,
}

impl AgentsSeen {
    /// Reads the files in `dir`, the directory of the launcher's latest job, and looks at the
    /// agents that they and `run` name. `home_id` is the one that run tags of the home carry.
    pub(crate) fn of(run: &Run, dir: &Path, home_id: &str, at: WallMs) -> Self {
        let spooled = spool::read(dir);
        let unread = spooled.damaged.iter().map(|(path, why)| format!("{}: {why}", path.display()));
        let mut seen = Self { damaged: unread.collect(), ..Self::default() };
        seen.ingested.journal = spooled.journal;
        for (id, registered) in spooled.agents {
            if belongs(run, &id, &registered, home_id) {
                seen.take(id, registered, at);
            } else {
                seen.damaged.push(format!("agent {id}: foreign_process, not of this run, ignored"));
            }
        }
        // Agents of an earlier attempt registered in that attempt's directory.
        for (id, registered) in known(run) {
            let told = seen.ingested.registered.iter().any(|(told, _)| told == id);
            if !told && registered.end.is_none() && !is_alive(registered, at) {
                seen.ingested.gone.push((id.clone(), registered.clone()));
            }
        }
        seen
    }

    fn take(&mut self, id: AgentId, registered: Registered, at: WallMs) {
        let agent = Registered { end: None, ..registered.clone() };
        if let Some(end) = registered.end {
            self.ingested.ends.push((id.clone(), end));
        } else if !is_alive(&agent, at) {
            self.ingested.gone.push((id.clone(), agent.clone()));
        }
        self.ingested.registered.push((id, agent));
    }
}

/// The processes of the run's registered agents on this host that are alive and not ended.
pub(crate) fn living_processes(run: &Run, dir: &Path, home_id: &str) -> Vec<Identity> {
    let spooled = spool::read(dir).agents;
    let told = spooled.iter().filter(|(id, registered)| belongs(run, id, registered, home_id));
    let known = known(run).filter(|(id, _)| !spooled.iter().any(|(told, _)| told == *id));
    let all = told.map(|(id, registered)| (id, registered)).chain(known);
    let local = all.filter_map(|(_, registered)| match &registered.process {
        AgentProcess::Local(identity) if registered.end.is_none() => Some(identity.clone()),
        AgentProcess::Local(_) | AgentProcess::Remote => None,
    });
    local.filter(|identity| identity::is_alive(identity).unwrap_or(true)).collect()
}

/// How long until a remote agent's heartbeat is stale, in milliseconds, if there is one alive.
pub(crate) fn next_staleness(dir: &Path, at: WallMs) -> Option<u64> {
    let remote = spool::read(dir).agents.into_iter().filter_map(|(_, registered)| {
        let alive = registered.process == AgentProcess::Remote
            && registered.end.is_none()
            && is_alive(&registered, at);
        alive.then(|| HEARTBEAT_FRESH_MS - at.0.abs_diff(registered.heartbeat_at.0) + 1)
    });
    remote.min()
}

/// Whether a registered agent without an end is alive: proved identity, or a fresh heartbeat of a
/// remote one. What cannot be looked at is not proved gone.
pub(crate) fn is_alive(agent: &Registered, at: WallMs) -> bool {
    match &agent.process {
        AgentProcess::Local(process) => identity::is_alive(process).unwrap_or(true),
        AgentProcess::Remote => at.0.abs_diff(agent.heartbeat_at.0) < HEARTBEAT_FRESH_MS,
    }
}

fn known(run: &Run) -> impl Iterator<Item = (&AgentId, &Registered)> {
    run.launcher().into_iter().flat_map(|(_, launcher)| &launcher.registered)
}

/// Whether a registered process is one of the run: known by its identity, gone already, below a
/// shim of the run, or carrying a run tag of it.
fn belongs(run: &Run, id: &AgentId, registered: &Registered, home_id: &str) -> bool {
    let AgentProcess::Local(process) = &registered.process else { return true };
    let known = run.launcher().and_then(|(_, launcher)| launcher.registered.get(id));
    if known.is_some_and(|known| known.process == registered.process) {
        return true;
    }
    match identity::is_alive(process) {
        Ok(false) => true,
        Ok(true) => match origin(process, home_id, &shims_of(run)) {
            Ok(Origin::Job(job)) => JobId::parse(&job).is_ok_and(|job| *job.run() == run.id),
            Ok(Origin::Outside | Origin::Unknown) | Err(_) => false,
        },
        Err(_) => false,
    }
}

/// The shims of the run's jobs, whether they live or not: an identity is proved where it counts.
fn shims_of(run: &Run) -> Vec<KnownShim> {
    let started = run.jobs.iter().filter_map(|(id, job)| Some((id, job.state.started()?)));
    started
        .map(|(id, started)| KnownShim { shim: started.shim.clone(), job: id.to_string() })
        .collect()
}
