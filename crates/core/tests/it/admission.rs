//! Who is next: turns of queues, slots, gates and targets.

use proptest::prelude::*;
use tidegate_core::admission::{Caps, Place, Worktrees, grants, grants_within};
use tidegate_core::ids::RunId;
use tidegate_core::run::{
    CommitOutcome, Grant, Input, MergeOutcome, Plan, Report, Run, Tested, Work, WorktreeOutcome,
};

use crate::fixture::{
    Shape, claim, config, exited, fid, job_finished, named_gate, newest, oid, plan_run, plan_spec,
    submitted, take, waves,
};
use crate::telling::tell;

const CAPS: Caps = Caps { features: 10, gates: 10 };

/// Claimed runs of that shape, in the order of their submits.
fn claimed(count: u64, shape: &Shape) -> Vec<Run> {
    (1..=count)
        .map(|seq| {
            let spec = plan_spec(shape);
            let state = Plan::new(&spec);
            let mut run = Run::from_submitted(&submitted(seq, Work::Plan { spec, state }));
            take(&mut run, &claim());
            run
        })
        .collect()
}

fn wide() -> Shape {
    Shape { waves: waves(&[&["a", "b", "c"]]), active_max: 2, ..Shape::default() }
}

fn given(runs: &[Run], caps: Caps) -> Vec<String> {
    let told = |(run, grant): (RunId, Grant)| {
        let at = runs.iter().position(|found| found.id == run).unwrap();
        match grant {
            Grant::Slot { feature } => format!("{at} slot {feature}"),
            Grant::Gate { feature, gate, slot } => format!("{at} {gate} {feature} {slot}"),
            Grant::Target { feature } => format!("{at} target {feature}"),
            Grant::Park { feature, parked } => format!("{at} park {feature}: {}", parked.feature),
            Grant::Hold { feature, by } => format!("{at} hold {feature}: {by:?}"),
            Grant::StandIn { feature, agent } => format!("{at} agent of {feature}: {agent:?}"),
            Grant::Line { feature, wait } => {
                format!("{at} line {} {feature}: {:?}", wait.ticket, wait.ahead)
            }
        }
    };
    grants(runs.iter(), caps).into_iter().map(told).collect()
}

/// Takes the features to the gates of their branch: `a`, `b` and so on get a commit each.
pub(crate) fn build(run: &mut Run, ids: &[&str]) {
    for (n, id) in ids.iter().enumerate() {
        let feature = || fid(id);
        take(run, &Input::Grant(Grant::Slot { feature: feature() }));
        let outcome = WorktreeOutcome::Ready {
            path: "/w".to_owned(),
            base: oid(1),
            furnished: tidegate_core::workplace::Furnished::default(),
        };
        take(run, &Input::Report(Report::Worktree { feature: feature(), outcome }));
        let job = newest(run);
        take(run, &job_finished(job.clone(), exited(0)));
        crate::fixture::capture_all(run);
        let tested = Tested { commit: oid(10 + u32::try_from(n).unwrap()), tree: oid(2) };
        let outcome = CommitOutcome::Commit(tested);
        take(run, &Input::Report(Report::Commit { feature: feature(), job, outcome }));
    }
}

#[test]
fn slots_go_to_the_oldest_run_first_within_its_own_cap() {
    let runs = claimed(2, &wide());
    assert_eq!(given(&runs, CAPS), ["0 slot a", "0 slot b", "1 slot a", "1 slot b"]);
    let caps = Caps { features: 3, ..CAPS };
    assert_eq!(given(&runs, caps), ["0 slot a", "0 slot b", "1 slot a"]);
    assert!(given(&runs, Caps { features: 0, ..CAPS }).is_empty());
}

#[test]
fn slots_come_back_when_a_feature_waits_or_ends() {
    let mut runs = claimed(1, &Shape { gates: 0, ..wide() });
    build(&mut runs[0], &["a", "b"]);
    // Both wait for the target now, which holds no slot.
    assert_eq!(given(&runs, CAPS), ["0 target a", "0 slot c"]);
}

#[test]
fn slots_go_to_no_pending_and_no_cancelled_run() {
    let mut runs = vec![plan_run(&wide())];
    assert!(given(&runs, CAPS).is_empty(), "a pending run");
    take(&mut runs[0], &claim());
    take(&mut runs[0], &Input::Grant(Grant::Slot { feature: fid("a") }));
    take(&mut runs[0], &crate::fixture::cancel());
    assert_eq!(runs[0].status.word(), "running");
    assert!(given(&runs, CAPS).is_empty(), "a run that is being cancelled");
}

#[test]
fn gates_get_free_slots_up_to_the_cap_even_when_it_shrank() {
    let mut runs = claimed(1, &Shape { active_max: 5, ..wide() });
    build(&mut runs[0], &["a", "b", "c"]);
    assert_eq!(given(&runs, Caps { gates: 2, ..CAPS }), ["0 gate0 a 0", "0 gate0 b 1"]);
    take(
        &mut runs[0],
        &Input::Grant(Grant::Gate { feature: fid("a"), gate: named_gate("gate0"), slot: 2 }),
    );
    assert!(given(&runs, Caps { gates: 1, ..CAPS }).is_empty());
    assert_eq!(given(&runs, Caps { gates: 3, ..CAPS }), ["0 gate0 b 0", "0 gate0 c 1"]);
}

