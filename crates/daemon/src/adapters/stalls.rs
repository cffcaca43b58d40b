//! Notices shims that live and do not act. Nothing is concluded about their jobs, whose locks are
//! held; it is noted for readers, and a stop that waits is given as soon as they act again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tidegate_core::exit::Identity;
use tidegate_core::ids::JobId;
use tidegate_process::stalled;

use super::jobs::{Entry, Jobs};

/// Time between two looks: a line of `/proc` per job.
const PAUSE: Duration = Duration::from_secs(5);

/// Whether the next look is under way. There is none while there is no job: an idle daemon sleeps.
#[derive(Debug, Default)]
pub(super) struct Armed(AtomicBool);

/// From now on looks at every shim now and then, as long as there are jobs.
pub(super) fn watch(jobs: &Arc<Jobs>) {
    if !jobs.stalls.0.swap(true, Ordering::SeqCst) {
        again(jobs);
    }
}

fn again(jobs: &Arc<Jobs>) {
    let weak = Arc::downgrade(jobs);
    jobs.ctx.workers.after(PAUSE, move || look(&weak));
}

fn look(jobs: &Weak<Jobs>) {
    let Some(jobs) = jobs.upgrade() else { return };
    if jobs.is_empty() {
        jobs.stalls.0.store(false, Ordering::SeqCst);
        // A job may have come between the two lines, and relied on this look.
        if !jobs.is_empty() {
            watch(&jobs);
        }
        return;
    }
    for (id, entry) in jobs.with_shims() {
        let Some(shim) = &entry.shim else { continue };
        if look_at(&id, &entry, shim) {
            jobs.act_again(&id);
        }
    }
    again(&jobs);
}

/// Notes what is seen of one shim; true when it acts again.
fn look_at(id: &JobId, entry: &Entry, shim: &Identity) -> bool {
    let before = stalled::stalled(&entry.dir, shim).and_then(|stalled| stalled.since);
    let stopped = stalled::is_stopped(shim);
    // One that did not take a stop is silent until it does.
    let silent = entry.stop.is_some() && !entry.stop_sent;
    if stopped {
        if before.is_none() {
            tracing::warn!(job = %id, pid = shim.pid, "its shim is stopped");
            note(id, entry);
        }
        return false;
    }
    if before.is_some() && !silent {
        clear(id, entry);
    }
    before.is_some()
}

/// Notes that the shim of a job does not act.
pub(super) fn note(id: &JobId, entry: &Entry) {
    if let Err(error) = stalled::note(&entry.dir) {
        tracing::warn!(job = %id, %error, "cannot note that its shim does not act");
    }
}

/// Takes the note away.
pub(super) fn clear(id: &JobId, entry: &Entry) {
    if let Err(error) = stalled::clear(&entry.dir) {
        tracing::warn!(job = %id, %error, "cannot note that its shim acts again");
    }
}
