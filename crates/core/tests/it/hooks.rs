//! The rules of a worktree's hooks, each by name.

use tidegate_core::exit::Reason;
use tidegate_core::plan::OnFailure;
use tidegate_core::run::{
    CommitOutcome, Effect, FeatureState, JobState, Purpose, Rejected, Run, WorkStep,
    WorktreeOutcome, step,
};
use tidegate_core::workplace::{Furnished, Hook};

use crate::fixture::{
    NOW, Shape, cancel, capture_all, claim, exit, exited, fid, job_finished, kinds, newest, oid,
    plan_run, stopped, take, waves,
};
use crate::matrix::{commit, retry, slot, tested, worktree};

fn shape() -> Shape {
    Shape { waves: waves(&[&["a"]]), hooks: true, gates: 0, merge_gates: 0, ..Shape::default() }
}

/// The worktree stands, as the n-th making of it.
fn made(run: &mut Run, making: &str) -> Vec<&'static str> {
    let furnished = Furnished { making: making.to_owned(), ..Furnished::default() };
    let outcome = WorktreeOutcome::Ready { path: "/w/a".to_owned(), base: oid(1), furnished };
    kinds(&take(run, &worktree(outcome)))
}

fn setting_up() -> Run {
    let mut run = plan_run(&shape());
    for input in [claim(), slot()] {
        take(&mut run, &input);
    }
    assert_eq!(made(&mut run, "one"), ["worktree-furnished", "worktree-ready", "job-created"]);
    run
}

fn end(run: &mut Run, code: i32) -> Vec<&'static str> {
    let job = newest(run);
    let mut told = take(run, &job_finished(job, exited(code)));
    told.extend(capture_all(run));
    kinds(&told)
}

fn purpose(run: &Run) -> Purpose {
    run.jobs[&newest(run)].purpose.clone()
}

fn hook(hook: Hook, making: &str) -> Purpose {
    Purpose::Hook { feature: fid("a"), hook, making: making.to_owned() }
}

fn state(run: &Run) -> &FeatureState {
    &run.plan().unwrap().1.features[&fid("a")].state
}

/// The making that the next preparation throws away.
fn discard(run: &Run) -> Option<String> {
    let open = run.outstanding();
    let prepare = open.values().find_map(|effect| match effect {
        Effect::PrepareWorktree { discard, .. } => Some(discard.clone()),
        _ => None,
    });
    prepare.expect("no worktree is being prepared")
}

#[test]
fn agent_comes_after_the_setup_of_its_worktree() {
    let mut run = setting_up();
    assert_eq!(purpose(&run), hook(Hook::Setup, "one"));
    assert_eq!(*state(&run), FeatureState::building(WorkStep::SettingUp(newest(&run))));
    assert_eq!(end(&mut run, 0), ["job-finished", "worktree-set-up", "job-created"]);
    assert!(matches!(purpose(&run), Purpose::Agent { .. }));
}

#[test]
fn failed_setup_throws_its_making_away_and_ends_within_the_bound() {
    let mut run = setting_up();
    assert_eq!(end(&mut run, 1), ["job-finished", "attempt-failed"]);
    assert_eq!(discard(&run).as_deref(), Some("one"));
    made(&mut run, "two");
    assert_eq!(purpose(&run), hook(Hook::Setup, "two"));
    let job = newest(&run);
    assert_eq!(end(&mut run, 1), ["job-finished", "feature-failed", "job-created"]);
    let FeatureState::Failed { reason } = state(&run) else { panic!("{:?}", state(&run)) };
    assert!(reason.contains(&format!("see the log of job {job}")), "{reason}");
    assert!(reason.contains("after 2 attempts"), "{reason}");
    assert_eq!(purpose(&run), hook(Hook::Teardown, "two"));
    assert_eq!(end(&mut run, 0), ["job-finished", "run-failed"]);
}

