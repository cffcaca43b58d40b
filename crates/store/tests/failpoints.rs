//! Dies at every fail point of the store, once each, and looks at what the next owner finds.
#![cfg(feature = "failpoints")]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tidegate_core::home::{HomeEvent, Place};
use tidegate_core::ids::ProjectId;
use tidegate_core::time::WallMs;
use tidegate_store::{Store, StoreError, Token, blob_id};

/// Names the home of the child; set only for children of these tests.
const HOME: &str = "TIDEGATE_TEST_DIE_HOME";
/// Names the fail point at which the child dies.
const POINT: &str = "TIDEGATE_TEST_DIE_AT";
const AT: WallMs = WallMs(1_700_000_000_000);

fn register(store: &mut Store, name: &str) -> Result<(), StoreError> {
    let place = Place { root: format!("/srv/{name}"), common_dir: format!("/srv/{name}/.git") };
    let event = HomeEvent::ProjectRegistered { project: ProjectId::new(name).unwrap(), place };
    let bytes = name.as_bytes();
    store.turn(|turn| {
        turn.input(|s| {
            s.put_blob(&blob_id(bytes), bytes)?;
            s.append_home(&event, AT)
        })
    })?
}

/// What a daemon does with a store in its life. Every acknowledgement is told at once.
fn live(home: &Path) {
    let mut store = Store::open(home).unwrap();
    store.begin_epoch(1, "0.1.0", AT).unwrap();
    register(&mut store, "one").unwrap();
    println!("acknowledged one");
    let token = store.token().unwrap();
    store.raise_generation(Token { epoch: token.epoch + 1, ..token }, AT).unwrap();
    register(&mut store, "two").unwrap();
    println!("acknowledged two");
    store.checkpoint().unwrap();
    store.backup_to(&home.join("copy.db")).unwrap();
    register(&mut store, "three").unwrap();
    println!("acknowledged three");
    store.end_epoch(AT).unwrap();
    store.close().unwrap();
    println!("lived");
}

/// Only in a child that was told where.
#[test]
fn child_lives_until_its_fail_point() {
    let (Some(home), Ok(point)) = (std::env::var_os(HOME), std::env::var(POINT)) else {
        assert!(std::env::var_os(HOME).is_none());
        return;
    };
    fail::cfg_callback(point, || std::process::abort()).unwrap();
    live(Path::new(&home));
}

/// Every literal name of a fail point in the sources.
fn points(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            points(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for part in text.split("fail_point!(\"").skip(1) {
            found.insert(part.split('"').next().unwrap().to_owned());
        }
    }
}

#[test]
fn death_at_any_fail_point_loses_nothing_that_was_acknowledged() {
    let mut known = BTreeSet::new();
    points(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut known);
    assert!(known.len() >= 20, "{known:?}");
    let mut unreached = BTreeSet::new();
    for point in &known {
        let home = tempfile::tempdir().unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_lives_until_its_fail_point", "--nocapture"])
            .env(HOME, home.path())
            .env(POINT, point)
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        if told.contains("lived") {
            unreached.insert(point.clone());
            continue;
        }
        assert!(!output.status.success(), "{point}: {told}");
        look_at(home.path(), point, &told);
    }
    // Reached only when an older store is migrated, or one is restored from a backup.
    let expected = [
        "store.migrate.after_backup",
        "store.migrate.before_backup",
        "store.restore.after_mark",
        "store.restore.after_rename",
        "store.restore.before_remove_log",
        "store.restore.before_rename",
    ];
    assert_eq!(unreached.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

fn look_at(home: &Path, point: &str, told: &str) {
    let mut store = Store::open(home).unwrap();
    let began = store.begin_epoch(2, "0.1.0", AT).unwrap();
    assert_eq!(began.went_back, None, "{point}");
    assert_eq!(store.view().verify().unwrap().broken, vec![], "{point}");
    let there: Vec<String> =
        store.view().projects().unwrap().into_iter().map(|(id, _)| id.to_string()).collect();
    for name in ["one", "two", "three"] {
        let acknowledged = told.contains(&format!("acknowledged {name}\n"));
        let found = there.iter().any(|id| id == name);
        assert!(found || !acknowledged, "{point}: {name} is lost");
    }
    assert!(there.len() <= told.matches("acknowledged").count() + 1, "{point}: {there:?}");
    register(&mut store, "later").unwrap();
}
