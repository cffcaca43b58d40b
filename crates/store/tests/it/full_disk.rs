//! A full disk: the group fails as a whole, what must not be lost still fits, and all goes on
//! when there is room. On a small file system of its own, in a mount namespace of its own.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use tidegate_core::run::{Input, step};
use tidegate_core::time::{BootMs, Now};
use tidegate_store::{ListFilter, Options, Store, StoreError, blob_id};

use crate::builders::{AT, launcher_work, submit, submit_one};

/// Names the small file system; set only for the child of this test.
const SMALL: &str = "TIDEGATE_TEST_SMALL_DISK";
const OPTIONS: Options = Options { ballast_bytes: 96 * 1024 };

#[test]
fn full_disk_undoes_the_group_and_the_ballast_takes_what_must_not_be_lost() {
    let disk = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=1m,mode=700 tmpfs \"$1\" && \
                  exec \"$2\" --exact full_disk::child_fills_the_disk --nocapture";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(disk.path())
        .arg(std::env::current_exe().unwrap())
        .env(SMALL, disk.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "needs the right to mount: {told} {error}");
    assert!(told.contains("1 passed"), "the child did not run: {told}");
}

/// The test itself. Only in a child that was told where.
#[test]
fn child_fills_the_disk() {
    let Some(disk) = std::env::var_os(SMALL) else {
        assert!(std::env::var_os(SMALL).is_none());
        return;
    };
    let disk = Path::new(&disk);
    fs::write(disk.join("of-others"), vec![1; 300_000]).unwrap();
    let mut store = Store::open_with(disk, OPTIONS).unwrap();
    store.begin_epoch(1, "0.1.0", AT).unwrap();
    let run = submit_one(&mut store, "kept");
    let recorded = fill_by_submits(&mut store);
    let page = store.view().list(&ListFilter { limit: 500, ..ListFilter::default() }).unwrap();
    assert_eq!(page.runs.len(), recorded + 1, "a refused group left something behind");
    assert_eq!(store.view().verify().unwrap().broken, vec![]);

    fill_by_file(disk);
    assert!(store.spend_ballast().unwrap(), "there was a ballast");
    let now = Now { wall: AT, boot: BootMs(1), entropy: 1 };
    let made = step(&run, &Input::Cancel { actor: "user".into() }, now).unwrap();
    store
        .turn(|turn| turn.input(|s| s.save(Some(&run), &made.run, &made.events, AT)))
        .unwrap()
        .unwrap();

    fs::remove_file(disk.join("filler")).unwrap();
    fs::remove_file(disk.join("of-others")).unwrap();
    assert!(!disk.join("ballast").exists());
    submit_one(&mut store, "there-is-room");
    assert!(disk.join("ballast").exists(), "taken back by itself");
    fs::write(disk.join("of-others"), vec![1; 150_000]).unwrap();
    fill_by_file(disk);
    drop(store);
    let mut store = Store::open_with(disk, OPTIONS).unwrap();
    let began = store.begin_epoch(2, "0.1.0", AT).unwrap();
    assert_eq!(
        (began.token.epoch, began.went_back),
        (2, None),
        "a new daemon starts on a full disk"
    );

    fs::remove_file(disk.join("filler")).unwrap();
    fs::remove_file(disk.join("of-others")).unwrap();
    submit_one(&mut store, "goes-on");
    assert_eq!(store.view().verify().unwrap().broken, vec![]);
    store.close().unwrap();
}

/// Submits runs with much to pin, in groups, until the disk is full. Says how many are recorded.
fn fill_by_submits(store: &mut Store) -> usize {
    let mut recorded = 0;
    for n in 0..500_u64 {
        let group = store.turn(|turn| {
            let big = n.to_le_bytes().repeat(3000);
            let first = turn.input(|s| submit(s, &format!("a{n}"), None, launcher_work(), n));
            let second = turn.input(|s| {
                s.put_blob(&blob_id(&big), &big)?;
                submit(s, &format!("b{n}"), None, launcher_work(), n)
            });
            usize::from(first.is_ok()) + usize::from(second.is_ok())
        });
        match group {
            Ok(count) => recorded += count,
            Err(StoreError::Full) => return recorded,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the disk took everything");
}

/// Takes what is left.
fn fill_by_file(disk: &Path) {
    let path = disk.join("filler");
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    while file.write_all(&[1; 1024]).is_ok() {}
}
