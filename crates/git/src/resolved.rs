//! Staging what a reconciler resolved in the worktree. It must not know whether the resolution is good.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::line_diff::lines;
use crate::repo::Repo;
use crate::status::{Change, Scope};

/// Lines that git begins and ends a conflict with.
const MARKERS: [&[u8]; 2] = [b"<<<<<<< ", b">>>>>>> "];

impl Repo {
    /// Stages each path in conflict whose file, if it is still there, has no markers any more. Gives the others.
    ///
    /// # Errors
    /// What a call can give.
    pub fn stage_resolved(&self, worktree: &Path) -> Result<Vec<PathBuf>> {
        let open = self.status(worktree, Scope::All)?;
        let open = open.into_iter().filter(|dirty| dirty.change == Change::Unmerged);
        let (left, resolved): (Vec<_>, Vec<_>) =
            open.map(|dirty| dirty.path).partition(|path| has_markers(&worktree.join(path)));
        if resolved.is_empty() {
            return Ok(left);
        }
        let mut list = Vec::new();
        for path in &resolved {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        fail::fail_point!("git.resolved.before_add");
        self.write_in(worktree, "staging what was resolved")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .args(["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"])
            .stdin(list)
            .bytes()?;
        fail::fail_point!("git.resolved.after_add");
        Ok(left)
    }
}

/// What cannot be read is taken for open: nothing is staged unseen.
fn has_markers(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        Ok(found) if !found.is_file() => false,
        Ok(_) => fs::read(path).map_or(true, |bytes| {
            lines(&bytes).iter().any(|line| MARKERS.iter().any(|mark| line.starts_with(mark)))
        }),
    }
}
