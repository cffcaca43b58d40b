//! Queues: first in, first out, one active run each, and none waits for another queue.

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

#[test]
fn runs_of_one_lane_start_one_after_the_other_in_the_order_of_their_submits() {
    let home = Home::new();
    let runs: Vec<String> =
        ["a", "b", "c"].iter().map(|name| home.script(&[], &work(name))).collect();
    assert!(runs.is_sorted(), "{runs:?}");
    for (at, name) in ["a", "b", "c"].iter().enumerate() {
        home.pid(name);
        let list = home.data(&["list"]);
        let running =
            list["runs"].as_array().unwrap().iter().filter(|run| run["status"] == "running");
        assert_eq!(running.count(), 1);
        for run in &runs[at + 1..] {
            let document = home.status(run);
            assert_eq!(document["status"], "pending");
            assert_eq!(document["recoveryState"], "pending");
            assert!(document["waitsFor"].is_string(), "{document}");
            assert!(document["launcherPid"].is_null() && document["statePath"].is_null());
        }
        home.go(&format!("go-{name}"));
        home.ended(&runs[at]);
    }
    assert_eq!(order(&home), ["a", "b", "c"]);
    home.close();
}

#[test]
fn lanes_and_ad_hoc_queues_do_not_wait_for_each_other() {
    let home = Home::new();
    let flags: [&[&str]; 4] = [
        &[],
        &["--lane", "docks"],
        &["--adhoc-run", "one"],
        &["--lane", "docks", "--adhoc-run", "one"],
    ];
    let names = ["a", "b", "c", "d"];
    let runs: Vec<String> =
        flags.iter().zip(names).map(|(flags, name)| home.script(flags, &work(name))).collect();
    let behind = home.script(&["--adhoc-run", "one"], "exit 0");
    for name in names {
        home.pid(name);
    }
    assert_eq!(home.status(&behind)["status"], "pending");
    let place = |run: &str| {
        let run = home.status(run);
        (run["project"].clone(), run["lane"].clone(), run["adhocRunId"].clone())
    };
    assert_eq!(place(&runs[0]), (json!("harbour"), json!("main"), Value::Null));
    assert_eq!(place(&runs[3]), (json!("harbour"), json!("docks"), json!("one")));
    let lane = home.data(&["list", "--lane", "docks"]);
    assert_eq!(lane["runs"].as_array().unwrap().len(), 2);
    for name in names {
        home.go(&format!("go-{name}"));
    }
    runs.iter().chain([&behind]).for_each(|run| drop(home.ended(run)));
    home.close();
}

#[test]
fn failed_and_cancelled_runs_let_the_next_of_their_queue_start() {
    let home = Home::new();
    let failed = home.script(&[], "exit 1");
    let cancelled = home.script(&[], "mark b; await never");
    let last = home.script(&[], "exit 0");
    home.pid("b");
    home.run(&["cancel", &cancelled, "--wait"]).ends_with(0);
    assert_eq!(home.ended(&last)["status"], "completed");
    assert_eq!(home.ended(&failed)["status"], "failed");
    home.close();
}

#[test]
fn second_repository_of_the_same_name_is_a_project_of_its_own() {
    let home = Home::new();
    let other = crate::harness::Repo::make(&home.beside("other/harbour"));
    let first = home.script(&[], &work("a"));
    let mut call = home.call(&["--json", "submit", "--", "sh", "-c", "pwd -P"]);
    let output = call.current_dir(other.root()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["data"]["project"], "harbour-2", "{answer}");
    let second = answer["data"]["runId"].as_str().unwrap();
    assert_eq!(home.ended(second)["status"], "completed");
    let root = std::fs::canonicalize(other.root()).unwrap();
    assert_eq!(String::from_utf8(home.logs(second)).unwrap().trim(), root.to_str().unwrap());
    home.go("go-a");
    home.ended(&first);
    home.close();
}
