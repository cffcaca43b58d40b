//! The log of a run: the names and fields that scripts rely on, each fact once, in order.

use serde_json::{Value, json};

use crate::harness::{Fence, Home, end, until};

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Asserts what holds of every event: its common fields, and numbers without a gap per subject.
fn are_well_formed(events: &[Value], run: &str) {
    let mut numbers = std::collections::BTreeMap::<String, u64>::new();
    let mut before = 0;
    for event in events {
        assert!(event["recordedAt"].is_string(), "{event}");
        assert_eq!(event["runId"], run);
        let seq = event["seq"].as_u64().unwrap();
        assert!(seq > before, "{event}");
        before = seq;
        let number = numbers.entry(event["subject"].to_string()).or_default();
        *number += 1;
        assert_eq!(event["n"], *number, "{event}");
    }
}

#[test]
fn events_of_a_good_run_have_their_names_and_fields_each_once() {
    let home = Home::new();
    let run = home.script(&["--lane", "docks", "--adhoc-run", "one"], "exit 0");
    let document = home.ended(&run);
    let events = home.events(&run);
    are_well_formed(&events, &run);
    let wanted = ["submitted", "daemon-claimed", "launcher-started", "launcher-status-reconciled"];
    for kind in wanted {
        assert_eq!(kinds(&events).iter().filter(|found| **found == kind).count(), 1, "{kind}");
    }
    let of = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    let places: Vec<&Value> =
        ["project", "lane", "adhocRunId"].iter().map(|key| &of("submitted")[key]).collect();
    assert_eq!(places, [&json!("harbour"), &json!("docks"), &json!("one")]);
    assert_eq!(of("daemon-claimed")["supervisorId"], document["supervisorId"]);
    assert_eq!(of("launcher-started")["launcherPid"], document["launcherPid"]);
    assert_eq!(of("launcher-started")["resumed"], false);
    assert_eq!(of("launcher-status-reconciled")["exitCode"], 0);
    assert_eq!(kinds(&events).last(), Some(&"run-completed"));
    assert!(!home.run(&["events", &run]).text().contains("nonce"));
    home.close();
}

#[test]
fn events_are_the_same_over_many_daemons_and_adoptions_are_told() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await go");
    home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    for _ in 0..3 {
        home.kill_daemon();
        home.start_daemon();
    }
    home.go("go");
    home.ended(&run);
    let events = home.events(&run);
    are_well_formed(&events, &run);
    let adopted = home.events_of(&run, "daemon-adopted");
    assert_eq!(adopted.len(), 3);
    let supervisors: std::collections::BTreeSet<String> =
        adopted.iter().map(|event| event["supervisorId"].to_string()).collect();
    assert_eq!(supervisors.len(), 3);
    for kind in ["submitted", "daemon-claimed", "launcher-started", "launcher-status-reconciled"] {
        assert_eq!(home.events_of(&run, kind).len(), 1, "{kind}");
    }
    home.close();
}

#[test]
fn events_by_page_kind_and_number_are_parts_of_the_whole() {
    let home = Home::new();
    let run = home.script(&[], "exit 0");
    home.ended(&run);
    let all = home.data(&["events"])["events"].as_array().unwrap().clone();
    assert!(all.iter().any(|event| event["runId"].is_null()), "the home has events of its own");
    let page = home.data(&["events", "--limit", "2"]);
    assert_eq!(page["events"].as_array().unwrap(), &all[..2]);
    let after = page["next"].to_string();
    let rest = home.data(&["events", "--after", &after]);
    assert_eq!(rest["events"].as_array().unwrap(), &all[2..]);
    let kind = home.data(&["events", &run, "--kind", "launcher-started"]);
    assert_eq!(kind["events"].as_array().unwrap().len(), 1);
    home.close();
}

#[test]
fn follower_sees_every_event_once_over_the_death_of_a_daemon() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await go");
    home.pid("a");
    let mut follow = home.call(&["--json", "events", "-f", &run]);
    let seen = std::fs::File::create(home.beside("seen")).unwrap();
    let follower = Fence::start(follow.stdout(seen));
    let lines = |text: String| -> Vec<Value> {
        text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect()
    };
    let path = home.beside("seen");
    let has = |kind: &str| {
        until(kind, || {
            let seen = lines(std::fs::read_to_string(&path).unwrap());
            seen.iter().any(|line| line["data"]["type"] == kind).then_some(seen)
        })
    };
    has("launcher-started");
    end(home.daemon().unwrap());
    has("daemon-adopted");
    home.go("go");
    let seen = has("run-completed");
    let told: Vec<Value> = seen.into_iter().map(|line| line["data"].clone()).collect();
    let events = home.events(&run);
    assert_eq!(told, events);
    // It would start another daemon.
    drop(follower);
    home.close();
}
