//! What a run or a feature waits for, in one line: queue, wave, needs, slots, target, consent.

use tidegate_core::ids::{FeatureId, QueueKey, RunId};
use tidegate_core::pause::{Pause, Scope};
use tidegate_core::plan::{OnFailure, PlanSpec};
use tidegate_core::run::{
    Block, Feature, FeatureState, LandStep, Limit, Plan, Run, Status, WorkStep, awaits_person,
};

use super::attention::in_words;
use super::locks::line_in_words;
use super::moment::stamp;
use super::people::asked_by;
use super::place::HomePaths;
use super::words::living_agents;

/// Where a pending run stands in its queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueuePlace {
    /// The run that is active in the queue.
    pub active: Option<RunId>,
    /// How many runs have their turn before it.
    pub ahead: usize,
    /// The first of them.
    pub first: Option<RunId>,
    /// Set when the queue is held because a run of it is corrupt, with the reason.
    pub held: Option<String>,
    /// The pause that covers the queue.
    pub paused: Option<(Scope, Pause)>,
}

/// Why the home has no room for a further worktree, where a run may need one.
pub(super) fn lack(run: &Run, paths: &HomePaths) -> Option<String> {
    let may_need = run.plan().is_some() && matches!(run.status, Status::Running { .. });
    may_need.then(|| crate::quota::lack(paths.root())).flatten()
}

/// The name of a queue for people.
pub(super) fn queue_name(queue: &QueueKey) -> String {
    match &queue.adhoc {
        Some(adhoc) => format!("{}/{}/{adhoc}", queue.project, queue.lane),
        None => format!("{}/{}", queue.project, queue.lane),
    }
}

/// What a run as a whole waits for. `None` when it works or has ended.
pub(super) fn run_waits_for(
    run: &Run,
    queue: Option<&QueuePlace>,
    supervised: bool,
    lack: Option<&str>,
) -> Option<String> {
    match &run.status {
        Status::Pending => Some(turn(run, queue, supervised)),
        Status::Running { .. } => of_running(run, lack),
        Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled { .. } => None,
    }
}

fn turn(run: &Run, queue: Option<&QueuePlace>, supervised: bool) -> String {
    let name = queue_name(&run.queue);
    let none = QueuePlace::default();
    let place = queue.unwrap_or(&none);
    if let Some(why) = &place.held {
        return format!("the queue {name} is held: {why}");
    }
    if let Some(hold) = &run.hold {
        return format!("its release: {}", pause_in_words("it was held", hold));
    }
    if let Some((scope, pause)) = &place.paused {
        return pause_in_words(&format!("{} to be resumed: paused", scope.name()), pause);
    }
    match (&place.active, &place.first) {
        (Some(active), None) => format!("its turn in {name}: {active} is active"),
        (Some(active), Some(first)) => {
            let count = place.ahead;
            format!("its turn in {name}: {active} is active, {count} wait ahead, first {first}")
        }
        (None, Some(first)) => {
            format!("its turn in {name}: {} wait ahead, first {first}", place.ahead)
        }
        (None, None) if supervised => format!("its turn in {name}: it is next"),
        (None, None) => "a daemon: none runs".to_owned(),
    }
}

/// Who paused what since when, and why.
pub(super) fn pause_in_words(what: &str, pause: &Pause) -> String {
    let since = stamp(pause.at);
    match &pause.reason {
        Some(reason) => format!("{what} by {} since {since}: {reason}", pause.by),
        None => format!("{what} by {} since {since}", pause.by),
    }
}

fn of_running(run: &Run, lack: Option<&str>) -> Option<String> {
    if let Some((_, launcher)) = run.launcher() {
        launcher.degraded.as_ref()?;
        return Some(format!("its agents: {}", living_agents(run, launcher).join(", ")));
    }
    if let Some(hold) = &run.hold
        && !run.has_live_jobs()
    {
        return Some(format!("its release: {}", pause_in_words("it was held", hold)));
    }
    let (spec, plan) = run.plan()?;
    let open: Vec<_> = spec.in_order().filter(|(_, id)| is_open(plan, id)).collect();
    let waits = |id| feature_waits_for(run, (spec, plan), id, lack);
    let working = open.iter().any(|(_, id)| waits(id).is_none());
    if working {
        return None;
    }
    let (_, first) = open.first()?;
    let why = waits(first)?;
    Some(format!("{first}: {why}"))
}

fn is_open(plan: &Plan, id: &FeatureId) -> bool {
    plan.features.get(id).is_some_and(|feature| !feature.is_terminal())
}

/// The end of a limit of an agent's account.
fn limited(limit: &Limit) -> String {
    let until = stamp(limit.until);
    let (what, whence) = (limit.class.describe(), if limit.told { "" } else { ", a guess" });
    let said = limit.detail.as_ref().map_or(String::new(), |said| format!(" ({said})"));
    format!(
        "a limit of its agent to pass, until {until}{whence}: {what}{said}; it counts as no attempt"
    )
}

