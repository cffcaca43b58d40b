//! The rules of the gates of one commit, each by name: the first gate is plain, the second one is
//! tried twice, the third one needs the first one, and the fourth one runs alone.

use tidegate_core::admission::{Caps, grants};
use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::run::{
    CommitOutcome, FeatureState, Feedback, Grant, Input, JobState, MergeOutcome, Purpose, Report,
    Round, Run, step,
};

use crate::fixture::{
    NOW, Shape, cancel, exit, exited, fid, job_finished, job_started, kinds, named_gate, oid,
    stopped, take, waves,
};
use crate::matrix::{commit, merge, merged, slot, target, tested};
use crate::pipeline::{building, feature};

/// A run whose one feature has a commit, and that many gates.
fn committed(gates: usize, more: &Shape) -> Run {
    let waves = waves(&[&["a"]]);
    let mut run = building(&Shape { waves, gates, ..more.clone() });
    let job = crate::fixture::newest(&run);
    take(&mut run, &job_finished(job, exited(0)));
    crate::fixture::capture_all(&mut run);
    let input = commit(&run, CommitOutcome::Commit(tested(10)));
    take(&mut run, &input);
    run
}

fn round(run: &Run) -> &Round {
    feature(run, "a").state.round().expect("it is in a round").0
}

/// Gives every slot that there is; says which gates began.
fn begin_all(run: &mut Run) -> Vec<String> {
    let caps = Caps { features: 9, gates: 9 };
    let given = grants(std::iter::once(&*run), caps);
    let of = |grant| match grant {
        Grant::Gate { feature, gate, slot } => {
            (gate.to_string(), Grant::Gate { feature, gate, slot })
        }
        other => panic!("no gate: {other:?}"),
    };
    let given: Vec<(String, Grant)> = given.into_iter().map(|(_, grant)| of(grant)).collect();
    for (_, grant) in &given {
        take(run, &Input::Grant(grant.clone()));
    }
    given.into_iter().map(|(gate, _)| gate).collect()
}

fn job_of(run: &Run, gate: &str) -> JobId {
    round(run).running[&named_gate(gate)].clone()
}

fn end(run: &mut Run, gate: &str, exit: Exit) -> Vec<&'static str> {
    let job = job_of(run, gate);
    kinds(&take(run, &job_finished(job, exit)))
}

#[test]
fn gates_whose_needs_have_passed_run_at_the_same_time() {
    let mut run = committed(3, &Shape::default());
    assert_eq!(begin_all(&mut run), ["gate0", "gate1"]);
    assert_eq!(begin_all(&mut run), Vec::<String>::new(), "the third one needs the first one");
    assert_eq!(end(&mut run, "gate1", exited(0)), ["job-finished", "gate-passed"]);
    assert_eq!(begin_all(&mut run), Vec::<String>::new());
    end(&mut run, "gate0", exited(0));
    assert_eq!(begin_all(&mut run), ["gate2"]);
    assert_eq!(end(&mut run, "gate2", exited(0))[1..], ["gate-passed", "verified", "approved"]);
}

#[test]
fn gate_that_was_not_named_is_run_where_another_one_needs_it() {
    let mut run = committed(3, &Shape::default());
    if let tidegate_core::run::Work::Plan { spec, .. } = &mut run.work {
        spec.features.get_mut(&fid("a")).unwrap().gates = vec![named_gate("gate2")];
    }
    assert_eq!(begin_all(&mut run), ["gate0"]);
    end(&mut run, "gate0", exited(0));
    assert_eq!(begin_all(&mut run), ["gate2"]);
}

#[test]
fn gate_that_runs_alone_waits_for_the_others_and_keeps_them_waiting() {
    let mut run = committed(4, &Shape::default());
    assert_eq!(begin_all(&mut run), ["gate0", "gate1"]);
    let early = Input::Grant(Grant::Gate { feature: fid("a"), gate: named_gate("gate3"), slot: 7 });
    assert!(step(&run, &early, NOW).is_err());
    end(&mut run, "gate0", exited(0));
    assert_eq!(begin_all(&mut run), ["gate2"]);
    end(&mut run, "gate1", exited(0));
    assert_eq!(begin_all(&mut run), Vec::<String>::new());
    end(&mut run, "gate2", exited(0));
    assert_eq!(begin_all(&mut run), ["gate3"]);
    assert_eq!(end(&mut run, "gate3", exited(0))[1..3], ["gate-passed", "verified"]);
}

#[test]
fn gates_get_slots_up_to_the_cap_and_the_rest_wait() {
    let run = committed(3, &Shape::default());
    let caps = Caps { features: 9, gates: 1 };
    let given = grants(std::iter::once(&run), caps);
    assert!(
        matches!(&given[..], [(_, Grant::Gate { gate, slot: 0, .. })] if gate.as_str() == "gate0")
    );
}

#[test]
fn failed_gate_lets_the_others_end_and_its_evidence_is_the_first_ones() {
    let mut run = committed(4, &Shape::default());
    begin_all(&mut run);
    let first = job_of(&run, "gate0");
    assert_eq!(end(&mut run, "gate0", exited(1)), ["job-finished", "gate-failed"]);
    assert!(matches!(feature(&run, "a").state, FeatureState::Verifying { .. }));
    assert_eq!(begin_all(&mut run), Vec::<String>::new(), "nothing begins after a failure");
    // It is not tried again either: the commit has failed.
    let told = end(&mut run, "gate1", exited(2));
    assert_eq!(told, ["job-finished", "gate-failed", "iteration-failed"]);
    let told = feature(&run, "a").feedback.clone().unwrap();
    assert!(
        matches!(told, Feedback::Gate { job, commit, .. } if job == first && commit == oid(10))
    );
}

