//! Space kept back for a full disk, so that exits, cancels and a new epoch can still be recorded.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;

/// The file that holds the space.
#[derive(Debug)]
pub(crate) struct Ballast {
    path: PathBuf,
    bytes: u64,
}

impl Ballast {
    /// The ballast of `home`, not yet filled.
    pub(crate) fn of(home: &Path, bytes: u64) -> Self {
        Self { path: home.join("ballast"), bytes }
    }

    /// Takes the space. `false` when the disk has no room for it now.
    pub(crate) fn fill(&self) -> io::Result<bool> {
        if self.bytes == 0 {
            return Ok(false);
        }
        if fs::metadata(&self.path).is_ok_and(|found| found.len() >= self.bytes) {
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
            Ok(()) => Ok(true),
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
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
