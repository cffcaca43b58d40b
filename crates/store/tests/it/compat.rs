//! Stores that earlier versions made must open for ever. Each release adds a sample.

use std::fs;
use std::path::Path;

use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{Run, step};
use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_store::{ListFilter, Migration, Store};

use crate::builders::{AT, begin, launcher_work, plan_work, submit, submit_one};
use crate::driver::{Chance, input};

/// Where a new sample is to be written. Set by hand when a schema is released.
const SAMPLE: &str = "TIDEGATE_TEST_WRITE_SAMPLE";

/// Writes a sample of the present schema when it was asked for.
#[test]
fn sample_of_this_schema_can_be_written() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let mut chance = Chance::new(5);
    let works = [launcher_work(), plan_work(ReviewPolicy::Auto), plan_work(ReviewPolicy::Person)];
    for (lane, work) in works.into_iter().enumerate() {
        let lane = format!("lane{lane}");
        let submit = |s: &mut tidegate_store::Savepoint<'_>| submit(s, &lane, None, work, 1);
        let mut run: Run = store.turn(|turn| turn.input(submit)).unwrap().unwrap();
        for n in 0..120_u64 {
            let now = Now { wall: WallMs(AT.0 + n), boot: BootMs(n), entropy: n };
            let Ok(made) = step(&run, &input(&mut chance, &run), now) else { continue };
            let save = |s: &mut tidegate_store::Savepoint<'_>| {
                s.save(Some(&run), &made.run, &made.events, now.wall)
            };
            store.turn(|turn| turn.input(save)).unwrap().unwrap();
            run = made.run;
        }
    }
    assert_eq!(store.view().verify().unwrap().broken, vec![]);
    if let Some(path) = std::env::var_os(SAMPLE) {
        store.backup_to(Path::new(&path)).unwrap();
    }
}

#[test]
fn every_sample_opens_proves_and_goes_on() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat");
    let mut samples = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let sample = entry.unwrap().path();
        if sample.extension().is_none_or(|ext| ext != "db") {
            continue;
        }
        samples += 1;
        let home = tempfile::tempdir().unwrap();
        fs::copy(&sample, home.path().join("store.db")).unwrap();
        let mut store = Store::open(home.path()).unwrap();
        let name = sample.display();
        assert!(!matches!(store.migration(), Migration::Created), "{name}");
        store.begin_epoch(1, "0.1.0", AT).unwrap();
        let report = store.view().verify().unwrap();
        assert_eq!(report.broken, vec![], "{name}");
        assert!(report.runs >= 3 && report.events > 30, "{name}: {report:?}");
        for row in
            store.view().list(&ListFilter { limit: 99, ..ListFilter::default() }).unwrap().runs
        {
            let row = row.unwrap();
            assert!(store.view().rebuild(&row.id).unwrap().is_some(), "{name}");
        }
        submit_one(&mut store, "goes-on");
    }
    assert!(samples >= 1);
}
