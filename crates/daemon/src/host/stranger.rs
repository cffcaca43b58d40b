//! Who holds a home's lock when no daemon of that home does: a program that somebody started by hand, or
//! one that has inherited it. It is named for people, and left alone.

use std::path::Path;

use tidegate_process::HomeLock;

use super::files::HomeFiles;

/// Longest part of a command line that is told, in characters.
const LINE_MAX: usize = 120;

/// A process that holds the lock and wrote no note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Its pid.
    pub pid: u32,
    /// The start of its command line.
    pub command: String,
}

/// The stranger, if one holds the lock. A daemon clears the note of the one before it at once, so a note whose
/// writer does not hold the lock is left over.
#[must_use]
pub fn stranger(home: &Path) -> Option<Stranger> {
    let lock = HomeFiles::new(home).lock();
    let probe = HomeLock::probe(&lock).ok().filter(|probe| probe.held)?;
    let note = probe.note?;
    if HomeLock::is_holder(&lock, &note.daemon).unwrap_or(true) {
        return None;
    }
    let pid = HomeLock::holders(&lock).ok()?.first().copied()?;
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    let command = line.trim().chars().filter(|char| !char.is_control()).take(LINE_MAX).collect();
    Some(Stranger { pid, command })
}
