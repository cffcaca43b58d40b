//! Stores that earlier versions made must open for ever. Each release adds a sample.

use std::fs;
use std::path::Path;

use tidegate_core::ids::GateName;
use tidegate_core::plan::{GateSpec, ReviewPolicy};
use tidegate_core::run::{Event, Phase, Run, Work, step};
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

/// A plan whose features and merges have two gates.
fn two_gates() -> Work {
    let mut work = plan_work(ReviewPolicy::Auto);
    if let Work::Plan { spec, .. } = &mut work {
        let names = ["test", "lint"].map(|name| GateName::new(name).unwrap());
        let gate = GateSpec { retries: 0, ..spec.gates[&names[0]].clone() };
        spec.gates = names.iter().map(|name| (name.clone(), gate.clone())).collect();
        spec.landing.merge_gates = names.to_vec();
        spec.features.values_mut().for_each(|feature| feature.gates = names.to_vec());
    }
    work
}

/// Whether one gate of a feature has passed and the other one runs, on its branch or on the merge.
fn half_way(run: &Run, merged: bool) -> bool {
    let (_, plan) = run.plan().unwrap();
    let mut rounds = plan.features.values().filter_map(|feature| feature.state.round());
    rounds.any(|(round, phase)| {
        (phase == Phase::Merge) == merged && round.passed.len() == 1 && round.running.len() == 1
    })
}

/// The rows of schema 4: the index of a gate, and how far that one is.
const INDEXED: &str = "
    CREATE TEMP TABLE old AS SELECT run, feature,
        coalesce(feature_state -> '$.state.round', feature_state -> '$.state.step.round') AS round,
        CASE WHEN json_type(feature_state, '$.state.round') IS NULL THEN '$.state.step' ELSE '$.state' END
            AS at
        FROM features;
    UPDATE features SET feature_state = (
        SELECT json_remove(json_set(feature_state, at || '.gate', json_array_length(round, '$.passed'),
            at || '.step', CASE round -> '$.running'
                WHEN '{}' THEN json_object('word', 'awaiting_slot')
                ELSE json_object('word', 'running', 'job',
                    (SELECT value FROM json_each(round, '$.running'))) END), at || '.round')
        FROM old WHERE old.run = features.run AND old.feature = features.feature)
        WHERE (run, feature) IN (SELECT run, feature FROM old WHERE round IS NOT NULL);
    DROP TABLE old;
    PRAGMA user_version = 4;";

/// Schema 6: nothing of questions and messages.
const SILENT: &str = "
    ALTER TABLE jobs DROP COLUMN session;
    ALTER TABLE jobs DROP COLUMN told;
    ALTER TABLE jobs DROP COLUMN evidence;
    DROP TABLE questions;
    DROP TABLE messages;
    DROP INDEX features_feature;
    PRAGMA user_version = 6;";

/// The commands of schema 5: answers alone.
const ANSWERS: &str = "
    DROP TABLE commands;
    CREATE TABLE commands (
        actor TEXT NOT NULL,
        key TEXT NOT NULL,
        verb TEXT NOT NULL,
        body_hash BLOB NOT NULL CHECK (length(body_hash) = 32),
        response TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (actor, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX commands_at ON commands (at);
    PRAGMA user_version = 5;";

#[test]
fn answers_of_an_older_store_become_commands_in_their_order() {
    let home = tempfile::tempdir().unwrap();
    drop(begin(home.path()));
    let conn = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    conn.execute_batch(SILENT).unwrap();
    conn.execute_batch(ANSWERS).unwrap();
    for (key, at) in [("late", 9), ("early", 4)] {
        conn.execute(
            "INSERT INTO commands VALUES ('user', ?1, 'run.cancel', zeroblob(32), '{\"n\":1}', ?2)",
            (key, at),
        )
        .unwrap();
    }
    drop(conn);
    let store = Store::open(home.path()).unwrap();
    let filter = tidegate_store::CommandFilter { limit: 9, ..Default::default() };
    let found = store.view().commands(&filter).unwrap();
    let keys: Vec<&str> = found.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["late", "early"]);
    assert!(found.iter().all(|one| one.seq < 0 && one.response_json.contains("{\"n\":1}")));
    assert_eq!(store.view().recall("user", "late").unwrap().as_ref(), found.first());
}

#[test]
fn index_of_a_gate_becomes_the_round_that_its_log_tells() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    for merged in [false, true] {
        let found = (0..400).find(|seed| {
            let mut chance = Chance::new(*seed);
            let lane = format!("lane{merged}{seed}");
            let submit =
                |s: &mut tidegate_store::Savepoint<'_>| submit(s, &lane, None, two_gates(), 1);
            let mut run: Run = store.turn(|turn| turn.input(submit)).unwrap().unwrap();
            for n in 0..400_u64 {
                if half_way(&run, merged) {
                    break;
                }
                let now = Now { wall: WallMs(AT.0 + n), boot: BootMs(n), entropy: n };
                let Ok(made) = step(&run, &input(&mut chance, &run), now) else { continue };
                // One gate at a time, as it was.
                let rounds = |run: &Run| {
                    let (_, plan) = run.plan().unwrap();
                    plan.features.values().any(|one| one.jobs().len() > 1)
                };
                // Neither questions nor evidence, which were not known then.
                let later = |e: &Event| matches!(e, Event::Talk(_) | Event::EvidenceRead { .. });
                let talks = made.events.iter().any(later);
                if rounds(&made.run) || talks {
                    continue;
                }
                let save = |s: &mut tidegate_store::Savepoint<'_>| {
                    s.save(Some(&run), &made.run, &made.events, now.wall)
                };
                store.turn(|turn| turn.input(save)).unwrap().unwrap();
                run = made.run;
            }
            half_way(&run, merged)
        });
        assert!(found.is_some(), "no run got half way, merged: {merged}");
    }
    drop(store);
    let conn = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    conn.execute_batch(SILENT).unwrap();
    conn.execute_batch(ANSWERS).unwrap();
    conn.execute_batch(INDEXED).unwrap();
    drop(conn);
    let store = Store::open(home.path()).unwrap();
    assert!(matches!(store.migration(), Migration::Migrated { from: 4, .. }));
    assert_eq!(store.view().verify().unwrap().broken, vec![]);
}
