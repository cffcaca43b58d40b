//! The machine: git, and what the kernel can do.

use std::sync::Arc;

use tidegate_daemon::Git;
use tidegate_daemon::adapters::HelperExec;
use tidegate_daemon::kernel::{Kernel, kernel};

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    let found = kernel();
    let mut checks = vec![git(), version(&found)];
    checks.extend([
        pidfd(&found),
        peer(&found),
        subreaper(&found),
        locks(&found),
        cgroup(&found),
        landlock(&found),
    ]);
    checks
}

/// The program that all of git's work is done by, of a version that can do it.
fn git() -> Check {
    let git = Git::new(Arc::new(HelperExec));
    match git.version() {
        Ok(version) => Check::good("git", version.to_string()),
        Err(why) => Check::wrong("git", why.to_string())
            .then("install git 2.38 or newer, and see that it is on the PATH"),
    }
}

fn version(kernel: &Kernel) -> Check {
    Check::good("kernel", format!("Linux {}", kernel.release))
}

/// Proof of identity needs descriptors of processes, and is beyond doubt with inodes of theirs.
fn pidfd(kernel: &Kernel) -> Check {
    match &kernel.pidfd {
        Err(why) => Check::wrong("pidfd", format!("processes cannot be held: {why}"))
            .then("Tidegate needs Linux 5.10 or newer with /proc mounted"),
        Ok(()) if !kernel.has_pidfs => {
            Check::odd("pidfd", "no pidfs: identities are proved by start time and boot alone")
                .then("Linux 6.9 or newer gives each process an inode that is never used twice")
        }
        Ok(()) => Check::good("pidfd", "with pidfs inodes"),
    }
}

fn peer(kernel: &Kernel) -> Check {
    if kernel.has_peer_pidfd {
        return Check::good("peer", "clients of the socket are proved by pidfd");
    }
    Check::odd("peer", "clients of the socket are known by pid alone, which could be given again")
        .then("Linux 6.5 or newer proves them (SO_PEERPIDFD)")
}

fn subreaper(kernel: &Kernel) -> Check {
    match &kernel.subreaper {
        Ok(()) => Check::good("subreaper", "orphans of a job come to its shim"),
        Err(why) => Check::wrong("subreaper", format!("orphans of a job would be lost: {why}"))
            .then("allow prctl(PR_SET_CHILD_SUBREAPER) in this container or sandbox"),
    }
}

fn locks(kernel: &Kernel) -> Check {
    match &kernel.ofd_locks {
        Ok(()) => Check::good("locks", "locks belong to open files"),
        Err(why) => Check::wrong("locks", format!("no open-file-description locks: {why}"))
            .then("allow fcntl(F_OFD_SETLK) in this container or sandbox"),
    }
}

fn cgroup(kernel: &Kernel) -> Check {
    match &kernel.cgroup {
        Some(path) => Check::good("cgroup", format!("jobs get groups below {}", path.display())),
        None => Check::odd("cgroup", "no control group is delegated: trees are ended by sweeps")
            .then("run the daemon in a systemd user unit with Delegate=yes"),
    }
}

fn landlock(kernel: &Kernel) -> Check {
    match kernel.landlock {
        Some(version) => Check::good("landlock", format!("version {version}")),
        None => Check::odd("landlock", "not there: agents cannot be kept from the files of a home")
            .then("start Linux with landlock among lsm="),
    }
}
