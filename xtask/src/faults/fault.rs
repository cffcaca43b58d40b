//! What is done to the product: a kill at a fail point, or of a random process at a random moment.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::chance::Chance;
use crate::site::{Place, children, kill, with_argument};

/// One fault.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// The process that comes there for the `hit`-th time kills itself.
    Point {
        /// The name of the fail point.
        name: String,
        /// Which time, from 1.
        hit: u64,
    },
    /// Someone kills a process.
    Random {
        /// Which one.
        victim: Victim,
        /// When, after the submit.
        after: Duration,
    },
}

/// A process of the product.
#[derive(Debug, Clone, Copy)]
pub(super) enum Victim {
    /// The daemon.
    Daemon,
    /// A shim.
    Shim,
    /// What a shim runs: a launcher, an agent, a gate.
    Job,
    /// A child of the daemon, which is git.
    Git,
    /// All of them at once.
    All,
}

impl Fault {
    /// A kill at a fail point.
    pub(super) fn at_point(name: String, chance: &mut Chance) -> Self {
        Self::Point { name, hit: 1 + chance.below(6) }
    }

    /// A kill of a random process.
    pub(super) fn at_random(chance: &mut Chance) -> Self {
        let all = [Victim::Daemon, Victim::Shim, Victim::Job, Victim::Git, Victim::All];
        let after = Duration::from_millis(20 + chance.below(1500));
        Self::Random { victim: chance.one_of(&all), after }
    }

    /// Puts the fault into the environment of a daemon that is about to start; once for all its descendants.
    pub(super) fn arm(&self, daemon: &mut Command, once: &Path) {
        match self {
            Self::Point { name, hit } => {
                daemon.env("TIDEGATE_FAIL", format!("{name}=kill@{hit}"));
                daemon.env("TIDEGATE_FAIL_ONCE", once);
            }
            Self::Random { .. } => {}
        }
    }

    /// Does it now, if it is one that is done from outside. Whether a process was hit; a git child is waited for a
    /// little, because it lives for milliseconds.
    pub(super) fn strike(&self, place: &Place) -> Result<bool> {
        let Self::Random { victim, after } = self else { return Ok(false) };
        std::thread::sleep(*after);
        for _ in 0..200 {
            if victim.processes(place)?.into_iter().filter(|pid| kill(*pid)).count() > 0 {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(false)
    }
}

impl Victim {
    fn processes(self, place: &Place) -> Result<Vec<u32>> {
        let home = place.home().display().to_string();
        let shims = || with_argument(&home, "shim");
        let first = |pids: Vec<u32>| pids.into_iter().take(1).collect();
        let git = |daemon: u32| {
            let is_git = |pid: &u32| {
                std::fs::read_to_string(format!("/proc/{pid}/comm"))
                    .is_ok_and(|name| name.starts_with("git"))
            };
            children(daemon).into_iter().filter(is_git).collect::<Vec<u32>>()
        };
        Ok(match self {
            Self::Daemon => place.living_daemon()?.into_iter().collect(),
            Self::Shim => first(shims()?),
            Self::Job => first(shims()?.into_iter().flat_map(children).collect()),
            Self::Git => first(place.living_daemon()?.map(git).unwrap_or_default()),
            Self::All => {
                let shims = shims()?;
                let jobs = shims.iter().flat_map(|shim| children(*shim));
                place
                    .living_daemon()?
                    .into_iter()
                    .chain(jobs)
                    .chain(shims.iter().copied())
                    .collect()
            }
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point { name, hit } => write!(f, "kill at {name}, hit {hit}"),
            Self::Random { victim, after } => write!(f, "kill of {victim:?} after {after:?}"),
        }
    }
}
