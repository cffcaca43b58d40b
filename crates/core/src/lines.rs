//! The lines for named locks: first come, first served, over all runs of the home.
//!
//! A feature takes all its locks at once, with its first slot, so that no two can wait for each other.
//! Who stands before it in the line for one of them is served before, slots or not. It must not know
//! of slots or of what a lock stands for.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{FeatureId, LockName, ProjectId, RunId};
use crate::run::{Barrier, FeatureState, Grant, LockAhead, LockWait, Run};
use crate::time::WallMs;

/// Locks of projects and who keeps others from them: its run, the feature, since when it has the lock.
pub(crate) type Locks = BTreeMap<(ProjectId, LockName), (RunId, FeatureId, Option<WallMs>)>;

/// Who may begin, and the places of those that come to stand in a line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    waiting: BTreeSet<(RunId, FeatureId)>,
    /// Places that are not recorded yet.
    fresh: Vec<(RunId, FeatureId, LockWait)>,
}

/// A feature that could begin but for its locks.
struct Candidate<'r> {
    run: &'r Run,
    id: &'r FeatureId,
    locks: &'r [LockName],
    known: Option<&'r LockWait>,
}

impl Lines {
    /// The lines of the runs that go on, given the locks that are held. Those that do not go on keep
    /// their tickets and let others pass.
    pub(crate) fn of<'r>(runs: impl Iterator<Item = &'r Run>, held: &Locks) -> Self {
        let mut all: Vec<Candidate<'_>> = runs.flat_map(candidates).collect();
        // Who has no ticket came just now: in the order of runs and plans, which the sort keeps.
        all.sort_by_key(|one| one.known.map_or(u64::MAX, |known| known.ticket));
        let last = all.iter().filter_map(|one| one.known.map(|known| known.ticket)).max();
        let mut next = last.map_or(1, |last| last + 1);
        let mut taken = held.clone();
        let mut lines = Self::default();
        for one in all.iter().filter(|one| one.run.goes_on()) {
            let name = |lock: &LockName| (one.run.queue.project.clone(), lock.clone());
            let ahead = one.locks.iter().find_map(|lock| {
                let (run, feature, held) = taken.get(&name(lock))?.clone();
                Some(LockAhead { lock: lock.clone(), run, feature, held })
            });
            for lock in one.locks {
                let who = (one.run.id.clone(), one.id.clone(), None);
                taken.entry(name(lock)).or_insert(who);
            }
            if ahead.is_some() {
                lines.waiting.insert((one.run.id.clone(), one.id.clone()));
            }
            let ticket = one.known.map_or(next, |known| known.ticket);
            next += u64::from(one.known.is_none());
            let wait = LockWait { ticket, ahead };
            if one.known != Some(&wait) {
                lines.fresh.push((one.run.id.clone(), one.id.clone(), wait));
            }
        }
        lines
    }

    /// Whether the feature has nothing to wait for here.
    pub(crate) fn lets_begin(&self, run: &Run, id: &FeatureId) -> bool {
        self.waiting.is_empty() || !self.waiting.contains(&(run.id.clone(), id.clone()))
    }

    /// What is to be recorded of the places of those that do not begin with these grants.
    pub(crate) fn told(self, given: &[(RunId, Grant)]) -> Vec<(RunId, Grant)> {
        let begins = |run: &RunId, id: &FeatureId| {
            given.iter().any(|(of, grant)| match grant {
                Grant::Slot { feature } => of == run && feature == id,
                Grant::Gate { .. }
                | Grant::Target { .. }
                | Grant::Line { .. }
                | Grant::Park { .. }
                | Grant::Hold { .. }
                | Grant::StandIn { .. } => false,
            })
        };
        let fresh = self.fresh.into_iter().filter(|(run, id, _)| !begins(run, id));
        fresh.map(|(run, feature, wait)| (run, Grant::Line { feature, wait })).collect()
    }
}

/// The features of a run that have locks to take before they begin, in the order of its plan.
fn candidates(run: &Run) -> Vec<Candidate<'_>> {
    let Some((spec, plan)) = run.plan() else { return Vec::new() };
    if spec.features.values().all(|feature| feature.locks.is_empty()) {
        return Vec::new();
    }
    let barrier = Barrier::of(spec, plan);
    let candidate = |(wave, id)| {
        let locks = spec.features.get(id)?.locks.as_slice();
        let feature = plan.features.get(id).filter(|_| !locks.is_empty())?;
        let begins = feature.state == FeatureState::Queued
            && feature.wait.is_none()
            && feature.locked.is_none();
        (begins && barrier.is_ready(wave, id)).then(|| Candidate {
            run,
            id,
            locks,
            known: feature.in_line.as_ref().map(|line| &line.wait),
        })
    };
    spec.in_order().filter_map(candidate).collect()
}
