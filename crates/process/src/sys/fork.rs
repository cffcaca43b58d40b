//! Forking from the only thread of a process, and what a child does before it execs.
#![expect(unsafe_code, reason = "fork, dup2, close_range and _exit have no safe wrapper")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// Which side of a fork this is.
pub(crate) enum Forked {
    /// The new process.
    Child,
    /// The old one; the new one has this pid.
    Parent(u32),
}

/// Forks, if this process has exactly one thread.
pub(crate) fn fork_alone() -> io::Result<Forked> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with several threads must not fork"));
    }
    // SAFETY: there is no other thread that could hold a lock or change memory during the fork,
    // so the child may go on with ordinary code.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid.cast_unsigned())),
    }
}

/// Ends the process at once, without destructors or exit handlers.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// Makes `target` a copy of `fd` that survives exec.
pub(crate) fn redirect(fd: BorrowedFd<'_>, target: RawFd) -> io::Result<()> {
    if fd.as_raw_fd() == target {
        // dup2 onto itself would keep CLOEXEC.
        // SAFETY: plain flag change on an open descriptor.
        let done = unsafe { libc::fcntl(target, libc::F_SETFD, 0) };
        return if done == -1 { Err(io::Error::last_os_error()) } else { Ok(()) };
    }
    // SAFETY: the callers pass 0, 1 or 2 as the target, which no Rust object of a shim owns.
    if unsafe { libc::dup2(fd.as_raw_fd(), target) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Closes every descriptor from 3 on. For the very start of a process, before any is owned.
pub(crate) fn close_inherited() {
    // SAFETY: called first thing in a shim or a daemon: nothing in this process owns a descriptor
    // above 2.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if done == 0 {
        return;
    }
    for fd in 3..1024 {
        // SAFETY: as above; a number that is not open gives EBADF.
        unsafe { libc::close(fd) };
    }
}

/// Closes one descriptor by number in a forked child, whatever else still refers to it there.
pub(crate) fn close_in_child(fd: BorrowedFd<'_>) {
    // SAFETY: only called in a forked child that leaves by exec or `_exit`: no owner's destructor
    // runs there, so nothing closes or uses the number again.
    unsafe { libc::close(fd.as_raw_fd()) };
}
