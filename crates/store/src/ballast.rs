//! Space kept back for a full disk, so that exits, cancels and a new epoch can still be recorded.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;

/// Free space, in ballasts, at which a spent one is taken back: with less, it would be taken and
/// given up in turns.
const ROOM: u64 = 2;

/// The file that holds the space.
#[derive(Debug)]
pub(crate) struct Ballast {
    path: PathBuf,
    bytes: u64,
    spent: Cell<bool>,
}

impl Ballast {
    /// The ballast of `home`, not yet filled.
    pub(crate) fn of(home: &Path, bytes: u64) -> Self {
        Self { path: home.join("ballast"), bytes, spent: Cell::new(false) }
    }

    /// Takes the space. `false` when the disk has no room for it now.
    pub(crate) fn fill(&self) -> io::Result<bool> {
        if self.bytes == 0 {
            return Ok(false);
        }
        if fs::metadata(&self.path).is_ok_and(|found| found.len() >= self.bytes) {
            self.spent.set(false);
            return Ok(true);
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.path);
        let filled = file.and_then(|file| {
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, self.bytes)?;
            Ok(())
        });
        match filled {
            Ok(()) => {
                self.spent.set(false);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                self.spend()?;
                Ok(false)
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives the space up. `false` when there was none.
    pub(crate) fn spend(&self) -> io::Result<bool> {
        self.spent.set(self.bytes > 0);
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the space was given up and not taken back.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// Takes a spent ballast back once there is plenty of room again.
    pub(crate) fn restore(&self) -> io::Result<()> {
        if self.spent.get() && self.free()? >= self.bytes.saturating_mul(ROOM) {
            self.fill()?;
        }
        Ok(())
    }

    /// Free space of the disk, in bytes.
    fn free(&self) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(self.path.parent().unwrap_or(Path::new(".")))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}
