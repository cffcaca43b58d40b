//! Where the directories of jobs lie. It reads none of them.

use std::path::{Path, PathBuf};

use tidegate_core::ids::JobId;

/// The home, as far as readers of runs need its paths.
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

    /// The directory of a job.
    pub fn job(&self, job: &JobId) -> PathBuf {
        self.root.join("jobs").join(job.to_string())
    }
}

/// A path as text. Paths below the home are UTF-8 when the home's own path is.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
