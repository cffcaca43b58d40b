//! Disks that are full, small, gone or read-only. Nothing that was acknowledged is lost, what must
//! not be lost still fits, and all goes on when there is room.

use std::io::Write;
use std::path::{Path, PathBuf};

#[cfg(feature = "failpoints")]
use serde_json::json;

#[cfg(feature = "failpoints")]
use crate::harness::end;
use crate::harness::{Fence, Home, is_gone, namespace, until};
use crate::plan_stage::{Stage, feature, waves};

/// A home on a small disk of its own; `None` where the system does not allow one.
fn small(size: &str) -> Option<(Home, Fence)> {
    let home = Home::new();
    let mounts = format!("mkdir $T/home && mount -t tmpfs -o size={size},mode=700 tmpfs $T/home");
    let place = namespace(&home, &mounts)?;
    home.enter(Some(place.pid()));
    Some((home, place))
}

/// A path as the processes of `place` see it.
fn seen_from(place: &Fence, path: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root{}", place.pid(), path.display()))
}

/// Takes all the room that there is, to the last byte.
fn fill(place: &Fence, folder: &Path) -> PathBuf {
    let path = seen_from(place, &folder.join("of-others"));
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&path).unwrap();
    for size in [65_536, 4_096, 1] {
        let block = vec![1; size];
        while file.write_all(&block).is_ok() {}
    }
    path
}

fn close(home: Home, place: Fence) {
    home.verify();
    home.run(&["daemon", "stop"]).ends_with(0);
    home.enter(None);
    drop(place);
    drop(home);
}

#[test]
fn full_disk_refuses_work_records_ends_and_cancels_and_goes_on_with_room() {
    let Some((home, place)) = small("16m") else {
        return println!("skipped: no mount namespace can be made");
    };
    let ends = home.script(&["--adhoc-run", "one"], "mark a; await go; exit 7");
    let ended = home.pid("a");
    let cancelled = home.script(&["--adhoc-run", "two"], "mark b; await never");
    let deaf = home.pid("b");
    for run in [&ends, &cancelled] {
        home.until(run, "recorded", |d| d["recorded"] == true && d["status"] == "running");
    }
    let filler = fill(&place, &home.path());
    let refused = home.json(&["submit", "--adhoc-run", "three", "--", "true"]);
    assert_eq!(refused.error(), "storage_full", "{refused:?}");
    assert!(refused.text().contains("\"retryable\":true"), "{}", refused.text());
    assert_eq!(home.data(&["list"])["runs"].as_array().unwrap().len(), 2, "half a submit is left");

    home.go("go");
    until("the end of the first", || is_gone(ended).then_some(()));
    let document =
        home.until(&ends, "its end", |d| d["status"] == "failed" && d["recorded"] == true);
    assert_eq!(document["exitCode"], 7, "the exit code is lost");
    home.run(&["cancel", &cancelled, "--wait"]).ends_with(0);
    assert!(is_gone(deaf));
    let doctor = home.json(&["doctor"]).ends_with(1);
    assert!(doctor.text().contains("\"name\":\"room\""), "{}", doctor.text());
    // A new daemon takes its epoch on the full disk too.
    home.kill_daemon();
    home.run(&["daemon", "start"]).ends_with(0);
    assert_eq!(home.json(&["submit", "--", "true"]).error(), "storage_full");

    std::fs::remove_file(filler).unwrap();
    let next = home.submit(&["--adhoc-run", "three"], &["true"]);
    assert_eq!(home.ended(&next)["status"], "completed");
    assert_eq!(home.data(&["list"])["runs"].as_array().unwrap().len(), 3);
    close(home, place);
}

#[test]
fn store_on_a_disk_of_one_mebibyte_takes_nothing_half() {
    let Some((home, place)) = small("1m") else {
        return println!("skipped: no mount namespace can be made");
    };
    let mut acknowledged = 0;
    let mut refused = 0;
    for _ in 0..12 {
        let output = home.json(&["submit", "--", "true"]);
        if output.code == 0 {
            acknowledged += 1;
        } else {
            assert!(!output.text().contains("runId"), "{}", output.text());
            refused += 1;
        }
    }
    assert!(refused > 0, "the disk is not small");
    assert_eq!(home.data(&["list"])["runs"].as_array().map_or(0, Vec::len), acknowledged);
    let room = seen_from(&place, &home.path());
    let mut mount = std::process::Command::new("nsenter");
    mount.args(["--mount", "--target", &place.pid().to_string()]);
    mount.args(["mount", "-o", "remount,size=16m"]).arg(home.path());
    assert!(mount.status().unwrap().success() && room.exists());
    home.ended(&home.submit(&["--adhoc-run", "next"], &["true"]));
    close(home, place);
}

