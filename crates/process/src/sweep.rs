//! Ending what a dead shim, or a run that is over, left behind, and proving that nothing is left.
//!
//! Only processes of the running boot, only what is proved to belong.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fail::fail_point;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use tidegate_core::exit::{Identity, Started};

use crate::cgroup::Cgroup;
use crate::identity::{self, Sent};
use crate::jobdir::{JobDir, STARTED};
use crate::procfs::Proc;
use crate::record::StartedFile;
use crate::tree::{self, Claim};
use crate::{clock, procfs};

/// Longest wait between two passes, in milliseconds.
const PASS_MS_MAX: u64 = 200;

/// Why nothing was swept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The records are of another boot: their pids mean nothing now. Nothing was signalled.
    #[error("the processes belonged to another boot")]
    OtherBoot,
    /// The process table could not be read.
    #[error("read the process table: {source}")]
    Io {
        /// Why it failed.
        source: io::Error,
    },
}

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Pids that were ended.
    pub ended: Vec<u32>,
    /// What could not be ended in time, for a person. Empty: nothing is left.
    pub survivors: Vec<String>,
}

impl Swept {
    /// Whether it was proved that nothing is left.
    pub fn is_empty(&self) -> bool {
        self.survivors.is_empty()
    }
}

/// What to sweep.
#[derive(Debug, Clone)]
pub struct Sweep {
    claim: Claim,
    boot_id: Option<String>,
    session_of: Option<Identity>,
}

impl Sweep {
    /// The survivors of a shim that vanished: its main process and below, its session, and what
    /// carries `run_tag`.
    pub fn lost_shim(started: &Started, run_tag: &str) -> Self {
        let claim = Claim {
            roots: vec![started.child.clone()],
            tags: vec![run_tag.to_owned()],
            since_ticks: started.shim.start_ticks,
            ..Claim::default()
        };
        Self {
            claim,
            boot_id: Some(started.shim.boot_id.clone()),
            session_of: Some(started.shim.clone()),
        }
    }

    /// Everything that carries one of these run tags, such as the jobs of a run that is over.
    pub fn tagged(run_tags: Vec<String>) -> Self {
        let claim = Claim { tags: run_tags, ..Claim::default() };
        Self { claim, boot_id: None, session_of: None }
    }

    /// These processes and all below them, such as agents that were spared.
    pub fn processes(roots: Vec<Identity>) -> Self {
        let claim = Claim { roots, ..Claim::default() };
        Self { claim, boot_id: None, session_of: None }
    }

    /// Also what is in the control group that the job of `dir` was put into, if it has one; the
    /// group is removed when it is empty.
    ///
    /// # Errors
    /// [`SweepError::Io`] when its `started` record cannot be read.
    pub fn with_cgroup_of(mut self, dir: &JobDir) -> Result<Self, SweepError> {
        let bytes = dir.read(STARTED).map_err(|source| SweepError::Io { source })?;
        let record = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(StartedFile::Started(started)) = record {
            let path = started.cgroup.map(|path| PathBuf::from(path.as_os_str()));
            self.claim.cgroup = path.map(Cgroup::at);
        }
        Ok(self)
    }

    /// Leaves these and all below them alive.
    #[must_use]
    pub fn sparing(mut self, agents: Vec<Identity>) -> Self {
        self.claim.spared = agents;
        self
    }

