//! Who belongs to whom: the shims that live, and where a job or a run stands towards others. What
//! decides the scope of a process inside a job.

use tidegate_core::ids::{JobId, QueueKey, RunId};
use tidegate_core::run::Purpose;
use tidegate_process::peer::KnownShim;
use tidegate_protocol::Problem;
use tidegate_store::{LandedRow, ListFilter, RunStatus, StoreError, View};

use super::viewer::Viewer;

/// A job and the queue of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPlace {
    /// The queue of its run.
    pub queue: QueueKey,
    /// Whether it is the run's launcher.
    pub is_launcher: bool,
}

impl Viewer {
    /// The shims of all jobs that are recorded as started and not as ended.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn living_shims(&mut self) -> Result<Vec<KnownShim>, Problem> {
        Ok(self.ask(|view| shims(&view))?.unwrap_or_default())
    }

    /// Where a job stands; `None` when there is no such job.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn job_place(&mut self, job: &JobId) -> Result<Option<JobPlace>, Problem> {
        let found = self.ask(|view| {
            let Some(row) = view.run(job.run())? else { return Ok(None) };
            let jobs = view.jobs(job.run())?;
            let found = jobs.into_iter().find(|row| row.id == *job);
            Ok(found.map(|found| JobPlace {
                queue: row.queue,
                is_launcher: matches!(found.job.purpose, Purpose::Launcher { .. }),
            }))
        })?;
        Ok(found.flatten())
    }

    /// The features of the plan at `path` that landed in earlier runs of the repository with this
    /// common directory.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn landed(&mut self, common_dir: &str, path: &str) -> Result<Vec<LandedRow>, Problem> {
        let found = self.ask(|view| {
            let projects = view.projects()?;
            let own = projects.into_iter().find(|(_, place)| place.common_dir == common_dir);
            match own {
                Some((project, _)) => view.landed(&project, path),
                None => Ok(Vec::new()),
            }
        })?;
        Ok(found.unwrap_or_default())
    }

    /// The run whose job submitted `run`, or whose failed half it repeats.
    ///
    /// # Errors
    /// `corrupt`, `io`.
    pub fn parent(&mut self, run: &RunId) -> Result<Option<RunId>, Problem> {
        Ok(self.ask(|view| Ok(view.run(run)?.and_then(|row| row.parent)))?.flatten())
    }
}

fn shims(view: &View<'_>) -> Result<Vec<KnownShim>, StoreError> {
    let running = ListFilter {
        status: Some(RunStatus::Running),
        limit: u32::MAX - 1,
        ..ListFilter::default()
    };
    let mut shims = Vec::new();
    // A corrupt run has no jobs that could be read.
    for row in view.list(&running)?.runs.into_iter().flatten() {
        let live = view.jobs(&row.id)?.into_iter().filter(|row| row.job.state.is_live());
        shims.extend(live.filter_map(|row| {
            let started = row.job.state.started()?;
            Some(KnownShim { shim: started.shim.clone(), job: row.id.to_string() })
        }));
    }
    Ok(shims)
}
