//! A store that is damaged, lost its newest part, or was put back: it is found out, it can be
//! restored, and what was started meanwhile is neither started twice nor forgotten.

use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Home, end, is_gone, until};

fn store(home: &Home) -> PathBuf {
    home.path().join("store.db")
}

fn generation(home: &Home) -> u64 {
    let started = home.data(&["events", "--kind", "daemon-started", "--limit", "1000"]);
    let events = started["events"].as_array().unwrap();
    events.last().unwrap()["generation"].as_u64().unwrap()
}

fn strays(home: &Home) -> Vec<Value> {
    home.data(&["doctor", "--quarantine"])["strays"].as_array().unwrap().clone()
}

/// A launcher that lives on, of a run that a backup does not have; the run and the launcher.
fn one_behind_a_backup(home: &Home) -> (String, u32) {
    home.ended(&home.submit(&[], &["true"]));
    home.data(&["doctor", "--backup"]);
    let run = home.script(&[], "count starts; mark a; await go");
    let pid = home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    home.run(&["daemon", "stop"]).ends_with(0);
    (run, pid)
}

#[test]
fn restore_of_a_damaged_store_names_the_living_job_that_it_forgot_and_starts_nothing() {
    let home = Home::new();
    let (run, pid) = one_behind_a_backup(&home);
    let before = generation(&home);
    let mut bytes = std::fs::read(store(&home)).unwrap();
    bytes[4096] = 0x77;
    std::fs::write(store(&home), &bytes).unwrap();
    let refused = home.json(&["daemon", "run"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.text().contains("doctor --restore"), "{}", refused.text());

    let done = home.data(&["doctor", "--restore"]);
    assert!(done["transactionsLost"].as_u64().unwrap() > 0, "{done}");
    assert_eq!(done["strays"][0]["runId"], run.as_str(), "{done}");
    let kept = PathBuf::from(done["kept"].as_str().unwrap());
    assert_eq!(std::fs::read(kept.join("store.db")).unwrap(), bytes, "the damaged store is kept");

    let next = home.script(&[], "count later; exit 0");
    assert!(generation(&home) > before);
    assert_ne!(next[..7], run[..7], "its number was given before");
    let because = home.data(&["explain", &next]);
    let because = because["because"].as_str().unwrap();
    assert!(because.contains("doctor --quarantine"), "{because}");
    home.run(&["wait", &next, "--timeout", "1s"]).ends_with(5);
    assert_eq!(home.lines("later"), 0, "something started beside a job that nobody accounts for");

    let job = strays(&home)[0]["job"].as_str().unwrap().to_owned();
    let audit = home.json(&["doctor", "--audit"]).ends_with(1);
    assert!(audit.text().contains(&job), "{}", audit.text());
    home.data(&["doctor", "--quarantine", "stop", &job]);
    assert!(is_gone(pid));
    assert_eq!(home.ended(&next)["status"], "completed");
    assert_eq!(home.lines("starts"), 1);
    assert!(strays(&home).is_empty());
    home.close();
}

#[test]
fn kept_job_that_the_store_does_not_know_goes_on_and_holds_nothing_up() {
    let home = Home::new();
    let (_, pid) = one_behind_a_backup(&home);
    home.data(&["doctor", "--restore"]);
    home.start_daemon();
    let job = strays(&home)[0]["job"].as_str().unwrap().to_owned();
    assert_eq!(home.json(&["doctor", "--quarantine", "drop", &job]).code, 1, "it lives");
    home.data(&["doctor", "--quarantine", "keep", &job]);
    let next = home.script(&[], "exit 0");
    assert_eq!(home.ended(&next)["status"], "completed");
    assert!(!is_gone(pid), "a kept job was ended");
    home.go("go");
    until("its end", || is_gone(pid).then_some(()));
    until("its record", || (strays(&home)[0]["alive"] == false).then_some(()));
    home.data(&["doctor", "--quarantine", "drop", &job]);
    assert!(strays(&home).is_empty());
    home.close();
}

#[test]
fn restore_beside_a_daemon_or_without_a_whole_backup_is_refused() {
    let home = Home::new();
    home.ended(&home.submit(&[], &["true"]));
    home.run(&["daemon", "stop"]).ends_with(0);
    assert_eq!(home.json(&["doctor", "--restore"]).ends_with(1).error(), "not_found");
    let made = home.data(&["doctor", "--backup"]);
    let path = PathBuf::from(made["backup"].as_str().unwrap());
    home.start_daemon();
    let refused = home.json(&["doctor", "--restore"]);
    assert_ne!(refused.code, 0);
    assert_eq!(refused.error(), "busy");
    home.run(&["daemon", "stop"]).ends_with(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    std::fs::write(&path, bytes).unwrap();
    let refused = home.json(&["doctor", "--restore"]);
    assert_eq!(refused.ends_with(1).error(), "not_found");
    let other = Home::new();
    other.ended(&other.submit(&[], &["true"]));
    let foreign = other.data(&["doctor", "--backup"])["backup"].as_str().unwrap().to_owned();
    let refused = home.json(&["doctor", "--restore", &foreign]);
    assert_eq!(refused.ends_with(1).error(), "invalid_input", "another home's store was taken");
    other.close();
    assert_eq!(home.data(&["list"])["runs"].as_array().unwrap().len(), 1);
    home.close();
}

#[test]
#[cfg(feature = "failpoints")]
fn restore_that_is_killed_anywhere_leaves_no_empty_store_and_can_be_begun_again() {
    for point in [
        "store.restore.after_mark",
        "store.restore.before_remove_log",
        "store.restore.before_rename",
        "store.restore.after_rename",
    ] {
        let home = Home::new();
        let run = home.submit(&[], &["true"]);
        home.ended(&run);
        home.data(&["doctor", "--backup"]);
        home.run(&["daemon", "stop"]).ends_with(0);
        let mut call = home.call(&["doctor", "--restore"]);
        let output = call.env("TIDEGATE_FAIL", format!("{point}=kill")).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {output:?}");
        let refused = home.json(&["daemon", "run", "--once"]);
        assert_ne!(refused.code, 0, "{point}: {refused:?}");
        home.data(&["doctor", "--restore"]);
        assert_eq!(home.status(&run)["status"], "completed", "{point}");
        home.ended(&home.submit(&[], &["true"]));
        home.close();
    }
}

#[test]
fn log_cut_at_any_place_is_found_out_and_no_number_is_given_twice() {
    for part in [1, 3, 5, 7] {
        let home = Home::new();
        let daemon = home.start_daemon();
        let runs: Vec<String> = (0..4).map(|_| home.submit(&[], &["true"])).collect();
        for run in &runs {
            home.ended(run);
        }
        let before = generation(&home);
        end(daemon);
        let log = home.path().join("store.db-wal");
        let length = std::fs::metadata(&log).unwrap().len();
        assert!(length > 0, "there is nothing to cut");
        let file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
        file.set_len(length * part / 8).unwrap();
        drop(file);
        home.start_daemon();
        assert!(generation(&home) > before, "{part}: it was not found out");
        let next = home.submit(&["--adhoc-run", "next"], &["true"]);
        assert!(runs.iter().all(|run| run[..7] != next[..7]), "{part}: {next} of {runs:?}");
        home.ended(&next);
        // What a run of the cut store would start again was started before: a person is asked.
        for run in home.data(&["list", "--status", "running"])["runs"].as_array().unwrap() {
            assert_eq!(run["attention"][0]["reason"], "quarantine", "{part}: {run:#}");
            home.run(&["cancel", run["runId"].as_str().unwrap(), "--wait"]).ends_with(0);
        }
        // Jobs of runs that are gone are named, and can be put away.
        for stray in strays(&home) {
            home.data(&["doctor", "--quarantine", "drop", stray["job"].as_str().unwrap()]);
        }
        home.close();
    }
}

#[test]
fn one_bit_of_the_log_is_found_out() {
    let home = Home::new();
    let daemon = home.start_daemon();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    let before = generation(&home);
    end(daemon);
    let log = home.path().join("store.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&log, bytes).unwrap();
    home.start_daemon();
    assert!(generation(&home) > before);
    home.ended(&home.submit(&[], &["true"]));
    for stray in strays(&home) {
        home.data(&["doctor", "--quarantine", "drop", stray["job"].as_str().unwrap()]);
    }
    home.close();
}

#[test]
fn yesterdays_home_with_todays_jobs_gives_no_token_and_no_start_twice() {
    let home = Home::new();
    home.ended(&home.submit(&[], &["true"]));
    home.run(&["daemon", "stop"]).ends_with(0);
    // All that a backup of files may bring back: the store, its log, and the highwater itself.
    let names = ["store.db", "store.db-wal", "store.db-shm", "highwater"];
    let yesterday = names.map(|name| std::fs::read(home.path().join(name)).unwrap());
    let run = home.script(&[], "count starts; mark a; await go");
    let pid = home.pid("a");
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let before = (generation(&home), home.data(&["daemon", "status"])["epoch"].as_u64().unwrap());
    home.run(&["daemon", "stop"]).ends_with(0);
    for (name, bytes) in names.iter().zip(yesterday) {
        std::fs::write(home.path().join(name), bytes).unwrap();
    }
    home.start_daemon();
    let after = (generation(&home), home.data(&["daemon", "status"])["epoch"].as_u64().unwrap());
    assert!(after.0 > before.0 && after > before, "{before:?} {after:?}");
    let next = home.script(&[], "exit 0");
    home.run(&["wait", &next, "--timeout", "1s"]).ends_with(5);
    assert!(!is_gone(pid));
    home.go("go");
    // With its end the hold ends.
    assert_eq!(home.ended(&next)["status"], "completed");
    assert_eq!(home.lines("starts"), 1);
    let job = strays(&home)[0]["job"].as_str().unwrap().to_owned();
    assert_eq!(strays(&home)[0]["exitCode"], 0);
    home.data(&["doctor", "--quarantine", "drop", &job]);
    home.close();
}

#[test]
fn store_is_copied_as_work_is_done_and_the_oldest_copies_go() {
    let home = Home::new();
    home.start_daemon();
    let mut made = Vec::new();
    for _ in 0..6 {
        home.ended(&home.submit(&[], &["true"]));
        made.push(home.data(&["doctor", "--backup"])["backup"].as_str().unwrap().to_owned());
    }
    assert!(home.data(&["doctor", "--backup"])["backup"].is_null(), "nothing happened since");
    let kept: Vec<bool> = made.iter().map(|path| PathBuf::from(path).exists()).collect();
    assert_eq!(kept, [false, false, true, true, true, true]);
    home.close();
}
