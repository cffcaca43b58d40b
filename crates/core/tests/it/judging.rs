//! What an agent's own word leads to, for every outcome; and which conversation its next job is for.

use std::fmt::Write as _;

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::manifest::{Manifest, SessionRule, StreamForm};
use tidegate_core::run::{
    Block, Event, FeatureState, Ingested, Input, Job, Report, Run, Telling, Work, step,
};
use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_core::told::{Class, Outcome, Told, Usage};

use crate::fixture::{
    NOW, Shape, capture_all, claim, exit, exited, fid, newest, plan_run, started, take,
};
use crate::matrix::{ready, slot};
use crate::telling::tell;

const OUTCOMES: [Outcome; 14] = [
    Outcome::Completed,
    Outcome::Failed(Class::RateLimit),
    Outcome::Failed(Class::UsageLimit),
    Outcome::Failed(Class::Auth),
    Outcome::Failed(Class::BadModel),
    Outcome::Failed(Class::BadRequest),
    Outcome::Failed(Class::TooLong),
    Outcome::Failed(Class::Server),
    Outcome::Failed(Class::Network),
    Outcome::Failed(Class::Permission),
    Outcome::Failed(Class::Other),
    Outcome::Interrupted,
    Outcome::Limit,
    Outcome::Unknown,
];

fn manifest(given: bool) -> Manifest {
    Manifest {
        stream: StreamForm::Jsonl,
        session: SessionRule { given, when: Vec::new(), key: Some("id".to_owned()) },
        resume: vec!["scribe".to_owned(), "{session}".to_owned()],
        ..Manifest::default()
    }
}

/// A run whose builder works.
fn working(manifest: &Manifest) -> Run {
    let mut run = plan_run(&Shape { attempts_max: 3, ..Shape::default() });
    if let Work::Plan { spec, .. } = &mut run.work {
        for agent in spec.agents.values_mut() {
            agent.manifest = manifest.clone();
        }
    }
    take(&mut run, &claim());
    take(&mut run, &slot());
    take(&mut run, &ready());
    run
}

fn told(outcome: Outcome) -> Told {
    Told {
        session: Some("conversation-1".to_owned()),
        outcome,
        detail: None,
        reset: None,
        usage: Usage { input: 10, cached: 1, output: 2, cost_micros: Some(5) },
        cumulative: false,
        gone: false,
    }
}

fn end(run: &mut Run, told: Option<Told>, exit: Exit) -> Vec<Event> {
    let ingested = Ingested { told, ..Ingested::default() };
    let started = Some(started(100));
    let report = Report::JobFinished { job: newest(run), started, exit, ingested, evidence: None };
    let mut events = take(run, &Input::Report(report));
    events.extend(capture_all(run));
    events
}

fn job(run: &Run) -> &Job {
    &run.jobs[&newest(run)]
}

fn state(run: &Run) -> &FeatureState {
    &run.plan().unwrap().1.features[&fid("a")].state
}