/// What a feature waits for. `None` when something works on it, or it has ended. `lack` says why the
/// home has no room for a further worktree, if it has none.
pub(super) fn feature_waits_for(
    run: &Run,
    (spec, plan): (&PlanSpec, &Plan),
    id: &FeatureId,
    lack: Option<&str>,
) -> Option<String> {
    if run.status == Status::Pending {
        return Some("the run's turn".to_owned());
    }
    let feature = plan.features.get(id)?;
    if let Some(wait) = &feature.wait {
        if let Some(limit) = &feature.limited {
            return Some(limited(limit));
        }
        let (due, failures) = (stamp(wait.about), feature.failures);
        return Some(format!("its next attempt, due about {due}: {failures} have failed"));
    }
    if let Some(hold) =
        run.hold.as_ref().filter(|_| may_begin(feature) && run.look_due(id).is_none())
    {
        return Some(format!("the run's release: {}", pause_in_words("it was held", hold)));
    }
    if let Some(by) = feature.held_by.as_ref().filter(|_| may_begin(feature)) {
        return Some(format!("its agent's account, which is refused: a person is asked by {by}"));
    }
    match &feature.state {
        FeatureState::Queued => Some(start(run, spec, plan, id, lack)),
        FeatureState::Working { step: WorkStep::AwaitingSlot, .. } => {
            Some(slot(run, spec, plan, id, lack))
        }
        FeatureState::Verifying { .. } if run.look_due(id).is_some() => None,
        FeatureState::Verifying { round }
        | FeatureState::Landing(LandStep::Gates { round, .. }) => {
            round.running.is_empty().then(|| "a gate slot of the home".to_owned())
        }
        FeatureState::Landing(LandStep::AwaitingTarget) => Some(target(spec, plan, id)),
        FeatureState::InReview => {
            awaits_person(spec, feature).then(|| "a person's consent to land its commit".to_owned())
        }
        FeatureState::Blocked(block @ Block::Input { .. }) => {
            Some(asked_by(run, id).unwrap_or_else(|| in_words(block)))
        }
        FeatureState::Blocked(block) => Some(in_words(block)),
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
        | FeatureState::Landing(LandStep::Merging | LandStep::Updating { .. })
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    }
}

/// Whether the next thing that happens to a feature is a grant: a held run is given none.
fn may_begin(feature: &Feature) -> bool {
    match &feature.state {
        FeatureState::Queued
        | FeatureState::Working { step: WorkStep::AwaitingSlot, .. }
        | FeatureState::Landing(LandStep::AwaitingTarget) => true,
        FeatureState::Verifying { round }
        | FeatureState::Landing(LandStep::Gates { round, .. }) => round.running.is_empty(),
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
        | FeatureState::Landing(LandStep::Merging | LandStep::Updating { .. })
        | FeatureState::InReview
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => false,
    }
}

/// Why a queued feature has not started: the first of wave, needs, slots.
fn start(run: &Run, spec: &PlanSpec, plan: &Plan, id: &FeatureId, lack: Option<&str>) -> String {
    if let Some((wave, open)) = barrier(spec, plan, id) {
        return format!("wave {wave}: {} not done", names(&open));
    }
    let needs = spec.features.get(id).map(|feature| feature.needs.as_slice()).unwrap_or_default();
    let missing: Vec<&FeatureId> = needs
        .iter()
        .filter(|need| spec.features.contains_key(*need) && !plan.is_landed(need))
        .collect();
    if !missing.is_empty() {
        return format!("{} to land", names(&missing));
    }
    let line = plan.features.get(id).and_then(|feature| feature.in_line.as_ref());
    line.and_then(line_in_words).unwrap_or_else(|| slot(run, spec, plan, id, lack))
}

/// The earliest wave before the feature's own that is not over, and what of it is open.
pub(super) fn barrier<'a>(
    spec: &'a PlanSpec,
    plan: &Plan,
    id: &FeatureId,
) -> Option<(u32, Vec<&'a FeatureId>)> {
    let own = spec.wave_of(id)?;
    spec.waves.iter().filter(|wave| wave.number < own).find_map(|wave| {
        let holds = |feature: &&FeatureId| match spec.on_failure {
            OnFailure::Stop => !plan.is_landed(feature),
            OnFailure::Continue => is_open(plan, feature),
        };
        let open: Vec<&FeatureId> = wave.features.iter().filter(holds).collect();
        (!open.is_empty()).then_some((wave.number, open))
    })
}

fn slot(run: &Run, spec: &PlanSpec, plan: &Plan, id: &FeatureId, lack: Option<&str>) -> String {
    let held = plan.features.values().filter(|feature| feature.holds_slot()).count();
    if held >= usize::try_from(spec.active_max).unwrap_or(usize::MAX) {
        format!("a slot: {held} of {} features of the run are active", spec.active_max)
    } else if !run.has_room(0) {
        let why = "what is left of the run's budget is kept back for the agents at work";
        format!("a slot: {why}")
    } else {
        // One that has its worktree needs no room for another.
        let has_none = plan.features.get(id).is_some_and(|feature| feature.worktree.is_none());
        lack.filter(|_| has_none).unwrap_or("a slot of the home").to_owned()
    }
}

/// Who holds the target, as far as this run knows.
fn target(spec: &PlanSpec, plan: &Plan, id: &FeatureId) -> String {
    let lands = |feature: &Feature| match &feature.state {
        FeatureState::Landing(
            LandStep::Merging | LandStep::Gates { .. } | LandStep::Updating { .. },
        ) => true,
        FeatureState::Landing(LandStep::AwaitingTarget)
        | FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => false,
    };
    let holder = plan.features.iter().find(|(other, feature)| *other != id && lands(feature));
    match holder {
        Some((holder, _)) => format!("{}: `{holder}` is landing", spec.target),
        None => format!("{}: another run is landing", spec.target),
    }
}

fn names(ids: &[&FeatureId]) -> String {
    ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ")
}
