//! What every adapter knows of its daemon.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_core::ids::{BlobId, JobId, ProjectId, RunId};
use tidegate_core::run::{EffectKey, Purpose, Report, Run};
use tidegate_git::Git;
use tidegate_store::Reader;

use super::workers::Workers;
use crate::engine::Reports;

/// Shared by all adapters of one daemon.
#[derive(Debug)]
pub struct Context {
    /// The home's directory.
    pub home: PathBuf,
    /// The home's id, as run tags carry it.
    pub home_id: String,
    /// Generation and epoch of the daemon: its fencing token.
    pub token: (u64, u64),
    /// File mode creation mask that jobs get: the user's.
    pub umask: u32,
    /// The way back into the engine.
    pub reports: Reports,
    /// Threads for blocking work.
    pub workers: Workers,
    /// The git program.
    pub git: Git,
}

impl Context {
    /// The folder of all job directories.
    pub fn jobs(&self) -> PathBuf {
        self.home.join("jobs")
    }

    /// A job's directory.
    pub fn job_dir(&self, job: &JobId) -> PathBuf {
        self.jobs().join(job.to_string())
    }

    /// The folder of a project's worktrees.
    pub fn worktrees(&self, project: &ProjectId) -> PathBuf {
        self.home.join("worktrees").join(project.as_str())
    }

    /// The private repository of a project's snapshots.
    pub fn snapshots(&self, project: &ProjectId) -> PathBuf {
        self.home.join("snapshots").join(format!("{project}.git"))
    }

    /// The folder of a project's gate checkouts.
    pub fn checkouts(&self, project: &ProjectId) -> PathBuf {
        self.home.join("checkouts").join(project.as_str())
    }

    /// The run tag of a job.
    pub fn run_tag(&self, job: &JobId) -> String {
        run_tag(&self.home_id, job)
    }

    /// The run tags of a run's launchers, all attempts: what registered agents carry.
    pub fn launcher_tags(&self, run: &Run) -> Vec<String> {
        let launchers = run.jobs.iter().filter(|(_, job)| match job.purpose {
            Purpose::Launcher { .. } => true,
            Purpose::LauncherAgent { .. }
            | Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => false,
        });
        launchers.map(|(id, _)| self.run_tag(id)).collect()
    }

    /// The bytes that were pinned under `id`.
    ///
    /// # Errors
    /// When the store cannot be read now, or does not have them.
    pub fn pinned(&self, id: &BlobId) -> Result<Vec<u8>, Unpinned> {
        let unread = |error: &dyn std::fmt::Display| Unpinned::Unread(error.to_string());
        let mut reader = Reader::open(&self.home).map_err(|error| unread(&error))?;
        let bytes = reader.read(|view| view.blob(id)).map_err(|error| unread(&error))?;
        bytes.ok_or_else(|| Unpinned::Gone(id.clone()))
    }

    /// Reports an observation to the engine.
    pub fn report(&self, run: &RunId, report: Report) {
        self.reports.send(run.clone(), report);
    }

    /// Answers an effect.
    pub fn answer(&self, run: &RunId, key: &EffectKey, report: Report) {
        self.reports.answer(run.clone(), key.clone(), report);
    }
}

/// Why pinned bytes were not read.
#[derive(Debug, thiserror::Error)]
pub enum Unpinned {
    /// The store cannot be read now: it is worth another try.
    #[error("read the store: {0}")]
    Unread(String),
    /// The store does not have them.
    #[error("the pinned bytes {0} are gone")]
    Gone(BlobId),
}

/// The run tag of a job of the home with this id.
pub fn run_tag(home_id: &str, job: &JobId) -> String {
    format!("{home_id}:{}:{job}", job.run())
}

/// Path as text; paths of the home are made by us and are UTF-8 when the home's own path is.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A shared context.
pub(super) type Shared = Arc<Context>;
