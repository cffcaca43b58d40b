//! What a user sees first: a command is submitted, everything is killed, the result is still told.

use crate::harness::Home;

#[test]
fn failed_run_of_a_killed_daemon_is_told_with_its_code() {
    let home = Home::new();
    let run = home.submit(&[], &["sh", "-c", "exit 3"]);
    home.kill_daemon();
    let output = home.json(&["wait", &run]).ends_with(10);
    let document = output.data();
    assert_eq!(document["status"], "failed");
    assert_eq!(document["exitCode"], 3);
    assert_eq!(document["recorded"], true);
    home.run(&["wait", &run, "--exit-code"]).ends_with(3);
    home.close();
}

#[test]
fn run_that_was_acknowledged_survives_the_kill_of_its_daemon() {
    let home = Home::new();
    let pid = home.start_daemon();
    let run = home.submit(&[], &["sh", "-c", "echo started >> $T/starts"]);
    crate::harness::end(pid);
    assert_eq!(home.status(&run)["runId"], run.as_str());
    let document = home.ended(&run);
    assert_eq!(document["status"], "completed");
    assert_eq!(document["exitCode"], 0);
    assert_eq!(home.lines("starts"), 1);
    home.close();
}
