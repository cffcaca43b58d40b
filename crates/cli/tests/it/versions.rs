//! Programs and stores of other versions: refused by name, never misread.

use std::os::unix::fs::FileExt;

use serde_json::json;

use crate::harness::{Home, post};

/// Where SQLite keeps the number that a store's schema has.
const USER_VERSION: u64 = 60;

#[test]
fn store_of_a_newer_program_is_refused_by_readers_and_daemons() {
    let home = Home::new();
    let run = home.script(&[], "exit 0");
    home.ended(&run);
    home.run(&["daemon", "stop"]).ends_with(0);
    let mut options = std::fs::OpenOptions::new();
    let store = options.read(true).write(true).open(home.path().join("store.db")).unwrap();
    let mut own = [0; 4];
    store.read_exact_at(&mut own, USER_VERSION).unwrap();
    store.write_all_at(&9999_u32.to_be_bytes(), USER_VERSION).unwrap();
    for words in [&["status", &run][..], &["list"], &["events"], &["daemon", "run"]] {
        let output = home.json(words).ends_with(4);
        assert_eq!(output.error(), "store_newer", "{words:?}");
    }
    home.json(&["submit", "--", "true"]).ends_with(4);
    store.write_all_at(&own, USER_VERSION).unwrap();
    drop(store);
    assert_eq!(home.status(&run)["status"], "completed");
    home.close();
}

#[test]
fn command_of_another_version_is_refused_and_names_the_way_out() {
    let home = Home::new();
    home.start_daemon();
    let body = json!({ "cwd": home.repo().root(), "actor": "keeper", "env": [],
        "work": { "launcher": { "argv": ["true"] } } });
    let answer = post(&home.path(), "/runs", &[("tidegate-version", "0.0.0")], &body).unwrap();
    assert_eq!(answer.status, 426, "{answer:?}");
    assert_eq!(answer.body["error"]["code"], "version_mismatch");
    assert!(answer.body["error"].to_string().contains("daemon restart"), "{answer:?}");
    assert!(home.data(&["list"])["runs"].as_array().unwrap().is_empty());
    home.close();
}
