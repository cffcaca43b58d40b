//! What a reader sees of a run beside the store: its jobs' directories, its launcher's files, and
//! which of its agents live. It looks and changes nothing.

use std::collections::BTreeMap;

use tidegate_core::exit::Started;
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{AgentProcess, Registered};
use tidegate_core::limits::HEARTBEAT_FRESH_MS;
use tidegate_core::run::{Ingested, Run};
use tidegate_core::time::WallMs;
use tidegate_core::verdict::{Mark, Observation};
use tidegate_process::peer::{KnownShim, Origin, origin};
use tidegate_process::{identity, observe};

use super::place::HomePaths;
use crate::spool;

/// Everything seen of one run at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// When, on the wall clock.
    pub at: WallMs,
    /// What the directories of jobs say whose end is not recorded; an error text where one could
    /// not be looked at.
    pub jobs: BTreeMap<JobId, Result<Observation, String>>,
    /// What the launcher's files say, whether recorded or not.
    pub ingested: Ingested,
    /// Files of the launcher that do not read, and what is wrong with them.
    pub damaged: Vec<String>,
}

impl Sight {
    /// Looks at everything of `run` that is not recorded as ended. `home_id` is the one that run
    /// tags of the home carry.
    pub fn of(run: &Run, paths: &HomePaths, home_id: &str, at: WallMs) -> Self {
        let open = run.jobs.iter().filter(|(_, job)| job.state.is_live());
        let jobs = open.map(|(id, job)| {
            let seen = observe::observe(&paths.job(id), &job.nonce);
            (id.clone(), seen.map_err(|error| error.to_string()))
        });
        let mut sight = Self { at, jobs: jobs.collect(), ..Self::default() };
        let launcher = run.launcher().and_then(|(_, launcher)| launcher.job.as_ref());
        if let Some(job) = launcher {
            sight.read_files(run, paths, job, home_id);
        }
        sight
    }

    fn read_files(&mut self, run: &Run, paths: &HomePaths, job: &JobId, home_id: &str) {
        let spooled = spool::read(&paths.job(job));
        self.damaged = spooled
            .damaged
            .iter()
            .map(|(path, why)| format!("{}: {why}", path.display()))
            .collect();
        self.ingested.journal = spooled.journal;
        let shims = shims_of(run);
        for (id, registered) in spooled.agents {
            if !belongs(run, &id, &registered, home_id, &shims) {
                self.damaged.push(format!("agent {id}: a process of another run, ignored"));
                continue;
            }
            if let Some(end) = &registered.end {
                self.ingested.ends.push((id.clone(), end.clone()));
            } else if is_alive(&registered, self.at) {
                self.ingested.alive.push(id.clone());
            }
            self.ingested.registered.push((id, Registered { end: None, ..registered }));
        }
        let known = run.launcher().into_iter().flat_map(|(_, launcher)| &launcher.registered);
        for (id, registered) in known {
            let told = self.ingested.registered.iter().any(|(told, _)| told == id);
            if !told && registered.end.is_none() && is_alive(registered, self.at) {
                self.ingested.alive.push(id.clone());
            }
        }
    }

    /// The start of a job, when its directory has one.
    pub fn started(&self, job: &JobId) -> Option<&Started> {
        match &self.jobs.get(job)?.as_ref().ok()?.started {
            Mark::Present(started) => Some(started),
            Mark::Absent | Mark::Tombstone | Mark::Suspicious { .. } => None,
        }
    }
}

/// The shims of the run's jobs that may live.
fn shims_of(run: &Run) -> Vec<KnownShim> {
    let live = run.jobs.iter().filter(|(_, job)| job.state.is_live());
    let known = live.filter_map(|(id, job)| {
        let shim = job.state.started()?.shim.clone();
        Some(KnownShim { shim, job: id.to_string() })
    });
    known.collect()
}

/// Whether a registered process is one of the run: known to the store, gone already, or below a
/// job of the run.
fn belongs(
    run: &Run,
    id: &AgentId,
    registered: &Registered,
    home_id: &str,
    shims: &[KnownShim],
) -> bool {
    let AgentProcess::Local(process) = &registered.process else { return true };
    let known = run.launcher().and_then(|(_, launcher)| launcher.registered.get(id));
    if known.is_some_and(|known| known.process == registered.process) {
        return true;
    }
    match identity::is_alive(process) {
        Ok(false) => true,
        Ok(true) => match origin(process, home_id, shims) {
            Ok(Origin::Job(job)) => JobId::parse(&job).is_ok_and(|job| *job.run() == run.id),
            Ok(Origin::Outside | Origin::Unknown) | Err(_) => false,
        },
        Err(_) => false,
    }
}

/// Whether a registered agent without an end is alive: proved identity, or a fresh heartbeat of a
/// remote one. What cannot be looked at is not proved gone.
pub(super) fn is_alive(agent: &Registered, at: WallMs) -> bool {
    match &agent.process {
        AgentProcess::Local(process) => identity::is_alive(process).unwrap_or(true),
        AgentProcess::Remote => at.0.abs_diff(agent.heartbeat_at.0) < HEARTBEAT_FRESH_MS,
    }
}
