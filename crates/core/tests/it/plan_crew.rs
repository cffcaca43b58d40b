//! What the agents beside the builder say in a model world, and what is found in commits.

use tidegate_core::ids::Oid;
use tidegate_core::plan::Role;
use tidegate_core::run::{Effect, Finding, InspectOutcome, PlannedChange, Report, ResultOutcome};

use crate::tape::Tape;

/// The answer to an effect of the crew's; `None` for any other.
pub(crate) fn told_by_crew(tape: &mut Tape, effect: Effect) -> Option<Report> {
    match effect {
        Effect::Inspect { feature, commit, .. } => {
            let outcome = look(tape, &commit);
            Some(Report::Inspected { feature, commit, outcome })
        }
        Effect::ReadResult { feature, role, job } => {
            Some(Report::Result { feature, job, outcome: say(tape, role) })
        }
        _ => None,
    }
}

/// What is found in a commit.
fn look(tape: &mut Tape, commit: &Oid) -> InspectOutcome {
    let finding = |stops| Finding {
        kind: "deleted_test".to_owned(),
        path: commit.to_string(),
        line: 1,
        excerpt: String::new(),
        stops,
    };
    match tape.below(8) {
        5 => InspectOutcome::Found(vec![finding(false)]),
        6 => InspectOutcome::Found(vec![finding(true)]),
        7 => InspectOutcome::Failed { detail: "no space".to_owned() },
        _ => InspectOutcome::Found(Vec::new()),
    }
}

/// What a planner or a reviewer says.
fn say(tape: &mut Tape, role: Role) -> ResultOutcome {
    match (tape.below(6), role) {
        (5, _) => ResultOutcome::Unusable { detail: "torn".to_owned() },
        (drawn, Role::Reviewer) => {
            ResultOutcome::Verdict { approved: drawn < 3, comments: "so".to_owned() }
        }
        (drawn, Role::Planner | Role::Builder | Role::Qa | Role::Reconciler) => {
            let modify = vec![format!("src/{}.rs", drawn / 2)];
            ResultOutcome::Planned(PlannedChange { modify, ..PlannedChange::default() })
        }
    }
}
