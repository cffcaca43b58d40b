//! Replacing a daemon that hangs: the old one ends and writes nothing, jobs go on, and nobody is
//! signalled whose identity is not proved.

use rustix::fs::FlockOperation;

use crate::harness::{Fence, Home, is_gone};

#[test]
fn stopped_daemon_is_replaced_and_its_jobs_go_on() {
    let home = Home::new();
    let run = home.script(&[], "count starts; mark a; await go; exit 6");
    let launcher = home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let old = home.freeze_daemon();
    // Readers do not hang on it.
    assert_eq!(home.status(&run)["status"], "running");
    home.run(&["daemon", "start", "--takeover"]).ends_with(0);
    assert!(is_gone(old));
    let status = home.data(&["daemon", "status"]);
    assert_ne!(status["pid"], old);
    assert!(status["epoch"].as_u64() >= Some(2), "{status}");
    assert!(!is_gone(launcher));
    home.go("go");
    assert_eq!(home.ended(&run)["exitCode"], 6);
    assert_eq!(home.lines("starts"), 1);
    assert_eq!(home.events_of(&run, "launcher-started").len(), 1);
    home.close();
}

#[test]
fn takeover_without_a_daemon_starts_one() {
    let home = Home::new();
    home.run(&["daemon", "start", "--takeover"]).ends_with(0);
    assert!(home.daemon().is_some());
    home.close();
}

#[test]
fn holder_of_the_lock_that_is_not_proved_is_left_alone() {
    let home = Home::new();
    home.start_daemon();
    home.run(&["daemon", "stop"]).ends_with(0);
    let mut stranger = std::process::Command::new("sleep");
    let stranger = Fence::start(stranger.arg("1000"));
    // This very process holds the lock; its note names somebody else.
    let path = home.path().join("daemon.lock");
    let mut note: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    note["daemon"]["pid"] = stranger.pid().into();
    std::fs::write(&path, note.to_string()).unwrap();
    let lock = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    rustix::fs::fcntl_lock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let output = home.json(&["daemon", "start", "--takeover"]).ends_with(4);
    assert_eq!(output.error(), "daemon_unreachable");
    assert!(!is_gone(stranger.pid()));
    // No daemon will ever come up beside it: who has the lock is told, and soon.
    let output = home.json(&["daemon", "start"]).ends_with(4);
    let holder = format!("process {} holds", std::process::id());
    assert!(output.text().contains(&holder), "{output:?}");
    drop(lock);
    home.start_daemon();
    home.close();
}

#[test]
fn process_inside_a_job_may_neither_start_nor_replace_nor_stop_the_daemon() {
    let home = Home::new();
    let run = home.script(
        &[],
        "for verb in 'start --takeover' stop run restart; do
           tidegate daemon $verb >/dev/null 2>&1; echo $? >> $T/codes
         done; mark a; await go",
    );
    home.pid("a");
    let codes = std::fs::read_to_string(home.beside("codes")).unwrap();
    assert!(codes.lines().all(|code| code != "0"), "{codes}");
    assert_eq!(codes.lines().count(), 4);
    assert_eq!(home.data(&["daemon", "status"])["epoch"], 1);
    home.go("go");
    assert_eq!(home.ended(&run)["status"], "completed");
    home.close();
}
