//! The roles beside the builder, each rule by name.

use tidegate_core::ids::{FeatureId, Oid};
use tidegate_core::limits::RECONCILIATIONS_MAX;
use tidegate_core::plan::{CollisionPolicy, ReviewPolicy, Role};
use tidegate_core::run::{
    Block, CommitOutcome, ConflictOutcome, Effect, Feature, FeatureState, Feedback, Grant, Input,
    MergeOutcome, PlannedChange, Purpose, Report, ResultOutcome, Run, UpdateOutcome, WorkStep,
    WorktreeOutcome,
};

use crate::fixture::{
    Shape, cancel, capture_all, claim, exited, fid, job_finished, kinds, newest, oid, plan_run,
    take, waves,
};
use crate::matrix::{
    approve, begin_gate, clean, commit, merge, merged, ready, retry, slot, target, tested, update,
};

pub(crate) fn one(crew: &[Role]) -> Shape {
    Shape { waves: waves(&[&["a"]]), crew: crew.to_vec(), ..Shape::default() }
}

pub(crate) fn feature<'a>(run: &'a Run, id: &str) -> &'a Feature {
    &run.plan().unwrap().1.features[&fid(id)]
}

fn works(run: &Run, role: Role, step: &WorkStep) -> bool {
    let state = &feature(run, "a").state;
    state.role() == Some(role) && state.work_step() == Some(step)
}

pub(crate) fn end_job(run: &mut Run, code: i32) -> Vec<&'static str> {
    let job = newest(run);
    let mut told = take(run, &job_finished(job, exited(code)));
    told.extend(capture_all(run));
    kinds(&told)
}

fn said(run: &Run, id: &str, outcome: ResultOutcome) -> Input {
    Input::Report(Report::Result { feature: fid(id), job: newest(run), outcome })
}

fn modifies(path: &str) -> ResultOutcome {
    let modify = vec![path.to_owned()];
    ResultOutcome::Planned(PlannedChange { modify, ..PlannedChange::default() })
}

fn verdict(approved: bool) -> ResultOutcome {
    ResultOutcome::Verdict { approved, comments: "no test".to_owned() }
}

fn laid_out(outcome: ConflictOutcome) -> Input {
    Input::Report(Report::Conflict { feature: fid("a"), outcome })
}

pub(crate) fn deny(commit: Oid) -> Input {
    let (actor, comments) = ("user".to_owned(), "name it otherwise".to_owned());
    Input::Deny { feature: fid("a"), commit, actor, comments }
}

fn role_of_newest(run: &Run) -> String {
    match &run.jobs[&newest(run)].purpose {
        Purpose::Agent { role, .. } => role.to_string(),
        other => panic!("no agent: {other:?}"),
    }
}

/// To the moment when the builder's commit has passed its gate.
pub(crate) fn gated(shape: &Shape) -> Run {
    let mut run = plan_run(shape);
    for input in [claim(), slot(), ready()] {
        take(&mut run, &input);
    }
    end_job(&mut run, 0);
    let input = commit(&run, CommitOutcome::Commit(tested(10)));
    take(&mut run, &input);
    begin_gate(&mut run);
    end_job(&mut run, 0);
    run
}

fn grant(run: &mut Run, id: &str) {
    take(run, &Input::Grant(Grant::Slot { feature: fid(id) }));
}

fn prepare(run: &mut Run, id: &str) {
    let outcome = WorktreeOutcome::Ready {
        path: "/w".to_owned(),
        base: oid(1),
        furnished: tidegate_core::workplace::Furnished::default(),
    };
    let feature = FeatureId::new(id).unwrap();
    take(run, &Input::Report(Report::Worktree { feature, outcome }));
}

