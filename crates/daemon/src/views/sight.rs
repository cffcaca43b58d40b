//! What a reader sees of a run beside the store: its jobs' directories, its launcher's files, and
//! which of its agents live. It looks and changes nothing.

use std::collections::BTreeMap;

use tidegate_core::exit::Started;
use tidegate_core::ids::JobId;
use tidegate_core::run::{Ingested, Run};
use tidegate_core::time::WallMs;
use tidegate_core::verdict::{Mark, Observation};
use tidegate_process::observe;
use tidegate_process::stalled::{self, Stalled};

use super::place::HomePaths;
use crate::agents_seen::AgentsSeen;

/// Everything seen of one run at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// When, on the wall clock.
    pub at: WallMs,
    /// What the directories of jobs say whose end is not recorded; an error text where one could
    /// not be looked at.
    pub jobs: BTreeMap<JobId, Result<Observation, String>>,
    /// Shims that live and do not act.
    pub stalled: BTreeMap<JobId, Stalled>,
    /// What of a living job cannot be ended, as its shim says.
    pub stuck: BTreeMap<JobId, String>,
    /// What the launcher's files say, whether recorded or not.
    pub ingested: Ingested,
    /// Files of the launcher that do not read, and what is wrong with them.
    pub damaged: Vec<String>,
}

impl Sight {
    /// Looks at everything of `run` that is not recorded as ended. `home_id` is the one that run
    /// tags of the home carry.
    pub fn of(run: &Run, paths: &HomePaths, home_id: &str, at: WallMs) -> Self {
        let open = || run.jobs.iter().filter(|(_, job)| job.state.is_live());
        let stuck =
            open().filter_map(|(id, _)| Some((id.clone(), observe::stuck(&paths.job(id))?)));
        let stuck = stuck.collect();
        let jobs = open().map(|(id, job)| {
            let seen = observe::observe(&paths.job(id), &job.nonce);
            (id.clone(), seen.map_err(|error| error.to_string()))
        });
        let jobs: BTreeMap<_, _> = jobs.collect();
        let held = jobs.iter().filter_map(|(id, seen)| match seen {
            Ok(Observation { started: Mark::Present(started), lock_held: true, .. }) => {
                let stalled = stalled::stalled(&paths.job(id), &started.shim)?;
                Some((id.clone(), stalled))
            }
            Ok(_) | Err(_) => None,
        });
        let stalled = held.collect();
        let mut sight = Self { at, jobs, stalled, stuck, ..Self::default() };
        let launcher = run.launcher().and_then(|(_, launcher)| launcher.job.as_ref());
        if let Some(job) = launcher {
            let AgentsSeen { ingested, damaged } =
                AgentsSeen::of(run, &paths.job(job), home_id, at);
            (sight.ingested, sight.damaged) = (ingested, damaged);
        }
        sight
    }

    /// The start of a job, when its directory has one.
    pub fn started(&self, job: &JobId) -> Option<&Started> {
        match &self.jobs.get(job)?.as_ref().ok()?.started {
            Mark::Present(started) => Some(started),
            Mark::Absent | Mark::Tombstone | Mark::Suspicious { .. } => None,
        }
    }
}
