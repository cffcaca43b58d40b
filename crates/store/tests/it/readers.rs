//! Readers change no byte of a home: beside a daemon, without one, after a crash, read-only.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use tidegate_store::{ListFilter, OpenError, Reader, verify};

use crate::builders::{begin, open, submit_one};

/// Names the home to read; set only for children of these tests.
const HOME: &str = "TIDEGATE_TEST_READ_HOME";
/// How many runs the child is to see at least.
const RUNS: &str = "TIDEGATE_TEST_READ_RUNS";
/// Names the home to write and to crash on.
const CRASH: &str = "TIDEGATE_TEST_CRASH_HOME";

fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).stdout(Stdio::null());
    command
}

fn start_reader(home: &Path, runs: usize) -> Child {
    child("readers::child_reads").env(HOME, home).env(RUNS, runs.to_string()).spawn().unwrap()
}

/// Reads and proves the home again and again. Only in a child that was told which.
#[test]
fn child_reads() {
    let (Some(home), Ok(runs)) = (std::env::var_os(HOME), std::env::var(RUNS)) else {
        assert!(std::env::var_os(HOME).is_none());
        return;
    };
    for _ in 0..20 {
        let mut reader = Reader::open(Path::new(&home)).unwrap();
        let filter = ListFilter { limit: 100, ..ListFilter::default() };
        let (seen, report) =
            reader.read(|view| Ok((view.list(&filter)?.runs.len(), view.verify()?))).unwrap();
        assert!(seen >= runs.parse().unwrap(), "{seen} runs");
        assert_eq!(report.broken, vec![]);
    }
}

/// Writes two runs and dies without closing anything. Only in a child that was told where.
#[test]
fn child_writes_and_crashes() {
    let Some(home) = std::env::var_os(CRASH) else {
        assert!(std::env::var_os(HOME).is_none() || std::env::var_os(CRASH).is_none());
        return;
    };
    let (mut store, _) = begin(Path::new(&home));
    submit_one(&mut store, "a");
    submit_one(&mut store, "b");
    std::process::abort();
}

/// Names, sizes and contents of all files. By another program: to open the database here would
/// drop the locks that SQLite holds for this process.
fn sums(home: &Path) -> String {
    let script =
        "find . -type f -exec sha256sum {} + | sort; find . -type f -printf '%p %s %m\\n' | sort";
    let output = Command::new("sh").args(["-c", script]).current_dir(home).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn assert_readers_change_nothing(home: &Path, runs: usize) {
    let before = sums(home);
    assert!(before.contains("store.db-wal") && before.contains("store.db-shm"), "{before}");
    let readers: Vec<Child> = (0..50).map(|_| start_reader(home, runs)).collect();
    for mut reader in readers {
        assert!(reader.wait().unwrap().success());
    }
    assert_eq!(sums(home), before);
}

#[test]
fn fifty_readers_without_a_daemon_change_no_byte() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    store.close().unwrap();
    assert_readers_change_nothing(home.path(), 1);
}

#[test]
fn fifty_readers_beside_a_daemon_change_no_byte() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    assert_readers_change_nothing(home.path(), 1);
    submit_one(&mut store, "other");
    assert_readers_change_nothing(home.path(), 2);
}

#[test]
fn fifty_readers_after_a_crash_see_all_and_change_no_byte() {
    let home = tempfile::tempdir().unwrap();
    let status = child("readers::child_writes_and_crashes")
        .env(CRASH, home.path())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success(), "the child was to crash");
    assert_readers_change_nothing(home.path(), 2);
}

#[test]
fn readers_beside_a_busy_daemon_always_see_a_whole_state() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "first");
    let mut readers: Vec<Child> = (0..4).map(|_| start_reader(home.path(), 1)).collect();
    let mut lane = 0;
    let mut running = true;
    while running {
        lane += 1;
        submit_one(&mut store, &format!("lane{lane}"));
        if lane % 64 == 0 {
            store.checkpoint().unwrap();
        }
        running = readers.iter_mut().any(|reader| reader.try_wait().unwrap().is_none());
    }
    for mut reader in readers {
        assert!(reader.wait().unwrap().success());
    }
}

#[test]
fn readers_work_while_daemons_come_and_go() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "first");
    store.close().unwrap();
    let mut readers: Vec<Child> = (0..4).map(|_| start_reader(home.path(), 1)).collect();
    let mut running = true;
    let mut lane = 0;
    while running {
        lane += 1;
        let (mut store, began) = begin(home.path());
        assert_eq!(began.went_back, None);
        submit_one(&mut store, &format!("lane{lane}"));
        store.close().unwrap();
        running = readers.iter_mut().any(|reader| reader.try_wait().unwrap().is_none());
    }
    for mut reader in readers {
        assert!(reader.wait().unwrap().success());
    }
}

#[test]
fn readers_work_on_a_read_only_home() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    store.close().unwrap();
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && \
                  ! touch \"$1/probe\" 2>/dev/null && exec \"$2\" --exact readers::child_reads";
    let before = sums(home.path());
    let status = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(home.path())
        .arg(std::env::current_exe().unwrap())
        .env(HOME, home.path())
        .env(RUNS, "1")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "needs the right to mount in a namespace of its own");
    assert_eq!(sums(home.path()), before);
}

#[test]
fn reader_says_why_a_store_cannot_be_read() {
    let home = tempfile::tempdir().unwrap();
    assert!(matches!(Reader::open(home.path()), Err(OpenError::NoStore { .. })));
    assert_eq!(sums(home.path()), "", "looking makes nothing");
    open(home.path()).close().unwrap();

    let version = |number: u32| {
        let conn = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
        conn.pragma_update(None, "user_version", number).unwrap();
        let mut keep = 1;
        conn.file_control(Some("main"), rusqlite::FileControl::PersistWal(&mut keep)).unwrap();
    };
    version(99);
    let newer = Reader::open(home.path()).unwrap_err();
    assert!(matches!(newer, OpenError::StoreNewer { found: 99, .. }), "{newer}");
    version(0);
    let older = Reader::open(home.path()).unwrap_err();
    assert!(matches!(older, OpenError::NeedsMigration { found: 0, .. }), "{older}");

    std::fs::remove_file(home.path().join("store.db-shm")).unwrap();
    assert!(matches!(Reader::open(home.path()), Err(OpenError::Unprepared { .. })));
    let elsewhere = tempfile::tempdir().unwrap();
    let other = rusqlite::Connection::open(elsewhere.path().join("store.db")).unwrap();
    other.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x);").unwrap();
    assert!(matches!(Reader::open(elsewhere.path()), Err(OpenError::NotOurs { .. })));
    drop(other);
}

#[test]
fn verify_of_a_sound_home_counts_what_it_proved() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    store.close().unwrap();
    let report = verify(home.path()).unwrap();
    assert_eq!((report.runs, report.events, report.broken), (1, 2, vec![]));
}
