//! What must hold of the runs in memory after every turn: queues, caps, and checkouts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tidegate_core::ids::{FeatureId, LockName, QueueKey};
use tidegate_core::run::{Feature, FeatureState, JobState, Purpose, Run, Status};

use super::super::course::World;

impl World {
    /// A turn has come to its end.
    pub(in super::super) fn check_turn(&mut self) {
        let Some(daemon) = &self.daemon else { return };
        let mut active: BTreeMap<&QueueKey, &Run> = BTreeMap::new();
        let mut features = 0_u32;
        let mut gates = 0_u32;
        let mut slots = BTreeSet::new();
        let mut locks = BTreeMap::new();
        let mut broken = None;
        for run in daemon.engine.runs() {
            if matches!(run.status, Status::Pending) {
                continue;
            }
            if let Some(other) = active.insert(&run.queue, run) {
                broken = Some(format!("I5: {} and {} run in one queue", other.id, run.id));
            }
            if let Some((spec, plan)) = run.plan() {
                let held = plan.features.values().filter(|feature| feature.holds_slot()).count();
                let held = u32::try_from(held).unwrap_or(u32::MAX);
                features += held;
                if held > spec.active_max {
                    broken = Some(format!("caps: {held} features of {} are active", run.id));
                }
            }
            for (id, lock) in locked(run) {
                if let Some(other) = locks.insert((&run.queue.project, lock), (&run.id, id)) {
                    broken = Some(format!("{id} of {} and {other:?} have {lock}", run.id));
                }
            }
            for (id, job) in &run.jobs {
                if let Purpose::Gate { slot, .. } = job.purpose {
                    gates += u32::from(job.state.is_live());
                    if job.state.is_live() && !slots.insert(slot) {
                        broken = Some(format!("{id} shares checkout {slot}"));
                    }
                }
            }
        }
        if features > self.caps.features || gates > self.caps.gates {
            broken = Some(format!("caps: {features} features, {gates} gates, {:?}", self.caps));
        }
        if let Some(why) = broken {
            self.fail(|| why);
        }
    }
}

/// The features of a run that are at work, and what they must have for themselves meanwhile.
fn locked(run: &Run) -> impl Iterator<Item = (&FeatureId, &LockName)> {
    let at_work = |(id, feature): (&FeatureId, &Feature)| {
        let begun = feature.state != FeatureState::Queued && !feature.is_terminal();
        begun.then(|| id.clone())
    };
    let at_work: BTreeSet<FeatureId> = run
        .plan()
        .into_iter()
        .flat_map(|(_, plan)| plan.features.iter().filter_map(at_work))
        .collect();
    let specs = run.plan().into_iter().flat_map(|(spec, _)| &spec.features);
    let specs = specs.filter(move |(id, _)| at_work.contains(*id));
    specs.flat_map(|(id, spec)| spec.locks.iter().map(move |lock| (id, lock)))
}

/// A run in a few lines, for the report of a failure.
pub(in super::super) fn describe(run: &Run) -> String {
    let mut text = format!("{} {:?}", run.id, run.status);
    if let Some((spec, plan)) = run.plan() {
        for (wave, id) in spec.in_order() {
            let feature = plan.features.get(id);
            let state = feature.map(|feature| format!("{:?}", feature.state));
            let _ = write!(text, "\n  {wave} {id}: {}", state.unwrap_or_default());
        }
    }
    if let Some((_, launcher)) = run.launcher() {
        let _ = write!(text, "\n  {launcher:?}");
    }
    for (id, job) in run.jobs.iter().filter(|(_, job)| !job.state.is_finished()) {
        let state = match &job.state {
            JobState::Launching => "launching",
            JobState::Running(_) => "running",
            JobState::Stopping { .. } => "stopping",
            JobState::Finished { .. } => "finished",
            JobState::Quarantined { .. } => "quarantined",
        };
        let _ = write!(text, "\n  {id} {:?} {state}", job.purpose);
    }
    let open: Vec<String> = run.outstanding().into_keys().map(|key| key.0).collect();
    let _ = write!(text, "\n  open: {open:?}");
    text
}
