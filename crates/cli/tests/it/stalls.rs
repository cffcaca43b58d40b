//! Silence: a job without output and without work of its processes is said to be stalled, once, and
//! ends nothing; what works or writes is not.

use serde_json::json;

use crate::harness::Home;
use crate::plan_stage::Bell;

/// A home whose launchers are said to be silent after a short while.
fn home() -> Home {
    let home = Home::new();
    home.repo().write("tidegate.toml", "target = \"main\"\n[limits]\nstall_after = \"1s\"\n");
    home
}

#[test]
fn silent_launcher_is_told_once_and_cleared_when_it_goes_on() {
    let home = home();
    // It waits without a poll, which would be work.
    let bells = ["go-a", "go-b"].map(|name| Bell::new(&home.beside(name)));
    let script = "mark a; read -r _ <\"$T/go-a\"; echo again; read -r _ <\"$T/go-b\"";
    let run = home.script(&[], script);
    home.pid("a");
    let document = home.until(&run, "a warning", |run| run["attention"][0]["reason"] == "stalled");
    assert_eq!(document["status"], "running", "nothing is ended");
    // A warning is nobody's errand: a wait goes on.
    let waited = home.json(&["wait", &run, "--timeout", "0"]);
    assert_eq!(waited.code, 5, "{}", waited.text());
    home.kill_daemon();
    home.start_daemon();
    assert_eq!(home.status(&run)["attention"][0]["reason"], "stalled");
    bells[0].ring();
    home.until(&run, "no warning", |run| run["attention"] == json!([]));
    bells[1].ring();
    assert_eq!(home.ended(&run)["status"], "completed");
    let kinds = ["stalled", "stall-cleared"].map(|kind| home.events_of(&run, kind).len());
    assert!(kinds[0] >= 1 && kinds[0] - kinds[1] <= 1, "{kinds:?}");
    home.close();
}

#[test]
fn launcher_whose_processes_work_in_silence_is_not_stalled() {
    let home = home();
    let work = "mark a; timeout 4 sh -c 'while :; do :; done'; mark b; await go-b";
    let run = home.script(&[], work);
    home.pid("b");
    let told = home.events_of(&run, "stalled");
    home.go("go-b");
    home.ended(&run);
    assert!(told.is_empty(), "{told:?}");
    home.close();
}
