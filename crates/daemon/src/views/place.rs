//! Where the files of a home lie. It reads none of them.

use std::path::{Path, PathBuf};

use tidegate_core::ids::JobId;

/// The paths of one home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomePaths {
    root: PathBuf,
}

impl HomePaths {
    /// The home at `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The home itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The lock that a daemon holds for life.
    pub fn lock(&self) -> PathBuf {
        self.root.join("daemon.lock")
    }

    /// Where the daemon listens.
    pub fn socket(&self) -> PathBuf {
        self.root.join("daemon.sock")
    }

    /// The id of the home.
    pub fn home_id(&self) -> PathBuf {
        self.root.join("home-id")
    }

    /// The folder of trusted hashes.
    pub fn trusted(&self) -> PathBuf {
        self.root.join("trusted")
    }

    /// The directory of a job.
    pub fn job(&self, job: &JobId) -> PathBuf {
        self.root.join("jobs").join(job.to_string())
    }
}

/// A path as text. Paths below the home are UTF-8 when the home's own path is.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
