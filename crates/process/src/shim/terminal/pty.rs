//! Making a pseudo terminal and making it the controlling terminal of the shim's session.
//!
//! The shim leads the session, not the job's main process: when a session's leader ends, the kernel
//! throws away output that nobody has read yet.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize};

use super::screen::Size;

/// Both ends of a pseudo terminal.
pub(crate) struct Pty {
    /// What the shim reads and writes; does not block.
    pub(crate) master: OwnedFd,
    /// What the job sees.
    pub(crate) slave: OwnedFd,
}

/// Opens a pseudo terminal of this size and takes it as the controlling terminal.
pub(crate) fn open(size: Size) -> io::Result<Pty> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    let mut settings = rustix::termios::tcgetattr(&slave)?;
    settings.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(&slave, OptionalActions::Now, &settings)?;
    set_size(&master, size)?;
    rustix::io::ioctl_fionbio(&master, true)?;
    rustix::process::ioctl_tiocsctty(&slave)?;
    Ok(Pty { master, slave })
}

/// Tells kernel and job of a new size.
pub(crate) fn set_size(master: &OwnedFd, size: Size) -> io::Result<()> {
    let size =
        Winsize { ws_row: size.rows.get(), ws_col: size.cols.get(), ws_xpixel: 0, ws_ypixel: 0 };
    Ok(rustix::termios::tcsetwinsize(master, size)?)
}

/// Gives the terminal to the job's process group: it may read, and gets what `^C` sends.
pub(crate) fn give_to(slave: &OwnedFd, group: Pid) -> io::Result<()> {
    Ok(rustix::termios::tcsetpgrp(slave, group)?)
}
