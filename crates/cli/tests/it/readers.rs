//! Reading writes nothing: not a byte, not a time, not a process; with a daemon, without one, and
//! where nothing can be written.

use std::process::{Command, Stdio};

use crate::harness::{Fence, Home, digest, is_as_before, namespace};

/// Readers at once.
const READERS: usize = 50;

/// Every verb that only reads, one call a line; `RUN` is a run.
const VERBS: &[&str] = &[
    "status",
    "status RUN",
    "status RUN --oneline",
    "status --wave 1",
    "list",
    "list --status running",
    "events",
    "events RUN",
    "explain RUN",
    "logs RUN",
    "daemon status",
    "project list",
    "config show",
    "wait RUN --timeout 0",
    "doctor",
    "doctor --verify",
    "doctor --audit",
    "doctor --quarantine",
];

fn words(verb: &str, run: &str) -> Vec<String> {
    verb.split(' ').map(|word| word.replace("RUN", run)).collect()
}

/// Calls every verb once and asserts that it could read.
fn read_all(home: &Home, run: &str) {
    for verb in VERBS {
        let output = home.json(&words(verb, run));
        let waits = verb.starts_with("wait");
        assert!(output.code == 0 || waits && [5, 10].contains(&output.code), "{verb}: {output:?}");
    }
}

/// Fifty readers at once, each with other verbs first.
fn read_by_many(home: &Home, run: &str) {
    let start = |at: usize| {
        let words = words(VERBS[at % VERBS.len()], run);
        let mut call = home.call(&words);
        call.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for mut reader in (0..READERS).map(start).collect::<Vec<_>>() {
        let code = reader.wait().unwrap().code().unwrap();
        assert!([0, 5, 10].contains(&code), "{code}");
    }
}

/// A home with a run that has ended, one that runs with an agent, and one that waits; the second.
fn lively() -> (Home, String) {
    let home = Home::new();
    home.ended(&home.script(&["--start-wave", "1"], "echo out; exit 3"));
    let run = home.script(
        &["--start-wave", "1"],
        "echo out; setsid sleep 1000 & tidegate agent register --id pier --pid $!
         tidegate progress --wave 2; mark a; await go",
    );
    home.script(&[], "exit 0");
    home.pid("a");
    home.until(&run, "ingested", |d| d["recorded"] == true && d["activeWave"] == 2);
    (home, run)
}

fn finish(home: Home, run: &str) {
    home.go("go");
    home.ended(run);
    let waiting = home.data(&["list", "--status", "pending"]);
    waiting["runs"].as_array().unwrap().iter().for_each(|run| {
        home.ended(run["runId"].as_str().unwrap());
    });
    home.close();
}

#[test]
fn readers_beside_a_daemon_that_stands_still_change_no_byte() {
    let (home, run) = lively();
    let daemon = home.freeze_daemon();
    let before = digest(&home.path());
    read_all(&home, &run);
    read_by_many(&home, &run);
    is_as_before(&home.path(), &before);
    crate::harness::signal(daemon, rustix::process::Signal::CONT);
    finish(home, &run);
}

#[test]
fn readers_without_a_daemon_change_no_byte_and_start_none() {
    for killed in [true, false] {
        let (home, run) = lively();
        if killed {
            home.kill_daemon();
        } else {
            home.run(&["daemon", "stop"]).ends_with(0);
        }
        let before = digest(&home.path());
        read_all(&home, &run);
        read_by_many(&home, &run);
        is_as_before(&home.path(), &before);
        assert!(home.daemon().is_none());
        let document = home.status(&run);
        assert_eq!(document["supervised"], false);
        assert_eq!(document["status"], "running");
        finish(home, &run);
    }
}

#[test]
fn readers_of_a_home_that_is_not_there_do_not_make_it() {
    let home = Home::new();
    for verb in VERBS.iter().filter(|verb| !verb.contains("RUN")) {
        let output = home.json(&words(verb, ""));
        assert!([0, 1].contains(&output.code), "{verb}: {output:?}");
    }
    assert!(!home.path().exists());
}

#[test]
fn readers_on_a_read_only_home_see_what_others_see() {
    let (home, run) = lively();
    let mounts = "mount --bind \"$TIDEGATE_HOME\" \"$TIDEGATE_HOME\"
        mount -o remount,bind,ro \"$TIDEGATE_HOME\"; ! touch \"$TIDEGATE_HOME/x\" 2>/dev/null";
    let Some(place) = namespace(&home, mounts) else {
        println!("skipped: no mount namespaces here");
        return;
    };
    // With a daemon that works outside of the namespace, then without one.
    for phase in ["daemon", "killed", "stopped"] {
        home.enter(Some(place.pid()));
        read_all(&home, &run);
        read_by_many(&home, &run);
        home.enter(None);
        match phase {
            "daemon" => home.kill_daemon(),
            "killed" => {
                home.start_daemon();
                home.run(&["daemon", "stop"]).ends_with(0);
            }
            _ => {}
        }
    }
    drop(place);
    finish(home, &run);
}

#[test]
fn readers_in_a_loop_do_not_disturb_runs_that_go_on() {
    let home = Home::new();
    home.start_daemon();
    let place = namespace(
        &home,
        "mount --bind \"$TIDEGATE_HOME\" \"$TIDEGATE_HOME\"
        mount -o remount,bind,ro \"$TIDEGATE_HOME\"",
    );
    let Some(place) = place else {
        println!("skipped: no mount namespaces here");
        return;
    };
    let reader = home.program(
        "reader",
        "while [ ! -e $T/enough ]; do tidegate list >/dev/null && tidegate --json status >/dev/null \
         && tidegate events >/dev/null || count failures; done",
    );
    let readers: Vec<Fence> = (0..4)
        .map(|_| {
            let target = place.pid().to_string();
            let mut call = Command::new("nsenter");
            call.args(["--mount", "--target", &target, "env", "-C"]).arg(home.repo().root());
            home.place(&mut call);
            Fence::start(call.arg(&reader))
        })
        .collect();
    let runs: Vec<String> = (0..20)
        .map(|n| home.script(&["--adhoc-run", &format!("q{}", n % 4)], "count starts; exit 2"))
        .collect();
    for run in &runs {
        assert_eq!(home.ended(run)["exitCode"], 2);
        assert_eq!(home.events_of(run, "run-failed").len(), 1);
    }
    home.go("enough");
    for mut reader in readers {
        assert_eq!(reader.code(), 0);
    }
    assert_eq!((home.lines("starts"), home.lines("failures")), (20, 0));
    drop(place);
    home.close();
}