#[test]
fn planner_speaks_before_the_builder_and_once() {
    let mut run = plan_run(&one(&[Role::Planner]));
    take(&mut run, &claim());
    assert_eq!(kinds(&take(&mut run, &slot())), ["handed-over", "feature-admitted"]);
    take(&mut run, &ready());
    assert_eq!(role_of_newest(&run), "planner");
    assert_eq!(feature(&run, "a").iteration, 0, "nothing is built yet");
    end_job(&mut run, 0);
    assert!(works(&run, Role::Planner, &WorkStep::Reading(newest(&run))));
    let reads = |effect: &Effect| matches!(effect, Effect::ReadResult { role: Role::Planner, .. });
    assert!(run.outstanding().values().any(reads));
    let input = said(&run, "a", modifies("src/a.rs"));
    assert_eq!(kinds(&take(&mut run, &input)), ["planned", "handed-over"]);
    take(&mut run, &slot());
    take(&mut run, &ready());
    assert_eq!((role_of_newest(&run).as_str(), feature(&run, "a").iteration), ("builder", 1));
}

#[test]
fn plan_that_cannot_be_used_is_asked_for_again_and_then_given_up() {
    let mut run = plan_run(&one(&[Role::Planner]));
    for input in [claim(), slot(), ready()] {
        take(&mut run, &input);
    }
    end_job(&mut run, 0);
    let unusable = || ResultOutcome::Unusable { detail: "torn".to_owned() };
    let input = said(&run, "a", unusable());
    assert_eq!(kinds(&take(&mut run, &input)), ["result-refused"]);
    assert!(works(&run, Role::Planner, &WorkStep::Preparing));
    take(&mut run, &ready());
    end_job(&mut run, 0);
    let input = said(&run, "a", unusable());
    assert_eq!(kinds(&take(&mut run, &input)), ["result-refused", "feature-failed", "run-failed"]);
}

/// Two features of one wave, both planned to change the same file.
fn colliding(collisions: CollisionPolicy) -> Run {
    let crew = vec![Role::Planner];
    let shape = Shape { waves: waves(&[&["a", "b"]]), crew, collisions, ..Shape::default() };
    let mut run = plan_run(&shape);
    take(&mut run, &claim());
    for id in ["a", "b"] {
        grant(&mut run, id);
        prepare(&mut run, id);
        end_job(&mut run, 0);
        let input = said(&run, id, modifies("src/a.rs"));
        take(&mut run, &input);
    }
    run
}

#[test]
fn colliding_plans_are_serialised_rejected_or_allowed_by_policy() {
    for (policy, waits) in [(CollisionPolicy::Serialise, true), (CollisionPolicy::Reject, false)] {
        let run = colliding(policy);
        let paths = vec!["src/a.rs".to_owned()];
        let block = Block::Collision { with: fid("a"), paths, waits };
        assert_eq!(feature(&run, "b").state, FeatureState::Blocked(block));
        assert_eq!(feature(&run, "a").state.role(), Some(Role::Builder), "the first goes on");
    }
    let run = colliding(CollisionPolicy::Allow);
    assert_eq!(feature(&run, "b").state.role(), Some(Role::Builder));
}

#[test]
fn serialised_feature_goes_on_by_itself_once_the_other_has_ended() {
    let mut run = colliding(CollisionPolicy::Serialise);
    grant(&mut run, "a");
    prepare(&mut run, "a");
    // Both attempts end badly: the feature fails.
    end_job(&mut run, 1);
    prepare(&mut run, "a");
    let told = end_job(&mut run, 1);
    assert!(told.contains(&"feature-failed") && told.contains(&"feature-unblocked"), "{told:?}");
    assert_eq!(feature(&run, "b").state, FeatureState::Queued);
    grant(&mut run, "b");
    assert!(feature(&run, "b").state.role() == Some(Role::Builder), "its plan stands");
}

#[test]
fn qa_looks_once_at_what_passed_and_its_own_commit_is_gated_again() {
    let mut run = gated(&one(&[Role::Qa]));
    assert!(works(&run, Role::Qa, &WorkStep::AwaitingSlot));
    take(&mut run, &slot());
    take(&mut run, &ready());
    assert_eq!(role_of_newest(&run), "qa");
    end_job(&mut run, 0);
    let input = commit(&run, CommitOutcome::Commit(tested(11)));
    assert_eq!(kinds(&take(&mut run, &input)), ["committed"]);
    begin_gate(&mut run);
    let told = end_job(&mut run, 0);
    assert_eq!(told, ["job-finished", "gate-passed", "verified", "approved"], "not asked twice");
}

