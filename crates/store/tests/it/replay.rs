//! Whatever happens to runs, their rows are what a replay of their events makes.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{Run, Status, step};
use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_store::Store;

use crate::builders::{AT, begin, launcher_work, plan_work, submit};
use crate::driver::{Chance, input};

/// What a driven store amounts to.
struct Driven {
    runs: Vec<Run>,
    kinds: BTreeSet<String>,
}

/// Submits three runs and drives them, several inputs per turn.
fn drive(store: &mut Store, seed: u64, turns: usize) -> Driven {
    let mut chance = Chance::new(seed);
    let works = [launcher_work(), plan_work(ReviewPolicy::Auto), plan_work(ReviewPolicy::Person)];
    let mut runs: Vec<Run> = store
        .turn(|turn| {
            let submit = |(lane, work)| {
                turn.input(|s| submit(s, &format!("lane{lane}"), None, work, seed)).unwrap()
            };
            works.into_iter().enumerate().map(submit).collect()
        })
        .unwrap();
    for n in 0..turns {
        let wall = WallMs(AT.0 + n as u64);
        store
            .turn(|turn| {
                for _ in 0..=chance.below(24) {
                    let which = chance.below(runs.len());
                    let before = &runs[which];
                    let entropy = chance.below(1 << 30) as u64;
                    let now = Now { wall, boot: BootMs(n as u64), entropy };
                    let chosen = input(&mut chance, before);
                    let Ok(made) = step(before, &chosen, now) else { continue };
                    turn.input(|s| s.save(Some(before), &made.run, &made.events, wall)).unwrap();
                    runs[which] = made.run;
                }
            })
            .unwrap();
    }
    let events = store.view().events_after(0, &tidegate_store::EventFilter::default(), 10_000);
    let kinds = events.unwrap().into_iter().map(|event| event.kind).collect();
    Driven { runs, kinds }
}

fn assert_proved(store: &Store, driven: &Driven) {
    let report = store.view().verify().unwrap();
    assert_eq!(report.broken, vec![]);
    assert_eq!(report.runs, 3);
    for run in &driven.runs {
        assert_eq!(store.view().rebuild(&run.id).unwrap().as_ref(), Some(run));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn rows_of_any_history_are_what_its_replay_makes(seed in any::<u64>(), turns in 1..60_usize) {
        let home = tempfile::tempdir().unwrap();
        let (mut store, _) = begin(home.path());
        let driven = drive(&mut store, seed, turns);
        assert_proved(&store, &driven);
        store.close().unwrap();
        let (store, began) = begin(home.path());
        prop_assert_eq!(began.went_back, None);
        assert_proved(&store, &driven);
    }
}

#[test]
fn driver_reaches_every_end_and_most_kinds() {
    let mut kinds = BTreeSet::new();
    let mut ends = BTreeSet::new();
    for seed in 1..=12 {
        let home = tempfile::tempdir().unwrap();
        let (mut store, _) = begin(home.path());
        let driven = drive(&mut store, seed, 90);
        kinds.extend(driven.kinds);
        ends.extend(driven.runs.iter().map(|run| match &run.status {
            Status::Pending => "pending",
            Status::Running { .. } => "running",
            Status::Completed { .. } => "completed",
            Status::Failed { .. } => "failed",
            Status::Cancelled { .. } => "cancelled",
        }));
    }
    assert!(ends.is_superset(&BTreeSet::from(["completed", "failed", "cancelled"])), "{ends:?}");
    assert!(kinds.len() >= 38, "the driver reaches too little: {kinds:?}");
}
