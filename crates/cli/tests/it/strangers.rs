//! Processes that only look like ours: a pid that somebody else has by now, another boot, a record
//! that names a stranger. None of them is ever signalled.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Fence, Home, end, is_gone, namespace, until};

/// A process of nobody's run, leader of a session and a group of its own.
fn stranger() -> Fence {
    let mut stranger = Command::new("setsid");
    Fence::start(stranger.args(["sleep", "1000"]))
}

/// Start time of a process in ticks since boot.
fn start_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit(')').next().unwrap();
    rest.split_whitespace().nth(19).unwrap().parse().unwrap()
}

/// Changes a JSON file in place of its owner, whole.
fn forge(path: &std::path::Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut value);
    let temporary = path.with_extension("forged");
    std::fs::write(&temporary, value.to_string()).unwrap();
    std::fs::rename(temporary, path).unwrap();
}

fn job_dir(home: &Home, run: &str) -> std::path::PathBuf {
    home.status(run)["statePath"].as_str().unwrap().into()
}

/// What of a stranger's identity a recycled pid may share with the record.
const SHARED: [&str; 2] = ["pid", "pid and start time"];

#[test]
fn recycled_pid_of_a_lost_launcher_is_not_signalled() {
    for shared in SHARED {
        let home = Home::new();
        let stranger = stranger();
        let run = home.script(&[], "mark a; await never");
        let launcher = home.pid("a");
        home.until(&run, "recorded", |d| d["recorded"] == true);
        let shim = home.status(&run)["shimIdentity"]["pid"].as_u64().unwrap();
        home.kill_daemon();
        end(u32::try_from(shim).unwrap());
        until("the launcher's end", || is_gone(launcher).then_some(()));
        forge(&job_dir(&home, &run).join("started"), |started| {
            for who in ["child", "shim"] {
                started[who]["pid"] = stranger.pid().into();
                if shared != "pid" {
                    started[who]["start_ticks"] = start_ticks(stranger.pid()).into();
                }
            }
        });
        assert_eq!(home.ended(&run)["terminalDisposition"], "launcher-lost-before-status");
        assert!(!is_gone(stranger.pid()), "{shared}");
        home.close();
    }
}

#[test]
fn recycled_pid_of_an_agent_is_neither_alive_nor_signalled() {
    for shared in SHARED {
        let home = Home::new();
        let stranger = stranger();
        let run = home.script(
            &[],
            "sleep 1000 & tidegate agent register --id pier --pid $!; mark pier $!; mark a; await go",
        );
        let (launcher, pier) = (home.pid("a"), home.pid("pier"));
        home.kill_daemon();
        end(pier);
        forge(&job_dir(&home, &run).join("agents/pier.json"), |agent| {
            agent["identity"]["pid"] = stranger.pid().into();
            if shared != "pid" {
                agent["identity"]["start_ticks"] = start_ticks(stranger.pid()).into();
            }
        });
        home.start_daemon();
        end(launcher);
        let document = home.ended(&run);
        assert_eq!(document["terminalDisposition"], "launcher-lost-before-status", "{shared}");
        assert!(home.events_of(&run, "agent-runtime-adopted").is_empty(), "{shared}");
        assert!(!is_gone(stranger.pid()), "{shared}");
        home.close();
    }
}

#[test]
fn record_that_names_a_living_stranger_exactly_is_foreign() {
    let home = Home::new();
    let stranger = stranger();
    let run = home.script(
        &[],
        "sleep 1000 & tidegate agent register --id pier --pid $!; mark pier $!; mark a; await go",
    );
    let (launcher, pier) = (home.pid("a"), home.pid("pier"));
    home.kill_daemon();
    end(pier);
    // As an agent of the run could write it: all of it true, and not of this run.
    forge(&job_dir(&home, &run).join("agents/pier.json"), |agent| {
        agent["id"] = "pier".into();
        agent["identity"]["pid"] = stranger.pid().into();
        agent["identity"]["start_ticks"] = start_ticks(stranger.pid()).into();
        agent["identity"]["pidfs_inode"] = pidfs_inode(stranger.pid()).into();
    });
    home.start_daemon();
    end(launcher);
    let document = home.ended(&run);
    assert_eq!(document["terminalDisposition"], "launcher-lost-before-status", "{document}");
    assert!(!is_gone(stranger.pid()));
    home.close();
}

fn pidfs_inode(pid: u32) -> u64 {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let fd = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
    rustix::fs::fstat(fd).unwrap().st_ino
}

#[test]
fn other_boot_signals_nothing_and_uses_one_resume() {
    let home = Home::new();
    std::fs::write(home.beside("boot"), "01234567-89ab-cdef-0123-456789abcdef\n").unwrap();
    let mounts = "mount --bind \"$T/boot\" /proc/sys/kernel/random/boot_id";
    let Some(place) = namespace(&home, mounts) else {
        println!("skipped: no mount namespaces here");
        return;
    };
    let run = home.script(
        &["--start-wave", "2"],
        "count starts; [ -n \"$TIDEGATE_RESUME\" ] && { mark b; await go; exit 0; }
         setsid sleep 1000 & mark stray $!; mark a; await never",
    );
    let (launcher, stray) = (home.pid("a"), home.pid("stray"));
    home.until(&run, "recorded", |d| d["recorded"] == true);
    let shim = home.status(&run)["shimIdentity"]["pid"].as_u64().unwrap();
    home.kill_daemon();
    end(u32::try_from(shim).unwrap());
    until("the launcher's end", || is_gone(launcher).then_some(()));
    home.enter(Some(place.pid()));
    let document = home.status(&run);
    assert_eq!(
        (&document["recoveryState"], &document["recorded"]),
        (&json!("resuming"), &json!(false))
    );
    home.start_daemon();
    home.pid("b");
    for _ in 0..2 {
        home.kill_daemon();
        home.start_daemon();
    }
    assert!(!is_gone(stray), "a process of another boot was signalled");
    let lost = home.events_of(&run, "job-finished");
    assert_eq!(lost.len(), 1);
    assert!(lost[0].to_string().contains("lost_reboot"), "{lost:?}");
    home.go("go");
    let document = home.ended(&run);
    assert_eq!(
        (&document["status"], &document["resumeAttempts"]),
        (&json!("completed"), &json!(1))
    );
    assert_eq!(home.lines("starts"), 2);
    assert!(!is_gone(stray));
    end(stray);
    home.enter(None);
    home.run(&["daemon", "stop"]).ends_with(0);
    drop(place);
    home.close();
}

#[test]
fn record_of_another_attempt_is_quarantined_and_is_no_success() {
    for name in ["exit", "started"] {
        let home = Home::new();
        let other = home.script(&["--adhoc-run", "one"], "exit 0");
        home.ended(&other);
        let run = home.script(&[], "mark a; await never");
        let launcher = home.pid("a");
        home.until(&run, "recorded", |d| d["recorded"] == true);
        let shim = home.status(&run)["shimIdentity"]["pid"].as_u64().unwrap();
        home.kill_daemon();
        end(u32::try_from(shim).unwrap());
        until("the launcher's end", || is_gone(launcher).then_some(()));
        std::fs::copy(job_dir(&home, &other).join(name), job_dir(&home, &run).join(name)).unwrap();
        home.start_daemon();
        home.run(&["wait", &run]).ends_with(12);
        let document = home.status(&run);
        assert_eq!((&document["status"], &document["exitCode"]), (&json!("running"), &Value::Null));
        assert!(!document["attention"].as_array().unwrap().is_empty(), "{name}");
        home.run(&["cancel", &run, "--wait"]).ends_with(0);
        home.close();
    }
}
