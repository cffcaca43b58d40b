//! Damage is found and named, and one broken run does not take the others with it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use tidegate_core::run::Run;
use tidegate_store::{ListFilter, OpenError, Reader, Store, StoreError, verify};

use crate::builders::{AT, begin, submit_one};
use crate::driver::Chance;

/// A home of some runs, closed in good order, and its runs.
fn sound_home(home: &Path, runs: usize) -> Vec<Run> {
    let (mut store, _) = begin(home);
    let runs = (0..runs).map(|n| submit_one(&mut store, &format!("lane{n}"))).collect();
    store.close().unwrap();
    runs
}

/// Copies the files of a home while nobody has it open.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A home whose owner died with its newest transactions in the WAL alone.
fn crashed_home(home: &Path) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "readers::child_writes_and_crashes"])
        .env("TIDEGATE_TEST_CRASH_HOME", home)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    assert!(fs::metadata(home.join("store.db-wal")).unwrap().len() > 0);
}

/// After whatever was done to the WAL: nothing that was acknowledged is missing in silence.
fn assert_found_out_or_whole(home: &Path, what: &str) {
    let mut store = match Store::open(home) {
        Ok(store) => store,
        Err(OpenError::Damaged { .. } | OpenError::NotOurs { .. }) => return,
        Err(error) => panic!("{what}: {error}"),
    };
    let began = store.begin_epoch(1, "0.1.0", AT).unwrap();
    let runs = store.view().list(&ListFilter { limit: 9, ..ListFilter::default() }).unwrap().runs;
    assert_eq!(
        began.went_back.is_none(),
        runs.len() == 2,
        "{what}: {began:?}, {} runs",
        runs.len()
    );
    assert_eq!(began.token.generation == 2, began.went_back.is_some(), "{what}");
    assert_eq!(store.view().verify().unwrap().broken, vec![], "{what}");
    assert!(submit_one(&mut store, "later").seq > 2, "{what}: a number was issued twice");
}

#[test]
fn wal_cut_at_any_byte_is_found_out() {
    let origin = tempfile::tempdir().unwrap();
    crashed_home(origin.path());
    let length = fs::metadata(origin.path().join("store.db-wal")).unwrap().len();
    let mut chance = Chance::new(19);
    let random = (0..24).map(|_| chance.below(usize::try_from(length).unwrap()) as u64);
    for cut in [0, 1, 31, 32, length - 1, length].into_iter().chain(random) {
        let home = tempfile::tempdir().unwrap();
        copy(origin.path(), home.path());
        let wal =
            fs::OpenOptions::new().write(true).open(home.path().join("store.db-wal")).unwrap();
        wal.set_len(cut).unwrap();
        assert_found_out_or_whole(home.path(), &format!("cut at {cut} of {length}"));
    }
}

#[test]
fn bit_flipped_in_the_wal_is_found_out() {
    let origin = tempfile::tempdir().unwrap();
    crashed_home(origin.path());
    let mut chance = Chance::new(20);
    for _ in 0..24 {
        let home = tempfile::tempdir().unwrap();
        copy(origin.path(), home.path());
        let path = home.path().join("store.db-wal");
        let mut bytes = fs::read(&path).unwrap();
        let (place, bit) = (chance.below(bytes.len()), chance.below(8));
        bytes[place] ^= 1 << bit;
        fs::write(&path, bytes).unwrap();
        assert_found_out_or_whole(home.path(), &format!("bit {bit} of {place}"));
    }
}

#[test]
fn bit_flipped_in_the_database_is_found_out_or_changes_nothing() {
    let origin = tempfile::tempdir().unwrap();
    let runs = sound_home(origin.path(), 12);
    // The share that every run of the tests takes; more by the variable.
    let flips = std::env::var("TIDEGATE_TEST_FLIPS").map_or(80, |flips| flips.parse().unwrap());
    let mut chance = Chance::new(21 + flips);
    let mut found_out = 0;
    for _ in 0..flips {
        let home = tempfile::tempdir().unwrap();
        copy(origin.path(), home.path());
        let path = home.path().join("store.db");
        let mut bytes = fs::read(&path).unwrap();
        let used: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] != 0).collect();
        let (place, bit) = (used[chance.below(used.len())], chance.below(8));
        bytes[place] ^= 1 << bit;
        fs::write(&path, bytes).unwrap();
        let what = format!("bit {bit} of {place}");
        let report = Store::open(home.path())
            .and_then(|store| Ok(store.close()?))
            .and_then(|()| verify(home.path()));
        match report {
            Err(error) => {
                let named = matches!(
                    error,
                    OpenError::Damaged { .. }
                        | OpenError::NotOurs { .. }
                        | OpenError::StoreNewer { .. }
                        | OpenError::NeedsMigration { .. }
                        | OpenError::Store(StoreError::Corrupt(_) | StoreError::Refused { .. })
                );
                assert!(named, "{what}: {error:?}");
                found_out += 1;
            }
            Ok(report) if !report.broken.is_empty() => found_out += 1,
            Ok(_) => {
                let mut reader = Reader::open(home.path()).unwrap();
                let same = |view: tidegate_store::View<'_>| {
                    runs.iter().map(|run| view.rebuild(&run.id)).collect::<Result<Vec<_>, _>>()
                };
                let rebuilt = reader.read(same).unwrap();
                assert!(rebuilt.iter().flatten().eq(&runs), "{what} changed a run in silence");
            }
        }
    }
    assert!(found_out >= flips / 2, "only {found_out} of {flips} flips met anything");
}

