//! Every state in which something may be: it is told, in words that say more than its name.

use tidegate_core::exit::{Exit, Reason, Started};
use tidegate_core::ids::{GateName, JobId, Oid, ProjectId, RunId};
use tidegate_core::pause::{Pause, Scope};
use tidegate_core::plan::{ReviewPolicy, Role};
use tidegate_core::run::{
    Block, FeatureState, JobState, LandStep, Merged, Round, Run, Wait, Work, WorkStep,
};
use tidegate_core::time::{BootMs, WallMs};
use tidegate_process::identity;

use super::home::TestHome;
use super::works::{feature_id, launcher, plan};
use crate::views::attention::in_words;
use crate::views::explain::job_fact;
use crate::views::explain_feature::because;
use crate::views::feature_doc::unblocks;
use crate::views::waiting::{QueuePlace, feature_waits_for, run_waits_for};

/// Asserts that a text tells something to a person.
fn tells(what: &str, text: &str) {
    let empty = text.trim().len() < 8 || text.ends_with(": ") || text.ends_with("for ");
    let evasive = ["unknown", "None", "Some(", "{", "  "].iter().any(|word| text.contains(word));
    assert!(!empty && !evasive, "{what}: {text:?}");
}

fn job() -> JobId {
    JobId::parse("r0000010000-1").unwrap()
}

fn merged() -> Merged {
    let oid = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
    Merged { onto: oid("a"), commit: oid("b"), tree: oid("c") }
}

/// One block of each kind: one more kind does not compile without its line here.
fn blocks() -> Vec<Block> {
    let text = || "a reason".to_owned();
    let paths = || vec!["src/quay.rs".to_owned()];
    let all = vec![
        Block::Conflict { paths: paths() },
        Block::TargetDirty { paths: paths(), why: text() },
        Block::TargetDirty { paths: Vec::new(), why: text() },
        Block::TargetMissing,
        Block::RepoHeld { by: text() },
        Block::Resources { detail: text() },
        Block::Git { detail: text() },
        Block::Collision { with: feature_id("quays"), paths: paths(), waits: true },
        Block::Collision { with: feature_id("quays"), paths: paths(), waits: false },
        Block::SilentRevert { losses: paths() },
        Block::PushRefused { detail: text() },
        Block::RemoteUnreachable { detail: text() },
        Block::Diverged { detail: text() },
        Block::LocalBehind { merged: merged(), paths: paths(), why: text() },
        Block::Input { role: Role::Builder },
        Block::Auth { agent: text(), detail: text(), account: None },
        Block::Review { detail: text() },
        Block::NoProgress { times: 3, reason: text() },
        Block::Budget {
            overrun: tidegate_core::budget::Overrun {
                scope: tidegate_core::budget::BudgetScope::Run,
                resource: tidegate_core::budget::Resource::Cost,
                spent: 51,
                cap: 50,
            },
        },
        Block::Quarantine { job: job(), detail: text() },
    ];
    for block in &all {
        match block {
            Block::Conflict { .. }
            | Block::TargetDirty { .. }
            | Block::TargetMissing
            | Block::RepoHeld { .. }
            | Block::Resources { .. }
            | Block::Git { .. }
            | Block::Collision { .. }
            | Block::SilentRevert { .. }
            | Block::PushRefused { .. }
            | Block::RemoteUnreachable { .. }
            | Block::Diverged { .. }
            | Block::LocalBehind { .. }
            | Block::Input { .. }
            | Block::Auth { .. }
            | Block::Review { .. }
            | Block::NoProgress { .. }
            | Block::Budget { .. }
            | Block::Quarantine { .. } => {}
        }
    }
    all
}

/// Every state of a feature that its own enums can say.
fn states() -> Vec<FeatureState> {
    let steps = [
        WorkStep::AwaitingSlot,
        WorkStep::Preparing,
        WorkStep::SettingUp(job()),
        WorkStep::Agent(job()),
        WorkStep::Committing(job()),
        WorkStep::Reading(job()),
        WorkStep::RollingBack(3),
    ];
    let roles = [Role::Planner, Role::Builder, Role::Qa, Role::Reviewer, Role::Reconciler];
    let running =
        || Round { running: [(GateName::new("test").unwrap(), job())].into(), ..Round::default() };
    let rounds = || [Round::default(), running()];
    let mut all = vec![FeatureState::Queued, FeatureState::InReview];
    for role in roles {
        all.extend(steps.iter().map(|step| FeatureState::Working { role, step: step.clone() }));
    }
    all.extend(rounds().map(|round| FeatureState::Verifying { round }));
    all.extend(
        rounds().map(|round| FeatureState::Landing(LandStep::Gates { merged: merged(), round })),
    );
    all.push(FeatureState::Landing(LandStep::AwaitingTarget));
    all.push(FeatureState::Landing(LandStep::Merging));
    all.push(FeatureState::Landing(LandStep::Updating { merged: merged() }));
    all.extend(blocks().into_iter().map(FeatureState::Blocked));
    all.push(FeatureState::Landed { commit: None });
    all.push(FeatureState::Landed { commit: Some(merged().commit) });
    all.push(FeatureState::Failed { reason: "gate test exited with 1".into() });
    all.push(FeatureState::Cancelled { actor: "ada".into() });
    all.push(FeatureState::Skipped { cause: feature_id("quays") });
    all
}

