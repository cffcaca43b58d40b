//! What was changed in a checkout since it was made. It must not know who works there.

use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::error::Result;
use crate::furnish::paths;
use crate::repo::Repo;

impl Repo {
    /// The files of `commit` that are otherwise in a checkout of it, or gone; empty: it is as it was made. Writes nothing.
    ///
    /// # Errors
    /// What a call can give.
    pub fn moved_files(&self, checkout: &Path, commit: &Oid) -> Result<Vec<PathBuf>> {
        let listed = self
            .read_in(checkout, "comparing a checkout with its commit")
            .args(["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"])
            .args(["--ignore-submodules=untracked", commit.as_str(), "--"])
            .bytes()?;
        Ok(paths(&listed).map(Path::to_owned).collect())
    }
}
