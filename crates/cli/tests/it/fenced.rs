//! A daemon that lives on although it was replaced: the store refuses what it writes, and it ends.

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Home, is_gone, signal, until};

/// A takeover that dies after it has raised the epoch, before it has killed the old daemon.
fn half_a_takeover(home: &Home) {
    let mut takeover = home.call(&["daemon", "start", "--takeover"]);
    takeover.env("TIDEGATE_FAIL", "daemon.takeover.before_kill=kill");
    let output = takeover.output().unwrap();
    assert_eq!(output.status.code(), None, "{output:?}");
}

#[test]
fn replaced_daemon_that_takes_a_command_is_fenced_off_and_ends() {
    let home = Home::new();
    let old = home.start_daemon();
    half_a_takeover(&home);
    assert!(!is_gone(old));
    let run = home.script(&[], "count starts; exit 3");
    assert_eq!(home.ended(&run)["exitCode"], 3);
    assert!(is_gone(old), "a replaced daemon goes on");
    assert_eq!(home.lines("starts"), 1);
    assert_eq!(home.data(&["list"])["runs"].as_array().unwrap().len(), 1);
    home.close();
}

#[test]
fn replaced_daemon_that_wakes_up_with_a_report_writes_nothing() {
    let home = Home::new();
    let run = home.script(&["--start-wave", "1"], "count starts; mark a; await go; exit 3");
    let launcher = home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let before = home.events(&run);
    let old = home.freeze_daemon();
    half_a_takeover(&home);
    home.go("go");
    until("the launcher's end", || is_gone(launcher).then_some(()));
    signal(old, Signal::CONT);
    until("the old daemon's end", || is_gone(old).then_some(()));
    assert_eq!(home.events(&run), before, "it wrote");
    let document = home.status(&run);
    assert_eq!((&document["status"], &document["recorded"]), (&json!("failed"), &json!(false)));
    assert_eq!(home.ended(&run)["exitCode"], 3);
    assert_eq!(home.events_of(&run, "launcher-status-reconciled").len(), 1);
    assert_eq!(home.lines("starts"), 1);
    home.close();
}
