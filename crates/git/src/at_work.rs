//! Whether a process may own a lock file of git: facts of the kernel, no ages. It must not know what was locked for.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What tells one lock file from the next of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockIdentity {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl LockIdentity {
    /// The one that is there; `None` when there is none.
    pub(crate) fn of(lock: &Path) -> Option<Self> {
        let meta = fs::symlink_metadata(lock).ok()?;
        let changed = (meta.ctime(), meta.ctime_nsec());
        Some(Self { device: meta.dev(), inode: meta.ino(), changed })
    }
}

/// Whether a living process has the lock file open, or is a git that stands in the worktree. A git of which that cannot be
/// read counts: what is not proved dead is not dead.
pub(crate) fn may_have_owner(lock: &Path, worktree: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.filter_map(Result::ok).any(|process| {
        let folder = process.path();
        let is_process = process
            .file_name()
            .to_str()
            .is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        is_process && (has_open(&folder, lock) || is_git_in(&folder, worktree))
    })
}

fn has_open(process: &Path, lock: &Path) -> bool {
    let Ok(files) = fs::read_dir(process.join("fd")) else { return false };
    files.filter_map(Result::ok).any(|file| fs::read_link(file.path()).is_ok_and(|to| to == lock))
}

fn is_git_in(process: &Path, worktree: &Path) -> bool {
    if !fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(b"git")) {
        return false;
    }
    match fs::read_link(process.join("cwd")) {
        Ok(cwd) => cwd.starts_with(worktree),
        // It has ended, or is a zombie, which holds nothing any more.
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}
