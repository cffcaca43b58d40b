//! Budgets: agents begin only while something is left, a person gives more, and nothing is lost.

use tidegate_core::admission::{Caps, grants};
use tidegate_core::budget::{Budget, BudgetScope, Budgets, Resource};
use tidegate_core::exit::Exit;
use tidegate_core::ids::FeatureId;
use tidegate_core::run::{
    Block, Feature, FeatureState, Grant, Ingested, Input, JobState, Report, Run, WorkStep,
    WorktreeOutcome,
};
use tidegate_core::told::{Class, Outcome, Told, Usage};

use crate::fixture::{Shape, capture_all, claim, exited, fid, oid, plan_run, take, waves};

const CENT: u64 = 10_000;
const DOLLAR: u64 = 100 * CENT;

fn dollars(run: u64, attempt: Option<u64>) -> Budgets {
    let run = Budget { cost_micros: Some(run * DOLLAR), ..Budget::default() };
    Budgets { run, attempt_micros: attempt.map(|most| most * DOLLAR), ..Budgets::default() }
}

/// A run of so many features, each of which is tried again and again.
fn fleet(count: usize, budgets: Budgets) -> Run {
    let names: Vec<String> = (0..count).map(|n| format!("f{n:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let shape = Shape {
        waves: waves(&[&names]),
        budgets,
        attempts_max: 1_000,
        active_max: 100,
        ..Shape::default()
    };
    let mut run = plan_run(&shape);
    take(&mut run, &claim());
    run
}

fn features(run: &Run, wanted: impl Fn(&Feature) -> bool) -> Vec<FeatureId> {
    let all = &run.plan().unwrap().1.features;
    all.iter().filter(|(_, feature)| wanted(feature)).map(|(id, _)| id.clone()).collect()
}

fn prepares(feature: &Feature) -> bool {
    feature.state.work_step() == Some(&WorkStep::Preparing)
}

/// Gives what admission gives, and has every agent begin that may; how many are at work then.
fn begin(run: &mut Run) -> usize {
    for id in features(run, |feature| feature.wait.is_some()) {
        take(run, &Input::Report(Report::RetryDue { feature: id }));
    }
    loop {
        let given = grants(std::iter::once(&*run), Caps { features: 100, gates: 100 });
        if given.is_empty() {
            break;
        }
        for (_, grant) in given {
            assert!(matches!(grant, Grant::Slot { .. }), "{grant:?}");
            take(run, &Input::Grant(grant));
        }
    }
    for feature in features(run, prepares) {
        let (path, base) = (format!("/w/{feature}"), oid(1));
        let furnished = tidegate_core::workplace::Furnished::default();
        let outcome = WorktreeOutcome::Ready { path, base, furnished };
        take(run, &Input::Report(Report::Worktree { feature, outcome }));
    }
    live(run).len()
}

fn live(run: &Run) -> Vec<tidegate_core::ids::JobId> {
    let live = run.jobs.iter().filter(|(_, job)| matches!(job.state, JobState::Launching));
    live.map(|(id, _)| id.clone()).collect()
}

/// Ends an agent without success.
fn fail(run: &mut Run, job: tidegate_core::ids::JobId, cost: u64, ran_ms: u64) {
    let told = Told {
        session: None,
        outcome: Outcome::Failed(Class::Other),
        detail: None,
        reset: None,
        usage: Usage { cost_micros: Some(cost), ..Usage::default() },
        cumulative: false,
        gone: false,
    };
    let ingested = Ingested { told: Some(told), ..Ingested::default() };
    let exit = Exit { ran_ms, ..exited(1) };
    let report = Report::JobFinished { job, started: None, exit, ingested, evidence: None };
    take(run, &Input::Report(report));
    capture_all(run);
}

fn overrun(run: &Run, id: &FeatureId) -> (BudgetScope, Resource) {
    match &run.plan().unwrap().1.features[id].state {
        FeatureState::Blocked(Block::Budget { overrun }) => (overrun.scope, overrun.resource),
        other => panic!("{id}: {other:?}"),
    }
}

#[test]
fn twenty_agents_in_a_retry_loop_overrun_fifty_dollars_by_one_attempt_of_one_agent_at_most() {
    for seed in 0..200_u64 {
        let mut run = fleet(20, dollars(50, Some(2)));
        let mut dice = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut roll = |most: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (dice >> 33) % most
        };
        let mut together = 0;
        for _ in 0..100_000 {
            together = together.max(begin(&mut run));
            let jobs = live(&run);
            if jobs.is_empty() {
                break;
            }
            let at = usize::try_from(roll(jobs.len() as u64)).unwrap();
            let cost = roll(2 * DOLLAR) + 1;
            fail(&mut run, jobs[at].clone(), cost, 1);
        }
        let spent = run.spent(None).cost_micros;
        assert!((50 * DOLLAR..52 * DOLLAR).contains(&spent), "seed {seed}: {spent}");
        assert_eq!(together, 20, "seed {seed}: while there is enough they work at once");
        for id in features(&run, |_| true) {
            assert_eq!(overrun(&run, &id), (BudgetScope::Run, Resource::Cost));
        }
        assert!(run.outstanding().is_empty(), "{:?}", run.outstanding());
    }
}

#[test]
fn first_agent_goes_alone_until_it_is_known_what_one_costs() {
    let mut run = fleet(20, dollars(10, None));
    assert_eq!(begin(&mut run), 1);
    let first = live(&run)[0].clone();
    fail(&mut run, first, 2 * DOLLAR, 1);
    // 2 of 10 are used: with 2 kept back for each of three others, a fourth one may begin.
    assert_eq!(begin(&mut run), 4);
}

#[test]
fn feature_in_a_loop_is_stopped_after_its_three_attempts_and_others_go_on() {
    let own = Budget { attempts: Some(3), ..Budget::default() };
    let mut run = fleet(2, Budgets { feature: own, ..Budgets::default() });
    for _ in 0..3 {
        begin(&mut run);
        let of = |job: &&tidegate_core::ids::JobId| {
            run.jobs[*job].purpose.feature() == Some(&fid("f00"))
        };
        let job = live(&run).iter().find(of).cloned().unwrap();
        fail(&mut run, job, 0, 1);
    }
    assert_eq!(begin(&mut run), 1, "the other one works");
    assert_eq!(overrun(&run, &fid("f00")), (BudgetScope::Feature, Resource::Attempts));
    assert_eq!(run.spent(Some(&fid("f00"))).attempts, 3);
    take(&mut run, &Input::RetryFeature { feature: fid("f00"), actor: "ann".to_owned() });
    assert_eq!(begin(&mut run), 2, "a person has given it as much again");
}

#[test]
fn budget_of_the_run_that_is_given_anew_lets_every_feature_go_on() {
    let all = Budget { time_ms: Some(10_000), ..Budget::default() };
    let mut run = fleet(3, Budgets { run: all, ..Budgets::default() });
    assert_eq!(run.time_left_ms(&fid("f00")), Some(10_000));
    assert_eq!(begin(&mut run), 3);
    for job in live(&run) {
        fail(&mut run, job, 0, 4_000);
    }
    assert_eq!(run.time_left_ms(&fid("f00")), Some(0));
    assert_eq!(begin(&mut run), 0);
    for id in ["f00", "f01", "f02"] {
        assert_eq!(overrun(&run, &fid(id)), (BudgetScope::Run, Resource::Time));
    }
    take(&mut run, &Input::RetryFeature { feature: fid("f01"), actor: "ann".to_owned() });
    assert_eq!(begin(&mut run), 3);
    assert_eq!(run.time_left_ms(&fid("f00")), Some(8_000));
}
