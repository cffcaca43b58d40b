//! The rules of the feature pipeline, each by name.

use tidegate_core::exit::Reason;
use tidegate_core::plan::{OnFailure, ReviewPolicy};
use tidegate_core::run::{
    Block, CommitOutcome, Effect, Feature, FeatureState, Feedback, Grant, Input, LandStep,
    MergeOutcome, Report, Run, UpdateOutcome, WorkStep, WorktreeOutcome, step,
};

use crate::fixture::{
    NOW, Shape, cancel, capture_all, claim, exit, exited, fid, job_finished, kinds, newest, oid,
    plan_run, take, waves,
};
use crate::matrix::{
    approve, begin_gate, clean, commit, conflict, dirty, merge, merged, ready, retry, slot, target,
    tested, update, worktree,
};

pub(crate) fn feature<'a>(run: &'a Run, id: &str) -> &'a Feature {
    &run.plan().unwrap().1.features[&fid(id)]
}

fn state<'a>(run: &'a Run, id: &str) -> &'a FeatureState {
    &feature(run, id).state
}

/// A run whose feature `a` is being built.
pub(crate) fn building(shape: &Shape) -> Run {
    let mut run = plan_run(shape);
    for input in [claim(), slot(), ready()] {
        take(&mut run, &input);
    }
    run
}

fn end_job(run: &mut Run, code: i32) -> Vec<&'static str> {
    let job = newest(run);
    let mut told = take(run, &job_finished(job, exited(code)));
    told.extend(capture_all(run));
    kinds(&told)
}

fn committed(run: &mut Run, outcome: CommitOutcome) -> Vec<&'static str> {
    let input = commit(run, outcome);
    kinds(&take(run, &input))
}

/// Builds, commits and passes the one gate.
pub(crate) fn reviewed(shape: &Shape) -> Run {
    let mut run = building(shape);
    end_job(&mut run, 0);
    committed(&mut run, CommitOutcome::Commit(tested(10)));
    begin_gate(&mut run);
    end_job(&mut run, 0);
    run
}

/// Goes on to the moment when the target is moved.
fn updating(shape: &Shape) -> Run {
    let mut run = reviewed(shape);
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::Merged(merged())));
    begin_gate(&mut run);
    end_job(&mut run, 0);
    run
}

#[test]
fn simplest_plan_lands_and_completes() {
    let shape = Shape { waves: waves(&[&["a"]]), ..Shape::default() };
    let mut run = updating(&shape);
    let told = kinds(&take(&mut run, &update(UpdateOutcome::Landed)));
    assert_eq!(told, ["landed", "run-completed"]);
    assert_eq!(*state(&run, "a"), FeatureState::Landed { commit: Some(oid(20)) });
}

#[test]
fn plan_without_features_completes_at_once() {
    let mut run = plan_run(&Shape { waves: Vec::new(), ..Shape::default() });
    assert_eq!(kinds(&take(&mut run, &claim())), ["daemon-claimed", "run-completed"]);
}

#[test]
fn crashed_builder_is_tried_again_in_its_iteration_up_to_the_bound() {
    let mut run = building(&Shape { attempts_max: 3, ..Shape::default() });
    for attempt in 1..=2 {
        let told = end_job(&mut run, 1);
        assert_eq!(told, ["job-finished", "snapshot-taken", "attempt-failed"]);
        assert_eq!((feature(&run, "a").failures, feature(&run, "a").iteration), (attempt, 1));
        if attempt == 2 {
            take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
            take(&mut run, &slot());
        }
        take(&mut run, &ready());
    }
    let told = end_job(&mut run, 1);
    assert_eq!(told[2..], ["feature-failed", "feature-skipped", "run-failed"]);
}

#[test]
fn reboot_does_not_count_as_an_attempt() {
    let mut run = building(&Shape { attempts_max: 1, ..Shape::default() });
    for _ in 0..5 {
        let job = newest(&run);
        take(&mut run, &job_finished(job, exit(Reason::LostReboot, None)));
        capture_all(&mut run);
        take(&mut run, &ready());
    }
    assert_eq!(run.jobs[&newest(&run)].attempt, 6);
}