#[test]
fn gates_are_not_given_the_checkout_of_a_quarantined_one() {
    let mut runs = claimed(1, &Shape { active_max: 5, ..wide() });
    build(&mut runs[0], &["a", "b", "c"]);
    take(
        &mut runs[0],
        &Input::Grant(Grant::Gate { feature: fid("a"), gate: named_gate("gate0"), slot: 0 }),
    );
    let detail = "another nonce".to_owned();
    let report = Report::JobQuarantined { job: newest(&runs[0]), detail };
    take(&mut runs[0], &Input::Report(report));
    // It does not count against the cap, which would leak a slot.
    assert_eq!(given(&runs, Caps { gates: 2, ..CAPS }), ["0 gate0 b 1", "0 gate0 c 2"]);
}

#[test]
fn target_has_one_landing_at_a_time_over_all_runs() {
    let shape = Shape { gates: 0, active_max: 5, ..wide() };
    let mut runs = claimed(2, &shape);
    build(&mut runs[0], &["a", "b", "c"]);
    build(&mut runs[1], &["a"]);
    let targets = |runs: &[Run]| {
        let mut all = given(runs, CAPS);
        all.retain(|grant| grant.contains("target"));
        all
    };
    assert_eq!(targets(&runs), ["0 target a"]);
    take(&mut runs[0], &Input::Grant(Grant::Target { feature: fid("a") }));
    assert!(targets(&runs).is_empty());
}

#[test]
fn target_goes_to_whoever_began_to_wait_for_it_first() {
    let shape = Shape { gates: 0, active_max: 5, ..wide() };
    let mut runs = claimed(1, &shape);
    build(&mut runs[0], &["c", "b", "a"]);
    for id in ["c", "b", "a"] {
        let given = grants(runs.iter(), CAPS);
        let next = (runs[0].id.clone(), Grant::Target { feature: fid(id) });
        assert!(given.contains(&next), "{id}: {given:?}");
        take(&mut runs[0], &Input::Grant(Grant::Target { feature: fid(id) }));
        let outcome = MergeOutcome::AlreadyThere { commit: oid(1) };
        take(&mut runs[0], &Input::Report(Report::Merge { feature: fid(id), outcome }));
    }
}

#[test]
fn grant_that_comes_too_early_is_refused_by_the_run_itself() {
    let mut needs = wide();
    needs.waves[0][1].1 = vec!["a".to_owned()];
    needs.waves.push(vec![("d".to_owned(), Vec::new())]);
    let runs = claimed(1, &needs);
    for early in ["b", "d"] {
        let refused = tell(&runs[0], &Input::Grant(Grant::Slot { feature: fid(early) }));
        assert!(refused.unwrap_err().contains("its wave has not come"), "{early}");
    }
}

#[test]
fn held_run_is_given_nothing_and_refuses_what_comes_late() {
    let mut runs = claimed(1, &wide());
    take(&mut runs[0], &crate::matrix::hold());
    assert!(given(&runs, CAPS).is_empty());
    let late = tell(&runs[0], &Input::Grant(Grant::Slot { feature: fid("a") }));
    assert!(late.unwrap_err().contains("held"));
    take(&mut runs[0], &Input::Release { actor: "ann".to_owned() });
    assert_eq!(given(&runs, CAPS), ["0 slot a", "0 slot b"]);
}

proptest! {
    #![proptest_config(config(256))]

    /// Higher priorities first; within one, first come, first served.
    #[test]
    fn places_are_by_priority_and_then_in_the_order_of_submits(
        priorities in prop::collection::vec(-2..3_i32, 0..20),
    ) {
        let numbered = (1..).zip(priorities);
        let runs: Vec<(u64, i32)> = numbered.collect();
        let place = |&(seq, priority): &(u64, i32)| Place::new(priority, RunId::from_parts(seq, 0));
        let mut places: Vec<Place> = runs.iter().map(place).collect();
        places.sort();
        let mut expected = runs.clone();
        expected.sort_by_key(|&(seq, priority)| (-priority, seq));
        prop_assert_eq!(places, expected.iter().map(place).collect::<Vec<_>>());
    }

    /// What is given is never more than the caps, and never less than they allow.
    #[test]
    fn slots_are_given_up_to_the_caps_and_no_fewer(
        runs in 1..5_u64, active_max in 0..5_u32, features in 0..9_u32,
    ) {
        let runs = claimed(runs, &Shape { active_max, ..wide() });
        let given = given(&runs, Caps { features, gates: 1 }).len();
        let wanted = runs.len() * usize::try_from(active_max.min(3)).unwrap();
        prop_assert_eq!(given, wanted.min(usize::try_from(features).unwrap()));
    }
}

#[test]
fn slots_that_need_a_worktree_go_no_further_than_the_home_may_have() {
    let mut runs = claimed(2, &Shape { active_max: 5, ..wide() });
    let other = tidegate_core::ids::RunId::from_parts(900, 1);
    let within = |runs: &[Run], max: u32, is_full: bool| {
        // One of an ended run stands; those of running runs are told by their state, not by the disk.
        let standing = [(other.clone(), 1), (runs[0].id.clone(), 7)].into();
        let worktrees = Worktrees { max: Some(max), is_full, standing };
        grants_within(runs.iter(), CAPS, &worktrees, tidegate_core::time::WallMs(0)).len()
    };
    assert_eq!([0, 1, 2, 4].map(|max| within(&runs, max, false)), [0, 0, 1, 3]);
    assert_eq!(within(&runs, 9, true), 0, "no room on the disk");
    take(&mut runs[0], &Input::Grant(Grant::Slot { feature: fid("a") }));
    assert_eq!(within(&runs, 2, false), 0, "its worktree is being made");
    assert_eq!(within(&runs, 3, false), 1);
}
