//! Ends the daemon when its home is removed, emptied or moved away: another home at the same path
//! is not its own.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::engine::Handle;

/// From now on the daemon ends when `lock`, the lock file in `home` that it holds, is no longer
/// the file at its path.
///
/// # Errors
/// When the thread or the watch cannot be made.
pub(super) fn stop_without_home(home: &Path, lock: &Path, handle: &Handle) -> io::Result<()> {
    let events = inotify::init(CreateFlags::CLOEXEC)?;
    // An open folder below keeps the home's own removal from being told: the lock's is.
    let wanted = WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::ONLYDIR;
    inotify::add_watch(&events, home, wanted)?;
    let held = place(lock)?;
    let (lock, handle) = (lock.to_owned(), handle.clone());
    let watch = move || {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut reader = inotify::Reader::new(&events, &mut buffer);
        loop {
            match reader.next() {
                Ok(_) if place(&lock).ok() != Some(held) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    tracing::warn!(%error, "the home is no longer watched");
                    return;
                }
            }
        }
        tracing::error!("the home was removed, emptied or moved away: this daemon ends");
        handle.stop(false);
    };
    std::thread::Builder::new().name("home-watch".into()).spawn(watch)?;
    Ok(())
}

/// Names a file whatever its path is.
fn place(path: &Path) -> io::Result<(u64, u64)> {
    let found = std::fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
