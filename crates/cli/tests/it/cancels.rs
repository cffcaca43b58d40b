//! Cancelling a run at each of its phases: nothing of it is left, and nothing of it starts.

use crate::harness::{Home, is_gone};

fn cancel(home: &Home, run: &str) {
    home.run(&["cancel", run, "--wait"]).ends_with(0);
    let document = home.status(run);
    assert_eq!(document["status"], "cancelled", "{document}");
    assert_eq!(document["terminalDisposition"], "cancelled");
    assert_eq!(document["recorded"], true);
    assert!(document["cancelRequestedBy"].is_string(), "{document}");
    assert!(home.processes(run).is_empty());
    // A run that waits is cancelled at once: there is no request to remember.
    assert!(home.events_of(run, "cancel-requested").len() <= 1);
    assert_eq!(home.events_of(run, "run-cancelled").len(), 1);
    home.run(&["wait", run]).ends_with(11);
}

#[test]
fn pending_run_that_is_cancelled_never_starts() {
    let home = Home::new();
    let first = home.script(&[], "mark a; await go");
    let second = home.script(&[], "count starts");
    home.pid("a");
    cancel(&home, &second);
    home.go("go");
    home.ended(&first);
    assert_eq!(home.lines("starts"), 0);
    home.close();
}

#[test]
fn running_tree_that_ignores_everything_is_ended_whole() {
    let home = Home::new();
    let run = home.script(&[], "trap '' TERM INT HUP
        setsid sh -c \"trap '' TERM HUP; echo \\$\\$ > $T/deep.new; mv $T/deep.new $T/deep; sleep 1000\" &
        ( ( setsid sleep 1001 & mark daemonised $! ) & )
        mark a; while :; do sleep 1; done");
    let pids = [home.pid("a"), home.pid("deep"), home.pid("daemonised")];
    cancel(&home, &run);
    assert!(pids.iter().all(|pid| is_gone(*pid)));
    home.close();
}

#[test]
fn degraded_run_that_is_cancelled_takes_its_agents_along() {
    let home = Home::new();
    let agent = home.program("agent", "mark dock; await never");
    let run = home.script(
        &[],
        &format!(
            "setsid sleep 1000 & tidegate agent register --id pier --pid $!; mark pier $!
         tidegate agent start --id dock -- {agent}; await dock; mark a; await never"
        ),
    );
    let (launcher, pier, dock) = (home.pid("a"), home.pid("pier"), home.pid("dock"));
    crate::harness::end(launcher);
    home.until(&run, "degraded", |d| d["recoveryState"] == "degraded" && d["recorded"] == true);
    cancel(&home, &run);
    assert!(is_gone(pier) && is_gone(dock));
    home.close();
}

#[test]
fn cancel_survives_the_death_of_the_daemon_that_took_it() {
    let home = Home::new();
    let run = home.script(&[], "trap '' TERM; mark a; while :; do sleep 1; done");
    let launcher = home.pid("a");
    home.run(&["cancel", &run]).ends_with(0);
    home.kill_daemon();
    assert_eq!(home.ended(&run)["status"], "cancelled");
    assert!(is_gone(launcher));
    home.close();
}

#[test]
fn run_that_has_ended_cannot_be_cancelled() {
    let home = Home::new();
    let run = home.script(&[], "exit 0");
    home.ended(&run);
    assert_eq!(home.json(&["cancel", &run]).ends_with(1).error(), "invalid_status_transition");
    assert_eq!(home.status(&run)["status"], "completed");
    assert_eq!(home.json(&["cancel", "r00nowhere"]).ends_with(1).error(), "not_found");
    home.close();
}

#[test]
fn cancel_that_is_asked_twice_is_recorded_once() {
    let home = Home::new();
    let run =
        home.script(&[], "trap 'await go; exit 0' TERM; mark a; while :; do sleep 0.05; done");
    home.pid("a");
    assert_eq!(home.data(&["cancel", &run])["alreadyAsked"], false);
    assert_eq!(home.data(&["cancel", &run])["alreadyAsked"], true);
    home.go("go");
    // It was asked to end before it ended with 0: that makes it cancelled, whatever its code.
    assert_eq!(home.ended(&run)["status"], "cancelled");
    assert_eq!(home.events_of(&run, "cancel-requested").len(), 1);
    home.close();
}
