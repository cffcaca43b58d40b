//! Who is next: queues give turns to runs, and running runs get slots, gates and targets.
//!
//! A pure function over a snapshot of the running and pending runs. A queue goes by priority, then
//! first come, first served; running runs by the sequence of the run, then by the order of its plan. Only the target goes
//! to the feature of a run that began to wait for it first: who is sent back and comes again stands behind the others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::accounts::{Accounts, Look};
use crate::ids::{FeatureId, ProjectId, RunId};
use crate::lines::{Lines, Locks};
use crate::run::{
    Barrier, Feature, FeatureState, Grant, JobState, LandStep, Purpose, Run, Status, WorkStep,
};
use crate::time::WallMs;

/// The limits of the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Features of all runs that may hold a slot.
    pub features: u32,
    /// Gate jobs of all runs that may run.
    pub gates: u32,
}

/// The worktrees that a home has, and how many it may have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Worktrees {
    /// How many may stand; `None`: any number.
    pub max: Option<u32>,
    /// Whether they take up all the room on the disk that they may have.
    pub is_full: bool,
    /// How many stand, by the run that they are of.
    pub standing: BTreeMap<RunId, u32>,
}

impl Worktrees {
    /// How many more may begin. What running runs have is told by their state, which is ahead of the
    /// disk: a worktree counts from the moment that its feature gets its slot.
    fn free<'a>(&self, running: impl Iterator<Item = &'a Run>) -> u32 {
        let mut left = self.standing.clone();
        let mut taken: u32 = 0;
        for run in running {
            left.remove(&run.id);
            let Some((_, plan)) = run.plan() else { continue };
            let has_one = |feature: &&Feature| feature.worktree.is_some() || feature.holds_slot();
            let count = plan.features.values().filter(has_one).count();
            taken = taken.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let taken = left.values().fold(taken, |sum, count| sum.saturating_add(*count));
        match self.max {
            _ if self.is_full => 0,
            Some(max) => max.saturating_sub(taken),
            None => u32::MAX,
        }
    }
}

/// Where a run that may begin stands among those of its queue: the smallest has the next turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Higher priorities first.
    priority: Reverse<i32>,
    /// Within a priority first come, first served: ids are in the order of their submits.
    pub run: RunId,
}

impl Place {
    /// The place of a pending run; `None` while it is held or when it does not wait for its turn.
    pub fn of(run: &Run) -> Option<Self> {
        let waits = run.status == Status::Pending && run.hold.is_none();
        waits.then(|| Self::new(run.priority, run.id.clone()))
    }

    /// The place of a run of this priority that may begin.
    pub fn new(priority: i32, run: RunId) -> Self {
        Self { priority: Reverse(priority), run }
    }
}

/// What the running runs hold.
#[derive(Debug, Default)]
struct Held {
    features: u32,
    by_run: BTreeMap<RunId, u32>,
    /// Slots that these grants give.
    begun: BTreeMap<RunId, u32>,
    gates: u32,
    /// Checkouts that no gate may be given: of running gates, and of those nobody knows about.
    slots: BTreeSet<u32>,
    targets: BTreeSet<(ProjectId, String)>,
    locks: Locks,
    /// Worktrees that may still begin.
    fresh: u32,
}

/// The grants that the caps allow now. `runs` are the running ones, in order of sequence.
pub fn grants<'a>(runs: impl Iterator<Item = &'a Run> + Clone, caps: Caps) -> Vec<(RunId, Grant)> {
    grants_within(runs, caps, &Worktrees::default(), WallMs(0))
}

/// The same in a home whose worktrees are bounded: a feature that has none yet waits for the place of
/// one, all others go on. `now`: what limits of accounts are over.
pub fn grants_within<'a>(
    runs: impl Iterator<Item = &'a Run> + Clone,
    caps: Caps,
    worktrees: &Worktrees,
    now: WallMs,
) -> Vec<(RunId, Grant)> {
    let mut held = Held { fresh: worktrees.free(runs.clone()), ..Held::default() };
    runs.clone().for_each(|run| held.count(run));
    let mut given = Vec::new();
    let lines = Lines::of(runs.clone(), &held.locks);
    let mut accounts = Accounts::of(runs.clone(), now);
    for run in runs.filter(|run| run.goes_on()) {
        let Some((spec, plan)) = run.plan() else { continue };
        let barrier = Barrier::of(spec, plan);
        let next = run.next_to_land();
        for (wave, id) in spec.in_order() {
            let Some(feature) = plan.features.get(id) else { continue };
            let ready = match &feature.state {
                FeatureState::Queued => barrier.is_ready(wave, id),
                FeatureState::Working { .. }
                | FeatureState::Verifying { .. }
                | FeatureState::InReview
                | FeatureState::Landing(_)
                | FeatureState::Blocked(_)
                | FeatureState::Landed { .. }
                | FeatureState::Failed { .. }
                | FeatureState::Cancelled { .. }
                | FeatureState::Skipped { .. } => true,
            };
            if !ready || !lines.lets_begin(run, id) {
                continue;
            }
            if feature.wait.is_some() {
                let other = accounts.other(run, id, feature);
                given.extend(other.map(|grant| (run.id.clone(), grant)));
                continue;
            }
            let grants = match feature.state.round() {
                Some(_) => held.give_gates(run, id, caps),
                None if feature.state.awaits_target() && next != Some(id) => Vec::new(),
                None if feature.may_have_slot() => match accounts.look(run, id, feature, caps) {
                    Look::Free => {
                        Vec::from_iter(held.give(run, id, feature, spec.active_max, caps))
                    }
                    Look::Instead(grant) => vec![grant],
                    Look::Kept => Vec::new(),
                },
                None => Vec::from_iter(held.give(run, id, feature, spec.active_max, caps)),
            };
            given.extend(grants.into_iter().map(|grant| (run.id.clone(), grant)));
        }
    }
    let told = lines.told(&given);
    given.extend(told);
    given
}

