//! Being told by a signal that a name was removed from an open directory.
//!
//! Not inotify: a user has few instances of that, and there is a shim for every job.
#![expect(unsafe_code, reason = "F_NOTIFY has no safe wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A name was removed, of those in `linux/fcntl.h`.
const DN_DELETE: libc::c_int = 0x8;
/// A name was given up for another.
const DN_RENAME: libc::c_int = 0x10;
/// Go on telling after the first time.
const DN_MULTISHOT: libc::c_int = libc::c_int::MIN;

/// Asks for `SIGIO` whenever a name is removed from the directory, as long as it is open.
pub(crate) fn tell_of_removals(dir: BorrowedFd<'_>) -> io::Result<()> {
    let what = DN_DELETE | DN_RENAME | DN_MULTISHOT;
    // SAFETY: the descriptor is open for the whole call, which changes nothing but what is told.
    let done = unsafe { libc::fcntl(dir.as_raw_fd(), libc::F_NOTIFY, what) };
    if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