#[test]
fn failed_gate_is_tried_again_within_its_bound_and_each_failure_is_a_fact() {
    let mut run = committed(2, &Shape::default());
    begin_all(&mut run);
    end(&mut run, "gate0", exited(0));
    assert_eq!(end(&mut run, "gate1", exited(1)), ["job-finished", "gate-retried"]);
    assert_eq!(round(&run).retried[&named_gate("gate1")], 1);
    assert_eq!(begin_all(&mut run), ["gate1"]);
    let again = run.clone();
    assert_eq!(end(&mut run, "gate1", exited(0))[1..3], ["gate-passed", "verified"]);
    let mut run = again;
    assert_eq!(end(&mut run, "gate1", exited(1))[1..], ["gate-failed", "iteration-failed"]);
}

#[test]
fn gate_over_its_time_is_a_failure_like_another_one() {
    let mut run = committed(1, &Shape::default());
    begin_all(&mut run);
    let told = end(&mut run, "gate0", exit(Reason::Timeout, None));
    assert_eq!(told, ["job-finished", "gate-failed", "iteration-failed"]);
}

#[test]
fn lost_gate_waits_for_its_next_attempt_while_the_others_go_on() {
    let mut run = committed(2, &Shape { attempts_max: 3, ..Shape::default() });
    begin_all(&mut run);
    assert_eq!(
        end(&mut run, "gate0", exit(Reason::LostShim, None)),
        ["job-finished", "attempt-failed"]
    );
    assert_eq!(begin_all(&mut run), ["gate0"]);
    end(&mut run, "gate0", exit(Reason::LostShim, None));
    assert!(feature(&run, "a").wait.is_some(), "the second retry has a time of its own");
    assert_eq!(begin_all(&mut run), Vec::<String>::new());
    end(&mut run, "gate1", exited(0));
    take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
    assert_eq!(begin_all(&mut run), ["gate0"]);
}

#[test]
fn failure_ends_the_wait_for_a_lost_gate() {
    let mut run = committed(3, &Shape { attempts_max: 9, ..Shape::default() });
    begin_all(&mut run);
    for _ in 0..2 {
        end(&mut run, "gate0", exit(Reason::LostShim, None));
        begin_all(&mut run);
    }
    assert!(feature(&run, "a").wait.is_some());
    end(&mut run, "gate1", exited(1));
    take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
    begin_all(&mut run);
    end(&mut run, "gate0", exit(Reason::LostShim, None));
    assert_eq!(end(&mut run, "gate1", exited(1))[1..], ["gate-failed", "iteration-failed"]);
    assert_eq!(feature(&run, "a").wait, None);
    take(&mut run, &slot());
}

#[test]
fn gate_beside_one_that_was_given_up_is_stopped() {
    let mut run = committed(2, &Shape { attempts_max: 1, ..Shape::default() });
    begin_all(&mut run);
    let beside = job_of(&run, "gate1");
    take(&mut run, &job_started(beside.clone()));
    let told = end(&mut run, "gate0", exit(Reason::LostShim, None));
    assert_eq!(told, ["job-finished", "feature-failed", "job-stopping"]);
    assert!(matches!(&run.jobs[&beside].state, JobState::Stopping { .. }));
    assert_eq!(run.status.word(), "running", "the run ends after its last job");
    assert_eq!(
        kinds(&take(&mut run, &job_finished(beside, stopped()))),
        ["job-finished", "run-failed"]
    );
}

#[test]
fn cancel_stops_every_gate_and_the_feature_ends_after_the_last() {
    let mut run = committed(2, &Shape::default());
    begin_all(&mut run);
    assert_eq!(
        kinds(&take(&mut run, &cancel())),
        ["cancel-requested", "job-stopping", "job-stopping"]
    );
    assert_eq!(end(&mut run, "gate0", stopped()), ["job-finished"]);
    assert_eq!(
        end(&mut run, "gate1", stopped()),
        ["job-finished", "feature-cancelled", "run-cancelled"]
    );
}

#[test]
fn merged_tree_has_a_round_of_its_own() {
    let mut run = committed(0, &Shape { merge_gates: 3, ..Shape::default() });
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::Merged(merged())));
    assert_eq!(begin_all(&mut run), ["merged0", "merged1"]);
    let on = |job: &tidegate_core::run::Job| match &job.purpose {
        Purpose::Gate { commit, .. } => commit.clone(),
        other => panic!("no gate: {other:?}"),
    };
    assert_eq!(on(&run.jobs[&job_of(&run, "merged0")]), oid(20));
    end(&mut run, "merged0", exited(0));
    assert_eq!(begin_all(&mut run), ["merged2"]);
    end(&mut run, "merged2", exited(1));
    let told = end(&mut run, "merged1", exited(0));
    assert_eq!(told, ["job-finished", "gate-passed", "iteration-failed"]);
    assert!(matches!(feature(&run, "a").feedback, Some(Feedback::Gate { merged: true, .. })));
    assert_eq!(feature(&run, "a").sync, Some(oid(1)), "the next iteration builds on the target");
}
