//! A command whose process the kernel kills when the thread that started it ends.
#![expect(unsafe_code, reason = "PDEATHSIG must be set between fork and exec")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Signal};

/// Makes the process of `command` die with this process. Start it from a thread that stays.
pub(crate) fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: the closure makes two system calls and allocates nothing, as the child of a process
    // with several threads must.
    unsafe { command.pre_exec(move || die_with(parent)) };
}

fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() == Some(parent) {
        return Ok(());
    }
    Err(io::Error::from_raw_os_error(libc::ESRCH))
}
