//! Processes of the product that somebody kills from outside.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::harness::{is_gone, proved_signal, signal};

/// Longest search for a victim that comes and goes.
const SEARCH: Duration = Duration::from_secs(3);

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Victim {
    Daemon,
    Shim,
    Launcher,
    /// A builder of a plan.
    Agent,
    /// An agent that a launcher started and registered.
    Registered,
    Gate,
    /// A git that works for the daemon.
    Git,
    /// Daemon, shims and jobs at once.
    Everything,
}

impl Victim {
    pub(super) const ALL: &[Self] = &[
        Self::Daemon,
        Self::Shim,
        Self::Launcher,
        Self::Agent,
        Self::Registered,
        Self::Gate,
        Self::Git,
        Self::Everything,
    ];

    /// Kills one as soon as it is there. False when none came in time.
    pub(super) fn kill(self, home: &Path, daemon: u32) -> bool {
        let deadline = Instant::now() + SEARCH;
        while Instant::now() < deadline {
            let found = self.find(home, daemon);
            if found.iter().filter(|pid| signal(**pid, Signal::KILL)).count() > 0 {
                return true;
            }
            // A git lives for milliseconds: the search itself must not miss it.
            std::thread::yield_now();
        }
        false
    }

    /// Kills one that is there now, by a descriptor that was opened before it was looked at again:
    /// whoever got its pid meanwhile is nobody's victim.
    pub(super) fn kill_now(self, home: &Path, daemon: u32) -> bool {
        let Some(pid) = self.find(home, daemon).into_iter().next() else { return false };
        proved_signal(pid, Signal::KILL, || self.find(home, daemon).contains(&pid))
    }

    fn find(self, home: &Path, daemon: u32) -> Vec<u32> {
        let one = |pids: Vec<u32>| pids.into_iter().take(1).collect::<Vec<_>>();
        let has = |pid: &u32, name: &str| environment(*pid, name);
        let jobs = || shims(home).into_iter().flat_map(children).collect::<Vec<_>>();
        match self {
            Self::Daemon => vec![daemon],
            Self::Shim => one(shims(home)),
            Self::Launcher => one(jobs()),
            Self::Agent => {
                one(jobs().into_iter().filter(|pid| has(pid, "TIDEGATE_ROLE=")).collect())
            }
            Self::Gate => {
                one(jobs().into_iter().filter(|pid| has(pid, "TIDEGATE_GATE=")).collect())
            }
            Self::Registered => std::fs::read_to_string(home.with_file_name("registered"))
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .into_iter()
                .collect(),
            Self::Git => one(children(daemon).into_iter().filter(|pid| is_git(*pid)).collect()),
            Self::Everything => {
                let shims = shims(home);
                let jobs = shims.iter().flat_map(|shim| children(*shim));
                let all: Vec<u32> =
                    std::iter::once(daemon).chain(shims.clone()).chain(jobs).collect();
                all
            }
        }
    }
}

/// The shims of a home.
fn shims(home: &Path) -> Vec<u32> {
    let home = home.as_os_str().as_encoded_bytes();
    let is_shim = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.nth(1) == Some(b"shim") && words.next().is_some_and(|dir| dir.starts_with(home))
    };
    let names = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(is_shim).filter(|pid| !is_gone(*pid)).collect()
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    lists
        .iter()
        .flat_map(|list| list.split_whitespace())
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

fn is_git(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("git"))
}

fn environment(pid: u32, start: &str) -> bool {
    let text = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    text.split(|byte| *byte == 0).any(|variable| variable.starts_with(start.as_bytes()))
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Daemon => "daemon",
            Self::Shim => "shim",
            Self::Launcher => "launcher",
            Self::Agent => "agent",
            Self::Registered => "registered",
            Self::Gate => "gate",
            Self::Git => "git",
            Self::Everything => "everything",
        })
    }
}