#[test]
fn failed_gate_gives_its_evidence_to_the_next_iteration_up_to_the_bound() {
    let mut run = building(&Shape { iterations_max: 2, ..Shape::default() });
    end_job(&mut run, 0);
    committed(&mut run, CommitOutcome::Commit(tested(10)));
    begin_gate(&mut run);
    let gate_job = newest(&run);
    assert_eq!(end_job(&mut run, 1), ["job-finished", "gate-failed", "iteration-failed"]);
    let told = feature(&run, "a").feedback.clone().unwrap();
    assert!(
        matches!(told, Feedback::Gate { job, commit, merged: false, .. } if job == gate_job && commit == oid(10))
    );
    take(&mut run, &slot());
    assert_eq!(feature(&run, "a").iteration, 2);
    take(&mut run, &ready());
    end_job(&mut run, 0);
    committed(&mut run, CommitOutcome::Commit(tested(11)));
    begin_gate(&mut run);
    let told = end_job(&mut run, 1);
    assert_eq!(told[2..], ["iteration-failed", "feature-failed", "feature-skipped", "run-failed"]);
    assert!(
        matches!(&feature(&run, "a").feedback, Some(Feedback::Gate { commit, .. }) if *commit == oid(11))
    );
}

#[test]
fn killed_gate_says_nothing_on_the_commit_and_runs_again() {
    let mut run = building(&Shape::default());
    end_job(&mut run, 0);
    committed(&mut run, CommitOutcome::Commit(tested(10)));
    begin_gate(&mut run);
    let killed = tidegate_core::exit::Exit { signal: Some(9), ..exit(Reason::Signalled, None) };
    let job = newest(&run);
    let told = kinds(&take(&mut run, &job_finished(job, killed)));
    assert_eq!(told, ["job-finished", "attempt-failed"]);
    begin_gate(&mut run);
    assert_eq!(run.jobs[&newest(&run)].attempt, 2);
}

#[test]
fn builder_without_a_change_fails_its_iteration() {
    let mut run = building(&Shape::default());
    end_job(&mut run, 0);
    let told = committed(&mut run, CommitOutcome::NoChange(tested(1)));
    assert_eq!(told, ["iteration-failed"]);
    assert_eq!(feature(&run, "a").feedback, Some(Feedback::NoChange));
}

#[test]
fn allowed_no_change_runs_the_gates_on_the_base_and_lands_without_a_commit() {
    let shape = Shape { allow_no_change: true, ..Shape::default() };
    let mut run = building(&shape);
    end_job(&mut run, 0);
    committed(&mut run, CommitOutcome::NoChange(tested(1)));
    begin_gate(&mut run);
    let told = end_job(&mut run, 0);
    assert_eq!(told[1..], ["gate-passed", "verified", "approved", "landed"]);
    assert_eq!(*state(&run, "a"), FeatureState::Landed { commit: None });
}

#[test]
fn approval_is_of_the_exact_commit() {
    let shape = Shape { review: ReviewPolicy::Person, ..Shape::default() };
    let mut run = reviewed(&shape);
    assert!(step(&run, &approve(oid(11)), NOW).is_err());
    assert_eq!(kinds(&take(&mut run, &approve(oid(10)))), ["approved"]);
    assert!(step(&run, &approve(oid(10)), NOW).is_err(), "single use");
}

#[test]
fn changed_commit_voids_its_approval() {
    let shape = Shape { review: ReviewPolicy::Person, ..Shape::default() };
    let mut run = reviewed(&shape);
    take(&mut run, &approve(oid(10)));
    take(&mut run, &target());
    take(&mut run, &merge(conflict()));
    // A person resolves the conflict in the branch and retries: no builder runs.
    take(&mut run, &retry());
    take(&mut run, &slot());
    assert!(matches!(
        state(&run, "a"),
        FeatureState::Working { step: WorkStep::Committing(_), .. }
    ));
    let builder = crate::fixture::job(&run, 1);
    let outcome = CommitOutcome::Commit(tested(12));
    let report = Report::Commit { feature: fid("a"), job: builder, outcome };
    take(&mut run, &Input::Report(report));
    begin_gate(&mut run);
    assert_eq!(end_job(&mut run, 0), ["job-finished", "gate-passed", "verified"]);
    assert_eq!(*state(&run, "a"), FeatureState::InReview);
    assert!(step(&run, &approve(oid(10)), NOW).is_err());
    take(&mut run, &approve(oid(12)));
}

