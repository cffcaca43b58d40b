//! What a fast-forward would write over or lose that no commit holds. It must not know what is done about it.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;
use crate::status::Scope;

impl Repo {
    /// Tracked paths with staged or unstaged changes.
    pub(crate) fn tracked_changes(&self, worktree: &Path) -> Result<Vec<PathBuf>> {
        let status = self.status(worktree, Scope::Tracked)?;
        Ok(status.into_iter().map(|dirty| dirty.path).collect())
    }

    /// Untracked or ignored files that lie where `new` has something that `old` had not.
    ///
    /// Tracked files are clean (the caller checked), so whatever lies at a path that `old` does not have is nobody's but
    /// the user's. Names that differ only in case are left to git.
    pub(crate) fn overwritten(
        &self,
        worktree: &Path,
        old: &Oid,
        new: &Oid,
    ) -> Result<Vec<PathBuf>> {
        let entries = self.tree_diff(old, new)?;
        let leaving: BTreeSet<&Path> =
            entries.iter().filter(|e| e.old.is_some()).map(|e| &*e.path).collect();
        let mut found = BTreeSet::new();
        for entry in entries.iter().filter(|entry| entry.new.is_some()) {
            let mut below = PathBuf::new();
            let parts = entry.path.components().count();
            for (index, part) in entry.path.components().enumerate() {
                below.push(part);
                let Some(meta) = look(&worktree.join(&below))? else { break };
                let is_last = index + 1 == parts;
                if is_last && meta.is_dir() {
                    strangers(worktree, &below, &leaving, &mut found)?;
                } else if !meta.is_dir() {
                    if !leaving.contains(&*below) {
                        found.insert(below);
                    }
                    break;
                }
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// `None` when there is nothing.
fn look(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(GitError::Io { doing: "look at", path: path.to_owned(), source }),
    }
}

/// Adds the files in a folder that do not leave with the old commit.
fn strangers(
    worktree: &Path,
    folder: &Path,
    leaving: &BTreeSet<&Path>,
    found: &mut BTreeSet<PathBuf>,
) -> Result<()> {
    let on_disk = worktree.join(folder);
    for entry in fs::read_dir(&on_disk).map_err(GitError::io("list", &on_disk))? {
        let entry = entry.map_err(GitError::io("list", &on_disk))?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type().map_err(GitError::io("look at", &on_disk))?;
        if kind.is_dir() {
            strangers(worktree, &path, leaving, found)?;
        } else if !leaving.contains(&*path) {
            found.insert(path);
        }
    }
    Ok(())
}
