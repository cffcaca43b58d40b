//! A daemon that stands still: who follows is told once, and what to do about it.

use crate::harness::{Home, signal};

#[test]
fn follower_of_a_daemon_that_stands_still_is_told_once() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await go");
    home.pid("a");
    let daemon = home.freeze_daemon();
    let output = home.run(&["wait", &run, "--timeout", "8s"]).ends_with(5);
    assert_eq!(output.said.matches("--takeover").count(), 1, "{}", output.said);
    signal(daemon, rustix::process::Signal::CONT);
    home.go("go");
    let output = home.run(&["wait", &run]).ends_with(0);
    assert!(!output.said.contains("--takeover"), "{}", output.said);
    home.close();
}
