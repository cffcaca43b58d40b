//! One damaged run beside a hundred good ones: it is named, its lane is held, and the rest goes on.

use serde_json::{Value, json};

use crate::harness::{Home, end, until};

/// Good runs beside the damaged one.
const GOOD: usize = 100;

/// Turns one bit of a text that stands in the store, once.
fn flip(home: &Home, text: &str) {
    let path = home.path().join("store.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let found: Vec<usize> = bytes
        .windows(text.len())
        .enumerate()
        .filter(|(_, window)| *window == text.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!found.is_empty(), "{text} is not in the store");
    for at in found {
        bytes[at + text.len() - 2] ^= 1;
    }
    std::fs::write(&path, bytes).unwrap();
}

fn many_good_runs(home: &Home, number: usize) -> Vec<String> {
    let queue = |n: usize| format!("good{}", n % 8);
    let runs: Vec<String> =
        (0..number).map(|n| home.submit(&["--adhoc-run", &queue(n)], &["true"])).collect();
    for run in &runs {
        assert_eq!(home.ended(run)["status"], "completed");
    }
    runs
}

/// The run that `doctor --verify` names.
fn is_named_by_the_doctor(home: &Home, run: &str) {
    let output = home.json(&["doctor", "--verify"]).ends_with(1);
    let checks = output.data()["checks"].as_array().unwrap().clone();
    let store = checks.iter().find(|check| check["name"] == "store").unwrap().clone();
    assert_eq!(store["ok"], false);
    assert!(store["text"].as_str().unwrap().contains(run), "{store}");
}

#[test]
fn damaged_run_that_has_ended_hides_none_of_a_hundred_others() {
    let home = Home::new();
    let bad = home.submit(&["--adhoc-run", "the-damaged-one"], &["true"]);
    home.ended(&bad);
    let good = many_good_runs(&home, GOOD);
    // By then so much happened that the daemon made a copy of its store.
    until("a copy of the store", || {
        let folder = std::fs::read_dir(home.path().join("backups")).unwrap().flatten();
        let mut names = folder.map(|entry| entry.file_name().into_string().unwrap());
        names.any(|name| name.starts_with("store-") && !name.contains("part")).then_some(())
    });
    home.run(&["daemon", "stop"]).ends_with(0);
    // Its first event, and nothing else, has this form.
    flip(&home, "\"adhocRunId\":\"the-damaged-one\"");
    is_named_by_the_doctor(&home, &bad);
    for phase in ["without a daemon", "with one"] {
        for run in good.iter().step_by(9) {
            assert_eq!(home.status(run)["status"], "completed", "{phase}");
        }
        let page = home.data(&["list", "--limit", "500"]);
        let listed = |run: &String| {
            page["runs"].as_array().unwrap().iter().any(|found| found["runId"] == run.as_str())
        };
        assert!(good.iter().all(listed), "{phase}");
        home.start_daemon();
    }
    let more = many_good_runs(&home, 1);
    assert_eq!(home.status(&more[0])["status"], "completed");
    is_named_by_the_doctor(&home, &bad);
}

#[test]
fn damaged_run_that_was_running_holds_its_lane_and_no_other() {
    let home = Home::new();
    let bad = home.script(&["--lane", "docks"], "mark a; await never");
    let behind = home.script(&["--lane", "docks"], "count starts");
    let beside = home.script(&[], "mark b; await go");
    let launcher = home.pid("a");
    home.pid("b");
    for run in [&bad, &beside] {
        home.until(run, "recorded", |d| d["recorded"] == true);
    }
    home.run(&["daemon", "stop"]).ends_with(0);
    flip_submit_of(&home, &bad);
    home.start_daemon();
    let page = home.data(&["list"]);
    let corrupt: Vec<&Value> =
        page["corrupt"].as_array().unwrap().iter().map(|one| &one["runId"]).collect();
    assert_eq!(corrupt, [&json!(bad)], "{page}");
    assert_eq!(home.json(&["status", &bad]).ends_with(1).error(), "corrupt");
    home.go("go");
    assert_eq!(home.ended(&beside)["status"], "completed");
    many_good_runs(&home, 1);
    let waiting = home.status(&behind);
    assert_eq!((&waiting["status"], home.lines("starts")), (&json!("pending"), 0));
    assert!(!crate::harness::is_gone(launcher), "nothing is known of it: it is left alone");
    is_named_by_the_doctor(&home, &bad);
    end(launcher);
}

/// Damages the first event of a run: it alone has the run's lane beside its id.
fn flip_submit_of(home: &Home, run: &str) {
    let path = home.path().join("store.db");
    let bytes = std::fs::read(&path).unwrap();
    let marker = format!("\"runId\":\"{run}\"");
    let text = String::from_utf8_lossy(&bytes);
    let body = text.split("{\"actor\"").skip(1).find(|part| {
        let end = part.find("\"v\":1").unwrap_or(0);
        part[..end].contains(&marker) && part[..end].contains("\"lane\":\"docks\"")
    });
    let body = body.unwrap_or_else(|| panic!("no submit of {run}"));
    let end = body.find("\"v\":1").unwrap();
    let at = text.find(&body[..end]).unwrap();
    assert!(at > 0);
    flip(home, &body[..end][body[..end].find(&marker).unwrap()..][..marker.len()]);
}

#[test]
fn damaged_page_of_the_store_keeps_the_daemon_from_starting() {
    let home = Home::new();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    home.run(&["daemon", "stop"]).ends_with(0);
    let path = home.path().join("store.db");
    let good = std::fs::read(&path).unwrap();
    let mut bad = good.clone();
    // The header of the second page: what kind of page it is.
    bad[4096] = 0x77;
    std::fs::write(&path, &bad).unwrap();
    let output = home.json(&["daemon", "run"]);
    assert_ne!(output.code, 0, "{output:?}");
    assert_ne!(home.json(&["submit", "--", "true"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), bad, "it was written to");
    std::fs::write(&path, good).unwrap();
    assert_eq!(home.status(&run)["status"], "completed");
    home.close();
}

#[test]
fn page_of_an_older_store_makes_no_number_twice() {
    let home = Home::new();
    home.ended(&home.submit(&[], &["true"]));
    home.run(&["daemon", "stop"]).ends_with(0);
    let path = home.path().join("store.db");
    let yesterday = std::fs::read(&path).unwrap();
    let later = home.submit(&[], &["true"]);
    home.ended(&later);
    let epoch = home.data(&["daemon", "status"])["epoch"].as_u64().unwrap();
    home.run(&["daemon", "stop"]).ends_with(0);
    std::fs::write(&path, yesterday).unwrap();
    home.start_daemon();
    let status = home.data(&["daemon", "status"]);
    assert!(status["epoch"].as_u64().unwrap() > epoch, "{status}");
    let run = home.submit(&[], &["true"]);
    assert_ne!(run[..7], later[..7], "its number was given before");
    assert_eq!(home.ended(&run)["status"], "completed");
    home.run(&["daemon", "stop"]).ends_with(0);
}