/// Changes the database behind the store's back.
fn tamper(home: &Path, sql: &str) {
    let conn = Connection::open(home.join("store.db")).unwrap();
    conn.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;").unwrap();
    conn.execute_batch(sql).unwrap();
}

#[test]
fn changed_event_makes_its_run_corrupt_and_no_other() {
    let home = tempfile::tempdir().unwrap();
    let runs = sound_home(home.path(), 3);
    tamper(
        home.path(),
        &format!(
            "UPDATE events SET body = replace(body, 'exit 3', 'exit 0') WHERE run = '{}'",
            runs[1].id
        ),
    );
    let (store, _) = begin(home.path());
    let error = store.view().rebuild(&runs[1].id).unwrap_err();
    let StoreError::Corrupt(corrupt) = &error else { panic!("{error}") };
    assert_eq!((corrupt.run.as_ref(), corrupt.seq), (Some(&runs[1].id), Some(3)));
    assert_eq!(store.view().rebuild(&runs[0].id).unwrap().as_ref(), Some(&runs[0]));
    let report = store.view().verify().unwrap();
    assert_eq!((report.runs, report.broken.len()), (3, 1));
    assert_eq!(report.broken[0].seq, Some(3));
}

#[test]
fn removed_events_and_rows_are_named() {
    let cases: [(&str, &str); 6] = [
        ("DELETE FROM events WHERE seq = 3", "does not end at entry"),
        ("DELETE FROM events WHERE run = '{}' AND n = 1", "does not end at entry"),
        ("DELETE FROM chains WHERE subject = '{}'", "has no recorded head"),
        ("DELETE FROM runs WHERE id = '{}'", "its row is not"),
        ("UPDATE runs SET detail = 'all is well' WHERE id = '{}'", "is not what its log makes"),
        (
            "INSERT INTO outbox SELECT seq, 'job:9', 1, 1 FROM runs WHERE id = '{}'",
            "open effects are not those",
        ),
    ];
    for (sql, why) in cases {
        let home = tempfile::tempdir().unwrap();
        let runs = sound_home(home.path(), 3);
        tamper(home.path(), &sql.replace("{}", runs[1].id.as_str()));
        let (store, _) = begin(home.path());
        let report = store.view().verify().unwrap();
        let broken = &report.broken;
        assert_eq!(broken.len(), 1, "{sql}: {broken:?}");
        assert!(broken[0].why.contains(why), "{sql}: {broken:?}");
        assert_eq!(broken[0].run.as_ref(), Some(&runs[1].id), "{sql}");
    }
}

#[test]
fn changed_pinned_bytes_are_refused() {
    let home = tempfile::tempdir().unwrap();
    sound_home(home.path(), 1);
    tamper(home.path(), "UPDATE blobs SET bytes = x'00'");
    let (store, _) = begin(home.path());
    let id = tidegate_store::blob_id(crate::builders::PINNED);
    assert!(matches!(store.view().blob(&id), Err(StoreError::Corrupt(_))));
    assert_eq!(store.view().verify().unwrap().broken.len(), 1);
}

#[test]
fn one_run_of_unknown_words_stands_beside_a_hundred_good_ones() {
    let home = tempfile::tempdir().unwrap();
    let runs = sound_home(home.path(), 101);
    let bad = &runs[50].id;
    tamper(home.path(), &format!("UPDATE runs SET status = 'mended' WHERE id = '{bad}'"));
    let (mut store, _) = begin(home.path());
    let page = store.view().list(&ListFilter { limit: 200, ..ListFilter::default() }).unwrap();
    let broken: Vec<_> = page.runs.iter().filter_map(|run| run.as_ref().err()).collect();
    assert_eq!((page.runs.len(), broken.len()), (101, 1));
    assert_eq!(broken[0].run.as_ref(), Some(bad));
    assert_eq!(broken[0].why, "status: unknown word \"mended\"");
    let open = store.view().pending_and_running().unwrap();
    assert_eq!(open.iter().filter(|run| run.is_err()).count(), 1, "it may be open");
    assert!(matches!(store.view().run(bad), Err(StoreError::Corrupt(_))));
    assert_eq!(store.view().rebuild(bad).unwrap().as_ref(), Some(&runs[50]), "its log is sound");
    store.turn(|turn| turn.input(|s| s.quarantine(bad, broken[0], AT))).unwrap().unwrap();
    assert_eq!(store.view().quarantined().unwrap()[0].run, *bad);
    submit_one(&mut store, "goes-on");
}

#[test]
fn damaged_pages_refuse_to_open_and_name_the_backup() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    fs::create_dir(home.path().join("backups")).unwrap();
    let backup = home.path().join("backups/store-1.db");
    store.backup_to(&backup).unwrap();
    store.close().unwrap();
    let path = home.path().join("store.db");
    let mut bytes = fs::read(&path).unwrap();
    for byte in &mut bytes[8192..9000] {
        *byte = 0xa5;
    }
    fs::write(&path, bytes).unwrap();
    let error = Store::open(home.path()).unwrap_err();
    let OpenError::Damaged { backup: Some(named), .. } = &error else { panic!("{error:?}") };
    assert_eq!(*named, backup);
    assert!(error.to_string().contains("to restore"), "{error}");

    fs::copy(&backup, &path).unwrap();
    fs::remove_file(home.path().join("store.db-wal")).unwrap();
    fs::remove_file(home.path().join("store.db-shm")).unwrap();
    let (store, began) = begin(home.path());
    assert_eq!(began.went_back, None, "nothing was recorded after the backup");
    assert_eq!(store.view().verify().unwrap().broken, vec![]);
}
