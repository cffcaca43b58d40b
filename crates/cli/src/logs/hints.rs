//! Waking up when a job writes: inotify on its directory. A hint only; the files are the facts.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use tokio::io::unix::AsyncFd;

use crate::error::CliError;

/// Watches the directories of jobs.
pub(crate) struct Hints {
    inotify: AsyncFd<OwnedFd>,
}

impl Hints {
    /// Watches nothing yet. Must be made within the client's runtime.
    ///
    /// # Errors
    /// When the system gives no descriptor.
    pub(crate) fn new() -> Result<Self, CliError> {
        let flags = CreateFlags::NONBLOCK | CreateFlags::CLOEXEC;
        let inotify = init(flags).map_err(CliError::bug)?;
        #[expect(deprecated, reason = "the sound one is unsafe; this descriptor is never replaced")]
        let inotify = AsyncFd::new(inotify).map_err(CliError::bug)?;
        Ok(Self { inotify })
    }

    /// Watches a directory; false when it does not exist yet. Watching it twice is harmless.
    ///
    /// # Errors
    /// When the system watches no more.
    pub(crate) fn watch(&self, directory: &Path) -> Result<bool, CliError> {
        let flags = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO;
        match add_watch(self.inotify.get_ref(), directory, flags) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(CliError::io("watch", directory, &error.into())),
        }
    }

    /// Waits until something was written in a watched directory.
    pub(crate) async fn written(&self) {
        let Ok(mut ready) = self.inotify.readable().await else {
            // Without hints only events wake the follower.
            return std::future::pending().await;
        };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(self.inotify.get_ref(), &mut buffer);
        while reader.next().is_ok() {}
        ready.clear_ready();
    }
}
