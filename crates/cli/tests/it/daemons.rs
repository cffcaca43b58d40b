//! Daemons of one home: exactly one at a time, whoever starts how many; what stopping means; what a
//! new one takes over.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Fence, Home, is_gone, signal, until};

/// Races in all, and on one home: each on what the killed daemon of the one before left.
const RACES: usize = 50;
const RACES_PER_HOME: usize = 10;

/// Starts `number` daemons at once on a home that is at `epoch`; asserts that one of them runs and
/// wrote, and kills it.
fn race(home: &Home, number: usize, epoch: u64) {
    let start = || {
        let mut daemon = home.call(&["daemon", "run"]);
        daemon.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut running: Vec<_> = (0..number).map(|_| start()).collect();
    let mut ended = Vec::new();
    until("all but one end", || {
        let (done, rest): (Vec<_>, Vec<_>) =
            running.drain(..).partition(|child| is_gone(child.id()));
        ended.extend(done);
        running = rest;
        (running.len() <= 1).then_some(())
    });
    for child in ended {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("already running"), "{said:?}");
    }
    let mut winner = running.pop().expect("none is left");
    let note = until("the winner's note", || {
        let note = home.data(&["daemon", "status"]);
        assert_eq!(note["running"], true, "{note}");
        Some(note).filter(|note| note["epoch"].is_u64())
    });
    assert_eq!(note["pid"], winner.id());
    assert_eq!(note["epoch"], epoch + 1, "more than one wrote");
    signal(winner.id(), Signal::KILL);
    winner.wait().unwrap();
}

#[test]
fn daemons_that_start_at_once_are_one() {
    let mut home = Home::new();
    for number in 0..RACES {
        if number > 0 && number % RACES_PER_HOME == 0 {
            home.close();
            home = Home::new();
        }
        race(&home, 2 + number % 7, u64::try_from(number % RACES_PER_HOME).unwrap());
    }
    home.close();
}

#[test]
fn submits_that_come_at_once_to_a_home_without_a_daemon_all_count() {
    let home = Home::new();
    let runs: Vec<String> = std::thread::scope(|scope| {
        let submits: Vec<_> =
            (0..8).map(|_| scope.spawn(|| home.script(&[], "count starts"))).collect();
        submits.into_iter().map(|submit| submit.join().unwrap()).collect()
    });
    for run in &runs {
        assert_eq!(home.ended(run)["status"], "completed");
    }
    assert_eq!(home.lines("starts"), 8);
    assert_eq!(home.data(&["daemon", "status"])["epoch"], 1);
    home.close();
}

#[test]
fn daemon_beside_a_living_one_says_so_and_ends_well() {
    let home = Home::new();
    assert_eq!(home.data(&["daemon", "status"])["running"], false);
    assert!(!home.path().exists(), "looking made the home");
    let pid = home.start_daemon();
    for words in [&["daemon", "run"], &["daemon", "start"]] {
        let output = home.run(words).ends_with(0);
        assert!(output.text().contains("already running"), "{output:?}");
    }
    let status = home.data(&["daemon", "status"]);
    assert_eq!((&status["pid"], &status["epoch"]), (&json!(pid), &json!(1)));
    assert!(status["supervisorId"].is_string() && status["acquiredAt"].is_string());
    home.close();
}

#[test]
fn new_daemon_takes_over_what_runs_within_a_second_and_restarts_nothing() {
    let home = Home::new();
    let run = home.script(
        &[],
        "count starts; setsid sleep 1000 & tidegate agent register --id pier --pid $!; mark pier $!
         mark a; await go; exit 3",
    );
    let (launcher, pier) = (home.pid("a"), home.pid("pier"));
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let mut fastest = Duration::MAX;
    for round in 1..=3 {
        home.kill_daemon();
        let begun = Instant::now();
        home.start_daemon();
        home.until(&run, "adopted", |_| home.events_of(&run, "daemon-adopted").len() == round);
        fastest = fastest.min(begun.elapsed());
        let document = home.status(&run);
        assert_eq!(document["launcherPid"], launcher);
        assert_eq!((&document["recorded"], &document["supervised"]), (&json!(true), &json!(true)));
        assert!(!is_gone(launcher) && !is_gone(pier));
    }
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    home.go("go");
    assert_eq!(home.ended(&run)["exitCode"], 3);
    assert_eq!(home.lines("starts"), 1);
    home.close();
}

