//! Silence of jobs: says once when one gives no sign of life, and when it goes on. It looks while
//! jobs run and never else, and ends nothing.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tidegate_core::exit::Started;
use tidegate_core::ids::JobId;
use tidegate_core::limits::STALL_AFTER_MS;
use tidegate_core::run::{Purpose, Report, Run, Work};
use tidegate_process::activity::{self, Activity};

use super::context::Shared;

/// Longest and shortest time between two looks.
const LOOK_MAX: Duration = Duration::from_mins(1);
const LOOK_MIN: Duration = Duration::from_millis(50);
/// Processor time that is no sign of life: a runtime's own timers take that much of a second.
const IDLE_CPU_PER_MILLE: u128 = 2;
/// Processor time that is none in any case, in milliseconds.
const IDLE_CPU_MS: u128 = 30;

/// The watch over the silence of one daemon's jobs.
#[derive(Debug)]
pub(super) struct Silences {
    ctx: Shared,
    watches: Mutex<HashMap<JobId, Watch>>,
}

#[derive(Debug, Clone)]
struct Watch {
    dir: PathBuf,
    started: Started,
    /// Silence after which it is said.
    limit: Duration,
    is_launcher: bool,
    /// The last sign of life, on the monotonic clock: a host that sleeps is not charged.
    since: Instant,
    seen: Activity,
    told: bool,
}

impl Silences {
    pub(super) fn new(ctx: &Shared) -> Arc<Self> {
        Arc::new(Self { ctx: Arc::clone(ctx), watches: Mutex::default() })
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<JobId, Watch>> {
        // A watch is replaced as a whole, so a panic leaves none half changed.
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to watch a job that runs; one that is watched already stays as it is.
    pub(super) fn begin(self: &Arc<Self>, run: &Run, id: &JobId, started: &Started) {
        let Some(job) = run.jobs.get(id) else { return };
        let is_launcher = match &job.purpose {
            Purpose::Launcher { .. } => true,
            Purpose::LauncherAgent { .. } | Purpose::Agent { .. } => false,
            // Gates and hooks have limits of their own, and are short.
            Purpose::Gate { .. } | Purpose::Hook { .. } => return,
        };
        let limit = limit_of(run);
        if limit.is_zero() || self.watches().contains_key(id) {
            return;
        }
        let dir = self.ctx.job_dir(id);
        let seen = activity::of(&dir, started).unwrap_or_default();
        let watch = Watch {
            dir,
            started: started.clone(),
            limit,
            is_launcher,
            since: Instant::now(),
            seen,
            told: job.stalled.is_some(),
        };
        self.watches().insert(id.clone(), watch);
        self.look_later(id, limit);
    }

    /// Watches a job no more.
    pub(super) fn end(&self, id: &JobId) {
        self.watches().remove(id);
    }

    fn look_later(self: &Arc<Self>, id: &JobId, limit: Duration) {
        let (silences, id) = (Arc::downgrade(self), id.clone());
        let wait = (limit / 4).clamp(LOOK_MIN, LOOK_MAX);
        self.ctx.workers.after(wait, move || {
            if let Some(silences) = silences.upgrade() {
                silences.look(&id);
            }
        });
    }

    fn look(self: &Arc<Self>, id: &JobId) {
        let Some(mut watch) = self.watches().get(id).cloned() else { return };
        match activity::of(&watch.dir, &watch.started) {
            Ok(seen) => self.judge(id, &mut watch, seen),
            Err(error) => tracing::debug!(job = %id, %error, "its signs of life cannot be read"),
        }
        let limit = watch.limit;
        let mut watches = self.watches();
        let Some(kept) = watches.get_mut(id) else { return };
        *kept = watch;
        drop(watches);
        self.look_later(id, limit);
    }

    fn judge(&self, id: &JobId, watch: &mut Watch, seen: Activity) {
        if is_sign(watch.seen, seen, watch.since.elapsed()) {
            (watch.since, watch.seen) = (Instant::now(), seen);
        } else if watch.is_launcher
            && let Some(since) = self.newest_sign_of_agents(id)
        {
            // A launcher that waits for agents that were started for it is not silent.
            watch.since = watch.since.max(since);
        }
        let silent = watch.since.elapsed();
        if silent >= watch.limit && !watch.told {
            watch.told = true;
            let silent_ms = u64::try_from(silent.as_millis()).unwrap_or(u64::MAX);
            self.ctx.report(id.run(), Report::JobSilent { job: id.clone(), silent_ms });
        } else if silent < watch.limit && watch.told {
            watch.told = false;
            self.ctx.report(id.run(), Report::JobActive { job: id.clone() });
        }
    }

    fn newest_sign_of_agents(&self, launcher: &JobId) -> Option<Instant> {
        let watches = self.watches();
        let others = watches.iter().filter(|(id, watch)| {
            id.run() == launcher.run() && *id != launcher && !watch.is_launcher
        });
        others.map(|(_, watch)| watch.since).max()
    }
}

/// Whether a job did something between two looks.
fn is_sign(before: Activity, now: Activity, elapsed: Duration) -> bool {
    let worked = u128::from(now.cpu_ms.abs_diff(before.cpu_ms));
    let idle = (elapsed.as_millis() * IDLE_CPU_PER_MILLE / 1000).max(IDLE_CPU_MS);
    now.written != before.written || worked > idle
}

/// Silence after which a job of `run` is said to be silent; zero: never.
fn limit_of(run: &Run) -> Duration {
    let own = match &run.work {
        Work::Launcher { spec, .. } => spec.stall_after_ms,
        Work::Plan { spec, .. } => spec.stall_after_ms,
    };
    Duration::from_millis(own.unwrap_or(STALL_AFTER_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_work_are_signs_and_the_timers_of_a_runtime_are_none() {
        let at = |written, cpu_ms| Activity { written, cpu_ms };
        let minute = Duration::from_mins(1);
        assert!(is_sign(at(5, 0), at(6, 0), minute));
        assert!(is_sign(at(5, 0), at(5, 200), minute));
        assert!(!is_sign(at(5, 0), at(5, 60), minute), "one per mille of a minute");
        assert!(!is_sign(at(5, 0), at(5, 20), Duration::from_millis(100)));
    }
}
