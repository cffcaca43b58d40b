//! Deaths at fail points that no scene of the kill matrix comes to: each needs something around it that a user, another
//! machine or an earlier death left.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Fence, Home, Repo, is_gone, mentioning, signal, until};
use crate::plan_stage::{Stage, one_wave};

const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;

/// Starts a daemon that is killed at a point, and waits for its death.
fn dies(home: &Home, point: &str) {
    let fault = format!("{point}=kill");
    let daemon = home.daemon_with(&[("TIDEGATE_FAIL", &fault)]);
    until(point, || is_gone(daemon.pid()).then_some(()));
}

/// A daemon that will be killed at a point.
fn armed(home: &Home, point: &str) -> Fence {
    home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}=kill"))])
}

#[test]
fn log_whose_daemon_dies_while_it_is_set_aside_loses_no_line() {
    for point in ["daemon.log.before_rename", "daemon.log.after_rename"] {
        let home = Home::new();
        home.start_daemon();
        home.run(&["daemon", "stop"]).ends_with(0);
        let log = home.path().join("daemon.log");
        let full = "a line of before\n".repeat((8 << 20) / 17 + 1);
        fs::write(&log, &full).unwrap();
        let once = home.beside("once");
        fs::create_dir(&once).unwrap();
        let mut start = home.call(&["daemon", "start"]);
        start.env("TIDEGATE_FAIL", format!("{point}=kill")).env("TIDEGATE_FAIL_ONCE", &once);
        let _ = start.output().unwrap();
        assert_eq!(fs::read_dir(&once).unwrap().count(), 1, "{point} was not come to");
        home.start_daemon();
        let aside = fs::read_to_string(home.path().join("daemon.log.1")).unwrap();
        assert!(aside.starts_with(&full), "{point}: another log was set aside");
        assert!(fs::metadata(&log).unwrap().len() < 1 << 20, "{point}");
        home.close();
    }
}

#[test]
fn backup_that_is_killed_anywhere_is_no_backup_or_a_whole_one() {
    for point in ["store.backup.before_rename", "store.backup.after_rename"] {
        let home = Home::new();
        let run = home.submit(&[], &["true"]);
        home.ended(&run);
        home.run(&["daemon", "stop"]).ends_with(0);
        let mut call = home.call(&["doctor", "--backup"]);
        let output = call.env("TIDEGATE_FAIL", format!("{point}=kill")).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {output:?}");
        let again = home.data(&["doctor", "--backup"]);
        assert_eq!(again["backup"].is_null(), point.contains("after"), "{point}: {again}");
        home.data(&["doctor", "--restore"]);
        assert_eq!(home.status(&run)["status"], "completed", "{point}");
        home.close();
    }
}

#[test]
fn takeover_that_dies_once_the_old_daemon_is_dead_leaves_the_home_to_the_next() {
    let home = Home::new();
    let run = home.script(&[], "count starts; mark a; await go; exit 3");
    let launcher = home.pid("a");
    home.until(&run, "recorded", |document| document["recorded"] == true);
    let old = home.freeze_daemon();
    let mut takeover = home.call(&["daemon", "start", "--takeover"]);
    takeover.env("TIDEGATE_FAIL", "daemon.takeover.after_kill=kill");
    assert_eq!(takeover.output().unwrap().status.code(), None);
    until("the old daemon's end", || is_gone(old).then_some(()));
    home.start_daemon();
    assert!(!is_gone(launcher));
    home.go("go");
    assert_eq!(home.ended(&run)["exitCode"], 3);
    assert_eq!(home.lines("starts"), 1);
    home.close();
}

#[test]
fn job_that_is_withdrawn_by_a_daemon_that_dies_there_never_starts() {
    for point in ["jobdir.before_withdraw", "jobdir.after_withdraw"] {
        let home = Home::new();
        let fault = format!("shim.before_lock=stop;{point}=kill");
        let daemon = home.daemon_with(&[("TIDEGATE_FAIL", &fault)]);
        let run = home.script(&[], "count starts; await never");
        let shim = until("a stopped shim", || {
            let shims = mentioning(&format!("{}/jobs/", home.path().display()));
            shims.into_iter().find(|pid| {
                let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
            })
        });
        home.run(&["cancel", &run]).ends_with(0);
        until(point, || is_gone(daemon.pid()).then_some(()));
        assert_eq!(home.ended(&run)["status"], "cancelled", "{point}");
        signal(shim, Signal::CONT);
        until("the shim's end", || is_gone(shim).then_some(()));
        assert_eq!(home.lines("starts"), 0, "{point}");
        home.close();
    }
}

