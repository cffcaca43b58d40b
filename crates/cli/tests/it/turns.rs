//! What a person decides about turns: pauses of lanes, holds and priorities of runs. All of it is
//! durable, may be repeated, and is told by whoever asks why a run waits.

use serde_json::{Value, json};

use crate::harness::Home;

/// Notes its name when it starts, and waits for its own sign.
fn work(name: &str) -> String {
    format!("echo {name} >> $T/order; mark {name}; await go-{name}")
}

fn order(home: &Home) -> Vec<String> {
    let text = std::fs::read_to_string(home.beside("order")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn because(home: &Home, run: &str) -> String {
    home.data(&["explain", run])["because"].as_str().unwrap().to_owned()
}

fn home_events(home: &Home, kind: &str) -> Vec<Value> {
    let events = home.data(&["events", "--kind", kind]);
    events["events"].as_array().unwrap().clone()
}

#[test]
fn paused_lane_claims_nothing_more_and_its_running_run_goes_on() {
    let home = Home::new();
    let first = home.script(&[], &work("a"));
    home.pid("a");
    let paused = home.data(&["pause", "--lane", "main", "--reason", "the tide is out"]);
    assert_eq!((&paused["already"], &paused["running"]), (&json!(false), &json!([first])));
    let again = home.data(&["pause", "--lane", "main", "--reason", "another one"]);
    assert_eq!(again["already"], true);
    let second = home.script(&[], &work("b"));
    let beside = home.script(&["--lane", "docks"], "exit 0");
    home.go("go-a");
    assert_eq!(home.ended(&first)["status"], "completed", "what runs goes on");
    assert_eq!(home.ended(&beside)["status"], "completed", "another lane goes on");

    // The pause outlives the daemon.
    home.kill_daemon();
    home.start_daemon();
    let document = home.status(&second);
    assert_eq!(document["status"], "pending");
    assert_eq!(document["paused"]["by"], "keeper");
    assert_eq!(document["paused"]["reason"], "the tide is out");
    let because = because(&home, &second);
    for told in ["lane harbour/main", "keeper", "the tide is out"] {
        assert!(because.contains(told), "{because}");
    }
    let next = home.data(&["explain", &second])["next"].clone();
    assert_eq!(next, "tidegate resume --project harbour --lane main");
    let lanes = home.data(&["lane", "list"]);
    let lane = &lanes["lanes"][0];
    assert_eq!((&lane["lane"], &lane["next"]), (&json!("main"), &json!(second)));
    assert_eq!(lane["paused"]["scope"], "lane harbour/main");
    assert_eq!(lanes["pauses"].as_array().unwrap().len(), 1);

    assert_eq!(home.data(&["resume", "--project", "harbour", "--lane", "main"])["already"], false);
    assert_eq!(home.data(&["resume", "--lane", "main"])["already"], true);
    home.pid("b");
    home.go("go-b");
    home.ended(&second);
    assert_eq!(home_events(&home, "lane-paused").len(), 1, "a repetition is no fact");
    assert_eq!(home_events(&home, "lane-resumed").len(), 1);
    home.close();
}

#[test]
fn lanes_stay_paused_until_every_pause_that_covers_them_has_ended() {
    let home = Home::new();
    home.data(&["pause", "--all"]);
    let run = home.script(&[], "exit 0");
    home.data(&["pause", "--project", "harbour"]);
    let resumed = home.data(&["resume", "--all"]);
    assert_eq!(resumed["stillPaused"], json!(["every lane of harbour"]));
    assert_eq!(home.status(&run)["paused"]["scope"], "every lane of harbour");
    home.data(&["resume", "--project", "harbour"]);
    assert_eq!(home.ended(&run)["status"], "completed");
    let unknown = home.json(&["pause", "--project", "nowhere"]);
    assert_eq!((unknown.code, &unknown.envelope()["error"]["code"]), (1, &json!("not_found")));
    home.run(&["pause"]).ends_with(2);
    home.close();
}

#[test]
fn held_run_is_passed_over_until_it_is_released() {
    let home = Home::new();
    let first = home.script(&[], &work("a"));
    home.pid("a");
    let (held, next) = (home.script(&[], &work("b")), home.script(&[], &work("c")));
    assert_eq!(home.data(&["hold", &held, "--reason", "low tide"])["already"], false);
    assert_eq!(home.data(&["pause", &held])["already"], true);
    let refused = home.json(&["hold", &first]);
    assert_eq!(refused.envelope()["error"]["code"], "invalid_status_transition", "a launcher runs");
    home.go("go-a");
    home.pid("c");
    let because = because(&home, &held);
    assert!(because.contains("held by keeper") && because.contains("low tide"), "{because}");
    assert_eq!(home.status(&held)["held"]["by"], "keeper");
    home.go("go-c");
    home.ended(&next);
    home.kill_daemon();
    home.start_daemon();
    assert_eq!(home.status(&held)["status"], "pending");
    assert_eq!(home.data(&["hold", &held, "--release"])["already"], false);
    assert_eq!(home.data(&["resume", &held])["already"], true);
    home.pid("b");
    home.go("go-b");
    home.ended(&held);
    assert_eq!(order(&home), ["a", "c", "b"]);
    let kinds = ["run-held", "run-released"].map(|kind| home.events_of(&held, kind).len());
    assert_eq!(kinds, [1, 1]);
    let late = home.json(&["hold", &held]);
    assert_eq!(late.envelope()["error"]["code"], "invalid_status_transition");
    home.close();
}

#[test]
fn runs_of_a_lane_start_by_priority_and_within_one_in_the_order_of_their_submits() {
    let home = Home::new();
    let first = home.script(&[], &work("a"));
    home.pid("a");
    let usual = home.script(&[], "echo usual >> $T/order");
    let low = home.script(&["--priority", "-5"], "echo low >> $T/order");
    let raised = home.script(&[], "echo raised >> $T/order");
    let high = home.script(&["--priority", "9"], "echo high >> $T/order");
    home.data(&["priority", &raised, "9"]);
    assert_eq!(home.data(&["priority", &raised, "9"])["already"], true);
    assert_eq!(home.status(&raised)["priority"], 9);
    home.kill_daemon();
    home.start_daemon();
    home.go("go-a");
    for run in [&first, &usual, &low, &raised, &high] {
        home.ended(run);
    }
    assert_eq!(order(&home), ["a", "raised", "high", "usual", "low"]);
    let late = home.json(&["priority", &low, "1"]);
    assert_eq!(late.envelope()["error"]["code"], "invalid_status_transition");
    home.close();
}

#[test]
fn events_are_filtered_by_type_and_age_and_an_unknown_type_names_its_neighbour() {
    let home = Home::new();
    let run = home.script(&[], "exit 0");
    home.ended(&run);
    let types = |words: &[&str]| -> Vec<String> {
        let mut call = vec!["events", "--run", &run];
        call.extend(words);
        let events = home.data(&call)["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(&["--type", "submitted", "--type", "run-completed"]).len(), 2);
    assert_eq!(types(&["--kind", "submitted"]), ["submitted"]);
    assert_eq!(types(&["--type", "submitted", "--since", "1h"]), ["submitted"]);
    assert!(types(&["--until", "1h"]).is_empty());
    let refused = home.json(&["events", "--type", "submited"]);
    let hint = refused.envelope()["error"]["details"]["hint"].clone();
    assert!(hint.as_str().unwrap().contains("`submitted`"), "{hint}");
    home.close();
}
