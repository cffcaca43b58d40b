//! Lists, waves, prefixes, queues and events.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{Grant, Ingested, Input, Report, Run, WorktreeOutcome};
use tidegate_core::time::WallMs;
use tidegate_protocol::{ErrorCode, RunStatus};

use super::home::TestHome;
use super::works::{feature_id, launcher, plan};
use crate::views::{EventQuery, RunQuery, WaveQuery};

/// A launcher run that has ended with this code.
fn ended(home: &mut TestHome, adhoc: &str, wave: u32, code: i32) -> Run {
    let mut run = home.submit("main", Some(adhoc), launcher(Some(wave), None, 0));
    home.claim(&mut run);
    let job: JobId = run.jobs.keys().next().unwrap().clone();
    let exit = Exit { code: Some(code), ..Exit::lost(Reason::Exited, WallMs(9)) };
    let ingested = Ingested::default();
    home.report(
        &mut run,
        Report::JobFinished { job, started: None, exit, ingested, evidence: None },
    );
    run
}

fn ids(home: &TestHome, query: &RunQuery) -> (Vec<String>, Option<String>) {
    let page = home.viewer().runs(query).unwrap();
    (page.runs.into_iter().map(|run| run.run_id).collect(), page.next)
}

#[test]
fn first_page_puts_what_needs_a_person_first() {
    let mut home = TestHome::new();
    let completed = ended(&mut home, "a", 1, 0);
    let failed = ended(&mut home, "b", 1, 3);
    let mut blocked = home.submit("one", None, plan(ReviewPolicy::Auto));
    home.claim(&mut blocked);
    let feature = feature_id("berths");
    home.input(&mut blocked, &Input::Grant(Grant::Slot { feature: feature.clone() }));
    let outcome = WorktreeOutcome::TargetMissing;
    home.report(&mut blocked, Report::Worktree { feature, outcome });
    let mut running = home.submit("two", None, launcher(None, None, 1));
    home.claim(&mut running);
    let first = home.submit("two", None, launcher(None, None, 1));
    let second = home.submit("two", None, launcher(None, None, 1));

    let order = [&blocked, &running, &failed, &first, &second, &completed];
    let order: Vec<String> = order.iter().map(|run| run.id.to_string()).collect();
    assert_eq!(ids(&home, &RunQuery::default()), (order, None));

    let page = home.viewer().runs(&RunQuery::default()).unwrap();
    let waits = |run: &Run| {
        let doc = page.runs.iter().find(|doc| doc.run_id == run.id.as_str()).unwrap();
        doc.waits_for.clone().unwrap()
    };
    assert_eq!(waits(&first), format!("its turn in harbour/two: {} is active", running.id));
    assert!(waits(&second).ends_with(&format!("1 wait ahead, first {}", first.id)));
}

#[test]
fn pages_show_every_run_once() {
    let mut home = TestHome::new();
    let mut running = home.submit("old", None, launcher(None, None, 1));
    home.claim(&mut running);
    let mut all = vec![running.id.to_string()];
    for n in 0..7 {
        all.push(ended(&mut home, &format!("a{n}"), 1, n % 2).id.to_string());
    }
    let mut seen = Vec::new();
    let mut query = RunQuery { limit: Some(3), ..RunQuery::default() };
    loop {
        let (page, next) = ids(&home, &query);
        seen.extend(page);
        match next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen[0], all[0], "what runs is on the first page");
    seen.sort();
    assert_eq!(seen, all);
    let failed = RunQuery { status: Some(RunStatus::Failed), ..RunQuery::default() };
    assert_eq!(ids(&home, &failed).0.len(), 3);
}

#[test]
fn wave_summary_prefers_running_then_pending_failed_completed_cancelled() {
    let mut home = TestHome::new();
    let query = WaveQuery { wave: 2, ..WaveQuery::default() };
    assert_eq!(home.viewer().wave(&query).unwrap(), None);
    let answer = |home: &TestHome| home.viewer().wave(&query).unwrap().unwrap().run_id;

    let mut cancelled = home.submit("c", None, launcher(Some(2), None, 1));
    home.input(&mut cancelled, &Input::Cancel { actor: "ada".into() });
    assert_eq!(answer(&home), cancelled.id.as_str());
    let completed = ended(&mut home, "done", 2, 0);
    assert_eq!(answer(&home), completed.id.as_str());
    ended(&mut home, "failed-first", 2, 1);
    let failed = ended(&mut home, "failed", 2, 1);
    ended(&mut home, "other-wave", 3, 1);
    assert_eq!(answer(&home), failed.id.as_str());
    let mut pending = home.submit("main", None, launcher(Some(2), None, 1));
    assert_eq!(answer(&home), pending.id.as_str());
    home.claim(&mut pending);
    home.submit("main", None, launcher(Some(2), None, 1));
    let wave = home.viewer().wave(&query).unwrap().unwrap();
    assert_eq!((wave.run_id.as_str(), wave.status), (pending.id.as_str(), RunStatus::Running));
    let elsewhere = WaveQuery { lane: Some("nowhere".into()), ..query.clone() };
    assert_eq!(home.viewer().wave(&elsewhere).unwrap(), None);
}

#[test]
fn prefix_of_several_runs_names_them() {
    let mut home = TestHome::new();
    let one = ended(&mut home, "a", 1, 0);
    let two = ended(&mut home, "b", 1, 0);
    let mut viewer = home.viewer();
    assert_eq!(viewer.resolve(one.id.as_str()).unwrap(), one.id);
    assert_eq!(viewer.resolve(&two.id.as_str()[..7]).unwrap(), two.id);
    let many = viewer.resolve("r").unwrap_err();
    assert_eq!(many.code, ErrorCode::AmbiguousId);
    assert_eq!(many.details.more["candidates"][1], two.id.as_str());
    for text in ["rzzz", "", "../x", "r0000000000000000"] {
        assert_eq!(viewer.resolve(text).unwrap_err().code, ErrorCode::NotFound, "{text}");
    }
}

#[test]
fn events_have_their_fields_at_the_top_and_no_nonce() {
    let mut home = TestHome::new();
    let run = ended(&mut home, "a", 1, 3);
    let query = EventQuery { run: Some(run.id.to_string()), ..EventQuery::default() };
    let page = home.viewer().events(&query).unwrap();
    let kinds: Vec<&str> = page.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "submitted",
            "daemon-claimed",
            "job-created",
            "job-finished",
            "launcher-status-reconciled",
            "run-failed"
        ]
    );
    let json = serde_json::to_value(&page.events).unwrap();
    assert_eq!(json[0]["project"], "harbour");
    assert_eq!(json[0]["lane"], "main");
    assert_eq!(json[0]["adhocRunId"], "a");
    assert_eq!(json[0]["runId"], run.id.as_str());
    assert_eq!(json[1]["supervisorId"], "home-1");
    assert_eq!(json[4]["exitCode"], 3);
    assert!(json[0]["recordedAt"].as_str().unwrap().ends_with('Z'));
    assert!(!json.to_string().contains("nonce"));
    let numbers: Vec<u64> = page.events.iter().map(|event| event.n).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);

    let after = EventQuery { after: page.events[1].seq, limit: Some(2), ..query.clone() };
    let next = home.viewer().events(&after).unwrap();
    assert_eq!(next.events[0], page.events[2]);
    assert_eq!(next.next, Some(page.events[3].seq));
    let kind = EventQuery { kinds: vec!["run-failed".into()], ..EventQuery::default() };
    assert_eq!(home.viewer().events(&kind).unwrap().events.len(), 1);
}
