//! Ends the daemon when its home is removed or moved away: another home at the same path is not
//! its own.

use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::engine::Handle;

/// From now on the daemon ends when the folder `home` is no longer where it was.
///
/// # Errors
/// When the thread or the watch cannot be made.
pub(super) fn stop_without_home(home: &Path, handle: &Handle) -> io::Result<()> {
    let events = inotify::init(CreateFlags::CLOEXEC)?;
    let wanted = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
    inotify::add_watch(&events, home, wanted)?;
    let handle = handle.clone();
    let watch = move || {
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut reader = inotify::Reader::new(&events, &mut buffer);
        let gone = ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED;
        loop {
            match reader.next() {
                Ok(event) if event.events().intersects(gone) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    tracing::warn!(%error, "the home is no longer watched");
                    return;
                }
            }
        }
        tracing::error!("the home was removed or moved away: this daemon ends");
        handle.stop(false);
    };
    std::thread::Builder::new().name("home-watch".into()).spawn(watch)?;
    Ok(())
}
