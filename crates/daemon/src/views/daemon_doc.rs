//! What is known of the daemon of a home, from its lock and the home alone: nobody is asked, so a
//! stopped daemon keeps no reader waiting.

use std::path::Path;

use tidegate_core::time::WallMs;
use tidegate_process::{HomeLock, LockNote};
use tidegate_protocol::{DaemonDoc, ErrorCode, Problem, VERSION};

use super::moment::stamp;
use super::place::{HomePaths, text};

/// The name of a daemon in events and documents.
pub fn supervisor_id(home_id: &str, epoch: u64) -> String {
    format!("{home_id}-{epoch}")
}

/// Looks at the lock of the home.
///
/// # Errors
/// [`ErrorCode::Io`] when the lock file is there and cannot be read.
pub fn daemon_status(home: &Path) -> Result<DaemonDoc, Problem> {
    let paths = HomePaths::new(home);
    let lock = paths.lock();
    let probe = HomeLock::probe(&lock).map_err(|error| {
        let message = format!("look at {}: {error}", lock.display());
        Problem::new(ErrorCode::Io, message)
    })?;
    // The last holder's note stays in the file: without the lock it says nothing of now.
    let note = probe.note.filter(|_| probe.held);
    let home_id = std::fs::read_to_string(paths.home_id()).unwrap_or_default();
    Ok(document(&paths, probe.held, note.as_ref(), home_id.trim()))
}

fn document(paths: &HomePaths, running: bool, note: Option<&LockNote>, home: &str) -> DaemonDoc {
    let epoch = note.map(|note| note.epoch).filter(|epoch| *epoch > 0);
    let since = note.map(|note| WallMs(note.acquired_at_ms)).map(stamp);
    DaemonDoc {
        running,
        pid: note.map(|note| note.daemon.pid),
        epoch,
        version: note.map(|note| note.version.clone()),
        started_at: since.clone(),
        supervisor_id: epoch.map(|epoch| supervisor_id(home, epoch)),
        acquired_at: since,
        home: text(paths.root()),
        socket: text(&paths.socket()),
        client_version: VERSION.to_owned(),
    }
}
