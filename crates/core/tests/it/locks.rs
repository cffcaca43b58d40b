//! Named locks: one holder in a project, first come, first served, and always somebody who may go on.

use tidegate_core::admission::{Caps, grants};
use tidegate_core::ids::RunId;
use tidegate_core::run::{
    FeatureState, Grant, Input, LockAhead, LockWait, Plan, Report, Run, Work, WorktreeOutcome,
};

use crate::fixture::{Shape, claim, fid, plan_spec, submitted, take, waves};
use crate::matrix::hold;
use crate::pipeline::feature;

const CAPS: Caps = Caps { features: 9, gates: 9 };

fn runs(shapes: &[&Shape]) -> Vec<Run> {
    let run = |(seq, shape): (u64, &&Shape)| {
        let spec = plan_spec(shape);
        let state = Plan::new(&spec);
        let mut run = Run::from_submitted(&submitted(seq, Work::Plan { spec, state }));
        take(&mut run, &claim());
        run
    };
    (1..).zip(shapes).map(run).collect()
}

fn shape(features: &[&str], locks: &[&'static str]) -> Shape {
    Shape { waves: waves(&[features]), locks: locks.to_vec(), ..Shape::default() }
}

/// Gives all that can be given, until nothing more can; who began, and who stands where in a line.
fn admit(runs: &mut [Run]) -> Vec<String> {
    admit_within(runs, CAPS)
}

fn admit_within(runs: &mut [Run], caps: Caps) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..50 {
        let given: Vec<(RunId, Grant)> = grants(runs.iter(), caps);
        if given.is_empty() {
            return told;
        }
        for (id, grant) in given {
            let at = runs.iter().position(|run| run.id == id).unwrap();
            told.push(match &grant {
                Grant::Slot { feature } => format!("{feature} begins"),
                Grant::Line { feature, wait: LockWait { ticket, ahead } } => match ahead {
                    Some(LockAhead { lock, feature: of, held: Some(_), .. }) => {
                        format!("{feature} is {ticket}: {of} has {lock}")
                    }
                    Some(LockAhead { lock, feature: of, held: None, .. }) => {
                        format!("{feature} is {ticket}: {of} is before it for {lock}")
                    }
                    None => format!("{feature} is {ticket}"),
                },
                other => panic!("{other:?}"),
            });
            take(&mut runs[at], &Input::Grant(grant));
        }
    }
    panic!("admission does not come to an end: {told:?}");
}

/// Ends a run whose features wait for a worktree or for their turn.
fn end(run: &mut Run) {
    take(run, &Input::Cancel { actor: "ann".to_owned() });
    let ids: Vec<_> = run.plan().unwrap().1.features.keys().cloned().collect();
    for feature in ids {
        if run.plan().unwrap().1.features[&feature].awaits_git() {
            let outcome = WorktreeOutcome::TargetMissing;
            take(run, &Input::Report(Report::Worktree { feature, outcome }));
        }
    }
    assert!(run.status.is_terminal(), "{:?}", run.status);
}

#[test]
fn lock_has_one_holder_over_all_runs_of_the_project_and_the_others_are_told_why() {
    let mut all = runs(&[&shape(&["a", "b"], &["db"]), &shape(&["c"], &["db"])]);
    let told = admit(&mut all);
    assert_eq!(told[0], "a begins");
    assert_eq!(told[3..], ["b is 2: a has db", "c is 3: a has db"], "{told:?}");
    let known = all[1].plan().unwrap().1.features[&fid("c")].in_line.clone().unwrap();
    assert_eq!(known.wait.ahead.unwrap().run, all[0].id);
    assert!(feature(&all[0], "a").locked.is_some());
    end(&mut all[0]);
    assert_eq!(admit(&mut all), ["c begins"]);
    assert_eq!(feature(&all[1], "c").in_line, None);
}

#[test]
fn line_goes_by_coming_and_not_by_the_order_of_runs() {
    let mut all =
        runs(&[&shape(&["b"], &["db"]), &shape(&["a"], &["db"]), &shape(&["c"], &["db"])]);
    // The first run comes to have its turn last.
    assert_eq!(admit(&mut all[1..]).last().unwrap(), "c is 2: a has db");
    assert_eq!(admit(&mut all), ["b is 3: a has db"]);
    end(&mut all[1]);
    let told = admit(&mut all);
    assert_eq!([&told[0], told.last().unwrap()], ["c begins", "b is 3: c has db"], "{told:?}");
}

#[test]
fn who_came_first_is_not_passed_while_it_waits_for_a_slot() {
    let none = Caps { features: 0, ..CAPS };
    let mut all = runs(&[&shape(&["a"], &["db"]), &shape(&["b"], &["db"])]);
    all.reverse();
    assert_eq!(admit_within(&mut all, none), ["b is 1", "a is 2: b is before it for db"]);
    all.reverse();
    assert_eq!(admit_within(&mut all, none), Vec::<String>::new(), "nothing new to tell");
    assert_eq!(admit(&mut all), ["b begins", "a is 2: b has db"]);
}

#[test]
fn several_locks_are_taken_together_and_nobody_passes_who_waits_for_one_of_them() {
    let mut all = runs(&[
        &shape(&["a"], &["db"]),
        &shape(&["b"], &["db", "quay"]),
        &shape(&["c"], &["quay"]),
    ]);
    let told = admit(&mut all);
    assert_eq!(told.last().unwrap(), "b is 2: a has db");
    assert!(told.contains(&"c is 3: b is before it for quay".to_owned()), "{told:?}");
    end(&mut all[0]);
    assert_eq!(admit(&mut all), ["b begins", "c is 3: b has quay"]);
}

#[test]
fn held_run_keeps_its_locks_and_lets_others_pass_it_in_the_line() {
    let mut all =
        runs(&[&shape(&["a"], &["db"]), &shape(&["b"], &["db"]), &shape(&["c"], &["db"])]);
    admit(&mut all);
    take(&mut all[1], &hold());
    end(&mut all[0]);
    assert_eq!(admit(&mut all), ["c begins"], "the run of `b` is held");
    take(&mut all[2], &hold());
    take(&mut all[1], &Input::Release { actor: "ann".to_owned() });
    assert_eq!(admit(&mut all), ["b is 2: c has db"], "held, it still has what it has");
}

#[test]
fn features_of_other_locks_or_none_do_not_wait() {
    let mut all = runs(&[&shape(&["a"], &["db"]), &shape(&["b"], &["quay"]), &shape(&["c"], &[])]);
    assert_eq!(admit(&mut all), ["a begins", "b begins", "c begins"]);
}

#[test]
fn blocked_feature_keeps_its_lock_and_a_retry_goes_on_with_it() {
    let mut all = runs(&[&shape(&["a"], &["db"]), &shape(&["b"], &["db"])]);
    admit(&mut all);
    let report = Report::Worktree { feature: fid("a"), outcome: WorktreeOutcome::TargetMissing };
    take(&mut all[0], &Input::Report(report));
    assert_eq!(feature(&all[0], "a").state.word(), "blocked");
    assert_eq!(admit(&mut all), Vec::<String>::new());
    let retry = Input::RetryFeature { feature: fid("a"), actor: "ann".to_owned() };
    take(&mut all[0], &retry);
    assert_eq!(feature(&all[0], "a").state, FeatureState::Queued);
    assert_eq!(admit(&mut all), ["a begins"]);
    end(&mut all[0]);
    assert_eq!(admit(&mut all), ["b begins"]);
}
