//! The oracles of the log see logs that no engine may write.
#![expect(clippy::unwrap_used, reason = "tests")]

use tidegate_core::ids::{FeatureId, LaneName, ProjectId, QueueKey, RunId};
use tidegate_core::run::{Event, Submitted};
use tidegate_core::time::WallMs;
use tidegate_store::{EventRow, blob_id};

use super::{Watch, broken_run};
use crate::builders::PlanBuilder;

fn queue() -> QueueKey {
    QueueKey {
        project: ProjectId::new("berths").unwrap(),
        lane: LaneName::new("main").unwrap(),
        adhoc: None,
    }
}

fn row(seq: u64, epoch: u64, run: u64, kind: &str) -> EventRow {
    EventRow {
        seq,
        run: Some(RunId::from_parts(run, 0)),
        feature: None,
        n: seq,
        kind: kind.to_owned(),
        at: WallMs(0),
        epoch,
        body: String::new(),
    }
}

/// What is said of a log; all its runs are of one queue.
fn said(rows: &[EventRow]) -> Option<String> {
    let mut watch = Watch::default();
    rows.iter().find_map(|row| watch.broken_by(row, Some(&queue())))
}

#[test]
fn log_of_runs_one_after_the_other_holds() {
    let rows = [
        row(1, 1, 1, "daemon-claimed"),
        row(2, 1, 1, "run-completed"),
        row(4, 2, 2, "daemon-claimed"),
        row(5, 2, 2, "run-failed"),
    ];
    assert_eq!(said(&rows), None);
}

#[test]
fn run_claimed_beside_another_is_seen() {
    let rows = [row(1, 1, 1, "daemon-claimed"), row(2, 1, 2, "daemon-claimed")];
    assert!(said(&rows).unwrap().contains("I5"));
}

/// Two runs that wait, what happens to them, and then the claim of `claimed`.
fn two_wait(between: &[(u64, &str, &str)], claimed: u64) -> Option<String> {
    let mut rows = vec![row(1, 1, 1, "submitted"), row(2, 1, 2, "submitted")];
    for (run, kind, body) in between {
        let seq = rows.len() as u64 + 1;
        rows.push(EventRow { body: (*body).to_owned(), ..row(seq, 1, *run, kind) });
    }
    rows.push(row(rows.len() as u64 + 1, 1, claimed, "daemon-claimed"));
    said(&rows)
}

#[test]
fn newer_run_claimed_before_an_older_is_seen() {
    assert_eq!(two_wait(&[], 1), None);
    assert!(two_wait(&[], 2).unwrap().contains("whose turn it was"));
}

#[test]
fn priorities_and_holds_say_whose_turn_it_is() {
    let first = (2, "priority-changed", r#"{"priority":5}"#);
    assert_eq!(two_wait(&[first], 2), None);
    assert!(two_wait(&[first], 1).unwrap().contains("whose turn it was"));
    let held = (1, "run-held", "{}");
    assert_eq!(two_wait(&[held], 2), None);
    assert!(two_wait(&[held], 1).unwrap().contains("held"));
    assert_eq!(two_wait(&[held, (1, "run-released", "{}")], 1), None);
}

#[test]
fn event_of_an_older_epoch_is_seen() {
    let rows = [row(1, 2, 1, "daemon-claimed"), row(2, 1, 1, "job-created")];
    assert!(said(&rows).unwrap().contains("I7"));
}

#[test]
fn second_end_is_seen() {
    let rows = [row(1, 1, 1, "run-failed"), row(2, 1, 1, "run-completed")];
    assert!(said(&rows).unwrap().contains("twice"));
}

fn submitted() -> Event {
    let (work, _) =
        PlanBuilder::new("Harbour").unwrap().wave(&["a"]).unwrap().wave(&["b"]).unwrap().build();
    Event::Submitted(Box::new(Submitted {
        priority: 0,
        id: RunId::from_parts(1, 0),
        seq: 1,
        queue: queue(),
        actor: "tester".to_owned(),
        at: WallMs(0),
        env: blob_id(b""),
        parent: None,
        work,
    }))
}

fn admitted(feature: &str) -> Event {
    Event::FeatureAdmitted { feature: FeatureId::new(feature).unwrap() }
}

#[test]
fn feature_of_a_later_wave_before_its_time_is_seen() {
    assert_eq!(broken_run(&[submitted(), admitted("a")]), None);
    assert!(broken_run(&[submitted(), admitted("b")]).unwrap().contains("barrier"));
}

#[test]
fn fact_after_the_end_is_seen() {
    let log = [submitted(), Event::Completed { at: WallMs(1) }, admitted("a")];
    assert!(broken_run(&log).unwrap().contains("after its end"));
}