fn pause() -> Pause {
    Pause { by: "ada".into(), at: WallMs(7), reason: None }
}

#[test]
fn feature_in_any_state_says_what_it_waits_for_or_what_works() {
    let mut home = TestHome::new();
    let pending = home.submit("main", None, plan(ReviewPolicy::Person));
    let mut running = pending.clone();
    home.claim(&mut running);
    let mut held = running.clone();
    held.hold = Some(pause());
    let backoff = Wait { until: BootMs(9), ms: 9, about: WallMs(9) };
    for state in states() {
        for (run, wait) in
            [(&pending, None), (&running, None), (&running, Some(backoff)), (&held, None)]
        {
            let mut run = run.clone();
            let Work::Plan { spec, state: plan } = &mut run.work else { panic!("a plan") };
            let spec = spec.clone();
            let id = feature_id("berths");
            let feature = plan.features.get_mut(&id).unwrap();
            feature.state = state.clone();
            feature.wait = wait;
            let feature = feature.clone();
            let plan = plan.clone();
            let waits = feature_waits_for(&run, (&spec, &plan), &id, None);
            let told = because(&run, &id, &feature, waits);
            tells(&format!("{} {state:?}", run.status.word()), &told);
        }
    }
}

#[test]
fn block_of_any_kind_says_what_it_is_and_what_ends_it() {
    let run = RunId::from_parts(1, 1);
    for block in blocks() {
        tells("block", &in_words(&block));
        let next = unblocks(&block, &run, &feature_id("berths"), Some("/home/worktrees/berths"));
        tells("its end", &next);
        let names_place = next.contains("/home/worktrees/berths");
        assert_eq!(names_place, matches!(block, Block::Conflict { .. }), "{next}");
    }
}

#[test]
fn run_that_has_not_begun_says_why_whatever_its_queue_is_at() {
    let mut home = TestHome::new();
    let other = RunId::from_parts(1, 1);
    let mut scopes = vec![None, Some(Scope::default())];
    let project = Some(ProjectId::new("harbour").unwrap());
    scopes.push(Some(Scope { project, lane: None }));
    for work in [plan(ReviewPolicy::Auto), launcher(None, None, 1)] {
        let free = home.submit("main", None, work);
        let mut held: Run = free.clone();
        held.hold = Some(pause());
        for (run, supervised) in [(&free, true), (&free, false), (&held, true), (&held, false)] {
            tells("no queue", &run_waits_for(run, None, supervised, None).unwrap());
            for scope in &scopes {
                for (active, first, why) in [
                    (None, None, None),
                    (Some(other.clone()), None, None),
                    (None, Some(other.clone()), None),
                    (Some(other.clone()), Some(other.clone()), None),
                    (None, None, Some("a run of it is corrupt".to_owned())),
                ] {
                    let place = QueuePlace {
                        active,
                        ahead: usize::from(first.is_some()),
                        first,
                        held: why,
                        paused: scope.clone().map(|scope| (scope, pause())),
                    };
                    let told = run_waits_for(run, Some(&place), supervised, None).unwrap();
                    tells(&format!("{place:?}"), &told);
                }
            }
        }
    }
}

#[test]
fn job_in_any_state_is_told_as_a_fact() {
    let own = identity::own().unwrap();
    let started = Started { shim: own.clone(), child: own, at: WallMs(7) };
    let exit = Exit { code: Some(1), ran_ms: 12, ..Exit::lost(Reason::Exited, WallMs(9)) };
    for state in [
        JobState::Launching,
        JobState::Running(started.clone()),
        JobState::Stopping { started: Some(started.clone()), actor: "ada".into() },
        JobState::Finished { started: Some(started), exit },
        JobState::Quarantined { started: None, detail: "two ends".into() },
    ] {
        tells(&format!("{state:?}"), &job_fact("builder r0000010000-1", &state).text);
    }
}
