//! Upgrades under load: the program is replaced on disk and its daemon by the next one, again and
//! again, while jobs run; and shims that speak an older or a later protocol than their daemon.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::{Home, is_gone};

/// A number of the environment: the full numbers are run by `cargo xtask upgrade`.
fn number(name: &str, share: usize) -> usize {
    std::env::var(name).map_or(share, |text| text.parse().unwrap())
}

/// Puts a fresh copy of the program in the place of the one before, as a package manager does.
fn install(home: &Home) -> PathBuf {
    let (program, fresh) = (home.beside("tidegate"), home.beside("tidegate.fresh"));
    std::fs::copy(env!("CARGO_BIN_EXE_tidegate"), &fresh).unwrap();
    std::fs::rename(&fresh, &program).unwrap();
    program
}

/// Calls the installed program for a daemon.
fn installed(home: &Home, words: &[&str]) {
    let mut call = Command::new(home.beside("tidegate"));
    call.args(words);
    home.place(&mut call);
    let output = call.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}\n{}", home.log());
}

#[test]
fn upgraded_daemons_restart_no_job_and_lose_none_of_its_output() {
    let home = Home::new();
    install(&home);
    installed(&home, &["daemon", "start"]);
    let jobs = number("TIDEGATE_UPGRADE_JOBS", 6);
    let runs: Vec<String> = (0..jobs)
        .map(|job| {
            let script = format!(
                "count starts{job}; mark job{job}; n=0; while [ ! -e \"$T/go\" ]; do \
                 n=$((n+1)); echo \"line $n\"; sleep 0.05; done; echo \"in all $n\""
            );
            home.script(&["--adhoc-run", &format!("berth{job}")], &script)
        })
        .collect();
    let pids: Vec<u32> = (0..jobs).map(|job| home.pid(&format!("job{job}"))).collect();
    for replacement in 0..number("TIDEGATE_UPGRADES", 3) {
        install(&home);
        if replacement % 2 == 0 {
            installed(&home, &["daemon", "restart"]);
        } else {
            home.kill_daemon();
            installed(&home, &["daemon", "start"]);
        }
        for (run, pid) in runs.iter().zip(&pids) {
            let document = home.until(run, "supervised", |d| d["supervised"] == true);
            assert_eq!(
                (&document["launcherPid"], &document["status"]),
                (&json!(pid), &json!("running"))
            );
            assert!(!is_gone(*pid));
        }
    }
    home.go("go");
    for (job, run) in runs.iter().enumerate() {
        assert_eq!(home.ended(run)["status"], "completed");
        assert_eq!(home.lines(&format!("starts{job}")), 1, "{run} was started again");
        let log = String::from_utf8(home.logs(run)).unwrap();
        let mut lines: Vec<&str> = log.lines().collect();
        let all = lines.pop().unwrap();
        assert_eq!(all, format!("in all {}", lines.len()));
        for (at, line) in lines.iter().enumerate() {
            assert_eq!(*line, format!("line {}", at + 1), "a gap in the log of {run}");
        }
    }
    home.close();
}

/// A shim of another version: the real one behind an interpreter, at the place of its socket.
struct Interpreter {
    asked: Arc<Mutex<BTreeSet<String>>>,
}

impl Interpreter {
    /// From now on the shim of the only job of `home` answers what `translate` makes of it.
    fn start(home: &Home, translate: fn(&Value) -> Value) -> Self {
        let jobs = std::fs::read_dir(home.path().join("jobs")).unwrap();
        let mut jobs = jobs.map(|entry| entry.unwrap().path());
        let job = jobs.find(|job| job.join("control.sock").exists()).expect("no live job");
        std::fs::rename(job.join("control.sock"), job.join("control.real")).unwrap();
        let folder = File::open(&job).unwrap();
        let listener = UnixListener::bind(short(&folder, "control.sock")).unwrap();
        let asked: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // Once the job has ended nobody is behind the socket.
                let Ok(shim) = UnixStream::connect(short(&folder, "control.real")) else { return };
                let heard = Arc::clone(&heard);
                let client = client.unwrap();
                std::thread::spawn(move || interpret(&client, &shim, translate, &heard));
            }
        });
        Self { asked }
    }

    fn was_asked(&self, op: &str) -> bool {
        self.asked.lock().unwrap().contains(op)
    }
}

/// A path to a socket that is short enough for an address.
fn short(folder: &File, name: &str) -> PathBuf {
    Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name)
}

fn interpret(
    mut client: &UnixStream,
    mut shim: &UnixStream,
    translate: fn(&Value) -> Value,
    heard: &Mutex<BTreeSet<String>>,
) {
    let mut answers = BufReader::new(shim);
    for line in BufReader::new(client).lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).unwrap();
        heard.lock().unwrap().insert(request["op"].as_str().unwrap().to_owned());
        let mut answer = String::new();
        if writeln!(shim, "{line}").is_err() || answers.read_line(&mut answer).is_err() {
            return;
        }
        let Ok(answer) = serde_json::from_str::<Value>(&answer) else { return };
        if writeln!(client, "{}", translate(&answer)).is_err() {
            return;
        }
    }
}

/// What the first version of the protocol says, to the byte: nothing that was added to it since.
fn first_version(answer: &Value) -> Value {
    let status = &answer["status"];
    let process = |process: &Value| {
        json!({ "pid": process["pid"], "start_ticks": process["start_ticks"],
            "boot_id": process["boot_id"] })
    };
    json!({ "v": 1, "ok": answer["ok"], "epoch": answer["epoch"], "status": {
        "job": status["job"], "attempt": status["attempt"], "nonce": status["nonce"],
        "shim": process(&status["shim"]), "child": process(&status["child"]),
        "phase": status["phase"], "bytes": status["bytes"] } })
}

/// What a later version may say: more, and words that nobody knows yet.
fn later_version(answer: &Value) -> Value {
    let mut answer = answer.clone();
    answer["v"] = json!(99);
    answer["moorings"] = json!({ "bow": [1, 2], "stern": null });
    answer["status"]["phase"] = json!("hibernating");
    answer["status"]["tide"] = json!("high");
    if answer["error"].is_string() {
        answer["error"] = json!("not_at_low_tide");
    }
    answer
}

/// A daemon adopts a job whose shim speaks as `translate` says, sees its end, and ends another.
fn daemon_gets_on_with(translate: fn(&Value) -> Value) {
    for end in ["by itself", "by request"] {
        let home = Home::new();
        let run = home.script(&[], "count starts; mark a; await go; exit 3");
        let pid = home.pid("a");
        home.run(&["daemon", "stop"]).ends_with(0);
        let interpreter = Interpreter::start(&home, translate);
        home.start_daemon();
        home.until(&run, "adopted", |_| home.events_of(&run, "daemon-adopted").len() == 1);
        assert_eq!(home.status(&run)["launcherPid"], pid);
        if end == "by itself" {
            home.go("go");
            assert_eq!(home.ended(&run)["exitCode"], 3);
        } else {
            home.run(&["cancel", &run]).ends_with(0);
            assert_eq!(home.ended(&run)["status"], "cancelled");
            assert!(interpreter.was_asked("stop"), "its shim was passed over");
        }
        assert!(is_gone(pid));
        assert_eq!(home.lines("starts"), 1);
        home.close();
    }
}

#[test]
fn shim_of_the_first_protocol_is_adopted_watched_and_stopped() {
    daemon_gets_on_with(first_version);
}

#[test]
fn shim_of_a_later_protocol_is_adopted_watched_and_stopped() {
    daemon_gets_on_with(later_version);
}
