//! The audit itself: each thing that must not be is found and named, and what can be mended by a new
//! daemon is.

use std::process::Command;

use serde_json::Value;

#[cfg(feature = "failpoints")]
use crate::harness::end;
use crate::harness::{Fence, Home, is_gone, namespace, signal, until};

/// The findings of an audit: invariant and text of each.
fn findings(home: &Home) -> Vec<(String, String)> {
    let output = home.json(&["doctor", "--audit"]);
    let found = output.data()["audit"]["findings"].as_array().unwrap().clone();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    found.iter().map(|it| (text(it, "invariant"), it.to_string())).collect()
}

/// A run that has ended, and the tag that its job had.
fn ended_run(home: &Home) -> (String, String) {
    let run = home.script(&[], "echo \"$TIDEGATE_RUN_TAG\" > $T/tag.new; mv $T/tag.new $T/tag");
    home.ended(&run);
    (run, home.appears("tag").trim().to_owned())
}

#[test]
fn process_of_a_run_that_has_ended_is_found_and_ended_by_the_next_daemon() {
    let home = Home::new();
    let (_, tag) = ended_run(&home);
    home.run(&["daemon", "stop"]).ends_with(0);
    assert!(findings(&home).is_empty());
    let mut left = Command::new("sleep");
    let left = Fence::start(left.arg("1000").env_clear().env("TIDEGATE_RUN_TAG", &tag));
    let stranger = Fence::start(
        Command::new("sleep").arg("1000").env("TIDEGATE_RUN_TAG", tag.replacen(':', "x:", 1)),
    );
    let found = findings(&home);
    assert_eq!((found.len(), found[0].0.as_str()), (1, "I4"), "{found:?}");
    assert!(found[0].1.contains(&left.pid().to_string()), "{found:?}");
    home.start_daemon();
    until("its end", || is_gone(left.pid()).then_some(()));
    assert!(!is_gone(stranger.pid()), "a process of another home was ended");
    drop((left, stranger));
    home.close();
}

#[test]
fn highwater_that_is_gone_or_ahead_and_worktrees_of_nobody_are_found() {
    let home = Home::new();
    ended_run(&home);
    home.run(&["daemon", "stop"]).ends_with(0);
    let names = ["store.db", "store.db-wal", "store.db-shm"];
    let before = names.map(|name| std::fs::read(home.path().join(name)).unwrap());
    home.ended(&home.submit(&[], &["true"]));
    home.run(&["daemon", "stop"]).ends_with(0);
    let newest = names.map(|name| std::fs::read(home.path().join(name)).unwrap());
    for (name, bytes) in names.iter().zip(before) {
        std::fs::write(home.path().join(name), bytes).unwrap();
    }
    let found = findings(&home);
    assert!(found.iter().any(|(which, text)| which == "I7" && text.contains("back in time")));
    assert!(found.iter().any(|(which, _)| which == "I1"), "its job is not known: {found:?}");
    for (name, bytes) in names.iter().zip(newest) {
        std::fs::write(home.path().join(name), bytes).unwrap();
    }
    assert!(findings(&home).is_empty());

    let path = home.path().join("worktrees/harbour/berths-r000009zzzz");
    let place = path.display().to_string();
    home.repo().git(&["worktree", "add", "--quiet", "--detach", &place, "HEAD"]);
    let found = findings(&home);
    assert_eq!((found.len(), found[0].0.as_str()), (1, "I8"), "{found:?}");
    home.repo().git(&["worktree", "remove", "--force", &place]);

    std::fs::remove_file(home.path().join("highwater")).unwrap();
    let found = findings(&home);
    assert_eq!((found.len(), found[0].0.as_str()), (1, "I7"), "{found:?}");
    home.start_daemon();
    home.close();
}

#[test]
fn daemon_from_another_mount_namespace_finds_the_lock_held() {
    let home = Home::new();
    let first = home.start_daemon();
    let Some(place) = namespace(&home, "mount -t tmpfs tmpfs /mnt") else {
        return println!("skipped: no mount namespace can be made");
    };
    home.enter(Some(place.pid()));
    let epoch = home.data(&["daemon", "status"])["epoch"].clone();
    let output = home.run(&["daemon", "run"]).ends_with(0);
    assert!(output.said.contains("already running") || output.text().contains("already running"));
    home.enter(None);
    assert_eq!(home.daemon(), Some(first));
    assert_eq!(home.data(&["daemon", "status"])["epoch"], epoch, "the loser wrote");
    drop(place);
    home.close();
}

