//! `daemon.lock`: one daemon per home, held for life, let go by the kernel.
//!
//! The file also holds a note of its holder. The note is information; only the lock is a fact.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_core::exit::Identity;

use crate::record::IdentityRecord;
use crate::sys::ofd;
use crate::{identity, procfs};

/// Longest note that is read, in bytes.
const NOTE_BYTES_MAX: usize = 4 << 10;

/// What the holder of a lock says of itself. Never trusted: see [`HomeLock::is_holder`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockNote {
    /// Version of the note, 1.
    pub v: u32,
    /// The daemon.
    #[serde(with = "IdentityRecord")]
    pub daemon: Identity,
    /// Generation of the store.
    #[serde(default)]
    pub generation: u64,
    /// Its epoch; 0 while it has none yet.
    #[serde(default)]
    pub epoch: u64,
    /// When it took the lock, wall time in milliseconds.
    #[serde(default)]
    pub acquired_at_ms: u64,
    /// Version of the program.
    #[serde(default)]
    pub version: String,
}

/// What a look at a lock found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockProbe {
    /// Whether somebody holds it now.
    pub held: bool,
    /// What the last holder wrote, if it can be read.
    pub note: Option<LockNote>,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{} is held by another daemon", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// What the holder says of itself.
        note: Option<Box<LockNote>>,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// The lock file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// A held lock. It is let go when this value is dropped or the process ends.
#[derive(Debug)]
pub struct HomeLock {
    file: File,
    path: PathBuf,
}

impl HomeLock {
    /// Takes the lock, without waiting; the file is made when it is missing.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let io = |doing| move |source| LockError::Io { doing, path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path).map_err(io("open"))?;
        if ofd::try_lock(file.as_fd()).map_err(io("lock"))? {
            // The note of the last holder would pass for one of ours.
            file.set_len(0).map_err(io("clear"))?;
            return Ok(Self { file, path: path.to_owned() });
        }
        let note = read_note(&file).map(Box::new);
        Err(LockError::Held { path: path.to_owned(), note })
    }

    /// Writes the note. Not synced: it matters only while the process lives.
    ///
    /// # Errors
    /// [`LockError::Io`].
    pub fn write_note(&self, note: &LockNote) -> Result<(), LockError> {
        let io = |source| LockError::Io { doing: "write", path: self.path.clone(), source };
        let mut bytes = serde_json::to_vec(note).map_err(|error| io(error.into()))?;
        bytes.push(b'\n');
        self.file.write_all_at(&bytes, 0).map_err(io)?;
        self.file.set_len(bytes.len() as u64).map_err(io)
    }

    /// Looks at a lock without taking it; works on a read-only file system. A missing file is free.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn probe(path: &Path) -> io::Result<LockProbe> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(LockProbe { held: false, note: None });
            }
            Err(error) => return Err(error),
        };
        Ok(LockProbe { held: ofd::is_locked(file.as_fd())?, note: read_note(&file) })
    }

    /// Whether the kernel says that this very process holds the lock: the proof that a takeover
    /// needs before it kills what the note names.
    ///
    /// # Errors
    /// When `/proc` does not let us look.
    pub fn is_holder(path: &Path, process: &Identity) -> io::Result<bool> {
        let Some(proved) = identity::prove(process)? else { return Ok(false) };
        let holds = holds(process.pid, &std::fs::metadata(path)?, "OFDLCK")?;
        // Still the same process, so what was read was its own.
        Ok(holds && proved.signal(0)? != identity::Sent::Gone)
    }

    /// Whoever holds the lock as far as `/proc` lets us look, whatever its note says; for people.
    ///
    /// # Errors
    /// When the file or the process table cannot be read.
    pub fn holders(path: &Path) -> io::Result<Vec<u32>> {
        let lock = std::fs::metadata(path)?;
        let all = procfs::all()?.into_iter().map(|proc| proc.pid);
        Ok(all.filter(|pid| holds(*pid, &lock, "").unwrap_or(false)).collect())
    }
}

/// Whether a descriptor of the process carries a lock of this kind on this very file.
fn holds(pid: u32, lock: &std::fs::Metadata, kind: &str) -> io::Result<bool> {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    for entry in std::fs::read_dir(proc.join("fd"))? {
        let name = entry?.file_name();
        // Descriptors come and go while they are listed.
        let Ok(open) = std::fs::metadata(proc.join("fd").join(&name)) else { continue };
        if (open.dev(), open.ino()) != (lock.dev(), lock.ino()) {
            continue;
        }
        let info = std::fs::read_to_string(proc.join("fdinfo").join(&name)).unwrap_or_default();
        let is_it =
            |line: &str| line.starts_with("lock:") && line.contains("WRITE") && line.contains(kind);
        if info.lines().any(is_it) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_note(file: &File) -> Option<LockNote> {
    let mut bytes = [0; NOTE_BYTES_MAX];
    let length = file.read_at(&mut bytes, 0).ok()?;
    let line = bytes[..length].split(|byte| *byte == b'\n').next()?;
    serde_json::from_slice(line).ok()
}
