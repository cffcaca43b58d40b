//! The host that is played: processes, and job directories with the records in them.
//!
//! What is here outlives every daemon. A reboot ends the processes and keeps the directories. It
//! must not know what a daemon makes of the records.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tidegate_core::exit::{Exit, Identity, Started};
use tidegate_core::ids::{AgentId, JobId, RunId};
use tidegate_core::launcher::{Journal, Registered};
use tidegate_core::run::Purpose;
use tidegate_core::time::WallMs;
use tidegate_core::verdict::{Mark, Observation};
use tidegate_daemon::engine::Target;

use super::programs::Act;

/// How a job's main process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MainEnd {
    Code(i32),
    Signal(i32),
    Timeout,
    Oom,
    /// Its program could not be executed; it ended with this code in its place.
    NoProgram,
}

/// What a process is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Shim,
    Main { shim: u32 },
    Grandchild,
    Registered(AgentId),
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) job: JobId,
    pub(super) kind: Kind,
    pub(super) script: VecDeque<(u64, Act)>,
    /// A stopped process takes its next step only then.
    pub(super) stalled_until: u64,
}

/// A job directory, and what its shim knows.
#[derive(Debug)]
pub(super) struct JobDir {
    pub(super) nonce: String,
    pub(super) purpose: Purpose,
    pub(super) target: Target,
    /// The shim that holds the lock.
    pub(super) lock: Option<u32>,
    pub(super) started: Option<Started>,
    pub(super) started_boot: u32,
    pub(super) tombstone: bool,
    pub(super) exit: Option<Exit>,
    /// A record that a fault made unreadable.
    pub(super) garbled: bool,
    /// Who asked the shim for the end, before the main process ended.
    pub(super) stop: Option<String>,
    pub(super) main_end: Option<MainEnd>,
    pub(super) began: u64,
    pub(super) journal: Option<Journal>,
    pub(super) agents: BTreeMap<AgentId, Registered>,
}

#[derive(Debug)]
pub(super) struct Host {
    pub(super) boot: u32,
    last_pid: u32,
    procs: BTreeMap<u32, Process>,
    dirs: BTreeMap<JobId, JobDir>,
    /// Jobs of which something changed that a watcher would tell.
    hints: BTreeSet<JobId>,
}

impl Host {
    pub(super) fn new() -> Self {
        Self {
            boot: 1,
            last_pid: 100,
            procs: BTreeMap::new(),
            dirs: BTreeMap::new(),
            hints: BTreeSet::new(),
        }
    }

    pub(super) fn take_hints(&mut self) -> BTreeSet<JobId> {
        std::mem::take(&mut self.hints)
    }

    pub(super) fn hint(&mut self, job: &JobId) {
        self.hints.insert(job.clone());
    }

    pub(super) fn process(&self, pid: u32) -> Option<&Process> {
        self.procs.get(&pid)
    }

    pub(super) fn process_mut(&mut self, pid: u32) -> Option<&mut Process> {
        self.procs.get_mut(&pid)
    }

    pub(super) fn processes(&self) -> impl Iterator<Item = (u32, &Process)> {
        self.procs.iter().map(|(pid, process)| (*pid, process))
    }

    pub(super) fn dir(&self, job: &JobId) -> Option<&JobDir> {
        self.dirs.get(job)
    }

    pub(super) fn dir_mut(&mut self, job: &JobId) -> Option<&mut JobDir> {
        self.dirs.get_mut(job)
    }

    pub(super) fn dirs(&self) -> impl Iterator<Item = (&JobId, &JobDir)> {
        self.dirs.iter()
    }

    /// Makes the job's directory when it is not there, with what its spec says.
    pub(super) fn make_dir(&mut self, job: &JobId, target: &Target) -> Option<&mut JobDir> {
        let row = target.run.jobs.get(job)?;
        let dir = self.dirs.entry(job.clone()).or_insert_with(|| JobDir {
            nonce: row.nonce.clone(),
            purpose: row.purpose.clone(),
            target: target.clone(),
            lock: None,
            started: None,
            started_boot: 0,
            tombstone: false,
            exit: None,
            garbled: false,
            stop: None,
            main_end: None,
            began: 0,
            journal: None,
            agents: BTreeMap::new(),
        });
        dir.target = target.clone();
        Some(dir)
    }

    /// Starts a process.
    pub(super) fn spawn(&mut self, job: &JobId, kind: Kind) -> u32 {
        self.last_pid += 1;
        let process = Process { job: job.clone(), kind, script: VecDeque::new(), stalled_until: 0 };
        self.procs.insert(self.last_pid, process);
        self.last_pid
    }

