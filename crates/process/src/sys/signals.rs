//! Signal masks, dispositions and the signal descriptor.
#![expect(unsafe_code, reason = "sigaction, sigprocmask and signalfd have no safe wrapper")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// A descriptor that becomes readable when one of its (now blocked) signals arrives.
pub(crate) struct SignalFd(OwnedFd);

fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: `sigset_t` is plain data; sigemptyset makes it valid before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is ours, the signals are constants of libc.
    unsafe {
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
    }
    set
}

impl SignalFd {
    /// Blocks `signals` in this thread and delivers them by descriptor.
    pub(crate) fn block(signals: &[i32]) -> io::Result<Self> {
        let set = set_of(signals);
        // SAFETY: `set` is valid, the old mask is not asked for.
        if unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) } != 0
        {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `set` is valid; -1 asks for a new descriptor.
        let fd =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just gave us this descriptor, nobody else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Takes the next pending signal, if there is one. Equal signals coalesce.
    pub(crate) fn next(&self) -> Option<i32> {
        // SAFETY: plain data, all zeroes is valid.
        let mut info: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
        let size = std::mem::size_of::<libc::signalfd_siginfo>();
        // SAFETY: the buffer is exactly as large as one record and exclusively ours.
        let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size) };
        (read == size.cast_signed()).then(|| info.ssi_signo.cast_signed())
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Gives every signal its default disposition and unblocks all. For a child before exec.
pub(crate) fn reset_all() {
    // The kernel's own structure, all zeroes: SIG_DFL, no flags, empty mask. By system call,
    // because the C library keeps its two internal signals to itself even when they came ignored.
    let default = [0_usize; 8];
    for signal in 1..=64 {
        // SAFETY: the structure is larger than the kernel's on every architecture and installs no
        // handler; the two signals that cannot be set give EINVAL.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null_mut::<usize>(),
                8_usize,
            )
        };
    }
    let empty = set_of(&[]);
    // SAFETY: `empty` is valid, the old mask is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const empty, std::ptr::null_mut()) };
}
