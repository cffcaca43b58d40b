//! Reads a launcher's files and looks at its agents: facts for the engine.

use std::path::Path;

use tidegate_core::exit::Identity;
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{AgentProcess, Registered};
use tidegate_core::limits::HEARTBEAT_FRESH_MS;
use tidegate_core::run::{Ingested, Run};
use tidegate_core::time::WallMs;
use tidegate_process::identity;
use tidegate_process::peer::{KnownShim, Origin, origin};

use super::context::Context;
use crate::{clock, spool};

/// What a launcher's files and agents say now.
pub(super) fn ingest(ctx: &Context, run: &Run, job: &JobId) -> Ingested {
    let spooled = spool::read(&ctx.job_dir(job));
    for (path, why) in &spooled.damaged {
        tracing::warn!(path = %path.display(), why, "a launcher's file does not read");
    }
    let mut ingested = Ingested { journal: spooled.journal, ..Ingested::default() };
    let now = clock::wall();
    for (id, registered) in spooled.agents {
        if !belongs(ctx, run, &id, &registered) {
            tracing::warn!(run = %run.id, agent = %id, "foreign_process: not of this run, ignored");
            continue;
        }
        if let Some(end) = &registered.end {
            ingested.ends.push((id.clone(), end.clone()));
        } else if is_alive(&registered, now) {
            ingested.alive.push(id.clone());
        }
        ingested.registered.push((id, Registered { end: None, ..registered }));
    }
    // Agents of an earlier attempt registered in that attempt's directory.
    for (id, registered) in known(run) {
        let told = ingested.registered.iter().any(|(told, _)| told == id);
        if !told && registered.end.is_none() && is_alive(registered, now) {
            ingested.alive.push(id.clone());
        }
    }
    ingested
}

/// The processes of the run's registered agents on this host that are alive and not ended.
pub(super) fn living_processes(ctx: &Context, run: &Run, job: &JobId) -> Vec<Identity> {
    let spooled = spool::read(&ctx.job_dir(job)).agents;
    let told = spooled.iter().filter(|(id, registered)| belongs(ctx, run, id, registered));
    let known = known(run).filter(|(id, _)| !spooled.iter().any(|(told, _)| told == *id));
    let all = told.map(|(id, registered)| (id, registered)).chain(known);
    let local = all.filter_map(|(_, registered)| match &registered.process {
        AgentProcess::Local(identity) if registered.end.is_none() => Some(identity.clone()),
        AgentProcess::Local(_) | AgentProcess::Remote => None,
    });
    local.filter(|identity| identity::is_alive(identity).unwrap_or(true)).collect()
}

fn known(run: &Run) -> impl Iterator<Item = (&AgentId, &Registered)> {
    run.launcher().into_iter().flat_map(|(_, launcher)| &launcher.registered)
}

/// Whether a registered process is one of the run: known by its identity, gone already, below the
/// launcher's shim, or carrying a run tag of the run.
fn belongs(ctx: &Context, run: &Run, id: &AgentId, registered: &Registered) -> bool {
    let AgentProcess::Local(process) = &registered.process else { return true };
    let known = run.launcher().and_then(|(_, launcher)| launcher.registered.get(id));
    if known.is_some_and(|known| known.process == registered.process) {
        return true;
    }
    match identity::is_alive(process) {
        Ok(false) => true,
        Ok(true) => carries_tag(ctx, run, process),
        Err(_) => false,
    }
}

/// Whether a process is below a shim of the run, or carries a run tag of it.
fn carries_tag(ctx: &Context, run: &Run, process: &Identity) -> bool {
    let started = run.jobs.iter().filter_map(|(id, job)| Some((id, job.state.started()?)));
    let shims: Vec<KnownShim> = started
        .map(|(id, started)| KnownShim { shim: started.shim.clone(), job: id.to_string() })
        .collect();
    match origin(process, &ctx.home_id, &shims) {
        Ok(Origin::Job(job)) => JobId::parse(&job).is_ok_and(|job| *job.run() == run.id),
        Ok(Origin::Outside | Origin::Unknown) | Err(_) => false,
    }
}

fn is_alive(registered: &Registered, now: WallMs) -> bool {
    match &registered.process {
        // What cannot be read is not proved gone.
        AgentProcess::Local(process) => identity::is_alive(process).unwrap_or(true),
        AgentProcess::Remote => now.0.abs_diff(registered.heartbeat_at.0) < HEARTBEAT_FRESH_MS,
    }
}

/// How long until a remote agent's heartbeat is stale, in milliseconds, if there is one alive.
pub(super) fn next_staleness(path: &Path) -> Option<u64> {
    let now = clock::wall();
    let remote = spool::read(path).agents.into_iter().filter_map(|(_, registered)| {
        let alive = registered.process == AgentProcess::Remote
            && registered.end.is_none()
            && is_alive(&registered, now);
        alive.then(|| HEARTBEAT_FRESH_MS - now.0.abs_diff(registered.heartbeat_at.0) + 1)
    });
    remote.min()
}
