//! Which processes belong to a job, by everything the kernel says about them.
//!
//! Union of: descendants, the shim's session, the run tag in the environment, the job's control
//! group, and what was proved to belong otherwise. It knows nothing of job directories.

use std::collections::{HashMap, HashSet};
use std::io;

use tidegate_core::exit::Identity;

use crate::cgroup::Cgroup;
use crate::identity::{self, Sent};
use crate::procfs::{self, Proc};
use crate::sys::pidfd::PidFd;

/// Name of the environment variable that every process of a job starts with.
pub const RUN_TAG: &str = "TIDEGATE_RUN_TAG";

/// What makes a process one of ours.
#[derive(Debug, Clone, Default)]
pub(crate) struct Claim {
    /// A living shim, which is the subreaper of its job: all its descendants.
    pub(crate) subreaper: Option<u32>,
    /// All of this session. Only for a session that cannot have been recycled.
    pub(crate) session: Option<u32>,
    /// Processes that belong, with their descendants.
    pub(crate) roots: Vec<Identity>,
    /// Values of the run tag.
    pub(crate) tags: Vec<String>,
    /// All of this control group.
    pub(crate) cgroup: Option<Cgroup>,
    /// Nothing that started earlier is asked for its environment or session.
    pub(crate) since_ticks: u64,
    /// Not these, nor their descendants.
    pub(crate) spared: Vec<Identity>,
}

impl Claim {
    /// The processes that belong and live.
    pub(crate) fn members(&self) -> io::Result<Vec<Proc>> {
        let table = procfs::all()?;
        let family = Family::of(&table);
        let untouchable = family.ancestors(std::process::id());
        let spared = family.descendants(proved_pids(&self.spared)?);
        let entries: Vec<_> = self.tags.iter().map(|tag| format!("{RUN_TAG}={tag}")).collect();

        let mut first = proved_pids(&self.roots)?;
        if let Some(subreaper) = self.subreaper {
            first.extend(family.children(subreaper));
        }
        first.extend(self.cgroup.iter().flat_map(Cgroup::pids));
        let mut ours = family.descendants(first);
        let tagged = table.iter().filter(|proc| {
            !ours.contains(&proc.pid)
                && !proc.is_gone()
                && proc.start_ticks >= self.since_ticks
                && (self.session == Some(proc.session) || has_any(proc.pid, &entries))
        });
        let tagged: Vec<_> = tagged.map(|proc| proc.pid).collect();
        ours.extend(family.descendants(tagged));

        let belongs = |proc: &Proc| {
            ours.contains(&proc.pid)
                && !spared.contains(&proc.pid)
                && !untouchable.contains(&proc.pid)
                && !proc.is_gone()
        };
        Ok(table.into_iter().filter(belongs).collect())
    }
}

fn has_any(pid: u32, entries: &[String]) -> bool {
    entries.iter().any(|entry| procfs::has_env(pid, entry.as_bytes()) == Some(true))
}

fn proved_pids(identities: &[Identity]) -> io::Result<Vec<u32>> {
    let mut pids = Vec::with_capacity(identities.len());
    for identity in identities {
        if identity::is_alive(identity)? {
            pids.push(identity.pid);
        }
    }
    Ok(pids)
}

/// Parents and children of one look at the process table.
struct Family {
    parent: HashMap<u32, u32>,
    children: HashMap<u32, Vec<u32>>,
}

impl Family {
    fn of(table: &[Proc]) -> Self {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for proc in table {
            children.entry(proc.parent).or_default().push(proc.pid);
        }
        Self { parent: table.iter().map(|proc| (proc.pid, proc.parent)).collect(), children }
    }

    fn children(&self, pid: u32) -> Vec<u32> {
        self.children.get(&pid).cloned().unwrap_or_default()
    }

    /// The processes themselves and all below them.
    fn descendants(&self, mut open: Vec<u32>) -> HashSet<u32> {
        let mut found = HashSet::new();
        while let Some(pid) = open.pop() {
            if found.insert(pid) {
                open.extend(self.children(pid));
            }
        }
        found
    }

    /// The process itself and all above it, with 0 and 1.
    fn ancestors(&self, pid: u32) -> HashSet<u32> {
        let mut found = HashSet::from([0, 1]);
        let mut next = Some(pid);
        while let Some(pid) = next {
            next = found.insert(pid).then(|| self.parent.get(&pid).copied()).flatten();
        }
        found
    }
}

/// Signals a process seen in the table, if it is still that process.
pub(crate) fn signal(seen: &Proc, signal: i32) -> io::Result<Sent> {
    let pidfd = match PidFd::open(seen.pid) {
        Ok(pidfd) => pidfd,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(Sent::Gone),
        Err(error) => return Err(error),
    };
    // From here on the pid cannot be recycled, if what it names now still lives below.
    let Some(now) = procfs::stat(seen.pid)? else { return Ok(Sent::Gone) };
    let same = now.start_ticks == seen.start_ticks
        && (now.parent == seen.parent || now.session == seen.session);
    if !same || now.is_gone() {
        return Ok(Sent::Gone);
    }
    identity::send_checked(&pidfd, signal)
}
