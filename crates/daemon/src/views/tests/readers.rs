//! What every reader keeps: it writes nothing, and needs neither a daemon nor a store.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tidegate_process::record::ReasonRecord;
use tidegate_process::{HomeLock, LockNote, identity};
use tidegate_protocol::ErrorCode;

use super::home::TestHome;
use super::works::launcher;
use crate::views::{EventQuery, RunQuery, Viewer, WaveQuery, daemon_status};

/// Every file with its bytes, times and mode.
fn snapshot(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64, u32)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            let bytes = if meta.is_dir() {
                open.push(entry.path());
                Vec::new()
            } else {
                std::fs::read(entry.path()).unwrap()
            };
            found.insert(entry.path(), (bytes, meta.mtime(), meta.mtime_nsec(), meta.mode()));
        }
    }
    found
}

fn read_everything(home: &Path, run: &str) {
    let mut viewer = Viewer::open(home).unwrap();
    viewer.run(run).unwrap();
    viewer.jobs(run).unwrap();
    viewer.features(run).unwrap();
    viewer.explain(run, None).unwrap();
    viewer.runs(&RunQuery::default()).unwrap();
    viewer.wave(&WaveQuery { wave: 1, ..WaveQuery::default() }).unwrap();
    viewer.events(&EventQuery::default()).unwrap();
    viewer.projects().unwrap();
    daemon_status(home).unwrap();
}

#[test]
fn home_read_by_every_view_changes_no_byte() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, launcher(Some(1), Some(2), 1));
    home.claim(&mut run);
    let job = run.jobs.keys().next().unwrap().clone();
    home.write_started(&run, &job);
    home.write_exit(&run, &job, &ReasonRecord::Signalled, None, Some(9));
    // In the process of a writer its readers share its index of the WAL: look without one.
    let home = home.close();
    let before = snapshot(home.path());
    for _ in 0..20 {
        read_everything(home.path(), run.id.as_str());
    }
    let after = snapshot(home.path());
    let changed = before.iter().filter(|(path, was)| after.get(*path) != Some(was));
    let changed: Vec<&PathBuf> = changed.map(|(path, _)| path).collect();
    assert_eq!(changed, Vec::<&PathBuf>::new());
    assert_eq!(before.len(), after.len());
}

#[test]
fn home_without_a_store_is_an_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("missing");
    let mut viewer = Viewer::open(&home).unwrap();
    assert_eq!(viewer.runs(&RunQuery::default()).unwrap().runs, []);
    assert_eq!(viewer.events(&EventQuery::default()).unwrap().events, []);
    assert_eq!(viewer.projects().unwrap().projects, []);
    assert_eq!(viewer.wave(&WaveQuery::default()).unwrap(), None);
    assert_eq!(viewer.run("r0000010000").unwrap_err().code, ErrorCode::NotFound);
    assert!(!daemon_status(&home).unwrap().running);
    assert!(!home.exists(), "a reader makes nothing");
}

#[test]
fn daemon_is_what_its_lock_says() {
    let home = TestHome::new();
    let free = daemon_status(home.path()).unwrap();
    assert_eq!((free.running, free.pid, free.epoch, free.supervisor_id), (false, None, None, None));

    let lock = HomeLock::acquire(&home.path().join("daemon.lock")).unwrap();
    let held = daemon_status(home.path()).unwrap();
    assert_eq!((held.running, held.pid), (true, None), "its note is not written yet");
    let note = LockNote {
        v: 1,
        daemon: identity::own().unwrap(),
        generation: 1,
        epoch: 4,
        acquired_at_ms: 1_700_000_000_000,
        version: "0.1.0".into(),
    };
    lock.write_note(&note).unwrap();
    let held = daemon_status(home.path()).unwrap();
    assert_eq!((held.pid, held.epoch), (Some(std::process::id()), Some(4)));
    assert_eq!(held.supervisor_id, Some(format!("{}-4", home.home_id())));
    assert_eq!(held.acquired_at.unwrap().as_str(), "2023-11-14T22:13:20.000Z");

    drop(lock);
    let left = daemon_status(home.path()).unwrap();
    assert_eq!((left.running, left.pid), (false, None), "a note without a lock says nothing");
}

#[test]
fn supervised_run_has_a_lease_and_an_age() {
    let mut home = TestHome::new();
    let mut run = home.submit("main", None, launcher(None, None, 1));
    home.claim(&mut run);
    let _lock = HomeLock::acquire(&home.path().join("daemon.lock")).unwrap();
    let doc = home.viewer().run(run.id.as_str()).unwrap();
    assert!(doc.supervised && doc.lease_expires_at.is_some());
    assert_eq!(doc.supervisor_id.as_deref(), Some("home-1"));
    assert!(doc.ages.updated_ms >= 50_000, "{:?}", doc.ages);
    let json = serde_json::to_value(&doc).unwrap();
    for key in [
        "runId",
        "project",
        "lane",
        "adhocRunId",
        "status",
        "submittedAt",
        "startedAt",
        "updatedAt",
        "completedAt",
        "launcherArgs",
        "launcherPid",
        "launcherStatusPath",
        "launcherLogPath",
        "statePath",
        "exitCode",
        "activeWave",
        "terminalDisposition",
        "recoveryState",
        "resumeAction",
        "resumeAttempts",
        "sessionBackend",
        "supervisorId",
        "leaseExpiresAt",
        "detail",
        "agentRuntimeSummary",
        "signal",
        "attention",
        "recorded",
        "supervised",
        "epoch",
        "ages",
        "features",
    ] {
        assert!(json.get(key).is_some(), "{key} is absent");
    }
    assert_eq!(json["launcherArgs"], serde_json::json!(["sh", "job.sh"]));
}