#[test]
fn stopped_daemon_has_let_go_of_its_lock_and_starts_nothing_any_more() {
    let home = Home::new();
    let first = home.script(&[], "mark a; await go");
    let second = home.script(&[], "count starts");
    let launcher = home.pid("a");
    home.run(&["daemon", "stop"]).ends_with(0);
    assert_eq!(home.data(&["daemon", "status"])["running"], false);
    assert!(!is_gone(launcher), "stopping the daemon stopped a job");
    home.go("go");
    let document = home.until(&first, "its end", |d| d["status"] == "completed");
    assert_eq!(document["recorded"], false);
    assert_eq!(
        (home.status(&second)["status"].clone(), home.lines("starts")),
        (json!("pending"), 0)
    );
    assert!(home.run(&["daemon", "stop"]).ends_with(0).text().contains("no daemon"));
    assert_eq!(home.ended(&second)["status"], "completed");
    assert_eq!(home.status(&first)["recorded"], true);
    home.close();
}

#[test]
fn daemon_that_runs_once_ends_when_nothing_runs_and_nothing_waits() {
    let home = Home::new();
    let runs = [home.script(&[], "mark a; await go"), home.script(&[], "exit 0")];
    home.pid("a");
    home.run(&["daemon", "stop"]).ends_with(0);
    let mut once = home.call(&["daemon", "run", "--once"]);
    let mut once = Fence::start(once.stderr(Stdio::null()));
    home.until(&runs[0], "supervised", |d| d["supervised"] == true);
    home.go("go");
    assert_eq!(once.code(), 0);
    assert!(runs.iter().all(|run| {
        let document = home.status(run);
        document["status"] == "completed" && document["recorded"] == true
    }));
    home.close();
}

#[test]
fn draining_daemon_finishes_its_work_first() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await go");
    home.pid("a");
    let mut stop = home.call(&["daemon", "stop", "--drain"]);
    let mut stop = Fence::start(stop.stdout(Stdio::null()));
    assert!(home.daemon().is_some());
    home.go("go");
    assert_eq!(stop.code(), 0);
    let document = home.status(&run);
    assert_eq!((&document["status"], &document["recorded"]), (&json!("completed"), &json!(true)));
    home.close();
}

#[test]
fn storm_of_signals_is_one_orderly_end() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await go; exit 4");
    home.pid("a");
    let daemon = home.daemon().unwrap();
    for _ in 0..200 {
        signal(daemon, Signal::HUP);
    }
    assert!(!is_gone(daemon), "a hangup is no reason to end");
    for _ in 0..200 {
        signal(daemon, Signal::TERM);
        signal(daemon, Signal::INT);
    }
    until("the daemon's end", || home.daemon().is_none().then_some(()));
    home.start_daemon();
    home.go("go");
    assert_eq!(home.ended(&run)["exitCode"], 4);
    home.close();
}

#[test]
fn restart_brings_another_daemon_with_the_next_epoch() {
    let home = Home::new();
    let before = home.start_daemon();
    home.run(&["daemon", "restart"]).ends_with(0);
    let after = home.daemon().unwrap();
    assert_ne!(before, after);
    assert_eq!(home.data(&["daemon", "status"])["epoch"], 2);
    home.close();
}

#[test]
fn daemon_whose_home_is_gone_ends() {
    let home = Home::new();
    let daemon = home.start_daemon();
    std::fs::rename(home.path(), home.beside("elsewhere")).unwrap();
    std::fs::remove_dir_all(home.beside("elsewhere")).unwrap();
    until("the daemon's end", || is_gone(daemon).then_some(()));
    assert!(!home.path().exists());
}
