//! What a gate left decides beside its exit code.

use tidegate_core::evidence::Evidence;
use tidegate_core::ids::JobId;
use tidegate_core::run::{CommitOutcome, Feedback, Run, Work};

use crate::fixture::{Shape, exited, job_finished, job_left, kinds, newest, take, waves};
use crate::matrix::{begin_gate, commit, tested};
use crate::pipeline::{building, feature};

/// A run whose gate is at work.
fn gated(shape: &Shape) -> (Run, JobId) {
    let mut run = building(&Shape { waves: waves(&[&["a"]]), ..shape.clone() });
    let job = newest(&run);
    take(&mut run, &job_finished(job, exited(0)));
    crate::fixture::capture_all(&mut run);
    let input = commit(&run, CommitOutcome::Commit(tested(10)));
    take(&mut run, &input);
    begin_gate(&mut run);
    let gate = newest(&run);
    (run, gate)
}

fn found(problems: &[&str]) -> Evidence {
    let problems = problems.iter().map(|problem| (*problem).to_owned()).collect();
    Evidence { problems, ..Evidence::default() }
}

#[test]
fn gate_that_ended_well_fails_by_what_it_left_and_its_builder_is_told() {
    let (mut run, job) = gated(&Shape::default());
    let told =
        take(&mut run, &job_left(job.clone(), exited(0), Some(found(&["the report is missing"]))));
    let expected = ["job-finished", "evidence-read", "gate-failed", "iteration-failed"];
    assert_eq!(kinds(&told), expected);
    assert_eq!(run.jobs[&job].passed(), Some(false));
    let feedback = feature(&run, "a").feedback.clone().unwrap();
    assert!(feedback.describe().ends_with("failed: the report is missing"), "{feedback:?}");
    assert!(matches!(feedback, Feedback::Gate { problems, .. } if problems.len() == 1));
}

#[test]
fn gate_that_left_what_it_promised_passes() {
    let (mut run, job) = gated(&Shape::default());
    let told = kinds(&take(&mut run, &job_left(job.clone(), exited(0), Some(found(&[])))));
    assert_eq!(told[..3], ["job-finished", "evidence-read", "gate-passed"]);
    assert_eq!(run.jobs[&job].passed(), Some(true));
}

#[test]
fn gate_that_promised_something_does_not_pass_unread() {
    let (mut run, job) = gated(&Shape::default());
    let Work::Plan { spec, .. } = &mut run.work else { panic!("a plan run") };
    for gate in spec.gates.values_mut() {
        gate.promises.reports = vec!["out/*.xml".to_owned()];
    }
    let told = kinds(&take(&mut run, &job_finished(job, exited(0))));
    assert_eq!(told[..3], ["job-finished", "evidence-read", "gate-failed"]);
}

#[test]
fn gate_that_left_too_little_is_tried_again_within_its_retries() {
    let (mut run, job) = gated(&Shape::default());
    let Work::Plan { spec, .. } = &mut run.work else { panic!("a plan run") };
    for gate in spec.gates.values_mut() {
        gate.retries = 1;
    }
    let told = kinds(&take(&mut run, &job_left(job, exited(0), Some(found(&["no test ran"])))));
    assert_eq!(told[1..], ["evidence-read", "gate-retried"]);
}
