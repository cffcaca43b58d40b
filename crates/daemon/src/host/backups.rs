//! Copies of the store, made from time to time while the daemon works: by events, never by a clock,
//! so that an idle home stays asleep. They are made by a thread and a connection of their own; the
//! engine does not wait for them.

use std::io;
use std::path::Path;

use tidegate_store::Reader;
use tokio::sync::watch;

/// Events behind the newest copy that ask for another one.
const EVENTS: u64 = 500;
/// A larger store is copied less often: one event more for so many bytes.
const BYTES_PER_EVENT: u64 = 16 * 1024;
/// The store is not copied when less space than this many times its size is free.
const ROOM: u64 = 3;

/// Begins to make copies; ends when the engine's `seq` does.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn keep(home: &Path, seq: watch::Receiver<u64>) -> io::Result<()> {
    let home = home.to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let work = move || runtime.block_on(follow(&home, seq));
    std::thread::Builder::new().name("backups".into()).spawn(work)?;
    Ok(())
}

async fn follow(home: &Path, mut seq: watch::Receiver<u64>) {
    // What happened before counts: a daemon that is replaced often makes copies all the same.
    let mut newest = newest_copied(home);
    loop {
        let now = *seq.borrow_and_update();
        let due = newest.saturating_add(interval(home));
        if now >= due {
            if let Some(path) = copy(home) {
                tracing::info!(path = %path.display(), "the store was copied");
            }
            // One that failed is tried again when as much has happened once more.
            newest = now;
        }
        if seq.wait_for(|seq| *seq >= due.max(now + 1)).await.is_err() {
            return;
        }
    }
}

/// The newest event in the newest copy; 0 when there is none that says so.
fn newest_copied(home: &Path) -> u64 {
    let newest = tidegate_store::backups(home).into_iter().next();
    let info = newest.and_then(|path| tidegate_store::peek_backup(&path).ok());
    info.map_or(0, |info| info.seq)
}

fn interval(home: &Path) -> u64 {
    EVENTS.max(size(home) / BYTES_PER_EVENT)
}

fn size(home: &Path) -> u64 {
    std::fs::metadata(home.join("store.db")).map_or(0, |meta| meta.len())
}

fn copy(home: &Path) -> Option<std::path::PathBuf> {
    let free = rustix::fs::statvfs(home).map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize));
    if free.is_ok_and(|free| free < size(home).saturating_mul(ROOM)) {
        tracing::warn!("the disk has no room for a copy of the store");
        return None;
    }
    let made = Reader::open(home).map_err(|error| error.to_string());
    match made.and_then(|reader| reader.back_up().map_err(|error| error.to_string())) {
        Ok(path) => path,
        Err(error) => {
            tracing::warn!(error, "the store was not copied");
            None
        }
    }
}