#[test]
fn qa_that_changes_nothing_is_a_success_without_another_gate() {
    let mut run = gated(&one(&[Role::Qa]));
    take(&mut run, &slot());
    take(&mut run, &ready());
    end_job(&mut run, 0);
    let input = commit(&run, CommitOutcome::Commit(tested(10)));
    assert_eq!(kinds(&take(&mut run, &input)), ["checked", "approved"]);
}

#[test]
fn reviewer_consents_or_sends_the_builder_back_with_comments() {
    let shape = Shape { review: ReviewPolicy::Agent, ..one(&[Role::Reviewer]) };
    for approved in [true, false] {
        let mut run = gated(&shape);
        assert!(works(&run, Role::Reviewer, &WorkStep::AwaitingSlot));
        assert_eq!(feature(&run, "a").state.word(), "in_review");
        take(&mut run, &slot());
        take(&mut run, &ready());
        end_job(&mut run, 0);
        let input = said(&run, "a", verdict(approved));
        let told = kinds(&take(&mut run, &input));
        let then = if approved { "approved" } else { "iteration-failed" };
        assert_eq!(told, ["reviewed", then]);
        if !approved {
            let feedback = feature(&run, "a").feedback.clone();
            assert!(
                matches!(feedback, Some(Feedback::Review { by, .. }) if by == "reviewer (scribe)")
            );
        }
    }
}

#[test]
fn reviewer_without_a_verdict_hands_over_to_a_person() {
    let shape = Shape { review: ReviewPolicy::Agent, attempts_max: 1, ..one(&[Role::Reviewer]) };
    let mut run = gated(&shape);
    take(&mut run, &slot());
    take(&mut run, &ready());
    assert_eq!(end_job(&mut run, 1), ["job-finished", "snapshot-taken", "feature-blocked"]);
    assert!(matches!(feature(&run, "a").state, FeatureState::Blocked(Block::Review { .. })));
    assert_eq!(kinds(&take(&mut run, &approve(oid(10)))), ["approved"]);
}

#[test]
fn denied_commit_goes_back_to_its_builder_and_no_other_commit_is_meant() {
    let shape = Shape { review: ReviewPolicy::Person, ..one(&[]) };
    let mut run = gated(&shape);
    let other = tidegate_core::run::step(&run, &deny(oid(99)), crate::fixture::NOW).unwrap_err();
    assert!(other.to_string().contains("another one"), "{other}");
    assert_eq!(kinds(&take(&mut run, &deny(oid(10)))), ["iteration-failed"]);
    assert!(works(&run, Role::Builder, &WorkStep::AwaitingSlot));
}

/// To the moment when the merge with the target conflicts.
fn conflicting(shape: &Shape) -> Run {
    let mut run = gated(shape);
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::Conflict { paths: vec!["x".to_owned()] }));
    run
}

fn prepared() -> Input {
    laid_out(ConflictOutcome::Prepared { paths: vec!["x".to_owned()] })
}

#[test]
fn reconciler_is_given_the_conflict_and_its_commit_is_gated_and_consented_to_anew() {
    let mut run = conflicting(&one(&[Role::Reconciler]));
    assert_eq!(feature(&run, "a").state.word(), "reconciling");
    take(&mut run, &slot());
    let lays = |effect: &Effect| matches!(effect, Effect::PrepareConflict { .. });
    assert!(run.outstanding().values().any(lays));
    take(&mut run, &prepared());
    assert_eq!(role_of_newest(&run), "reconciler");
    end_job(&mut run, 0);
    let checks = |effect: &Effect| matches!(effect, Effect::Commit { conflict: Some(paths), .. } if paths == &["x"]);
    assert!(run.outstanding().values().any(checks), "markers are looked for");
    let input = commit(&run, CommitOutcome::Commit(tested(12)));
    assert_eq!(kinds(&take(&mut run, &input)), ["committed"]);
    assert!(!feature(&run, "a").approved && feature(&run, "a").conflict.is_none());
}