    /// Whether anything that would be swept is alive.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub fn is_anything_alive(&self) -> Result<bool, SweepError> {
        self.check_boot()?;
        Ok(!self.members()?.is_empty())
    }

    /// Stops what belongs until nothing new turns up, kills it, and looks again until nothing is
    /// left or `patience` is over. Blocks.
    ///
    /// Stopping comes first because there is no subreaper here: the children of a process that was
    /// killed between two looks would belong to nobody, while those of a stopped one are found.
    ///
    /// # Errors
    /// [`SweepError::OtherBoot`] before anything was signalled; [`SweepError::Io`].
    pub fn run(&self, patience: Duration) -> Result<Swept, SweepError> {
        self.check_boot()?;
        let deadline = Instant::now() + patience;
        let mut sweep = self.clone();
        let mut swept = Swept::default();
        for pass in 0_u32.. {
            let members = sweep.freeze(deadline)?;
            if members.is_empty() {
                swept.survivors.clear();
                sweep.claim.cgroup.iter().for_each(Cgroup::remove);
                break;
            }
            fail_point!("sweep.before_kill");
            swept.survivors = kill(&members);
            fail_point!("sweep.after_kill");
            for proc in &members {
                if !swept.ended.contains(&proc.pid) {
                    swept.ended.push(proc.pid);
                }
            }
            if Instant::now() >= deadline {
                break;
            }
            wait_for_any(&members, (1 << pass.min(8)).min(PASS_MS_MAX));
        }
        Ok(swept)
    }

    /// Stops everything that belongs, and what that had started meanwhile. All of it is remembered
    /// and belongs from now on, whatever becomes of its parent.
    fn freeze(&mut self, deadline: Instant) -> Result<Vec<Proc>, SweepError> {
        let mut known = HashSet::new();
        loop {
            let members = self.members()?;
            let new: Vec<_> = members.iter().filter(|proc| known.insert(proc.pid)).collect();
            if new.is_empty() || Instant::now() >= deadline {
                return Ok(members);
            }
            for proc in new {
                if let Ok(Some(identity)) = identity::of(proc.pid)
                    && identity.start_ticks == proc.start_ticks
                {
                    self.claim.roots.push(identity);
                }
                let _ = tree::signal(proc, libc::SIGSTOP);
            }
        }
    }

    fn check_boot(&self) -> Result<(), SweepError> {
        let Some(boot_id) = &self.boot_id else { return Ok(()) };
        let now = clock::boot_id().map_err(|source| SweepError::Io { source })?;
        if *boot_id == now { Ok(()) } else { Err(SweepError::OtherBoot) }
    }

    fn members(&self) -> Result<Vec<Proc>, SweepError> {
        let io = |source| SweepError::Io { source };
        let mut claim = self.claim.clone();
        claim.session = self.session().map_err(io)?;
        claim.members().map_err(io)
    }

    /// The dead shim's session. While it has members its number is not given to a new process; a
    /// living process with that pid means that it had none and the number was recycled.
    fn session(&self) -> io::Result<Option<u32>> {
        let Some(shim) = &self.session_of else { return Ok(None) };
        let now = procfs::stat(shim.pid)?;
        let recycled = now.is_some_and(|now| now.start_ticks != shim.start_ticks)
            || identity::of(shim.pid)?.is_some_and(|now| !identity::is_same(&now, shim));
        Ok((!recycled).then_some(shim.pid))
    }
}

/// Kills all of `members`; returns those that a person must look at if they stay.
fn kill(members: &[Proc]) -> Vec<String> {
    let mut survivors = Vec::new();
    for proc in members {
        match tree::signal(proc, libc::SIGKILL) {
            Ok(Sent::Gone) => {}
            Ok(Sent::Delivered) => survivors.push(format!(
                "process {} does not end, its state is {}",
                proc.pid,
                char::from(proc.state)
            )),
            Ok(Sent::NotPermitted) => {
                let pid = proc.pid;
                survivors.push(format!("process {pid} must not be signalled by this user"));
            }
            Err(error) => {
                survivors.push(format!("process {} could not be signalled: {error}", proc.pid));
            }
        }
    }
    survivors
}

/// Waits until one of them has ended, `millis` at most.
fn wait_for_any(members: &[Proc], millis: u64) {
    let open = |proc: &Proc| crate::sys::pidfd::PidFd::open(proc.pid).ok();
    let pidfds: Vec<_> = members.iter().take(64).filter_map(open).collect();
    let mut fds: Vec<_> = pidfds.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    let millis = i64::try_from(millis).unwrap_or(0);
    let timeout = Timespec { tv_sec: millis / 1000, tv_nsec: millis % 1000 * 1_000_000 };
    let _ = poll(&mut fds, Some(&timeout));
}