#[test]
fn output_leaves_the_room_that_records_need_and_its_gap_is_told() {
    let Some((home, place)) = small("24m") else {
        return println!("skipped: no mount namespace can be made");
    };
    let run = home.script(
        &["--adhoc-run", "loud"],
        "echo first; head -c 40000000 /dev/zero | tr '\\0' x; mark done; await go; exit 3",
    );
    home.pid("done");
    // While the output holds all that it may, records of others fit.
    let other = home.submit(&["--adhoc-run", "other"], &["true"]);
    assert_eq!(home.ended(&other)["status"], "completed");
    assert!(seen_from(&place, &home.path()).join("ballast").exists(), "the ballast was taken");
    home.go("go");
    assert_eq!(home.ended(&run)["exitCode"], 3);
    let logs = home.run(&["logs", &run]).ends_with(0);
    assert!(logs.bytes.starts_with(b"first\nxxxx") && logs.bytes.len() < 40_000_000);
    assert!(logs.said.contains("were not kept"), "{}", logs.said);
    let lost = home.data(&["logs", &run])["logs"][0]["lostBytes"].as_u64().unwrap();
    assert_eq!(lost + logs.bytes.len() as u64, 40_000_006);
    close(home, place);
}

#[test]
fn full_disk_of_worktrees_fails_their_run_as_one_of_resources_and_no_other() {
    let stage = Stage::with(
        "head -c 8000000 /dev/zero >\"$feature.bin\"",
        "true",
        &[("max_attempts = 3", "max_attempts = 1")],
    );
    let home = &stage.home;
    let mounts = "mkdir -p $T/home/worktrees && \
                  mount -t tmpfs -o size=2m,mode=700 tmpfs $T/home/worktrees";
    let Some(place) = namespace(home, mounts) else {
        return println!("skipped: no mount namespace can be made");
    };
    home.enter(Some(place.pid()));
    let run = stage.submit(&waves(&[&["berths"]]));
    let beside = home.submit(&["--adhoc-run", "beside"], &["sh", "-c", "exit 0"]);
    assert_eq!(home.ended(&beside)["status"], "completed");
    let document = stage.ends(&run, "failed");
    let told = feature(&document, "berths").to_string();
    assert!(told.contains("resource: no room"), "{told}");
    home.verify();
    home.run(&["daemon", "stop"]).ends_with(0);
    home.enter(None);
    drop(place);
}

#[test]
fn descriptors_that_run_out_delay_a_start_and_leave_nothing_half() {
    let home = Home::new();
    let daemon = home.start_daemon();
    let limit = |limit: &str| {
        let mut call = std::process::Command::new("prlimit");
        call.args(["--pid", &daemon.to_string(), &format!("--nofile={limit}:")]);
        assert!(call.status().unwrap().success());
    };
    let open = std::fs::read_dir(format!("/proc/{daemon}/fd")).unwrap().count();
    // Enough for a client's connection, too few for a shim's pipes.
    limit(&(open + 3).to_string());
    let mut call =
        home.call(&["--json", "submit", "--", "sh", "-c", "echo x >> $T/starts; exit 5"]);
    let mut submit = call.stdout(std::process::Stdio::piped()).spawn().unwrap();
    // It may be refused or wait for a descriptor: both are answers. What must not be is half a run.
    until("an answer, or a wait", || {
        let answered = submit.try_wait().unwrap().is_some();
        let there = home.data(&["list"])["runs"].as_array().is_some_and(|runs| !runs.is_empty());
        (answered || there).then_some(())
    });
    limit("4096");
    let answered = submit.wait_with_output().unwrap();
    let run = if answered.status.success() {
        home.data(&["list"])["runs"][0]["runId"].as_str().unwrap().to_owned()
    } else {
        assert!(home.data(&["list"])["runs"].as_array().unwrap().is_empty());
        home.submit(&[], &["sh", "-c", "echo x >> $T/starts; exit 5"])
    };
    assert_eq!(home.ended(&run)["exitCode"], 5);
    assert_eq!(home.lines("starts"), 1);
    assert_eq!(home.daemon(), Some(daemon), "it ended for want of descriptors");
    home.close();
}

