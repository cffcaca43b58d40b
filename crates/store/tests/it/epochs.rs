//! Epochs: a newer owner fences the older one, and a store that went back in time is found out.

use std::fs;
use std::path::Path;

use tidegate_store::{StoreError, Token, WentBack};

use crate::builders::{AT, begin, launcher_work, open, submit, submit_one};

#[test]
fn first_epoch_of_a_new_home_is_one_and_nothing_went_back() {
    let home = tempfile::tempdir().unwrap();
    let (store, began) = begin(home.path());
    assert_eq!(began.token, Token { generation: 1, epoch: 1 });
    assert_eq!(began.went_back, None);
    let row = store.view().home_row().unwrap();
    assert_eq!(row.home_id, began.home_id);
    assert_eq!(row.daemon.unwrap().pid, 4711);
}

#[test]
fn later_epoch_keeps_the_home_id_and_rises() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, first) = begin(home.path());
    submit_one(&mut store, "main");
    store.end_epoch(AT).unwrap();
    assert!(store.view().home_row().unwrap().daemon.unwrap().stopped_at.is_some());
    store.close().unwrap();
    let (_, second) = begin(home.path());
    assert_eq!(second.token, Token { generation: 1, epoch: 2 });
    assert_eq!((second.home_id, second.went_back), (first.home_id, None));
}

#[test]
fn fenced_owner_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (mut old, _) = begin(home.path());
    let (mut new, _) = begin(home.path());
    let before = new.view().home_row().unwrap();
    let work = launcher_work();
    let late = old.turn(|turn| turn.input(|s| submit(s, "main", None, work, 1)).is_ok());
    assert!(matches!(late, Err(StoreError::Fenced)));
    assert_eq!(new.view().home_row().unwrap(), before);
    submit_one(&mut new, "main");
    assert!(new.view().verify().unwrap().broken.is_empty());
}

#[test]
fn store_without_an_epoch_takes_no_turn() {
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    assert!(matches!(store.turn(|_| ()), Err(StoreError::Fenced)));
}

/// Copies the database alone, as someone who restores a backup does.
fn copy_aside(home: &Path) {
    fs::copy(home.join("store.db"), home.join("aside")).unwrap();
}

fn restore(home: &Path) {
    fs::rename(home.join("aside"), home.join("store.db")).unwrap();
    fs::remove_file(home.join("store.db-wal")).unwrap();
    fs::remove_file(home.join("store.db-shm")).unwrap();
}

#[test]
fn restored_backup_is_found_out_and_no_number_is_issued_twice() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    store.close().unwrap();
    copy_aside(home.path());
    let (mut store, second) = begin(home.path());
    let lost = submit_one(&mut store, "main");
    let seq = store.view().last_seq().unwrap();
    store.close().unwrap();
    restore(home.path());

    let (mut store, third) = begin(home.path());
    assert!(matches!(third.went_back, Some(WentBack::Behind { .. })), "{third:?}");
    assert_eq!(third.token.generation, second.token.generation + 1);
    assert!(third.token.epoch > second.token.epoch);
    assert_eq!(store.view().run(&lost.id).unwrap(), None);
    assert!(store.view().last_seq().unwrap() > seq);
    assert!(submit_one(&mut store, "main").seq > lost.seq);
    assert!(store.view().verify().unwrap().broken.is_empty());
    store.close().unwrap();
    let (_, fourth) = begin(home.path());
    assert_eq!(fourth.went_back, None, "found out once");
}

#[test]
fn store_that_was_deleted_is_found_out() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    submit_one(&mut store, "main");
    store.close().unwrap();
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        fs::remove_file(home.path().join(name)).unwrap();
    }
    let (_, began) = begin(home.path());
    assert!(matches!(began.went_back, Some(WentBack::Behind { .. })), "{began:?}");
    assert_eq!(began.token, Token { generation: 2, epoch: 2 });
}

#[test]
fn lost_highwater_proves_nothing_and_raises_the_generation() {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = begin(home.path());
    store.close().unwrap();
    fs::remove_file(home.path().join("highwater")).unwrap();
    let (_, began) = begin(home.path());
    assert_eq!(began.went_back, Some(WentBack::HighwaterLost));
}

#[test]
fn generation_raised_by_other_evidence_fences_and_passes_what_is_known() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let known = Token { generation: 5, epoch: 9 };
    let token = store.raise_generation(known, AT).unwrap();
    assert_eq!(token, Token { generation: 6, epoch: 10 });
    submit_one(&mut store, "main");
    assert!(store.view().verify().unwrap().broken.is_empty());
}