#[test]
fn every_outcome_with_every_exit_leads_where_it_should() {
    let mut table = String::new();
    let told = OUTCOMES.map(|outcome| Some(told(outcome)));
    for told in told.into_iter().chain([None]) {
        let word = told.as_ref().map_or("(nothing)", |told| told.outcome.word());
        for exit in
            [exited(0), exited(1), exit(Reason::Timeout, None), exit(Reason::LostShim, None)]
        {
            let how = exit.describe();
            let mut run = working(&manifest(false));
            let events = end(&mut run, told.clone(), exit);
            let kinds: Vec<&str> = events
                .iter()
                .map(Event::kind)
                .filter(|kind| !["agent-told", "job-started", "job-finished"].contains(kind))
                .filter(|kind| *kind != "snapshot-taken")
                .collect();
            let feature = &run.plan().unwrap().1.features[&fid("a")];
            let wait = feature.wait.map_or("-".to_owned(), |wait| format!("{}s", wait.ms / 1000));
            writeln!(
                table,
                "{word:12} {how:24} -> {} | {} failures {} wait {wait}",
                kinds.join(", "),
                feature.state.word(),
                feature.failures
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn program_without_a_stream_is_judged_by_its_exit_code_as_ever() {
    let mut run = working(&Manifest::default());
    assert_eq!(job(&run).session, None);
    let events = end(&mut run, None, exited(0));
    assert!(events.iter().any(|event| matches!(event, Event::BuilderFinished { .. })));
}

#[test]
fn limit_with_a_reset_parks_until_then_without_a_slot_and_as_no_attempt() {
    let mut run = working(&manifest(false));
    let reset = WallMs(NOW.wall.0 + 3_600_000);
    let limited = Told { reset: Some(reset), ..told(Outcome::Failed(Class::UsageLimit)) };
    end(&mut run, Some(limited), exited(1));
    let feature = &run.plan().unwrap().1.features[&fid("a")];
    let limit = feature.limited.clone().unwrap();
    assert!(limit.told && limit.until >= reset && limit.until.0 <= reset.0 + 30_000, "{limit:?}");
    assert!(!feature.holds_slot());
    assert_eq!(feature.failures, 0);
    assert!(tell(&run, &slot()).unwrap_err().contains("waits for its time"));

    // A clock of another boot rings too early: the wall clock has the last word.
    let due = Input::Report(Report::RetryDue { feature: fid("a") });
    let early = Now { boot: BootMs(5), ..NOW };
    let before: Vec<_> = run.outstanding().into_keys().collect();
    let next = step(&run, &due, early).unwrap();
    assert!(
        matches!(next.events[..], [Event::Telling(Telling::Limited { job: None, .. })]),
        "{:?}",
        next.events
    );
    let after: Vec<_> = next.run.outstanding().into_keys().collect();
    assert_ne!(before, after, "another alarm has another key");

    let then = Now { wall: limit.until, ..NOW };
    let next = step(&run, &due, then).unwrap();
    assert!(matches!(next.events[..], [Event::RetryDue { .. }]), "{:?}", next.events);
    run = next.run;
    take(&mut run, &slot());
    take(&mut run, &ready());
    let session = job(&run).session.clone().unwrap();
    assert_eq!((session.id.as_deref(), session.resumed), (Some("conversation-1"), true));
}

#[test]
fn refused_login_asks_once_and_a_retry_takes_the_conversation_up_again() {
    let mut run = working(&manifest(false));
    end(&mut run, Some(told(Outcome::Failed(Class::Auth))), exited(1));
    assert_eq!(state(&run).block().map(Block::word), Some("auth"));
    take(&mut run, &crate::matrix::retry());
    take(&mut run, &slot());
    take(&mut run, &ready());
    assert!(job(&run).session.as_ref().unwrap().resumed);
}

#[test]
fn given_id_is_recorded_with_the_job_before_it_starts_and_kept_by_the_next() {
    let mut run = working(&manifest(true));
    let first = job(&run).session.clone().unwrap();
    assert!(!first.resumed && first.id.as_ref().is_some_and(|id| id.len() == 36), "{first:?}");
    // It was killed before it said a word.
    let silent = Told { session: None, ..told(Outcome::Unknown) };
    end(&mut run, Some(silent), exit(Reason::Signalled, None));
    take(&mut run, &ready());
    let second = job(&run).session.clone().unwrap();
    assert_eq!((second.id, second.resumed), (first.id, true));
    assert!(run.is_interrupted(&newest(&run)));
}

#[test]
fn conversation_that_is_gone_is_superseded_by_a_new_one_and_no_attempt_is_lost() {
    let mut run = working(&manifest(true));
    let first = job(&run).conversation_id().map(str::to_owned);
    end(&mut run, Some(Told { session: None, ..told(Outcome::Unknown) }), exited(1));
    take(&mut run, &ready());
    let gone = Told { session: None, gone: true, ..told(Outcome::Unknown) };
    end(&mut run, Some(gone), exited(1));
    assert_eq!(run.plan().unwrap().1.features[&fid("a")].failures, 1);
    take(&mut run, &ready());
    let third = job(&run).session.clone().unwrap();
    assert!(!third.resumed && third.id.is_some() && third.id != first, "{third:?}");
    assert_eq!(third.superseded.as_deref(), Some("its history is gone"));
}

#[test]
fn conversation_that_became_too_long_is_not_taken_up_again() {
    let mut run = working(&manifest(false));
    end(&mut run, Some(told(Outcome::Failed(Class::TooLong))), exited(1));
    take(&mut run, &ready());
    let session = job(&run).session.clone().unwrap();
    assert!(!session.resumed && session.superseded.is_some(), "{session:?}");
}

#[test]
fn figures_of_a_whole_conversation_are_counted_once() {
    let mut run = working(&manifest(false));
    let first = Told { cumulative: true, ..told(Outcome::Unknown) };
    end(&mut run, Some(first), exited(1));
    take(&mut run, &ready());
    let usage = Usage { input: 25, cached: 1, output: 6, cost_micros: Some(9) };
    let second = Told { cumulative: true, usage, ..told(Outcome::Completed) };
    end(&mut run, Some(second), exited(0));
    let own = run.jobs[&newest(&run)].told.as_ref().unwrap().usage;
    assert_eq!(own, Usage { input: 15, cached: 0, output: 4, cost_micros: Some(4) });
}
