//! Who a process is, and signals that reach nobody else.
//!
//! A pid is reused, and so is pid plus start tick; the pidfs inode is not. Every signal of this
//! crate goes through a pidfd whose identity was checked after it was opened.

use std::io;

use tidegate_core::exit::Identity;

use crate::sys::pidfd::{self, PidFd};
use crate::{clock, procfs};

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It was delivered to exactly the process that was meant.
    Delivered,
    /// That process is gone (or a zombie); nothing was signalled.
    Gone,
    /// It lives, but the kernel does not let us signal it: a person must look.
    NotPermitted,
}

/// A process whose identity was proved, held by a descriptor: it cannot be recycled.
#[derive(Debug)]
pub struct Proved {
    pidfd: PidFd,
}

impl Proved {
    /// Sends `signal` to the process.
    ///
    /// # Errors
    /// What the kernel says, except that the process is gone or must not be signalled.
    pub fn signal(&self, signal: i32) -> io::Result<Sent> {
        sent(self.pidfd.send(signal))
    }

    /// Gives the descriptor away: it is readable when the process has ended.
    pub fn into_fd(self) -> std::os::fd::OwnedFd {
        self.pidfd.into_fd()
    }
}

/// Signals what an already checked descriptor names.
pub(crate) fn send_checked(pidfd: &PidFd, signal: i32) -> io::Result<Sent> {
    sent(pidfd.send(signal))
}

fn sent(outcome: io::Result<()>) -> io::Result<Sent> {
    match outcome {
        Ok(()) => Ok(Sent::Delivered),
        Err(error) => match error.raw_os_error() {
            Some(libc::ESRCH) => Ok(Sent::Gone),
            Some(libc::EPERM) => Ok(Sent::NotPermitted),
            _ => Err(error),
        },
    }
}

/// The identity of the process that has `pid` now; `None` when there is none or it is a zombie.
///
/// # Errors
/// When `/proc` cannot be read or descriptors have run out.
pub fn of(pid: u32) -> io::Result<Option<Identity>> {
    match PidFd::open(pid) {
        Ok(pidfd) => of_open(pid, &pidfd),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The identity of the calling process.
///
/// # Errors
/// As [`of`].
pub fn own() -> io::Result<Identity> {
    of(std::process::id())?.ok_or_else(|| io::Error::other("this process is not in /proc"))
}

fn of_open(pid: u32, pidfd: &PidFd) -> io::Result<Option<Identity>> {
    let Some(stat) = procfs::stat(pid)? else { return Ok(None) };
    // The descriptor is asked last: what still lives now had the pid while /proc was read.
    if stat.is_gone() || sent(pidfd.send(0))? == Sent::Gone {
        return Ok(None);
    }
    Ok(Some(Identity {
        pid,
        start_ticks: stat.start_ticks,
        boot_id: clock::boot_id()?,
        pidfs_inode: pidfd.inode(),
    }))
}

/// Opens the process that `identity` names; `None` when it is gone, is a zombie, was started under
/// another boot, or its pid belongs to someone else now.
///
/// # Errors
/// As [`of`].
pub fn prove(identity: &Identity) -> io::Result<Option<Proved>> {
    let pidfd = match PidFd::open(identity.pid) {
        Ok(pidfd) => pidfd,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
        Err(error) => return Err(error),
    };
    let same = of_open(identity.pid, &pidfd)?.is_some_and(|now| is_same(identity, &now));
    Ok(same.then_some(Proved { pidfd }))
}

/// Whether both name one process. An inode of 0 (a kernel without pidfs) is not compared.
pub fn is_same(one: &Identity, other: &Identity) -> bool {
    let inodes =
        one.pidfs_inode == other.pidfs_inode || one.pidfs_inode == 0 || other.pidfs_inode == 0;
    one.pid == other.pid
        && one.start_ticks == other.start_ticks
        && one.boot_id == other.boot_id
        && inodes
}

/// Whether the process that `identity` names is alive. One that we must not signal is alive.
///
/// # Errors
/// As [`of`].
pub fn is_alive(identity: &Identity) -> io::Result<bool> {
    Ok(prove(identity)?.is_some())
}

/// Sends `signal` to the process that `identity` names, and to no other.
///
/// # Errors
/// As [`of`].
pub fn signal(identity: &Identity, signal: i32) -> io::Result<Sent> {
    prove(identity)?.map_or(Ok(Sent::Gone), |proved| proved.signal(signal))
}

/// The identity behind a pidfd whose pid is known, such as the one of a socket's peer.
pub(crate) fn of_peer(pid: u32, fd: std::os::fd::BorrowedFd<'_>) -> io::Result<Option<Identity>> {
    let inode = pidfd::inode_of(fd);
    Ok(of(pid)?.filter(|now| now.pidfs_inode == inode))
}
