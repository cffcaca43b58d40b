//! What must hold of runs in a model world, at every step and at the end.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::admission::{Caps, grants};
use tidegate_core::ids::{FeatureId, GateName, Oid};
use tidegate_core::plan::OnFailure;
use tidegate_core::run::{
    Block, Effect, EffectKey, Event, Feature, FeatureState, Input, JobState, LandStep, Phase,
    Purpose, Run, Status, Work, awaits_person,
};
use tidegate_core::workplace::Hook;

/// A gate that passed: its run, feature, name, phase and commit.
type Passed = (usize, FeatureId, GateName, Phase, Oid);

pub(crate) struct Oracle {
    caps: Caps,
    first: Vec<Run>,
    logs: Vec<Vec<Event>>,
    opened: BTreeSet<(usize, EffectKey)>,
    passed: BTreeSet<Passed>,
    approved: BTreeMap<(usize, FeatureId), Option<Oid>>,
}

impl Oracle {
    pub(crate) fn new(runs: &[Run], caps: Caps) -> Self {
        Self {
            caps,
            first: runs.to_vec(),
            logs: vec![Vec::new(); runs.len()],
            opened: BTreeSet::new(),
            passed: BTreeSet::new(),
            approved: BTreeMap::new(),
        }
    }

    pub(crate) fn log(&self, at: usize) -> &[Event] {
        &self.logs[at]
    }

    /// Checks one accepted input of the run at `at`.
    pub(crate) fn check_step(
        &mut self,
        at: usize,
        before: &Run,
        input: &Input,
        events: &[Event],
        after: &Run,
    ) {
        assert!(!before.status.is_terminal() || before == after, "a terminal run moved");
        let mut shadow = before.clone();
        for event in events {
            self.check_event(at, &shadow, event);
            shadow.apply(event);
        }
        assert_eq!(shadow, *after, "the facts do not tell the state");
        self.logs[at].extend(events.iter().cloned());
        let (old, new) = (before.outstanding(), after.outstanding());
        for (key, effect) in &new {
            match old.get(key) {
                None => assert!(self.opened.insert((at, key.clone())), "{key} opened twice"),
                Some(was) => {
                    let row = matches!(was, Effect::SuperviseJob { .. });
                    assert!(row || was == effect, "{key} became another effect");
                }
            }
        }
        for (key, effect) in old.iter().filter(|(key, _)| !new.contains_key(*key)) {
            let answered = matches!(input, Input::Answer { key: by, .. } if by == key);
            assert!(answered || !is_git_work(effect), "{key} was left before git answered");
        }
    }

    fn check_event(&mut self, at: usize, run: &Run, event: &Event) {
        match event {
            Event::FeatureAdmitted { feature } => check_barrier(run, feature),
            Event::GatePassed { feature, gate, job } => {
                let job = &run.jobs[job];
                let Purpose::Gate { phase, commit, .. } = &job.purpose else { panic!("no gate") };
                let JobState::Finished { exit, .. } = &job.state else { panic!("not finished") };
                assert!(exit.is_success());
                let (feature, gate) = (feature.clone(), gate.clone());
                self.passed.insert((at, feature, gate, *phase, commit.clone()));
            }
            Event::Approved { feature, commit, .. } => {
                self.check_gates(at, run, feature);
                let tested = feature_of(run, feature).tested.clone().map(|tested| tested.commit);
                assert_eq!(*commit, tested, "consent to another commit");
                self.approved.insert((at, feature.clone()), commit.clone());
            }
            Event::Landed { feature, commit } => {
                self.check_gates(at, run, feature);
                let found = feature_of(run, feature);
                let tested = found.tested.clone().map(|tested| tested.commit);
                assert_eq!(self.approved.get(&(at, feature.clone())), Some(&tested));
                match (commit, &found.state) {
                    (Some(commit), FeatureState::Landing(LandStep::Updating { merged })) => {
                        assert_eq!(*commit, merged.commit);
                        let (spec, _) = run.plan().unwrap();
                        for gate in &spec.landing.merge_gates {
                            self.require(at, feature, gate, Phase::Merge, commit);
                        }
                    }
                    (Some(_), state) => {
                        assert_eq!(*state, FeatureState::Landing(LandStep::Merging));
                    }
                    (None, _) => assert_eq!(found.base, tested, "a change was dropped"),
                }
            }
            _ => {}
        }
    }