#[test]
fn failed_merge_gate_sends_the_targets_changes_to_the_builder() {
    let mut run = reviewed(&Shape::default());
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::Merged(merged())));
    begin_gate(&mut run);
    end_job(&mut run, 1);
    take(&mut run, &slot());
    let synced = |effect: &Effect| matches!(effect, Effect::PrepareWorktree { sync: Some(onto), .. } if *onto == oid(1));
    assert!(run.outstanding().values().any(synced));
    assert!(!feature(&run, "a").approved);
}

#[test]
fn moved_target_is_merged_anew_and_gated_anew() {
    let mut run = updating(&Shape::default());
    let keys: Vec<_> = run.outstanding().into_keys().collect();
    assert_eq!(kinds(&take(&mut run, &update(UpdateOutcome::Moved))), ["target-moved"]);
    assert!(run.outstanding().keys().all(|key| !keys.contains(key)));
    let told = kinds(&take(&mut run, &merge(MergeOutcome::Merged(merged()))));
    assert_eq!(told, ["merge-prepared"], "the merge gate runs again");
}

#[test]
fn dirty_target_goes_on_by_itself() {
    let mut run = updating(&Shape::default());
    take(&mut run, &update(dirty()));
    assert!(run.outstanding().values().any(|effect| matches!(effect, Effect::AwaitClean { .. })));
    assert_eq!(kinds(&take(&mut run, &clean())), ["feature-unblocked"]);
    assert_eq!(*state(&run, "a"), FeatureState::Landing(LandStep::AwaitingTarget));
}

#[test]
fn retry_after_failed_commit_does_not_run_the_builder_again() {
    let mut run = building(&Shape::default());
    end_job(&mut run, 0);
    committed(&mut run, CommitOutcome::Failed { detail: "no space".to_owned() });
    take(&mut run, &retry());
    take(&mut run, &slot());
    committed(&mut run, CommitOutcome::Commit(tested(10)));
    assert_eq!((state(&run, "a").word(), run.jobs.len()), ("verifying", 1));
}

#[test]
fn retry_of_a_failed_feature_starts_its_bounds_anew_and_keeps_no_approval() {
    let waves = waves(&[&["a", "z"]]);
    let shape = Shape { waves, iterations_max: 1, ..Shape::default() };
    let mut run = reviewed(&shape);
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::Merged(merged())));
    begin_gate(&mut run);
    end_job(&mut run, 1);
    assert_eq!(state(&run, "a").word(), "failed");
    take(&mut run, &retry());
    take(&mut run, &slot());
    assert_eq!((feature(&run, "a").iteration, feature(&run, "a").approved), (1, false));
    let failed = WorktreeOutcome::Failed { detail: "no space".to_owned() };
    take(&mut run, &worktree(failed));
    take(&mut run, &retry());
    assert_eq!(*state(&run, "a"), FeatureState::Queued, "not the landing of the old commit");
}

#[test]
fn retry_brings_back_what_was_skipped_because_of_the_feature() {
    let mut shape = Shape { waves: waves(&[&["a", "b", "c", "z"]]), ..Shape::default() };
    shape.waves[0][1].1 = vec!["a".to_owned()];
    shape.waves[0][2].1 = vec!["b".to_owned()];
    shape.attempts_max = 1;
    let mut run = building(&shape);
    end_job(&mut run, 1);
    assert_eq!(*state(&run, "b"), FeatureState::Skipped { cause: fid("a") });
    assert_eq!(*state(&run, "c"), FeatureState::Skipped { cause: fid("b") });
    let told = kinds(&take(&mut run, &retry()));
    assert_eq!(told, ["feature-retried", "feature-retried", "feature-retried"]);
    assert!(["a", "b", "c"].iter().all(|id| *state(&run, id) == FeatureState::Queued));
}

