//! The files of a home that the host makes, and their permissions.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Folders of a home.
const FOLDERS: [&str; 8] =
    ["jobs", "worktrees", "checkouts", "snapshots", "trusted", "spool", "quarantine", "backups"];

/// Paths of a home.
#[derive(Debug, Clone)]
pub struct HomeFiles {
    /// The home itself.
    pub home: PathBuf,
}

impl HomeFiles {
    /// The files of `home`.
    pub fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    /// Held by the daemon for life.
    pub fn lock(&self) -> PathBuf {
        self.home.join("daemon.lock")
    }

    /// Where the daemon listens.
    pub fn socket(&self) -> PathBuf {
        self.home.join("daemon.sock")
    }

    /// What the daemon says when it is started in the background.
    pub fn log(&self) -> PathBuf {
        self.home.join("daemon.log")
    }

    /// Registrations made while no daemon ran.
    pub fn spool(&self) -> PathBuf {
        self.home.join("spool")
    }

    /// One file per trusted configuration, named by its hash.
    pub fn trusted(&self) -> PathBuf {
        self.home.join("trusted")
    }
}

/// Makes the home and its folders, 0700, where they are missing.
///
/// # Errors
/// What the operating system gives.
pub fn prepare_home(home: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(home)?;
    for folder in FOLDERS {
        builder.create(home.join(folder))?;
    }
    Ok(())
}

/// Removes what a dead daemon left: only its holder of the lock may do so.
pub(super) fn remove_stale_socket(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
