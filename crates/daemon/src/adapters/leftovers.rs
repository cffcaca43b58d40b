//! Processes that are left of runs that have ended: those of jobs whose records could not be read,
//! and those that a daemon did not come to.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::ids::JobId;
use tidegate_core::run::{JobState, Run};
use tidegate_process::Sweep;
use tidegate_process::census::tagged;
use tidegate_store::StoreError;

use super::context::Shared;

/// How long one try takes at most.
const PATIENCE: Duration = Duration::from_secs(10);
/// Wait before the next try.
const AGAIN: Duration = Duration::from_secs(5);

/// The tags of a run's jobs that nobody could supervise to their end.
pub(super) fn of_quarantined(ctx: &Shared, run: &Run) -> Vec<String> {
    let quarantined =
        run.jobs.iter().filter(|(_, job)| matches!(job.state, JobState::Quarantined { .. }));
    quarantined.map(|(id, _)| ctx.run_tag(id)).collect()
}

/// The tags of living processes whose run has ended. `is_over` says so of a run that is known.
///
/// # Errors
/// What `is_over` says.
pub(super) fn of_ended_runs(
    ctx: &Shared,
    mut is_over: impl FnMut(&JobId) -> Result<bool, StoreError>,
) -> Result<Vec<String>, StoreError> {
    let living = tagged(&ctx.home_id).unwrap_or_else(|error| {
        tracing::warn!(%error, "the process table cannot be read");
        Vec::new()
    });
    let jobs: BTreeSet<JobId> =
        living.iter().filter_map(|process| JobId::parse(&process.job).ok()).collect();
    let mut tags = Vec::new();
    for job in jobs {
        if is_over(&job)? {
            tags.push(ctx.run_tag(&job));
        }
    }
    Ok(tags)
}

/// Ends what carries one of these tags, and proves that it is gone; tries until it is.
pub(super) fn end(ctx: &Shared, tags: Vec<String>) {
    if tags.is_empty() {
        return;
    }
    let own = Arc::clone(ctx);
    ctx.workers.now(move || match Sweep::tagged(tags.clone()).run(PATIENCE) {
        Ok(swept) if swept.is_empty() => {
            if !swept.ended.is_empty() {
                tracing::warn!(pids = ?swept.ended, "left of a run that has ended; ended now");
            }
        }
        outcome => {
            tracing::error!(?outcome, ?tags, "what is left of a run cannot be ended");
            let again = Arc::clone(&own);
            own.workers.after(AGAIN, move || end(&again, tags));
        }
    });
}
