//! Process descriptors: what they name cannot be recycled while they are open.
#![expect(unsafe_code, reason = "pidfd_send_signal with flags has no safe wrapper")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// File system of pidfds on kernels that number them (6.9 and newer).
const PID_FS_MAGIC: i64 = 0x5049_4446;

/// Signals the whole process group that the process leads (kernel 6.9 and newer).
const PIDFD_SIGNAL_PROCESS_GROUP: u32 = 1 << 2;

/// An open process descriptor.
#[derive(Debug)]
pub(crate) struct PidFd(OwnedFd);

impl PidFd {
    /// Opens the process that has `pid` now; `ESRCH` when there is none.
    pub(crate) fn open(pid: u32) -> io::Result<Self> {
        let none = || io::Error::from_raw_os_error(libc::ESRCH);
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(none)?;
        Ok(Self(pidfd_open(pid, PidfdFlags::empty())?))
    }

    /// Inode that pidfs gave the process, unique within a boot; 0 where there is no pidfs.
    pub(crate) fn inode(&self) -> u64 {
        inode_of(self.0.as_fd())
    }

    /// Sends `signal`; 0 only asks whether it could be sent.
    pub(crate) fn send(&self, signal: i32) -> io::Result<()> {
        self.send_with(signal, 0)
    }

    /// Sends `signal` to the group that this process leads; `EINVAL` on older kernels.
    pub(crate) fn send_group(&self, signal: i32) -> io::Result<()> {
        self.send_with(signal, PIDFD_SIGNAL_PROCESS_GROUP)
    }

    fn send_with(&self, signal: i32, flags: u32) -> io::Result<()> {
        // SAFETY: the descriptor is open for the whole call and no siginfo is passed.
        let done = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.0.as_raw_fd(),
                signal,
                std::ptr::null::<libc::siginfo_t>(),
                flags,
            )
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The descriptor, for polling: readable when the process ended.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// See [`PidFd::inode`].
pub(crate) fn inode_of(fd: BorrowedFd<'_>) -> u64 {
    let pidfs = rustix::fs::fstatfs(fd).is_ok_and(|fs| fs.f_type == PID_FS_MAGIC);
    if !pidfs {
        return 0;
    }
    rustix::fs::fstat(fd).map_or(0, |stat| stat.st_ino)
}
