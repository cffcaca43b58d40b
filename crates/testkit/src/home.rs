//! A home for one test: a folder that is removed with it, in memory where the machine offers that.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder of memory on Linux.
const MEMORY: &str = "/dev/shm";

/// A home that vanishes with its value.
#[derive(Debug)]
pub struct TempHome {
    dir: TempDir,
}

impl TempHome {
    /// Makes an empty home in `TMPDIR` when it is set, else in memory, else where the system puts
    /// temporary files. In memory a sync costs nothing.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new() -> std::io::Result<Self> {
        let memory = Path::new(MEMORY);
        let dir = if std::env::var_os("TMPDIR").is_none() && memory.is_dir() {
            TempDir::with_prefix_in("tidegate-", memory)?
        } else {
            TempDir::with_prefix("tidegate-")?
        };
        Ok(Self { dir })
    }

    /// Makes an empty home in `parent`: on a disk, when syncs are to count.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn new_in(parent: &Path) -> std::io::Result<Self> {
        Ok(Self { dir: TempDir::with_prefix_in("tidegate-", parent)? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Keeps the folder, to be looked at after a failure; gives its path.
    pub fn keep(self) -> PathBuf {
        self.dir.keep()
    }
}
