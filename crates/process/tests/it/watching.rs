//! The watcher says when to look, and is silent otherwise.

use std::sync::mpsc::{self, Receiver};

use tidegate_core::verdict::Mark;
use tidegate_process::{AgentRecord, Changed, OutputHints, Watcher, What, identity};

use crate::fixture::{Job, PATIENCE};

fn watcher() -> (Watcher, Receiver<Changed>) {
    let (tell, changes) = mpsc::channel();
    (Watcher::start(tell).unwrap(), changes)
}

/// Waits until `wanted` is told.
fn wait_for(changes: &Receiver<Changed>, wanted: impl Fn(&What) -> bool) -> Changed {
    loop {
        let change = changes.recv_timeout(PATIENCE).unwrap();
        if wanted(&change.what) {
            return change;
        }
    }
}

#[test]
fn job_is_told_of_at_its_start_its_end_and_the_end_of_its_shim() {
    let job = Job::sh("exit 4");
    let (watcher, changes) = watcher();
    watcher.watch_dir("j", job.dir.path(), OutputHints::Off).unwrap();
    let spawned = job.start();
    if let Some(shim) = &spawned.identity {
        watcher.watch_process("j", shim).unwrap();
    }
    while !matches!(job.look().exit, Mark::Present(_)) {
        wait_for(&changes, |what| *what == What::Records);
    }
    if spawned.identity.is_some() {
        let ended = wait_for(&changes, |what| matches!(what, What::ProcessEnded { .. }));
        assert_eq!(ended.what, What::ProcessEnded { pid: spawned.pid });
        assert!(!job.look().lock_held);
    }
    assert_eq!(job.exit().code, Some(4));
}

#[test]
fn killed_shim_is_told_of_when_its_lock_is_free() {
    let job = Job::sh("echo up > up; sleep 1000");
    let (watcher, changes) = watcher();
    job.start();
    job.wait_file("up");
    watcher.watch_dir("j", job.dir.path(), OutputHints::Off).unwrap();
    let shim = job.wait_started().shim;
    watcher.watch_process("j", &shim).unwrap();
    identity::signal(&shim, libc::SIGKILL).unwrap();
    wait_for(&changes, |what| matches!(what, What::ProcessEnded { .. }));
    if job.look().lock_held {
        wait_for(&changes, |what| *what == What::Lock);
    }
    assert!(!job.look().lock_held);
}

#[test]
fn process_that_is_gone_is_told_of_at_once() {
    let (watcher, changes) = watcher();
    let mut gone = identity::own().unwrap();
    gone.start_ticks += 1;
    watcher.watch_process("k", &gone).unwrap();
    let what = What::ProcessEnded { pid: gone.pid };
    let told = changes.recv_timeout(PATIENCE).unwrap();
    assert_eq!(told, Changed { key: "k".into(), what });
}

#[test]
fn agents_files_and_output_are_told_of() {
    // A FIFO for each word: a second reader could come while the writer of the first word has not closed yet.
    let job = Job::sh("read line < go; echo out; read line < end");
    for name in ["go", "end"] {
        std::process::Command::new("mkfifo").arg(job.home.path().join(name)).status().unwrap();
    }
    let (watcher, changes) = watcher();
    watcher.watch_dir("j", job.dir.path(), OutputHints::On).unwrap();
    job.start();
    job.wait_started();
    std::fs::write(job.home.path().join("go"), "go\n").unwrap();
    wait_for(&changes, |what| *what == What::Output);
    let agent = AgentRecord {
        v: 1,
        id: "a".into(),
        identity: None,
        remote: true,
        ended: false,
        more: serde_json::Map::new(),
    };
    job.dir.write_agent(&agent).unwrap();
    wait_for(&changes, |what| *what == What::Agents);
    std::fs::write(job.dir.file("p.tmp"), "{}").unwrap();
    std::fs::rename(job.dir.file("p.tmp"), job.dir.file("progress.json")).unwrap();
    wait_for(&changes, |what| *what == What::File("progress.json".into()));
    std::fs::write(job.home.path().join("end"), "end\n").unwrap();
    job.wait_shim();
}

#[test]
fn forgotten_job_is_not_told_of() {
    let (job, other) = (Job::sh("exit 0"), Job::sh("exit 0"));
    let (watcher, changes) = watcher();
    watcher.watch_dir("j", job.dir.path(), OutputHints::On).unwrap();
    watcher.watch_dir("other", other.dir.path(), OutputHints::Off).unwrap();
    watcher.forget("j");
    job.run();
    other.run();
    assert_eq!(wait_for(&changes, |what| *what == What::Records).key, "other");
    drop(watcher);
    assert!(changes.iter().all(|change| change.key == "other"));
}
