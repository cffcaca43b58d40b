//! What a seed's clients submit: plans and launchers of many shapes, into several queues.

use tidegate_core::budget::{Budget, Budgets};
use tidegate_core::ids::{AdhocId, GateName, InvalidName, LaneName, LockName, RoleName};
use tidegate_core::launcher::Selection;
use tidegate_core::plan::{
    CollisionPolicy, CommitRule, GateRun, GateSpec, IntegrityPolicy, OnFailure, PlanSpec,
    ReviewPolicy, Role, RoleSpec, Strategy,
};
use tidegate_core::run::Work;
use tidegate_core::workplace::HookSpec;
use tidegate_daemon::engine::Command;

use super::course::World;
use super::dice::Dice;
use super::telling;
use crate::builders::{Blobs, PlanBuilder, launcher, place, sample_gate, submit};

/// Folders of the repositories.
pub(super) const FOLDERS: [&str; 2] = ["berths", "tides"];
/// Targets of each repository.
pub(super) const TARGETS: [&str; 2] = ["refs/heads/main", "refs/heads/next"];

impl World {
    /// Has the clients of this seed submit what they have.
    pub(super) fn submit_all(&mut self) {
        let runs = self.dice.between(1, 4);
        for _ in 0..runs {
            match self.next_submit() {
                Ok(command) => self.order("client", command),
                Err(error) => self.fail(|| format!("BUG: a scenario's name: {error}")),
            }
        }
    }

    fn next_submit(&mut self) -> Result<Command, InvalidName> {
        let dice = &mut self.dice;
        let lane = LaneName::new(if dice.percent(70) { "main" } else { "side" })?;
        let adhoc = if dice.percent(15) { Some(AdhocId::new("once")?) } else { None };
        let folder = FOLDERS[usize::from(dice.percent(30))];
        let (work, blobs) = if dice.percent(60) { plan(dice)? } else { launcher_of(dice) };
        Ok(submit(place(folder), (lane, adhoc), work, blobs))
    }
}

fn launcher_of(dice: &mut Dice) -> (Work, Blobs) {
    let mut wave =
        |percent| dice.percent(percent).then(|| u32::try_from(dice.between(1, 4)).unwrap_or(1));
    let (start_wave, end_wave) = (wave(50), wave(30));
    let selection = Selection { start_wave, end_wave, auto_next: dice.percent(20) };
    let resumes_max = u32::try_from(dice.below(3)).unwrap_or(0);
    (launcher(&["sh", "job.sh"], selection, resumes_max), Vec::new())
}

/// The builder's agent in another role.
fn crew_member(role: Role, builder: &RoleSpec) -> Option<RoleSpec> {
    let name = RoleName::new(role.word()).ok()?;
    Some(RoleSpec { name, ..builder.clone() })
}

fn hook() -> HookSpec {
    let run = GateRun::Argv(vec!["sh".to_owned(), "hook.sh".to_owned()]);
    HookSpec { run, env: std::collections::BTreeMap::new(), timeout_ms: 60_000 }
}

/// A few plans have features that may not be tried often.
fn budgets(dice: &mut Dice) -> Budgets {
    let few = Budget { attempts: Some(2 + dice.below(4)), ..Budget::default() };
    if dice.percent(10) {
        Budgets { feature: few, ..Budgets::default() }
    } else {
        Budgets::default()
    }
}

fn integrity(dice: &mut Dice) -> IntegrityPolicy {
    match dice.below(3) {
        0 => IntegrityPolicy::Off,
        1 => IntegrityPolicy::Note,
        _ => IntegrityPolicy::Person,
    }
}