    fn check_gates(&self, at: usize, run: &Run, feature: &FeatureId) {
        let (spec, _) = run.plan().unwrap();
        let tested = feature_of(run, feature).tested.clone().unwrap();
        for gate in run.gates_of(feature, Phase::Branch) {
            assert!(spec.gates[gate].needs.iter().all(|need| {
                self.passed.contains(&(
                    at,
                    feature.clone(),
                    need.clone(),
                    Phase::Branch,
                    tested.commit.clone(),
                ))
            }));
            self.require(at, feature, gate, Phase::Branch, &tested.commit);
        }
    }

    fn require(&self, at: usize, feature: &FeatureId, gate: &GateName, phase: Phase, on: &Oid) {
        let passed = (at, feature.clone(), gate.clone(), phase, on.clone());
        assert!(self.passed.contains(&passed), "{gate} did not pass on {on}");
    }

    /// Checks what must hold between the inputs.
    pub(crate) fn check_world(&self, runs: &[Run]) {
        runs.iter().for_each(check_attempts);
        for run in runs {
            assert!(has_a_way_forward(run), "no way forward: {run:#?}");
        }
        let live = runs.iter().flat_map(|run| run.jobs.values()).filter(|job| job.state.is_live());
        let slots: Vec<u32> = live
            .filter_map(|job| match job.purpose {
                Purpose::Gate { slot, .. } => Some(slot),
                _ => None,
            })
            .collect();
        assert!(slots.len() <= self.caps.gates as usize, "more gates than allowed");
        assert_eq!(slots.iter().collect::<BTreeSet<_>>().len(), slots.len(), "a slot given twice");
        let mut active = 0;
        let mut landing = 0;
        for run in runs {
            let (spec, plan) = run.plan().unwrap();
            let own = plan.features.values().filter(|feature| feature.holds_slot()).count();
            assert!(own <= spec.active_max as usize, "more features of a run than allowed");
            active += own;
            landing += plan.features.values().filter(|feature| holds_target(feature)).count();
        }
        assert!(active <= self.caps.features as usize, "more features of the home than allowed");
        assert!(landing <= 1, "two landings on one target");
    }

    /// Checks the end of a world: the logs tell the states, and the target has each change once.
    pub(crate) fn check_end(&self, runs: &[Run], target: &[(Oid, Option<Oid>)]) {
        for ((first, log), run) in self.first.iter().zip(&self.logs).zip(runs) {
            let mut told = first.clone();
            for event in log {
                told.apply(event);
            }
            assert_eq!(told, *run, "the log does not tell the run");
            let ends = log.iter().filter(|event| is_end(event)).count();
            assert_eq!(ends, 1, "a run ends once");
            let (_, plan) = run.plan().unwrap();
            let all = plan.features.keys().all(|id| plan.is_landed(id));
            assert_eq!(all, matches!(run.status, Status::Completed { .. }));
            for feature in plan.features.values() {
                let FeatureState::Landed { commit: Some(commit) } = &feature.state else {
                    continue;
                };
                assert!(target.iter().any(|(found, _)| found == commit), "{commit} is not there");
            }
        }
        let brought: Vec<&Oid> = target.iter().filter_map(|(_, by)| by.as_ref()).collect();
        let once: BTreeSet<_> = brought.iter().collect();
        assert_eq!(once.len(), brought.len(), "a change landed twice");
    }
}

fn feature_of<'a>(run: &'a Run, id: &FeatureId) -> &'a Feature {
    &run.plan().unwrap().1.features[id]
}

fn is_git_work(effect: &Effect) -> bool {
    match effect {
        Effect::PrepareWorktree { .. }
        | Effect::PrepareConflict { .. }
        | Effect::Commit { .. }
        | Effect::Merge { .. }
        | Effect::UpdateTarget { .. }
        | Effect::Capture { .. }
        | Effect::Rollback { .. } => true,
        Effect::SuperviseJob { .. }
        | Effect::StopJob { .. }
        | Effect::WatchAgents { .. }
        | Effect::SweepAgents { .. }
        | Effect::ReadResult { .. }
        | Effect::WatchWorktree { .. }
        | Effect::AwaitRetry { .. }
        | Effect::Inspect { .. }
        | Effect::TypeMessage { .. }
        | Effect::Converse { .. }
        | Effect::AwaitRepo { .. }
        | Effect::AwaitRemote { .. }
        | Effect::AwaitClean { .. } => false,
    }
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::Completed { .. } | Event::Failed { .. } | Event::Cancelled { .. })
}