/// Fails `a` in a plan where `b` shares its wave, and `c` needs nothing of the next one.
fn fail_first(on_failure: OnFailure) -> Run {
    let shape = Shape {
        waves: waves(&[&["a", "b"], &["c"]]),
        attempts_max: 1,
        on_failure,
        gates: 0,
        merge_gates: 0,
        ..Shape::default()
    };
    let mut run = building(&shape);
    end_job(&mut run, 1);
    run
}

fn land_second(run: &mut Run) -> Vec<&'static str> {
    let second = || fid("b");
    take(run, &Input::Grant(Grant::Slot { feature: second() }));
    let outcome = WorktreeOutcome::Ready {
        path: "/w/b".to_owned(),
        base: oid(1),
        furnished: tidegate_core::workplace::Furnished::default(),
    };
    take(run, &Input::Report(Report::Worktree { feature: second(), outcome }));
    end_job(run, 0);
    let (job, outcome) = (newest(run), CommitOutcome::Commit(tested(30)));
    take(run, &Input::Report(Report::Commit { feature: second(), job, outcome }));
    take(run, &Input::Grant(Grant::Target { feature: second() }));
    let outcome = MergeOutcome::AlreadyThere { commit: oid(31) };
    kinds(&take(run, &Input::Report(Report::Merge { feature: second(), outcome })))
}

#[test]
fn failed_feature_stops_later_waves_once_its_wave_is_over() {
    let mut run = fail_first(OnFailure::Stop);
    assert_eq!(*state(&run, "c"), FeatureState::Queued, "a retry is still possible");
    assert_eq!(land_second(&mut run), ["landed", "feature-skipped", "run-failed"]);
    assert_eq!(*state(&run, "c"), FeatureState::Skipped { cause: fid("a") });
    assert_eq!(state(&run, "b").word(), "landed", "what landed stays");
}

#[test]
fn failed_feature_lets_later_waves_go_on_when_the_plan_says_so() {
    let mut run = fail_first(OnFailure::Continue);
    assert_eq!(land_second(&mut run), ["landed"]);
    take(&mut run, &Input::Grant(Grant::Slot { feature: fid("c") }));
}

#[test]
fn cancel_waits_for_git_and_takes_what_it_landed() {
    let shape = Shape { waves: waves(&[&["a"]]), ..Shape::default() };
    let mut run = updating(&shape);
    take(&mut run, &cancel());
    assert_eq!(run.status.word(), "running");
    let told = kinds(&take(&mut run, &update(UpdateOutcome::Landed)));
    assert_eq!(told, ["landed", "run-completed"]);
}

#[test]
fn cancel_does_not_end_a_run_whose_worktree_is_being_made() {
    let mut run = plan_run(&Shape::default());
    take(&mut run, &claim());
    take(&mut run, &slot());
    take(&mut run, &cancel());
    assert_eq!((run.status.word(), run.outstanding().len()), ("running", 1));
    let told = kinds(&take(&mut run, &ready()));
    assert_eq!(told, ["worktree-ready", "feature-cancelled", "run-cancelled"]);
    assert!(run.jobs.is_empty());
}

#[test]
fn cancel_of_a_pending_run_ends_its_features_too() {
    let mut run = plan_run(&Shape::default());
    take(&mut run, &cancel());
    assert!(run.plan().unwrap().1.features.values().all(Feature::is_terminal));
}

#[test]
fn answer_to_an_earlier_effect_is_late() {
    let mut run = plan_run(&Shape::default());
    take(&mut run, &claim());
    take(&mut run, &slot());
    let (key, _) = run.outstanding().into_iter().next().unwrap();
    let Input::Report(report) = ready() else { panic!("a report") };
    let answer = Input::Answer { key, report };
    take(&mut run, &answer);
    end_job(&mut run, 1);
    assert_eq!(*state(&run, "a"), FeatureState::building(WorkStep::Preparing));
    let refused = step(&run, &answer, NOW).unwrap_err();
    assert_eq!(refused.to_string(), "late report: the effect is closed");
}

#[test]
fn block_says_what_is_in_the_way() {
    let mut run = reviewed(&Shape::default());
    take(&mut run, &target());
    take(&mut run, &merge(conflict()));
    let paths = vec!["x".to_owned()];
    assert_eq!(*state(&run, "a"), FeatureState::Blocked(Block::Conflict { paths }));
}