    /// What names a process for good.
    pub(super) fn identity(&self, pid: u32) -> Identity {
        Identity {
            pid,
            start_ticks: u64::from(pid) * 10,
            boot_id: format!("boot-{}", self.boot),
            pidfs_inode: u64::from(pid),
        }
    }

    pub(super) fn is_alive(&self, identity: &Identity) -> bool {
        self.procs.contains_key(&identity.pid) && self.identity(identity.pid) == *identity
    }

    /// Ends one process. Its children see to themselves; what it locked is free.
    pub(super) fn end(&mut self, pid: u32) {
        let Some(process) = self.procs.remove(&pid) else { return };
        self.hint(&process.job);
        if let Some(dir) = self.dirs.get_mut(&process.job)
            && dir.lock == Some(pid)
        {
            dir.lock = None;
        }
    }

    /// SIGKILL of a shim: its child dies with it, other descendants live on.
    pub(super) fn kill_shim(&mut self, pid: u32) {
        let child = self.procs.iter().find(|(_, p)| p.kind == (Kind::Main { shim: pid }));
        let child = child.map(|(pid, _)| *pid);
        self.end(pid);
        if let Some(child) = child {
            self.end(child);
        }
    }

    /// Ends every process of the job but its shim, and but registered agents when they are spared.
    pub(super) fn sweep(&mut self, job: &JobId, spare_registered: bool) {
        let doomed = |process: &Process| match process.kind {
            Kind::Shim => false,
            Kind::Main { .. } | Kind::Grandchild => true,
            Kind::Registered(_) => !spare_registered,
        };
        let pids = self.procs.iter().filter(|(_, p)| p.job == *job && doomed(p));
        let pids: Vec<u32> = pids.map(|(pid, _)| *pid).collect();
        for pid in pids {
            self.end(pid);
        }
    }

    /// The main process of a job, when it is alive.
    pub(super) fn main_of(&self, job: &JobId) -> Option<u32> {
        let is_main = |p: &Process| p.job == *job && matches!(p.kind, Kind::Main { .. });
        self.procs.iter().find(|(_, p)| is_main(p)).map(|(pid, _)| *pid)
    }

    /// Processes of the run that do work: all but shims.
    pub(super) fn workers_of(&self, run: &RunId) -> impl Iterator<Item = (u32, &Process)> {
        self.processes().filter(move |(_, p)| p.job.run() == run && p.kind != Kind::Shim)
    }

    /// The kernel starts anew.
    pub(super) fn reboot(&mut self) {
        self.boot += 1;
        self.procs.clear();
        for dir in self.dirs.values_mut() {
            dir.lock = None;
        }
    }

    /// What a daemon sees that looks into the job's directory.
    pub(super) fn observe(&self, job: &JobId, nonce: &str) -> Observation {
        let Some(dir) = self.dirs.get(job) else {
            return Observation {
                started: Mark::Absent,
                lock_held: false,
                exit: Mark::Absent,
                same_boot: true,
            };
        };
        let suspicious = || dir.garbled || dir.nonce != nonce;
        let bad = || "it does not parse".to_owned();
        let started = match &dir.started {
            _ if dir.tombstone => Mark::Tombstone,
            None => Mark::Absent,
            Some(_) if suspicious() => Mark::Suspicious { detail: bad() },
            Some(started) => Mark::Present(started.clone()),
        };
        let exit = match &dir.exit {
            None => Mark::Absent,
            Some(_) if suspicious() => Mark::Suspicious { detail: bad() },
            Some(exit) => Mark::Present(exit.clone()),
        };
        Observation {
            started,
            lock_held: dir.lock.is_some(),
            exit,
            same_boot: dir.started.is_none() || dir.started_boot == self.boot,
        }
    }

    /// Writes the record of a start, once: `None` when the attempt was started or withdrawn
    /// before. `again` writes over it, as no file system does.
    pub(super) fn link_started(
        &mut self,
        shim: u32,
        (wall, now): (WallMs, u64),
        again: bool,
    ) -> Option<u32> {
        let job = self.procs.get(&shim)?.job.clone();
        let dir = self.dirs.get(&job)?;
        if (dir.started.is_some() || dir.tombstone) && !again {
            return None;
        }
        let child = self.spawn(&job, Kind::Main { shim });
        let started = Started { shim: self.identity(shim), child: self.identity(child), at: wall };
        let boot = self.boot;
        let dir = self.dirs.get_mut(&job)?;
        dir.started = Some(started);
        dir.started_boot = boot;
        dir.began = now;
        self.hint(&job);
        Some(child)
    }
}
