//! Locks that a killed daemon's git left in the private repository. Nobody but the daemon of the home writes there,
//! and its helpers die with it: whoever opens the repository first in a process finds none of them alive.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::error::{GitError, Result};

/// Repositories that this process has looked through.
static FREED: LazyLock<Mutex<BTreeSet<PathBuf>>> = LazyLock::new(Mutex::default);

/// Removes what is locked in the repository at `dir`, once per process. The caller lets nobody work in it meanwhile.
pub(super) fn free_once(dir: &Path) -> Result<()> {
    let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
    if freed.contains(dir) {
        return Ok(());
    }
    free(dir, false)?;
    free(&dir.join("refs"), true)?;
    freed.insert(dir.to_owned());
    Ok(())
}

fn free(folder: &Path, below: bool) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(GitError::io("list", folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(GitError::io("list", folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(GitError::io("look at", &path))?;
        if kind.is_dir() && below {
            free(&path, true)?;
        } else if kind.is_file() && path.extension() == Some(OsStr::new("lock")) {
            fail::fail_point!("git.vault.before_unlock");
            fs::remove_file(&path).map_err(GitError::io("remove", &path))?;
            fail::fail_point!("git.vault.after_unlock");
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn locks_of_a_killed_git_are_freed_once_and_later_ones_are_somebodys() {
        let dir = tempfile::tempdir().unwrap();
        let refs = dir.path().join("refs/tidegate/snap/r1/a");
        fs::create_dir_all(&refs).unwrap();
        let locks = [dir.path().join("HEAD.lock"), refs.join("3.lock")];
        let kept = [dir.path().join("HEAD"), refs.join("2")];
        for path in locks.iter().chain(&kept) {
            fs::write(path, b"").unwrap();
        }
        free_once(dir.path()).unwrap();
        assert!(locks.iter().all(|path| !path.exists()));
        assert!(kept.iter().all(|path| path.exists()));
        fs::write(&locks[0], b"").unwrap();
        free_once(dir.path()).unwrap();
        assert!(locks[0].exists(), "it may be that of a git at work");
    }
}
