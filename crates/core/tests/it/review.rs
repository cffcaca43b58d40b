//! Consent, and the look at a change that comes before anybody is asked for it.

use tidegate_core::integrity::Kind;
use tidegate_core::plan::{IntegrityPolicy, ReviewPolicy, Role};
use tidegate_core::run::{
    CommitOutcome, Effect, Event, Finding, Input, InspectOutcome, Report, Run, awaits_person, step,
};

use crate::crew::{deny, end_job, feature, gated, one};
use crate::fixture::{NOW, Shape, fid, kinds, oid, take};
use crate::matrix::{approve, commit, ready, slot, tested};

fn looked(stops: bool) -> Input {
    let finding = Finding {
        kind: "deleted_test".to_owned(),
        path: "tests/a.rs".to_owned(),
        line: 1,
        excerpt: "fn a()".to_owned(),
        stops,
    };
    let outcome = InspectOutcome::Found(vec![finding]);
    Input::Report(Report::Inspected { feature: fid("a"), commit: oid(10), outcome })
}

#[test]
fn change_that_weakens_its_checks_stops_for_a_person_by_policy() {
    for (integrity, stops, lands) in [
        (IntegrityPolicy::Person, true, false),
        (IntegrityPolicy::Person, false, true),
        (IntegrityPolicy::Note, true, true),
    ] {
        let mut run = gated(&Shape { integrity, ..one(&[]) });
        assert_eq!(feature(&run, "a").state.word(), "verifying", "nobody can act yet");
        let looks = |effect: &Effect| matches!(effect, Effect::Inspect { .. });
        assert!(run.outstanding().values().any(looks));
        let told = kinds(&take(&mut run, &looked(stops)));
        let then = if lands {
            &["inspected", "verified", "approved"][..]
        } else {
            &["inspected", "verified"]
        };
        assert_eq!(told, then);
        assert!(!run.outstanding().values().any(looks), "once for a commit");
        if !lands {
            assert_eq!(kinds(&take(&mut run, &approve(oid(10)))), ["approved"]);
        }
    }
}

#[test]
fn kind_of_change_has_a_policy_of_its_own() {
    use IntegrityPolicy::{Note, Off, Person};
    for (general, own, stops, lands) in [
        (Person, Note, true, true),
        (Note, Person, false, false),
        (Off, Person, true, false),
        (Person, Off, true, true),
    ] {
        let kinds_of = [(Kind::DeletedTest, own)].into_iter().collect();
        let mut run = gated(&Shape { integrity: general, kinds: kinds_of, ..one(&[]) });
        let told = kinds(&take(&mut run, &looked(stops)));
        let then = if lands {
            &["inspected", "verified", "approved"][..]
        } else {
            &["inspected", "verified"]
        };
        assert_eq!(told, then, "{general:?} {own:?}");
    }
}

#[test]
fn feature_is_in_review_only_once_a_person_can_act() {
    let shape =
        Shape { integrity: IntegrityPolicy::Person, review: ReviewPolicy::Person, ..one(&[]) };
    let mut run = gated(&shape);
    for early in [approve(oid(10)), deny(oid(10))] {
        let refused = step(&run, &early, NOW).unwrap_err();
        assert!(refused.to_string().contains("verifying"), "{refused}");
    }
    take(&mut run, &looked(true));
    assert_eq!(feature(&run, "a").state.word(), "in_review");
    let (spec, plan) = run.plan().unwrap();
    assert!(awaits_person(spec, &plan.features[&fid("a")]));
    for word in [approve(oid(10)), deny(oid(10))] {
        step(&run, &word, NOW).unwrap();
    }
}

#[test]
fn look_comes_before_qa_and_again_for_a_commit_of_its_own() {
    let mut run = gated(&Shape { integrity: IntegrityPolicy::Note, ..one(&[Role::Qa]) });
    assert!(run.look_due(&fid("a")).is_some());
    assert_eq!(kinds(&take(&mut run, &looked(false))), ["inspected", "handed-over"]);
    take(&mut run, &slot());
    take(&mut run, &ready());
    end_job(&mut run, 0);
    let mut same = run.clone();
    let input = commit(&same, CommitOutcome::Commit(tested(10)));
    assert_eq!(kinds(&take(&mut same, &input)), ["checked", "approved"], "it was looked at");
    let input = commit(&run, CommitOutcome::Commit(tested(11)));
    take(&mut run, &input);
    crate::matrix::begin_gate(&mut run);
    end_job(&mut run, 0);
    assert_eq!(run.look_due(&fid("a")).map(|(_, commit)| commit.clone()), Some(oid(11)));
}

#[test]
fn log_that_tells_of_the_review_before_the_look_is_looked_at_first() {
    let mut run = gated(&Shape { integrity: IntegrityPolicy::Note, ..one(&[]) });
    run.apply(&Event::Verified { feature: fid("a") });
    let looks = |run: &Run| {
        run.outstanding().values().any(|effect| matches!(effect, Effect::Inspect { .. }))
    };
    assert!(looks(&run));
    assert_eq!(kinds(&take(&mut run, &looked(false))), ["inspected", "approved"]);
    assert!(!looks(&run));
}
