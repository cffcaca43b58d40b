//! Open-file-description locks: the kernel frees them when the last descriptor closes.
//!
//! Never `flock`: `F_OFD_GETLK` does not see it, and a probe must not take the lock.
#![expect(unsafe_code, reason = "F_OFD_SETLK and F_OFD_GETLK have no safe wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

const WRITE_LOCK: libc::c_short = short(libc::F_WRLCK);
const UNLOCKED: libc::c_short = short(libc::F_UNLCK);
const FROM_START: libc::c_short = short(libc::SEEK_SET);

#[expect(clippy::cast_possible_truncation, reason = "constants of 0 to 2")]
const fn short(constant: libc::c_int) -> libc::c_short {
    constant as libc::c_short
}

fn whole_file_write_lock() -> libc::flock {
    // SAFETY: `flock` is plain data for which all zeroes is a valid value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = WRITE_LOCK;
    lock.l_whence = FROM_START;
    lock
}

/// Takes the exclusive lock on the whole file; false when another description holds it.
pub(crate) fn try_lock(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let lock = whole_file_write_lock();
    // SAFETY: the descriptor is open for the whole call and `lock` outlives it.
    let done = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if done == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}

/// Whether another description holds a lock on the file; takes nothing, needs read access only.
pub(crate) fn is_locked(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut lock = whole_file_write_lock();
    // SAFETY: the descriptor is open for the whole call and `lock` is exclusively ours.
    let done = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(lock.l_type != UNLOCKED)
}
