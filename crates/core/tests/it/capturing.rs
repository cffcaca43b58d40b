//! Snapshots at the end of attempts, and going back to one.

use tidegate_core::exit::Reason;
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{CaptureOutcome, Effect, Report, RollbackOutcome, step};

use crate::fixture::{
    NOW, Shape, cancel, capture_all, captured, exit, job_finished, kinds, newest, oid, take,
};
use crate::matrix::{approve, ready, rollback, rolled_back, slot};
use crate::pipeline::{building, feature, reviewed};
use crate::tape::Tape;

/// An answer to an effect about snapshots, in a bad world.
pub(crate) fn capturing(tape: &mut Tape, effect: Effect) -> Option<Report> {
    Some(match effect {
        Effect::WatchWorktree { feature, job, .. } | Effect::Capture { feature, job, .. } => {
            let outcome = match tape.below(4) {
                0 => CaptureOutcome::Skipped { why: "no space".to_owned() },
                _ => CaptureOutcome::Taken(captured()),
            };
            Report::Captured { feature, job, outcome }
        }
        Effect::Rollback { feature, to, .. } => {
            let outcome = match tape.below(4) {
                0 => RollbackOutcome::Failed { detail: "no such snapshot".to_owned() },
                _ => RollbackOutcome::Done { captured: Some(captured()) },
            };
            Report::RolledBack { feature, to, outcome }
        }
        _ => return None,
    })
}

#[test]
fn cancelled_run_ends_its_feature_once_what_its_agent_left_is_captured() {
    let mut run = building(&Shape::default());
    take(&mut run, &cancel());
    let job = newest(&run);
    let told = kinds(&take(&mut run, &job_finished(job, exit(Reason::Signalled, None))));
    assert_eq!(told, ["job-finished"]);
    let told = kinds(&capture_all(&mut run));
    assert_eq!(told[..2], ["snapshot-taken", "feature-cancelled"]);
    assert_eq!(run.status.word(), "cancelled");
}

#[test]
fn rollback_voids_what_was_built_and_a_builder_goes_on_from_it() {
    let shape = Shape { review: ReviewPolicy::Person, ..Shape::default() };
    let mut run = reviewed(&shape);
    let told = kinds(&take(&mut run, &rollback()));
    assert_eq!(told, ["rollback-requested"]);
    assert!(step(&run, &rollback(), NOW).is_err(), "twice at once");
    assert!(step(&run, &approve(oid(10)), NOW).is_err(), "approved what is being undone");
    let told = kinds(&take(&mut run, &rolled_back(RollbackOutcome::Done { captured: None })));
    assert_eq!(told, ["rolled-back"]);
    assert_eq!((feature(&run, "a").iteration, &feature(&run, "a").tested), (0, &None));
    take(&mut run, &slot());
    take(&mut run, &ready());
    assert_eq!(run.jobs[&newest(&run)].purpose.word(), "agent");
}

#[test]
fn rollback_while_an_agent_works_is_refused() {
    let run = building(&Shape::default());
    assert!(step(&run, &rollback(), NOW).is_err());
}
