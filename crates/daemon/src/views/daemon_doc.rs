//! What is known of the daemon of a home, from its lock and the home alone: nobody is asked, so a
//! stopped daemon keeps no reader waiting.

use std::path::Path;

use tidegate_core::time::WallMs;
use tidegate_process::{HomeLock, LockNote};
use tidegate_protocol::{DaemonDoc, ErrorCode, Problem, VERSION};
use tidegate_store::Reader;

use super::moment::stamp;
use super::place::text;
use crate::host::HomeFiles;

/// The name of a daemon in events and documents.
pub fn supervisor_id(home_id: &str, epoch: u64) -> String {
    format!("{home_id}-{epoch}")
}

/// Looks at the lock of the home, and at the store for the home's id.
///
/// # Errors
/// [`ErrorCode::Io`] when the lock file is there and cannot be read.
pub fn daemon_status(home: &Path) -> Result<DaemonDoc, Problem> {
    let mut document = lock_document(home)?;
    if document.epoch.is_some() {
        let reader = Reader::open(home).ok();
        let row = reader.and_then(|mut reader| reader.read(|view| view.home_row()).ok());
        name_supervisor(&mut document, row.map(|row| row.home_id).as_deref());
    }
    Ok(document)
}

/// What the lock alone says.
pub(super) fn lock_document(home: &Path) -> Result<DaemonDoc, Problem> {
    let files = HomeFiles::new(home);
    let lock = files.lock();
    let probe = HomeLock::probe(&lock).map_err(|error| {
        let message = format!("look at {}: {error}", lock.display());
        Problem::new(ErrorCode::Io, message)
    })?;
    // The last holder's note stays in the file: without the lock it says nothing of now.
    let note = probe.note.filter(|_| probe.held);
    Ok(document(&files, probe.held, note.as_ref()))
}

/// Adds the daemon's name, once the home's id is known.
pub(super) fn name_supervisor(document: &mut DaemonDoc, home_id: Option<&str>) {
    document.supervisor_id =
        document.epoch.zip(home_id).map(|(epoch, home_id)| supervisor_id(home_id, epoch));
}

fn document(files: &HomeFiles, running: bool, note: Option<&LockNote>) -> DaemonDoc {
    let since = note.map(|note| WallMs(note.acquired_at_ms)).map(stamp);
    DaemonDoc {
        running,
        pid: note.map(|note| note.daemon.pid),
        epoch: note.map(|note| note.epoch).filter(|epoch| *epoch > 0),
        version: note.map(|note| note.version.clone()),
        started_at: since.clone(),
        supervisor_id: None,
        acquired_at: since,
        home: text(&files.home),
        socket: text(&files.socket()),
        client_version: VERSION.to_owned(),
    }
}
