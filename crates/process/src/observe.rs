//! Reading what a job directory says, in the order that makes the answer true. Writes nothing and
//! works on a read-only mount.
//!
//! `started` is read first, then the lock, then `exit`: whoever made the start seen first either
//! still holds the lock, or had let it go, and then its exit record, if it made one, is there by
//! the time it is looked for. In any other order a job that moves meanwhile looks lost.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use tidegate_core::verdict::{Mark, Observation};

use crate::clock;
use crate::jobdir::{EXIT, JobDir, JobDirError, LOCK, STARTED, STUCK};
use crate::record::{ExitRecord, StartedFile, StartedRecord, VERSION};
use crate::sys::ofd;

/// What a job directory says, with all fields of its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The `started` record.
    pub started: Mark<StartedRecord>,
    /// Whether a living shim holds the lock.
    pub lock_held: bool,
    /// The `exit` record.
    pub exit: Mark<ExitRecord>,
    /// Whether the records were made under the running kernel; true when there is no record.
    pub same_boot: bool,
}

impl Seen {
    /// The part that the verdict needs.
    pub fn to_core(&self) -> Observation {
        Observation {
            started: map(&self.started, StartedRecord::to_core),
            lock_held: self.lock_held,
            exit: map(&self.exit, ExitRecord::to_core),
            same_boot: self.same_boot,
        }
    }
}

fn map<T, U>(mark: &Mark<T>, with: impl Fn(&T) -> U) -> Mark<U> {
    match mark {
        Mark::Absent => Mark::Absent,
        Mark::Present(record) => Mark::Present(with(record)),
        Mark::Tombstone => Mark::Tombstone,
        Mark::Suspicious { detail } => Mark::Suspicious { detail: detail.clone() },
    }
}

/// Looks at the directory of the attempt that has `nonce`. A directory that does not exist says
/// the same as an empty one.
///
/// # Errors
/// [`JobDirError::Io`] when something cannot be read (not: when it reads badly).
pub fn observe(job_dir: &Path, nonce: &str) -> Result<Observation, JobDirError> {
    look(job_dir, nonce).map(|seen| seen.to_core())
}

/// As [`observe`], with all fields of the records.
///
/// # Errors
/// As [`observe`].
pub fn look(job_dir: &Path, nonce: &str) -> Result<Seen, JobDirError> {
    let dir = match JobDir::open(job_dir) {
        Ok(dir) => dir,
        Err(JobDirError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let (started, exit) = (Mark::Absent, Mark::Absent);
            return Ok(Seen { started, lock_held: false, exit, same_boot: true });
        }
        Err(error) => return Err(error),
    };
    let doing = |source| JobDirError::Io { doing: "look at", path: job_dir.to_owned(), source };
    let mut seen = look_once(&dir, nonce).map_err(doing)?;
    if seen.started == Mark::Absent && seen.exit != Mark::Absent {
        // A whole job may have run between the two reads: now its start is there as well.
        seen = look_once(&dir, nonce).map_err(doing)?;
    }
    Ok(seen)
}

/// What of a job cannot be ended, as its shim left word of it.
pub fn stuck(job_dir: &Path) -> Option<String> {
    let bytes = JobDir::open(job_dir).ok()?.read(STUCK).ok()??;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.is_empty()).then_some(text)
}

fn look_once(dir: &JobDir, nonce: &str) -> io::Result<Seen> {
    let started = read_started(dir, nonce)?;
    let lock_held = is_lock_held(dir)?;
    let exit = read_exit(dir, nonce)?;
    let boot = match (&started, &exit) {
        (Mark::Present(started), _) => Some(started.shim.boot_id.as_str()),
        (_, Mark::Present(exit)) => Some(exit.boot_id.as_str()),
        (_, Mark::Absent | Mark::Tombstone | Mark::Suspicious { .. }) => None,
    };
    let same_boot = match boot {
        Some(boot) => boot == clock::boot_id()?,
        None => true,
    };
    Ok(Seen { started, lock_held, exit, same_boot })
}

/// Whether a living shim holds the lock of the directory.
pub(crate) fn is_lock_held(dir: &JobDir) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match rustix::fs::openat(dir, LOCK, flags, Mode::empty()) {
        Ok(fd) => ofd::is_locked(File::from(fd).as_fd()),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn read_started(dir: &JobDir, nonce: &str) -> io::Result<Mark<StartedRecord>> {
    Ok(match read::<StartedFile>(dir, STARTED)? {
        Mark::Present(StartedFile::Withdrawn(record)) => {
            check("started", record.v, &record.nonce, nonce).map_or(Mark::Tombstone, suspicious)
        }
        Mark::Present(StartedFile::Started(record)) => {
            check("started", record.v, &record.nonce, nonce)
                .map_or_else(|| Mark::Present(record), suspicious)
        }
        Mark::Absent => Mark::Absent,
        Mark::Tombstone => Mark::Tombstone,
        Mark::Suspicious { detail } => Mark::Suspicious { detail },
    })
}

fn read_exit(dir: &JobDir, nonce: &str) -> io::Result<Mark<ExitRecord>> {
    Ok(match read::<ExitRecord>(dir, EXIT)? {
        Mark::Present(record) => check("exit", record.v, &record.nonce, nonce)
            .map_or_else(|| Mark::Present(record), suspicious),
        other => other,
    })
}

fn read<T: DeserializeOwned>(dir: &JobDir, name: &str) -> io::Result<Mark<T>> {
    let Some(bytes) = dir.read(name)? else { return Ok(Mark::Absent) };
    Ok(serde_json::from_slice(&bytes).map_or_else(
        |error| suspicious(format!("`{name}` of {} bytes is damaged: {error}", bytes.len())),
        Mark::Present,
    ))
}

fn check(name: &str, v: u32, found: &str, nonce: &str) -> Option<String> {
    if v != VERSION {
        return Some(format!("`{name}` has version {v}, this program knows {VERSION}"));
    }
    (found != nonce).then(|| format!("`{name}` belongs to another attempt: its nonce differs"))
}

fn suspicious<T>(detail: String) -> Mark<T> {
    Mark::Suspicious { detail }
}