#[test]
#[cfg(feature = "failpoints")]
fn fork_that_is_refused_is_tried_again_and_starts_once() {
    for point in ["spawner.before_spawn=error", "shim.before_fork=error"] {
        let home = Home::new();
        let daemon = home.daemon_with(&[("TIDEGATE_FAIL", point)]);
        let run = home.script(&[], "count starts; exit 5");
        if point.starts_with("shim") {
            // A shim inherits the fault for good: the next daemon's do not.
            until("a refused fork", || {
                let job = home.path().join("jobs").join(format!("{run}-1"));
                job.join("exit.tmp").exists().then_some(())
            });
            end(daemon.pid());
            home.run(&["daemon", "start"]).ends_with(0);
        }
        assert_eq!(home.ended(&run)["exitCode"], 5, "{point}");
        assert_eq!(home.lines("starts"), 1, "{point}");
        assert_eq!(home.events_of(&run, "job-created").len(), 1, "{point}");
        home.run(&["daemon", "stop"]).ends_with(0);
        drop(daemon);
        home.close();
    }
}

#[test]
#[cfg(feature = "failpoints")]
fn sync_that_fails_ends_the_daemon_at_once_without_an_answer() {
    let home = Home::new();
    let first = home.submit(&[], &["true"]);
    home.ended(&first);
    home.run(&["daemon", "stop"]).ends_with(0);
    let daemon = home.daemon_with(&[("TIDEGATE_FAIL", "store.highwater.before_sync=error@2")]);
    let body = json!({ "cwd": home.repo().root(), "actor": "keeper", "env": [],
        "work": { "launcher": { "argv": ["true"] } } });
    let key = [("idempotency-key", "one")];
    let answer = crate::harness::post(&home.path(), "/runs", &key, &body);
    let acknowledged = answer.is_ok_and(|answer| answer.status < 500);
    assert!(!acknowledged, "what is not durable was acknowledged");
    until("the daemon's end", || is_gone(daemon.pid()).then_some(()));
    drop(daemon);
    // What is durable is read anew: the same key asks for the same run.
    home.start_daemon();
    let again = crate::harness::post(&home.path(), "/runs", &key, &body).unwrap();
    assert_eq!(again.status, 200, "{again:?}");
    let run = again.body["data"]["runId"].as_str().unwrap().to_owned();
    home.ended(&run);
    assert_eq!(home.data(&["list"])["runs"].as_array().unwrap().len(), 2);
    home.close();
}

#[test]
fn daemon_on_a_read_only_home_is_refused_and_readers_go_on() {
    let home = Home::new();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    home.run(&["daemon", "stop"]).ends_with(0);
    let mounts = "mount --bind $T/home $T/home && mount -o remount,bind,ro $T/home";
    let Some(place) = namespace(&home, mounts) else {
        return println!("skipped: no mount namespace can be made");
    };
    home.enter(Some(place.pid()));
    assert_eq!(home.status(&run)["status"], "completed");
    let refused = home.json(&["submit", "--", "true"]);
    assert!(refused.code != 0 && !refused.text().contains("runId"), "{refused:?}");
    assert_ne!(home.json(&["daemon", "start"]).code, 0);
    let doctor = home.data(&["doctor"]);
    assert!(doctor.to_string().contains("read-only"), "{doctor}");
    home.enter(None);
    drop(place);
    home.ended(&home.submit(&[], &["true"]));
    home.close();
}

#[test]
fn job_directory_that_is_removed_is_told_and_nothing_of_it_lives_on() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await never");
    let launcher = home.pid("a");
    let known = |d: &serde_json::Value| d["recorded"] == true && d["shimIdentity"]["pid"].is_u64();
    let shim = home.until(&run, "a recorded shim", known)["shimIdentity"]["pid"].as_u64().unwrap();
    let dir = home.path().join("jobs").join(format!("{run}-1"));
    // Its shim may write a last record while the directory is being emptied.
    until("the removal of its directory", || {
        let _refused = std::fs::remove_dir_all(&dir);
        (!dir.exists()).then_some(())
    });
    home.kill_daemon();
    home.start_daemon();
    home.run(&["wait", &run, "--timeout", "30s"]).ends_with(12);
    home.run(&["cancel", &run]).ends_with(0);
    let document = home.ended(&run);
    assert_ne!(document["status"], "completed", "{document:#}");
    until("the end of the launcher", || is_gone(launcher).then_some(()));
    until("the end of its shim", || is_gone(u32::try_from(shim).unwrap()).then_some(()));
    home.close();
}