impl Held {
    fn count(&mut self, run: &Run) {
        for job in run.jobs.values() {
            let slot = match &job.purpose {
                Purpose::Gate { slot, .. } => *slot,
                Purpose::Launcher { .. }
                | Purpose::LauncherAgent { .. }
                | Purpose::Agent { .. }
                | Purpose::Hook { .. } => continue,
            };
            match &job.state {
                JobState::Launching | JobState::Running(_) | JobState::Stopping { .. } => {
                    self.gates += 1;
                    self.slots.insert(slot);
                }
                // It counts no longer, but something of it may still work in its checkout.
                JobState::Quarantined { .. } => {
                    self.slots.insert(slot);
                }
                JobState::Finished { .. } => {}
            }
        }
        let Some((spec, plan)) = run.plan() else { return };
        for (id, feature) in &plan.features {
            if let Some((locks, since)) = run.locks_of(id) {
                let project = &run.queue.project;
                let named = locks.iter().map(|lock| (project.clone(), lock.clone()));
                let who = (run.id.clone(), id.clone(), Some(since));
                self.locks.extend(named.map(|name| (name, who.clone())));
            }
            if feature.holds_slot() {
                self.features += 1;
                *self.by_run.entry(run.id.clone()).or_default() += 1;
            }
            match &feature.state {
                FeatureState::Landing(
                    LandStep::Merging | LandStep::Gates { .. } | LandStep::Updating { .. },
                ) => {
                    self.targets.insert((run.queue.project.clone(), spec.target.clone()));
                }
                FeatureState::Landing(LandStep::AwaitingTarget)
                | FeatureState::Queued
                | FeatureState::Working { .. }
                | FeatureState::Verifying { .. }
                | FeatureState::InReview
                | FeatureState::Blocked(_)
                | FeatureState::Landed { .. }
                | FeatureState::Failed { .. }
                | FeatureState::Cancelled { .. }
                | FeatureState::Skipped { .. } => {}
            }
        }
    }

    /// A slot for each gate of a feature that may begin, as far as there are any.
    fn give_gates(&mut self, run: &Run, id: &FeatureId, caps: Caps) -> Vec<Grant> {
        let mut given = Vec::new();
        for gate in run.startable_gates(id) {
            let free = (0..=u32::MAX).find(|slot| !self.slots.contains(slot));
            let Some(slot) = free.filter(|_| self.gates < caps.gates) else { break };
            self.gates += 1;
            self.slots.insert(slot);
            given.push(Grant::Gate { feature: id.clone(), gate: gate.clone(), slot });
        }
        given
    }

    fn give(
        &mut self,
        run: &Run,
        id: &FeatureId,
        feature: &Feature,
        active_max: u32,
        caps: Caps,
    ) -> Option<Grant> {
        match &feature.state {
            FeatureState::Queued | FeatureState::Working { step: WorkStep::AwaitingSlot, .. } => {
                let own = self.by_run.entry(run.id.clone()).or_default();
                let begun = self.begun.entry(run.id.clone()).or_default();
                if *own >= active_max || self.features >= caps.features || !run.has_room(*begun) {
                    return None;
                }
                if feature.worktree.is_none() {
                    self.fresh = self.fresh.checked_sub(1)?;
                }
                *begun += 1;
                *own += 1;
                self.features += 1;
                Some(Grant::Slot { feature: id.clone() })
            }
            FeatureState::Landing(LandStep::AwaitingTarget) => {
                let (spec, _) = run.plan()?;
                let target = (run.queue.project.clone(), spec.target.clone());
                let free = self.targets.insert(target);
                free.then(|| Grant::Target { feature: id.clone() })
            }
            FeatureState::Working {
                step:
                    WorkStep::Preparing
                    | WorkStep::SettingUp(_)
                    | WorkStep::Agent(_)
                    | WorkStep::Committing(_)
                    | WorkStep::Reading(_)
                    | WorkStep::RollingBack(_),
                ..
            }
            | FeatureState::Verifying { .. }
            | FeatureState::Landing(
                LandStep::Merging | LandStep::Updating { .. } | LandStep::Gates { .. },
            )
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => None,
        }
    }
}
