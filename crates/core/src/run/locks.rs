//! Named locks: what a feature has for itself within its project, from its first slot until it has
//! ended, and its place in the line of those that wait.
//!
//! The lease on a lock is the state of its holder and nothing else. It ends with the feature, and a
//! feature ends only when the kernel has shown that nothing of it runs; so it outlives daemons, no
//! clock frees it, and what wakes up too late is refused by the epoch of every write. Who is next is
//! the business of admission; here it is recorded.

use super::event::Event;
use super::feature::{Feature, FeatureState};
use super::input::Rejected;
use super::state::Run;
use super::step::Draft;
use crate::ids::{FeatureId, LockName, RunId};
use crate::time::WallMs;

/// The place of a feature in the line for its locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockWait {
    /// Lower ones have their turn before it, in all runs of the home.
    pub ticket: u64,
    /// Who is before it; `None` while it waits for a slot alone.
    pub ahead: Option<LockAhead>,
}

/// Because of whom a feature waits for a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockAhead {
    /// The first lock that it cannot have.
    pub lock: LockName,
    /// The run of the feature because of which.
    pub run: RunId,
    /// That feature.
    pub feature: FeatureId,
    /// Since when that one has the lock, on the wall clock; `None` when it waits for it before this one.
    pub held: Option<WallMs>,
}

/// A line that a feature stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InLine {
    /// Its place.
    pub wait: LockWait,
    /// Since when it waits for its locks, on the wall clock.
    pub since: WallMs,
}

impl Draft {
    /// Admission says why the feature cannot have its locks yet.
    pub(super) fn await_locks(&mut self, id: &FeatureId, wait: &LockWait) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.state != FeatureState::Queued {
            return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
        }
        let known = feature.in_line.as_ref();
        if known.is_some_and(|known| known.wait == *wait) {
            return Err(Rejected::Already("told"));
        }
        let since = known.map_or(self.now.wall, |known| known.since);
        let (feature, wait) = (id.clone(), InLine { wait: wait.clone(), since });
        self.emit(Event::LocksAwaited { feature, wait });
        Ok(())
    }

    /// A feature that begins has its locks from now on.
    pub(super) fn take_locks(&mut self, id: &FeatureId) {
        let Some((spec, feature)) = self.feature(id) else { return };
        if spec.locks.is_empty() || feature.locked.is_some() {
            return;
        }
        let (feature, locks) = (id.clone(), spec.locks.clone());
        self.emit(Event::LocksTaken { feature, locks, at: self.now.wall });
    }
}

impl Feature {
    pub(super) fn take_locks(&mut self, at: WallMs) {
        self.in_line = None;
        self.locked = Some(at);
    }

    /// Who has ended has no lock.
    pub(super) fn let_go(&mut self) {
        if self.is_terminal() {
            self.in_line = None;
            self.locked = None;
        }
    }
}

impl Run {
    /// The locks that a feature keeps others from, and since when: it has begun and not ended, or
    /// what tears down its worktree still runs.
    pub(crate) fn locks_of<'a>(&'a self, id: &FeatureId) -> Option<(&'a [LockName], WallMs)> {
        let (spec, plan) = self.plan()?;
        let own = spec.features.get(id).filter(|own| !own.locks.is_empty())?;
        let teardown = || self.jobs.get(self.living_teardown(id)?).map(|job| job.created_at);
        let since = plan.features.get(id)?.locked.or_else(teardown)?;
        Some((&own.locks, since))
    }
}
