//! Commands whose daemon dies between the commit and the answer: recorded once, answered again.

use serde_json::{Value, json};

use crate::harness::{Home, post};

/// A submit as another client would send it.
fn request(home: &Home) -> Value {
    let path = std::env::var("PATH").unwrap();
    json!({
        "cwd": home.repo().root(),
        "actor": "keeper",
        "env": [["PATH", path], ["T", home.beside("")]],
        "work": { "launcher": { "argv": ["sh", "-c", "echo started >> $T/starts"] } },
    })
}

/// Gives a home a known repository, and a daemon that dies at `point` of the next submit.
fn dying_at(home: &Home, point: &str) -> crate::harness::Fence {
    let before = home.submit(&[], &["true"]);
    home.ended(&before);
    home.run(&["daemon", "stop"]).ends_with(0);
    // A daemon's start has a commit of its own, and hands on what that led to.
    let hits = if point.starts_with("jobdir") || point.starts_with("spawner") { 1 } else { 2 };
    home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}=kill@{hits}"))])
}

#[test]
fn submit_that_was_committed_and_not_answered_is_answered_again_by_its_key() {
    for point in ["store.commit.after_commit", "daemon.dispatch.before_hand_on"] {
        let home = Home::new();
        let mut daemon = dying_at(&home, point);
        let request = request(&home);
        let key = [("idempotency-key", "once-and-again")];
        let lost = post(&home.path(), "/runs", &key, &request);
        assert!(lost.is_err(), "{point}: {lost:?}");
        assert_eq!(daemon.code(), -1, "{point}");
        let runs = home.data(&["list"]);
        let run = runs["runs"][0]["runId"].as_str().unwrap().to_owned();
        assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{point}");
        home.start_daemon();
        for _ in 0..2 {
            let again = post(&home.path(), "/runs", &key, &request).unwrap();
            assert_eq!(again.status, 200, "{again:?}");
            assert_eq!(again.body["data"]["runId"], run.as_str(), "{point}");
        }
        let mut other = request.clone();
        other["lane"] = "docks".into();
        let refused = post(&home.path(), "/runs", &key, &other).unwrap();
        assert_eq!(refused.body["error"]["code"], "idempotency_mismatch");
        assert_eq!(home.ended(&run)["status"], "completed");
        assert_eq!(home.lines("starts"), 1, "{point}");
        home.close();
    }
}

#[test]
fn submit_whose_daemon_dies_at_any_point_is_carried_out_once() {
    for point in [
        "store.commit.before_commit",
        "store.commit.after_commit",
        "store.highwater.before_sync",
        "daemon.dispatch.before_hand_on",
        "daemon.dispatch.after_hand_on",
        "jobdir.after_write_spec",
        "spawner.before_spawn",
        "spawner.after_spawn",
    ] {
        let home = Home::new();
        let mut daemon = dying_at(&home, point);
        let run = home.script(&[], "echo started >> $T/starts; exit 7");
        home.json(&["wait", &run, "--exit-code"]).ends_with(7);
        assert_eq!(daemon.code(), -1, "{point} was not reached");
        assert_eq!(home.lines("starts"), 1, "{point}");
        assert_eq!(home.data(&["list"])["runs"].as_array().unwrap().len(), 2, "{point}");
        home.close();
    }
}