#[test]
fn generation_that_rises_while_its_daemon_dies_is_given_once() {
    for point in ["store.generation.before_commit", "store.generation.after_commit"] {
        let home = Home::new();
        home.ended(&home.submit(&[], &["true"]));
        home.run(&["daemon", "stop"]).ends_with(0);
        let names = ["store.db", "store.db-wal", "store.db-shm", "highwater"];
        let yesterday = names.map(|name| fs::read(home.path().join(name)).unwrap());
        let run = home.script(&[], "count starts; mark a; await go");
        home.pid("a");
        home.until(&run, "recorded", |document| document["recorded"] == true);
        home.run(&["daemon", "stop"]).ends_with(0);
        for (name, bytes) in names.iter().zip(yesterday) {
            fs::write(home.path().join(name), bytes).unwrap();
        }
        let mut start = home.call(&["daemon", "run"]);
        let output = start.env("TIDEGATE_FAIL", format!("{point}=kill")).output().unwrap();
        assert_eq!(output.status.code(), None, "{point}: {output:?}");
        home.start_daemon();
        let started = home.data(&["events", "--kind", "daemon-started", "--limit", "1000"]);
        let tokens: Vec<(u64, u64)> = started["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| (event["generation"].as_u64().unwrap(), event["epoch"].as_u64().unwrap()))
            .collect();
        assert!(tokens.windows(2).all(|pair| pair[0] < pair[1]), "{point}: {tokens:?}");
        let job = home.data(&["doctor", "--quarantine"])["strays"][0]["job"].clone();
        home.data(&["doctor", "--quarantine", "stop", job.as_str().unwrap()]);
        assert_eq!(home.lines("starts"), 1, "{point}");
        home.close();
    }
}

#[test]
fn lock_of_a_dead_git_among_the_snapshots_is_removed_although_its_remover_dies() {
    for point in ["git.vault.before_unlock", "git.vault.after_unlock"] {
        let stage = Stage::new(OWN_FILE, "true");
        let run = stage.submit(&one_wave(&["a"]));
        stage.ends(&run, "completed");
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        let vault = stage.home.path().join("snapshots/harbour.git");
        let lock = vault.join("packed-refs.lock");
        fs::write(&lock, "").unwrap();
        let daemon = armed(&stage.home, point);
        let run = stage.submit(&one_wave(&["b"]));
        stage.ends(&run, "completed");
        assert!(is_gone(daemon.pid()), "{point} was not hit");
        assert!(!lock.exists(), "{point}");
        assert_eq!(stage.moments(&run, "snapshot-taken", "b").len(), 1, "{point}");
        stage.close();
    }
}

#[test]
fn lock_of_a_dead_git_in_the_checkout_is_removed_although_its_remover_dies() {
    for point in ["git.forward.before_reclaim", "git.forward.after_reclaim"] {
        let stage = Stage::new(OWN_FILE, "true");
        let daemon = armed(&stage.home, "git.forward.before_merge");
        let run = stage.submit(&one_wave(&["a"]));
        until("the first death", || is_gone(daemon.pid()).then_some(()));
        // What the git of that landing would have left, had it been killed too.
        let lock = stage.home.repo().root().join(".git/index.lock");
        fs::write(&lock, "").unwrap();
        dies(&stage.home, point);
        stage.ends(&run, "completed");
        assert!(!lock.exists(), "{point}");
        assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"), "{point}");
        stage.close();
    }
}

#[test]
fn rival_push_is_merged_upon_although_the_daemon_dies_while_it_fetches() {
    for point in ["git.remote.before_fetch", "git.remote.after_fetch"] {
        let stage = Stage::new(&format!("{OWN_FILE}; read _ <\"$T/go\""), "true");
        let (bare, bell) = (stage.home.beside("remote.git"), stage.bell("go"));
        let path = bare.to_str().unwrap();
        let repo = stage.home.repo();
        repo.git(&["init", "--quiet", "--bare", "--initial-branch=main", path]);
        repo.git(&["remote", "add", "origin", path]);
        repo.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
        let daemon = armed(&stage.home, point);
        let run = stage.submit(&one_wave(&["a"]));
        stage.home.appears("starts");
        let rival = stage.home.beside("rival");
        let cloned = Command::new("git").args(["clone", "--quiet", path]).arg(&rival).status();
        assert!(cloned.unwrap().success());
        let rival = Repo::at(&rival);
        rival.named();
        rival.write("rival.txt", "rival\n");
        rival.commit("rival");
        rival.git(&["push", "--quiet"]);
        bell.ring();
        stage.ends(&run, "completed");
        assert!(is_gone(daemon.pid()), "{point} was not hit");
        assert_eq!(Repo::at(&bare).git(&["rev-parse", "main"]), stage.tip(), "{point}");
        assert_eq!(stage.on_target("rival.txt").as_deref(), Some("rival\n"), "{point}");
        assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"), "{point}");
        stage.close();
    }
}

#[test]
fn restore_of_what_the_repository_lost_goes_on_after_its_daemon_died() {
    for point in ["git.restore.before_give_back", "git.restore.after_give_back"] {
        let words = [("max_attempts = 3", "max_attempts = 1")];
        let agent = "echo draft >a.txt; git add a.txt; git commit --quiet -m draft; exit 3";
        let stage = Stage::with(agent, "true", &words);
        let run = stage.submit(&one_wave(&["a"]));
        let document = stage.ends(&run, "failed");
        let path = document["features"][0]["worktree"].as_str().unwrap().to_owned();
        let name = format!("tidegate/{run}/a");
        let repo = stage.home.repo();
        let tip = repo.git(&["rev-parse", &name]);
        fs::remove_dir_all(&path).unwrap();
        repo.git(&["worktree", "prune"]);
        repo.git(&["branch", "-D", &name]);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "--quiet", "--prune=now"]);
        assert!(!repo.can(&["cat-file", "-e", &tip]), "the commit is still there");
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        let daemon = armed(&stage.home, point);
        let done = stage.home.data(&["restore", &run, "--feature", "a"]);
        assert!(is_gone(daemon.pid()), "{point} was not hit");
        assert_eq!(done["failure"], Value::Null, "{point}: {done:#}");
        assert_eq!(repo.git(&["rev-parse", &name]), tip, "{point}");
        stage.clean();
        stage.home.close();
    }
}
