//! Reaping children together with what they used.
#![expect(unsafe_code, reason = "wait4 has no safe wrapper")]

use std::io;

use crate::record::Usage;

/// What one look for ended children found.
pub(crate) enum Reaped {
    /// A child ended and was reaped.
    Child {
        /// Its pid, free for reuse from now on.
        pid: u32,
        /// How it ended.
        status: Status,
        /// What it and the children that it waited for used.
        usage: Usage,
    },
    /// There are children, none has ended.
    NoneReady,
    /// There are no children at all.
    NoChildren,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// By exiting.
    Code(i32),
    /// By a signal.
    Signal {
        /// Its number.
        signal: i32,
        /// Whether it left a core dump.
        core: bool,
    },
}

/// Reaps one ended child, without waiting.
pub(crate) fn reap_one() -> io::Result<Reaped> {
    let mut status = 0;
    // SAFETY: plain data, all zeroes is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both out values are ours.
    let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) };
    match pid {
        0 => Ok(Reaped::NoneReady),
        -1 => {
            let error = io::Error::last_os_error();
            if error.raw_os_error() == Some(libc::ECHILD) {
                return Ok(Reaped::NoChildren);
            }
            Err(error)
        }
        pid => Ok(Reaped::Child {
            pid: pid.cast_unsigned(),
            status: decode(status),
            usage: Usage {
                user_us: micros(usage.ru_utime),
                system_us: micros(usage.ru_stime),
                max_rss_kib: usage.ru_maxrss.cast_unsigned(),
            },
        }),
    }
}

fn decode(status: i32) -> Status {
    if libc::WIFEXITED(status) {
        return Status::Code(libc::WEXITSTATUS(status));
    }
    Status::Signal { signal: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) }
}

fn micros(time: libc::timeval) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000 + time.tv_usec.cast_unsigned()
}
