//! A control group (v2) of the job's own, where the system delegated one to us.
//!
//! A process cannot leave it by forking, by a new session or by an empty environment, and the
//! kernel kills all of it at once. Best effort: without delegation everything else still holds,
//! and the root group is never touched.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Attributes that systemd sets on a group that it delegated.
const DELEGATED: [&str; 2] = ["trusted.delegate", "user.delegate"];

/// Levels of groups below the job's own that are looked into.
const DEPTH_MAX: u32 = 16;

/// A group that holds one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Makes a group below our own, if that was delegated to us.
    pub(crate) fn create(name: &str) -> Option<Self> {
        let path = delegated()?.join(format!("tidegate-{name}"));
        match fs::create_dir(&path) {
            Ok(()) => Some(Self { path }),
            // Left by a shim of the same attempt that died before it started anything.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Some(Self { path }),
            Err(_) => None,
        }
    }

    /// The group of a recorded path.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves a process into it; its children will be born there.
    pub(crate) fn admit(&self, pid: u32) -> io::Result<()> {
        fs::write(self.path.join("cgroup.procs"), pid.to_string())
    }

    /// The processes in it and in groups below; none when it is gone.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let mut found = Vec::new();
        collect(&self.path, 0, &mut found);
        found
    }

    /// Kills all of it at once; false where the kernel cannot (before 5.14).
    pub(crate) fn kill(&self) -> bool {
        fs::write(self.path.join("cgroup.kill"), "1").is_ok()
    }

    /// Whether the kernel killed something in it for its memory. Only known where the memory
    /// controller is enabled for the group.
    pub(crate) fn had_oom_kill(&self) -> bool {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        has_oom_kill(&events)
    }

    /// Removes the empty group.
    pub(crate) fn remove(&self) {
        remove(&self.path, 0);
    }
}

/// Our own group, if it was delegated to us: groups may be made below it.
pub(crate) fn delegated() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = own_group(&fs::read_to_string("/proc/self/cgroup").ok()?)?;
    let path = locate(&mounts, &own)?;
    (own != Path::new("/") && is_delegated(&path)).then_some(path)
}

fn has_oom_kill(events: &str) -> bool {
    let count = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.is_some_and(|count| count.trim() != "0")
}

fn collect(path: &Path, depth: u32, found: &mut Vec<u32>) {
    let procs = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    // 0 stands for a process outside our pid namespace.
    let pids = procs.lines().filter_map(|pid| pid.parse::<u32>().ok());
    found.extend(pids.filter(|pid| *pid != 0));
    for child in below(path, depth) {
        collect(&child, depth + 1, found);
    }
}

fn remove(path: &Path, depth: u32) {
    for child in below(path, depth) {
        remove(&child, depth + 1);
    }
    // One that is not empty stays, and its members are seen.
    let _ = fs::remove_dir(path);
}

fn below(path: &Path, depth: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    if depth < DEPTH_MAX { dirs.map(|entry| entry.path()).collect() } else { Vec::new() }
}

/// Ours by an attribute, or because the group belongs to us although we are not root.
fn is_delegated(path: &Path) -> bool {
    let attribute = |name: &str| rustix::fs::getxattr_query(path, name).is_ok_and(|len| len > 0);
    let user = rustix::process::geteuid();
    let owned = fs::metadata(path).is_ok_and(|meta| meta.uid() == user.as_raw());
    DELEGATED.iter().any(|name| attribute(name)) || (owned && !user.is_root())
}

/// Our group in the v2 hierarchy, from `/proc/self/cgroup`.
fn own_group(text: &str) -> Option<PathBuf> {
    text.lines().find_map(|line| line.strip_prefix("0::")).map(PathBuf::from)
}

/// Where a group of the v2 hierarchy is mounted, from `/proc/self/mountinfo`.
fn locate(mounts: &str, group: &Path) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        if right.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = left.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        Some(Path::new(point).join(group.strip_prefix(root).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
        41 31 0:38 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

    #[test]
    fn group_is_found_below_its_mount() {
        let own = own_group("1:name=systemd:/x\n0::/user.slice/a.service\n");
        assert_eq!(own, Some("/user.slice/a.service".into()));
        let found = locate(MOUNTS, Path::new("/user.slice/a.service"));
        assert_eq!(found, Some("/sys/fs/cgroup/user.slice/a.service".into()));
    }

    #[test]
    fn memory_kill_is_read_from_its_own_counter() {
        assert!(has_oom_kill("low 0\noom 2\noom_kill 1\n"));
        assert!(!has_oom_kill("oom 2\noom_kill 0\noom_group_kill 3\n"));
        assert!(!has_oom_kill(""));
    }

    #[test]
    fn group_outside_the_mounted_part_is_not_found() {
        let mounts = "41 31 0:38 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(locate(mounts, Path::new("/other")), None);
        let found = locate(mounts, Path::new("/docker/1/job"));
        assert_eq!(found, Some("/sys/fs/cgroup/job".into()));
        assert_eq!(locate("", Path::new("/")), None);
    }
}
