//! What the running kernel can do of what the shim and the daemon build upon. It starts nothing and
//! touches no file.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::fs::MemfdFlags;

use crate::sys::{landlock, ofd, socket};
use crate::{cgroup, identity};

/// What was found.
#[derive(Debug)]
pub struct Kernel {
    /// Its release, as `uname -r` says.
    pub release: String,
    /// Whether processes can be held by a descriptor; else why not.
    pub pidfd: io::Result<()>,
    /// Whether such a descriptor has an inode that is never given twice (kernel 6.9).
    pub has_pidfs: bool,
    /// Whether the process behind a socket can be held by a descriptor (kernel 6.5).
    pub has_peer_pidfd: bool,
    /// Whether orphans can be handed to a process of ours; else why not.
    pub subreaper: io::Result<()>,
    /// Whether locks belong to open files; else why not.
    pub ofd_locks: io::Result<()>,
    /// The control group below which jobs get groups of their own; `None` where none is delegated.
    pub cgroup: Option<PathBuf>,
    /// Version of landlock, where there is one.
    pub landlock: Option<u32>,
}

/// Looks at the running kernel.
pub fn kernel() -> Kernel {
    let own = identity::own();
    let has_pidfs = own.as_ref().is_ok_and(|own| own.pidfs_inode != 0);
    Kernel {
        release: rustix::system::uname().release().to_string_lossy().into_owned(),
        pidfd: own.map(|_| ()),
        has_pidfs,
        has_peer_pidfd: UnixStream::pair()
            .is_ok_and(|(one, _other)| socket::peer_pidfd(one.as_fd()).is_some()),
        subreaper: rustix::process::child_subreaper().map(|_| ()).map_err(io::Error::from),
        ofd_locks: lock_twice(),
        cgroup: cgroup::delegated(),
        landlock: landlock::version(),
    }
}

/// A second description of a locked file must see the lock.
fn lock_twice() -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let file = rustix::fs::memfd_create("tidegate-lock", MemfdFlags::CLOEXEC)?;
    if !ofd::try_lock(file.as_fd())? {
        return Err(io::Error::other("a fresh file is locked"));
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let again = std::fs::File::open(path)?;
    if ofd::is_locked(again.as_fd())? {
        return Ok(());
    }
    Err(io::Error::other("a lock is not seen through another descriptor"))
}

#[cfg(test)]
mod tests {
    use super::kernel;

    #[test]
    fn kernel_of_a_test_machine_has_what_shims_need() {
        let found = kernel();
        assert!(found.pidfd.is_ok() && found.subreaper.is_ok(), "{found:?}");
        assert!(found.ofd_locks.is_ok(), "{found:?}");
        assert!(!found.release.is_empty());
    }
}
