//! Checking out the part of a commit that the user's own checkout has. It must not know what the worktree is for.

use std::fs;
use std::path::Path;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::repo::Repo;

/// Patterns of a sparse checkout, in an administrative directory.
const PATTERNS: &str = "info/sparse-checkout";
/// Settings of one worktree.
const SETTINGS: &str = "config.worktree";

impl Repo {
    /// Takes the patterns of the user's checkout over, or none; gives whether there are any. To be called before the
    /// files of a new worktree are checked out.
    pub(crate) fn take_sparse_over(&self, admin: &AdminDir, like: Option<&Path>) -> Result<bool> {
        // git itself gives a new worktree what the main one has.
        let Some(like) = like.filter(|like| like.is_dir()) else {
            return admin.leave_sparse().map(|()| false);
        };
        let Ok(source) = AdminDir::of(self, like) else {
            return admin.leave_sparse().map(|()| false);
        };
        let patterns = source.join(PATTERNS);
        if !self.is_sparse(like)? || !patterns.exists() {
            return admin.leave_sparse().map(|()| false);
        }
        let into = admin.join("info");
        fs::create_dir_all(&into).map_err(GitError::io("create", &into))?;
        copy(&patterns, &admin.join(PATTERNS))?;
        if source.join(SETTINGS).exists() && source.path() != self.common_dir() {
            copy(&source.join(SETTINGS), &admin.join(SETTINGS))?;
        }
        Ok(true)
    }

    fn is_sparse(&self, checkout: &Path) -> Result<bool> {
        let done = self
            .read_in(checkout, "reading a setting")
            .args(["config", "--type=bool", "--get", "core.sparseCheckout"])
            .done()?;
        Ok(done.stdout.starts_with(b"true"))
    }
}

impl AdminDir {
    /// Whether the worktree has patterns of its own.
    pub(crate) fn is_sparse(&self) -> bool {
        self.join(PATTERNS).exists()
    }

    /// Takes away what git gave it of another checkout's patterns.
    fn leave_sparse(&self) -> Result<()> {
        if self.is_sparse() { self.forget_sparse() } else { Ok(()) }
    }

    /// Lets the worktree have all files of its commit, and no settings of its own.
    pub(crate) fn forget_sparse(&self) -> Result<()> {
        for name in [PATTERNS, SETTINGS] {
            crate::refs::remove_if_there(&self.join(name))?;
        }
        // Empty, unless git put more there than the patterns.
        let _ = fs::remove_dir(self.join("info"));
        Ok(())
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).map_err(GitError::io("copy", from))
}
