//! Whether the job directory still has its lock file: without it nobody can learn of this shim, so it
//! ends its job and goes.
//!
//! The kernel tells when a name goes, by a signal that the shim takes anyway; nothing is asked on a
//! timer. Where it tells nothing, the shim looks whenever something else happens.

use std::fs::File;
use std::os::fd::AsFd;

use crate::jobdir::JobDir;
use crate::sys::dnotify;

/// Asks to be woken when the name goes.
pub(crate) fn watch(dir: &JobDir) {
    let _ = dnotify::tell_of_removals(dir.as_fd());
}

/// Whether the open lock file has no name any more.
pub(crate) fn is_gone(lock: &File) -> bool {
    rustix::fs::fstat(lock).is_ok_and(|stat| stat.st_nlink == 0)
}
