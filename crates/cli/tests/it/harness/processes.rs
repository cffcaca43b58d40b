//! Facts about processes from the kernel, and signals to processes that a test started.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Whether a process has ended: absent, or a zombie that nobody has reaped yet.
pub(crate) fn is_gone(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(file(pid, "stat")) else { return true };
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    matches!(state, Some("Z" | "X") | None)
}

/// Sends a signal to one process; false when it is gone already.
pub(crate) fn signal(pid: u32, signal: Signal) -> bool {
    open(pid).is_some_and(|process| pidfd_send_signal(process, signal).is_ok())
}

/// Sends a signal to one process if it is still the one that is meant once it is held by a
/// descriptor; false when it is not.
#[cfg(feature = "failpoints")]
pub(crate) fn proved_signal(pid: u32, signal: Signal, is_meant: impl Fn() -> bool) -> bool {
    let Some(process) = open(pid) else { return false };
    is_meant() && pidfd_send_signal(process, signal).is_ok()
}

/// Kills one process and waits until its last thread is gone: the state Z is that of the first.
pub(crate) fn end(pid: u32) {
    let Some(process) = open(pid) else { return };
    let _ = pidfd_send_signal(&process, Signal::KILL);
    super::until(&format!("the end of {pid}"), || {
        let mut fds = [PollFd::new(&process, PollFlags::IN)];
        let now = rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 };
        (rustix::event::poll(&mut fds, Some(&now)).unwrap() > 0).then_some(())
    });
}

fn open(pid: u32) -> Option<OwnedFd> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Living processes whose environment has `text` in the tag of their run.
pub(crate) fn tagged(text: &str) -> Vec<u32> {
    let has = |variable: &[u8]| {
        variable.starts_with(b"TIDEGATE_RUN_TAG=") && contains(variable, text.as_bytes())
    };
    all().filter(|pid| environment(*pid).split(|byte| *byte == 0).any(has)).collect()
}

/// Living processes whose environment or command line names `text`, but for this one.
pub(crate) fn mentioning(text: &str) -> Vec<u32> {
    let named = |pid: &u32| {
        let line = std::fs::read(file(*pid, "cmdline")).unwrap_or_default();
        contains(&line, text.as_bytes()) || contains(&environment(*pid), text.as_bytes())
    };
    all().filter(|pid| *pid != std::process::id()).filter(named).collect()
}

/// The command line of a process, for messages.
pub(crate) fn command_line(pid: u32) -> String {
    let line = std::fs::read(file(pid, "cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Ends every process that names `text`, until none is left. Gives what could not be ended.
pub(crate) fn sweep(text: &str) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let left = mentioning(text);
        if left.is_empty() || Instant::now() >= deadline {
            return left;
        }
        for pid in &left {
            signal(*pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A process of a test beside the product; it ends with the value.
pub(crate) struct Fence(std::process::Child);

impl Fence {
    /// Starts it.
    pub(crate) fn start(command: &mut std::process::Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Its pid.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end; the exit code, -1 for a signal.
    pub(crate) fn code(&mut self) -> i32 {
        let status = super::until("the end of a child", || self.0.try_wait().unwrap());
        status.code().unwrap_or(-1)
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn all() -> impl Iterator<Item = u32> {
    let names = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).filter(|pid| !is_gone(*pid))
}

fn environment(pid: u32) -> Vec<u8> {
    std::fs::read(file(pid, "environ")).unwrap_or_default()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn file(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}
