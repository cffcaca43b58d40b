//! The lock by which one home serves a repository. It must not know what is done under it.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::{GitError, Result};

/// Who holds, or last held, the lock. Information only: the lock itself is the kernel's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Id of the home.
    pub home: String,
    /// Process id of its daemon.
    pub pid: u32,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.home.is_empty() {
            f.write_str("another home")
        } else {
            write!(f, "home {} (process {})", self.home, self.pid)
        }
    }
}

/// `<common dir>/tidegate.lock`, held until this value is dropped or its process ends, however it ends.
///
/// The file stays when the lock is given back: removing it would race with the next holder.
#[derive(Debug)]
pub struct RepoLock {
    file: File,
}

impl RepoLock {
    /// Takes the lock of the repository with this common dir, without waiting.
    ///
    /// # Errors
    /// [`GitError::Held`] with its holder when it is taken; [`GitError::Io`].
    pub fn take(common_dir: &Path, holder: &Holder) -> Result<Self> {
        let path = common_dir.join("tidegate.lock");
        fail::fail_point!("git.repo_lock.before_take");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(GitError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(GitError::Held { by: read(&mut file) }),
            Err(TryLockError::Error(source)) => {
                return Err(GitError::Io { doing: "lock", path, source });
            }
        }
        fail::fail_point!("git.repo_lock.after_take");
        let text = format!("home={}\npid={}\n", holder.home, holder.pid);
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(GitError::io("write", &path))?;
        Ok(Self { file })
    }

    /// Gives the lock back, and says in the file that nobody has it.
    pub fn release(self) {
        // The content is information only; the lock goes with the descriptor in any case.
        let _ = self.file.set_len(0);
    }
}

/// Reads what the holder wrote; unknown (empty) while it is just writing.
fn read(file: &mut File) -> Holder {
    let mut text = String::new();
    // A holder that cannot be named still holds the lock.
    let _ = file.take(4096).read_to_string(&mut text);
    let value = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().to_owned()
    };
    Holder { home: value("home="), pid: value("pid=").parse().unwrap_or_default() }
}

impl Drop for RepoLock {
    /// Gives the lock back by name: closing is not enough while a child that was just forked, and has not run its
    /// program yet, has a copy of the descriptor.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn holder(home: &str, pid: u32) -> Holder {
        Holder { home: home.into(), pid }
    }

    #[test]
    fn lock_taken_twice_names_the_first_holder_until_it_is_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let first = RepoLock::take(dir.path(), &holder("harbour", 7)).unwrap();
        let error = RepoLock::take(dir.path(), &holder("quay", 8)).unwrap_err();
        assert!(matches!(&error, GitError::Held { by } if *by == holder("harbour", 7)), "{error}");
        first.release();
        drop(RepoLock::take(dir.path(), &holder("quay", 8)).unwrap());
    }
}