#[test]
fn setup_that_a_reboot_cut_off_does_not_count_and_its_making_is_thrown_away() {
    let mut run = setting_up();
    for making in ["two", "three", "four"] {
        let job = newest(&run);
        take(&mut run, &job_finished(job, exit(Reason::LostReboot, None)));
        assert!(discard(&run).is_some());
        made(&mut run, making);
    }
    assert_eq!(purpose(&run), hook(Hook::Setup, "four"));
}

#[test]
fn worktree_that_is_set_up_is_not_set_up_again_unless_it_was_made_again() {
    let mut run = setting_up();
    end(&mut run, 0);
    assert_eq!(end(&mut run, 3), ["job-finished", "snapshot-taken", "attempt-failed"]);
    assert_eq!(discard(&run), None);
    assert_eq!(made(&mut run, "one"), ["worktree-ready", "job-created"]);
    assert!(matches!(purpose(&run), Purpose::Agent { .. }));
    // Its folder was lost, and made again.
    let job = newest(&run);
    take(&mut run, &job_finished(job, exit(Reason::LostReboot, None)));
    capture_all(&mut run);
    made(&mut run, "two");
    assert_eq!(purpose(&run), hook(Hook::Setup, "two"));
}

#[test]
fn landed_feature_is_torn_down_before_its_run_ends() {
    let mut run = plan_run(&Shape { allow_no_change: true, ..shape() });
    for input in [claim(), slot()] {
        take(&mut run, &input);
    }
    made(&mut run, "one");
    end(&mut run, 0);
    end(&mut run, 0);
    let input = commit(&run, CommitOutcome::NoChange(tested(1)));
    let told = kinds(&take(&mut run, &input));
    assert_eq!(told, ["committed", "verified", "approved", "landed", "job-created"]);
    assert_eq!(purpose(&run), hook(Hook::Teardown, "one"));
    assert!(!run.status.is_terminal(), "the run waits for its teardown");
    take(&mut run, &cancel());
    assert!(matches!(run.jobs[&newest(&run)].state, JobState::Launching), "it is not stopped");
    assert_eq!(end(&mut run, 7), ["job-finished", "run-completed"], "whatever came of it");
}

#[test]
fn cancel_ends_a_setup_and_lets_the_teardown_run() {
    let mut run = setting_up();
    let setup = newest(&run);
    take(&mut run, &cancel());
    assert_eq!(purpose(&run), hook(Hook::Setup, "one"), "it is being stopped");
    let told = kinds(&take(&mut run, &job_finished(setup, stopped())));
    assert_eq!(told, ["job-finished", "feature-cancelled", "job-created"]);
    assert_eq!(purpose(&run), hook(Hook::Teardown, "one"));
    assert_eq!(end(&mut run, 0), ["job-finished", "run-cancelled"]);
}

#[test]
fn feature_is_not_tried_again_while_it_is_torn_down_and_is_set_up_again_afterwards() {
    let waves = waves(&[&["a", "b"]]);
    let mut run =
        plan_run(&Shape { waves, attempts_max: 1, on_failure: OnFailure::Continue, ..shape() });
    for input in [claim(), slot()] {
        take(&mut run, &input);
    }
    made(&mut run, "one");
    end(&mut run, 0);
    end(&mut run, 1);
    assert_eq!(purpose(&run), hook(Hook::Teardown, "one"));
    let refused = step(&run, &retry(), NOW).unwrap_err();
    assert_eq!(refused, Rejected::NotWhile("its worktree is being torn down".to_owned()));
    end(&mut run, 0);
    take(&mut run, &retry());
    take(&mut run, &slot());
    assert_eq!(discard(&run), None, "an agent has worked there");
    made(&mut run, "one");
    assert_eq!(purpose(&run), hook(Hook::Setup, "one"));
    end(&mut run, 1);
    assert_eq!(purpose(&run), hook(Hook::Teardown, "one"));
    assert_eq!(run.outstanding().len(), 1);
}