fn plan(dice: &mut Dice) -> Result<(Work, Blobs), InvalidName> {
    let mut builder = PlanBuilder::new("Harbour board")?;
    let waves = dice.between(1, 3);
    for wave in 1..=waves {
        let ids = ["a", "b", "c"].map(|letter| format!("w{wave}{letter}"));
        let count = usize::try_from(dice.between(1, 3)).unwrap_or(1);
        let ids: Vec<&str> = ids.iter().take(count).map(String::as_str).collect();
        builder = builder.wave(&ids)?;
    }
    let mut dice = dice.fork();
    let builder = builder.with(|spec| {
        TARGETS[usize::from(dice.percent(20))].clone_into(&mut spec.target);
        match dice.below(100) {
            0..25 => spec.review = ReviewPolicy::Person,
            25..40 => spec.review = ReviewPolicy::Agent,
            _ => {}
        }
        spec.integrity = integrity(&mut dice);
        spec.budgets = budgets(&mut dice);
        spec.same_max = [0, 2, 3][dice.index(3)];
        spec.collisions = match dice.below(3) {
            0 => CollisionPolicy::Reject,
            1 => CollisionPolicy::Serialise,
            _ => CollisionPolicy::Allow,
        };
        if dice.percent(30) {
            spec.on_failure = OnFailure::Continue;
        }
        if dice.percent(30) {
            spec.landing.strategy = Strategy::Squash;
        }
        if dice.percent(20) {
            spec.landing.merge_gates.clear();
        }
        spec.commit = if dice.percent(20) { CommitRule::Agent } else { CommitRule::Auto };
        telling::draw(spec, &mut dice);
        spec.worktree.setup = dice.percent(30).then(hook);
        spec.worktree.teardown = dice.percent(25).then(hook);
        spec.active_max = u32::try_from(dice.between(1, 3)).unwrap_or(1);
        let ids: Vec<_> = spec.in_order().map(|(_, id)| id.clone()).collect();
        for (at, id) in ids.iter().enumerate() {
            let Some(feature) = spec.features.get_mut(id) else { continue };
            feature.iterations_max = u32::try_from(dice.between(1, 3)).unwrap_or(1);
            feature.attempts_max = u32::try_from(dice.between(1, 3)).unwrap_or(1);
            feature.allow_no_change = dice.percent(30);
            let reviewed = spec.review == ReviewPolicy::Agent;
            for role in Role::ALL.into_iter().filter(|role| *role != Role::Builder) {
                let drawn = role != Role::Reviewer && dice.percent(25);
                if let Some(worker) = crew_member(role, &spec.builder)
                    && (drawn || (role == Role::Reviewer && reviewed))
                {
                    feature.crew.insert(role, worker);
                }
            }
            if dice.percent(10) {
                feature.gates.clear();
            }
            if dice.percent(20) {
                feature.locks.extend(LockName::new(if dice.percent(70) { "db" } else { "quay" }));
            }
            if at > 0 && dice.percent(35) {
                feature.needs.push(ids[dice.index(at)].clone());
            }
        }
        if let Ok(lint) = GateName::new("lint") {
            more_gates(spec, &lint, &mut dice);
        }
    });
    Ok(builder.build())
}

/// A second gate beside the first one, before it or alone; and gates that are tried again.
fn more_gates(spec: &mut PlanSpec, lint: &GateName, dice: &mut Dice) {
    for gate in spec.gates.values_mut() {
        gate.retries = u32::try_from(dice.below(3)).unwrap_or(0);
        if dice.percent(30) {
            gate.promises.reports = vec!["out/*.xml".to_owned()];
        }
    }
    if dice.percent(50) {
        return;
    }
    let first = dice.percent(40);
    for gate in spec.gates.values_mut().filter(|_| first) {
        gate.needs.push(lint.clone());
    }
    spec.gates.insert(lint.clone(), GateSpec { alone: dice.percent(30), ..sample_gate() });
    let features = spec.features.values_mut().filter(|feature| !feature.gates.is_empty());
    for feature in features {
        feature.gates.push(lint.clone());
    }
    if dice.percent(50) {
        spec.landing.merge_gates.push(lint.clone());
    }
}