fn holds_target(feature: &Feature) -> bool {
    match &feature.state {
        FeatureState::Landing(step) => *step != LandStep::AwaitingTarget,
        _ => false,
    }
}

fn check_barrier(run: &Run, id: &FeatureId) {
    let (spec, plan) = run.plan().unwrap();
    if plan.features[id].state != FeatureState::Queued {
        return;
    }
    let own = spec.wave_of(id).unwrap();
    for wave in spec.waves.iter().filter(|wave| wave.number < own) {
        for earlier in &wave.features {
            let over = match spec.on_failure {
                OnFailure::Stop => plan.is_landed(earlier),
                OnFailure::Continue => plan.features[earlier].is_terminal(),
            };
            assert!(over, "{id} started before {earlier} was over");
        }
    }
    let needs = &spec.features[id].needs;
    assert!(needs.iter().all(|need| plan.is_landed(need)), "{id} started before its needs");
}

/// No agent starts where the setup did not end well, and no making is set up twice but after a teardown, or where an
/// agent has left work that is not thrown away.
fn check_hooks(run: &Run) {
    let Some((spec, _)) = run.plan() else { return };
    if spec.worktree.setup.is_none() {
        return;
    }
    let mut ready: BTreeMap<&FeatureId, (&str, bool)> = BTreeMap::new();
    let mut worked: BTreeSet<(&FeatureId, &str)> = BTreeSet::new();
    for (id, job) in &run.jobs {
        let succeeded = match &job.state {
            JobState::Finished { exit, .. } => exit.is_success(),
            _ => false,
        };
        match &job.purpose {
            Purpose::Hook { feature, hook: Hook::Setup, making } => {
                let before = ready.insert(feature, (making, succeeded));
                let again = before.is_some_and(|(b, _)| b == making);
                let kept = worked.contains(&(feature, making.as_str()));
                assert!(!again || kept, "{id} sets {making} up again");
            }
            Purpose::Hook { feature, hook: Hook::Teardown, .. } => drop(ready.remove(feature)),
            Purpose::Agent { feature, .. } => {
                let Some((making, true)) = ready.get(feature) else {
                    panic!("{id} came too early")
                };
                worked.insert((feature, *making));
            }
            _ => {}
        }
    }
}

fn check_attempts(run: &Run) {
    check_hooks(run);
    for (id, job) in &run.jobs {
        for (later_id, later) in run.jobs.range(id..).skip(1) {
            if job.purpose.is_same_work(&later.purpose) {
                assert!(job.attempt < later.attempt, "{later_id} is no later attempt");
                assert!(!job.state.is_live(), "{id} and {later_id} may both live");
            }
        }
    }
    let Work::Plan { state, .. } = &run.work else { return };
    for (id, job) in run.jobs.iter().filter(|(_, job)| job.state.is_live()) {
        let waiting =
            state.features.values().filter(|feature| feature.jobs().contains(&id)).count();
        if job.purpose.is_teardown() {
            let feature = &state.features[job.purpose.feature().unwrap()];
            assert!(feature.is_terminal(), "{id} tears down what is still needed");
            continue;
        }
        // A gate beside one because of which the feature was given up, or blocked, is stopped.
        let stopped = matches!(job.state, JobState::Stopping { .. });
        let stopped = stopped && matches!(job.purpose, Purpose::Gate { .. });
        assert!(
            waiting == 1 || (waiting == 0 && stopped),
            "nothing waits for {id}, {:?}",
            job.purpose
        );
    }
}

/// An open effect, a grant that may come, or a person who is asked.
fn has_a_way_forward(run: &Run) -> bool {
    let Status::Running { .. } = run.status else { return true };
    if !run.outstanding().is_empty() {
        return true;
    }
    let alone = Caps { features: 1_000, gates: 1_000 };
    if !grants(std::iter::once(run), alone).is_empty() {
        return true;
    }
    let (spec, plan) = run.plan().unwrap();
    plan.features.values().any(|feature| match &feature.state {
        _ if awaits_person(spec, feature) => true,
        FeatureState::Blocked(Block::TargetDirty { .. } | Block::LocalBehind { .. }) => false,
        FeatureState::Blocked(block) => !block.ends_by_itself(),
        _ => false,
    })
}
