//! Whether a job failed for want of room: what its own words may not say, the disk does.

use std::path::Path;

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::run::{Purpose, Run};

/// Free space, in bytes, below which a disk counts as full.
const FULL: u64 = 256 * 1024;

/// Says of a bad end in a worktree whose disk is full that it is one of resources.
pub(super) fn explained(run: &Run, id: &JobId, mut exit: Exit) -> Exit {
    let failed = exit.reason == Reason::Exited && exit.code != Some(0);
    if failed
        && exit.detail.is_none()
        && let Some(worktree) = worktree(run, id)
        && let Some(free) = free(Path::new(worktree)).filter(|free| *free < FULL)
    {
        exit.detail = Some(format!(
            "resource: no room on the disk of its worktree, {} KiB are free",
            free / 1024
        ));
    }
    exit
}

fn worktree<'r>(run: &'r Run, id: &JobId) -> Option<&'r str> {
    let Purpose::Agent { feature, .. } = &run.jobs.get(id)?.purpose else { return None };
    run.plan()?.1.features.get(feature)?.worktree.as_deref()
}

fn free(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}