#[test]
#[cfg(feature = "failpoints")]
fn slow_disk_delays_everything_and_fails_nothing() {
    let home = Home::new();
    let daemon = home.daemon_with(&[("TIDEGATE_FAIL", "store.highwater.before_sync=slow")]);
    let runs: Vec<String> = (0..3)
        .map(|n| home.submit(&["--adhoc-run", &format!("q{n}")], &["sh", "-c", "exit 4"]))
        .collect();
    for run in &runs {
        assert_eq!(home.ended(run)["exitCode"], 4);
        assert_eq!(home.events_of(run, "job-created").len(), 1);
    }
    assert_eq!(home.daemon(), Some(daemon.pid()), "it was replaced");
    assert_eq!(home.data(&["daemon", "status"])["epoch"], 1);
    home.run(&["daemon", "stop"]).ends_with(0);
    drop(daemon);
    home.close();
}

/// A frozen control group, removed at the end.
struct Freezer(std::path::PathBuf);

impl Freezer {
    fn around(pid: u32) -> Option<Self> {
        let path = format!("/sys/fs/cgroup/freezer/tidegate-it-{pid}");
        std::fs::create_dir(&path).ok()?;
        let freezer = Self(path.into());
        std::fs::write(freezer.0.join("cgroup.procs"), pid.to_string()).ok()?;
        freezer.turn("FROZEN").then_some(freezer)
    }

    fn turn(&self, state: &str) -> bool {
        std::fs::write(self.0.join("freezer.state"), state).is_ok()
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.turn("THAWED");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while std::fs::remove_dir(&self.0).is_err() && std::time::Instant::now() < deadline {
            std::thread::yield_now();
        }
    }
}

#[test]
fn process_that_cannot_be_ended_keeps_its_run_open_and_asks_a_person() {
    let home = Home::new();
    let run = home.script(&[], "setsid sleep 1000 & mark a $!; trap '' TERM; wait; await never");
    let stuck = home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let Some(freezer) = Freezer::around(stuck) else {
        let _ = home.run(&["cancel", &run, "--wait"]);
        return println!("skipped: there is no freezer to keep a process from ending");
    };
    home.run(&["cancel", &run]).ends_with(0);
    let document = home.until(&run, "to ask a person", |d| {
        d["attention"].as_array().is_some_and(|items| !items.is_empty())
    });
    assert_eq!(document["status"], "running", "{document:#}");
    assert_eq!(document["attention"][0]["reason"], "requires_human");
    let message = document["attention"][0]["message"].as_str().unwrap();
    assert!(message.contains(&stuck.to_string()), "{message}");
    // Neither a new daemon nor time makes it done.
    home.kill_daemon();
    home.start_daemon();
    assert_eq!(home.status(&run)["status"], "running");
    assert!(freezer.turn("THAWED"));
    // A person is asked until the stop is tried again.
    let end = home.json(&["wait", &run, "--ignore-attention", "--timeout", "60s"]);
    assert_eq!(end.ends_with(11).data()["status"], "cancelled");
    assert!(is_gone(stuck));
    assert!(home.status(&run)["attention"].as_array().unwrap().is_empty());
    drop(freezer);
    home.close();
}

#[test]
fn storm_of_signals_on_a_shim_and_a_double_interrupt_are_one_end() {
    let home = Home::new();
    let run = home.script(&[], "mark a; sleep 1000 & wait");
    home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let shim = home.status(&run)["shimIdentity"]["pid"].as_u64().unwrap();
    let shim = u32::try_from(shim).unwrap();
    let kinds = [rustix::process::Signal::HUP, rustix::process::Signal::INT];
    for _ in 0..500 {
        for kind in kinds {
            signal(shim, kind);
        }
        signal(shim, rustix::process::Signal::TERM);
    }
    home.ended(&run);
    assert_eq!(home.events_of(&run, "job-finished").len(), 1);
    until("the shim's end", || is_gone(shim).then_some(()));
    home.close();
}

#[test]
#[cfg(feature = "failpoints")]
fn migration_that_is_killed_anywhere_is_done_whole_by_the_next_daemon() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/compat");
    let mut names: Vec<_> =
        std::fs::read_dir(samples).unwrap().flatten().map(|entry| entry.path()).collect();
    names.sort();
    let oldest = names.iter().find(|path| path.extension().is_some_and(|kind| kind == "db"));
    let oldest = oldest.expect("a sample of an older store").clone();
    for point in [
        "store.migrate.before_backup",
        "store.migrate.after_backup",
        "store.migrate.before_step",
        "store.migrate.before_commit",
        "store.migrate.after_commit",
    ] {
        let home = Home::new();
        std::fs::create_dir(home.path()).unwrap();
        std::fs::copy(&oldest, home.path().join("store.db")).unwrap();
        let mut call = home.call(&["daemon", "run"]);
        let output = call.env("TIDEGATE_FAIL", format!("{point}=kill")).output().unwrap();
        if output.status.code().is_some() {
            assert!(!output.status.success(), "{point}: it was not come to: {output:?}");
        }
        let daemon = home.start_daemon();
        home.ended(&home.submit(&["--adhoc-run", "new"], &["true"]));
        end(daemon);
        home.verify_store();
        let kept = std::fs::read_dir(home.path().join("backups")).unwrap().count();
        assert!(kept >= 1, "{point}: no copy was kept");
    }
}