#[test]
fn reconciler_that_leaves_markers_is_told_and_then_a_person_is_asked() {
    let mut run = conflicting(&one(&[Role::Reconciler]));
    take(&mut run, &slot());
    for last in [false, true] {
        take(&mut run, &prepared());
        end_job(&mut run, 0);
        let left = CommitOutcome::Unresolved { paths: vec!["x".to_owned()] };
        let input = commit(&run, left);
        let told = kinds(&take(&mut run, &input));
        let block =
            if last { &["result-refused", "feature-blocked"][..] } else { &["result-refused"] };
        assert_eq!(told, block);
    }
    let blocked = &feature(&run, "a").state;
    assert!(matches!(blocked, FeatureState::Blocked(Block::Conflict { paths }) if paths == &["x"]));
    // The person's own resolution is looked at for markers, too.
    take(&mut run, &retry());
    take(&mut run, &slot());
    let checks = |effect: &Effect| matches!(effect, Effect::Commit { conflict: Some(_), .. });
    assert!(run.outstanding().values().any(checks));
}

#[test]
fn conflict_that_is_gone_by_now_is_merged_again() {
    let mut run = conflicting(&one(&[Role::Reconciler]));
    take(&mut run, &slot());
    assert_eq!(kinds(&take(&mut run, &laid_out(ConflictOutcome::Clean))), ["feature-unblocked"]);
    assert_eq!(feature(&run, "a").state.word(), "landing");
    assert_eq!(feature(&run, "a").conflict, None);
}

#[test]
fn conflicts_without_end_go_to_a_person_after_the_bound() {
    let mut run = conflicting(&one(&[Role::Reconciler]));
    for round in 1..=RECONCILIATIONS_MAX {
        assert_eq!(feature(&run, "a").reconciliations, round);
        take(&mut run, &slot());
        take(&mut run, &prepared());
        end_job(&mut run, 0);
        let input = commit(&run, CommitOutcome::Commit(tested(20 + round)));
        take(&mut run, &input);
        begin_gate(&mut run);
        end_job(&mut run, 0);
        take(&mut run, &target());
        take(&mut run, &merge(MergeOutcome::Conflict { paths: vec!["x".to_owned()] }));
    }
    assert!(matches!(feature(&run, "a").state, FeatureState::Blocked(Block::Conflict { .. })));
}

#[test]
fn landing_that_takes_back_others_work_waits_for_a_person_who_may_want_it() {
    let mut run = gated(&one(&[]));
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::SilentRevert { losses: vec!["x: a line".to_owned()] }));
    assert!(matches!(feature(&run, "a").state, FeatureState::Blocked(Block::SilentRevert { .. })));
    assert_eq!(kinds(&take(&mut run, &approve(oid(10)))), ["revert-accepted", "approved"]);
    take(&mut run, &target());
    let merges = |effect: &Effect| matches!(effect, Effect::Merge { reverts: true, .. });
    assert!(run.outstanding().values().any(merges));
}

#[test]
fn pushed_landing_is_landed_whatever_the_local_checkout_and_the_run_do() {
    let shape = Shape { merge_gates: 0, ..one(&[]) };
    let behind = || UpdateOutcome::Behind { paths: vec!["x".to_owned()], why: "staged".to_owned() };
    let mut run = gated(&shape);
    take(&mut run, &target());
    take(&mut run, &merge(MergeOutcome::Merged(merged())));
    take(&mut run, &update(behind()));
    assert_eq!(feature(&run, "a").state.word(), "blocked");
    let mut cancelled = run.clone();
    let told = kinds(&take(&mut cancelled, &cancel()));
    assert_eq!(told, ["cancel-requested", "landed", "run-completed"]);
    assert_eq!(kinds(&take(&mut run, &clean())), ["landing-intended"]);
    assert_eq!(kinds(&take(&mut run, &update(UpdateOutcome::Landed))), ["landed", "run-completed"]);
}
