//! What every store must do, whatever stands behind it. The cases know only the interface and a
//! place where stores are opened; another database becomes another place.

use tidegate_core::home::{HomeEvent, Place as Repository};
use tidegate_core::ids::ProjectId;
use tidegate_core::run::{Input, Run, step};
use tidegate_core::time::{BootMs, Now};
use tidegate_store::{
    EventFilter, ListFilter, Resolved, RunStatus, Store, StoreError, Token, WaveFilter,
};

use crate::builders::{AT, launcher_work, plan_work, submit, submit_one};
use crate::driver::{Chance, input};

/// Where the stores of one home are opened, one after the other or side by side.
pub(crate) trait Place {
    /// Opens the store of the home.
    fn open(&self) -> Store;
}

/// A home in a folder of its own.
struct Folder(tempfile::TempDir);

impl Place for Folder {
    fn open(&self) -> Store {
        crate::builders::open(self.0.path())
    }
}

fn begin(place: &dyn Place) -> Store {
    let mut store = place.open();
    store.begin_epoch(1, "0.1.0", AT).unwrap();
    store
}

fn tokens_only_grow(place: &dyn Place) {
    let mut last = Token { generation: 0, epoch: 0 };
    for _ in 0..5 {
        let token = place.open().begin_epoch(1, "0.1.0", AT).unwrap().token;
        assert!(token.epoch > last.epoch && token.generation >= last.generation);
        last = token;
    }
}

fn only_the_newest_owner_writes(place: &dyn Place) {
    let mut owners: Vec<Store> = (0..4).map(|_| begin(place)).collect();
    let newest = owners.len() - 1;
    for (place, owner) in owners.iter_mut().enumerate() {
        let done = owner.turn(|turn| {
            turn.input(|s| submit(s, &format!("lane{place}"), None, launcher_work(), 1)).is_ok()
        });
        if place == newest {
            assert!(matches!(done, Ok(true)));
        } else {
            assert!(matches!(done, Err(StoreError::Fenced)));
        }
    }
    let page = owners[0].view().list(&ListFilter { limit: 9, ..ListFilter::default() }).unwrap();
    assert_eq!(page.runs.len(), 1);
}

fn what_was_acknowledged_is_there_for_the_next_owner(place: &dyn Place) {
    let mut store = begin(place);
    let run = submit_one(&mut store, "main");
    drop(store);
    let store = begin(place);
    assert_eq!(store.view().rebuild(&run.id).unwrap().as_ref(), Some(&run));
}

fn events_come_in_order_and_are_found_by_run_feature_and_kind(place: &dyn Place) {
    let mut store = begin(place);
    let (first, second) = (submit_one(&mut store, "a"), submit_one(&mut store, "b"));
    let view = store.view();
    let all = view.events_after(0, &EventFilter::default(), 100).unwrap();
    assert!(all.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let of = |run: &Run| EventFilter { run: Some(run.id.clone()), ..EventFilter::default() };
    assert_eq!(view.events_after(0, &of(&first), 100).unwrap().len(), 1);
    let seq = view.events_after(0, &of(&second), 100).unwrap()[0].seq;
    assert_eq!(view.events_after(seq, &of(&second), 100).unwrap(), vec![]);
    assert_eq!(view.events_after(seq - 1, &EventFilter::default(), 1).unwrap()[0].seq, seq);
    let kinds = vec!["daemon-started".to_owned()];
    let kinds = EventFilter { kinds, ..EventFilter::default() };
    assert_eq!(view.events_after(0, &kinds, 100).unwrap().len(), 1);
}

fn numbers_of_runs_rise_and_ids_sort_by_them(place: &dyn Place) {
    let mut store = begin(place);
    let ids: Vec<_> = (0..40).map(|lane| submit_one(&mut store, &format!("lane{lane}"))).collect();
    assert!(ids.windows(2).all(|pair| pair[0].seq < pair[1].seq && pair[0].id < pair[1].id));
    let view = store.view();
    assert!(matches!(view.resolve_prefix("r").unwrap(), Resolved::Many(_)));
    assert!(matches!(view.resolve_prefix("r00000").unwrap(), Resolved::Many(_)));
    assert_eq!(view.resolve_prefix("").unwrap(), Resolved::None);
    assert_eq!(view.resolve_prefix("r%").unwrap(), Resolved::None);
    for run in &ids {
        let found = view.resolve_prefix(&run.id.as_str()[..7]).unwrap();
        assert_eq!(found, Resolved::One(run.id.clone()));
    }
}

fn outbox_is_what_the_state_asks_for(place: &dyn Place) {
    let mut store = begin(place);
    let run = submit_one(&mut store, "main");
    let keys = |store: &Store, run: &Run| -> Vec<_> {
        store.view().outbox(&run.id).unwrap().into_iter().map(|row| row.key).collect()
    };
    assert_eq!(keys(&store, &run), vec![]);
    let now = Now { wall: AT, boot: BootMs(1), entropy: 3 };
    let claimed = step(&run, &Input::Claim { supervisor: "s".into() }, now).unwrap();
    store
        .turn(|turn| turn.input(|s| s.save(Some(&run), &claimed.run, &claimed.events, AT)))
        .unwrap()
        .unwrap();
    let asked: Vec<_> = claimed.run.outstanding().into_keys().collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(keys(&store, &run), asked);
}

fn wave_shows_the_run_that_matters_most(place: &dyn Place) {
    let mut store = begin(place);
    let filter = WaveFilter { wave: 1, project: None, lane: None, adhoc: None };
    assert_eq!(store.view().wave_summary(&filter).unwrap(), None);
    let mut now = Now { wall: AT, boot: BootMs(1), entropy: 3 };
    let mut move_by = |store: &mut Store, run: &Run, input: Input| {
        now.wall.0 += 1;
        let made = step(run, &input, now).unwrap();
        let saved =
            store.turn(|turn| turn.input(|s| s.save(Some(run), &made.run, &made.events, now.wall)));
        saved.unwrap().unwrap();
        made.run
    };
    let status = |store: &Store| {
        let row = store.view().wave_summary(&filter).unwrap().unwrap().unwrap();
        (row.queue.lane.to_string(), row.status)
    };
    let cancel = || Input::Cancel { actor: "user".into() };
    let gone = submit_one(&mut store, "gone");
    move_by(&mut store, &gone, cancel());
    assert_eq!(status(&store), ("gone".into(), RunStatus::Cancelled));
    submit_one(&mut store, "waits");
    assert_eq!(status(&store), ("waits".into(), RunStatus::Pending));
    let runs = submit_one(&mut store, "runs");
    move_by(&mut store, &runs, Input::Claim { supervisor: "s".into() });
    assert_eq!(status(&store), ("runs".into(), RunStatus::Running));
}

fn projects_are_what_the_home_s_facts_make(place: &dyn Place) {
    let mut store = begin(place);
    let id = |text: &str| ProjectId::new(text).unwrap();
    let at = |root: &str| Repository { root: root.into(), common_dir: format!("{root}/.git") };
    let events = [
        HomeEvent::ProjectRegistered { project: id("a"), place: at("/a") },
        HomeEvent::ProjectRegistered { project: id("b"), place: at("/b") },
        HomeEvent::ProjectRegistered { project: id("a"), place: at("/moved") },
        HomeEvent::ProjectRemoved { project: id("b") },
    ];
    for event in &events {
        store.turn(|turn| turn.input(|s| s.append_home(event, AT))).unwrap().unwrap();
    }
    assert_eq!(store.view().projects().unwrap(), vec![(id("a"), at("/moved"))]);
    let home = store.view().home().unwrap();
    assert_eq!(home.find("/moved/.git").map(|(id, _)| id.to_string()), Some("a".to_owned()));
    assert_eq!(store.view().verify().unwrap().broken, vec![]);
}

fn landed_features_of_a_plan_are_found_by_its_path(place: &dyn Place) {
    let mut store = begin(place);
    let mut chance = Chance::new(9);
    let work = plan_work(tidegate_core::plan::ReviewPolicy::Auto);
    let mut run =
        store.turn(|turn| turn.input(|s| submit(s, "main", None, work, 1))).unwrap().unwrap();
    for n in 0..3000_u64 {
        let now = Now { wall: AT, boot: BootMs(n), entropy: n };
        let chosen = input(&mut chance, &run);
        if matches!(chosen, Input::Cancel { .. }) {
            continue;
        }
        let Ok(made) = step(&run, &chosen, now) else { continue };
        store
            .turn(|turn| turn.input(|s| s.save(Some(&run), &made.run, &made.events, AT)))
            .unwrap()
            .unwrap();
        run = made.run;
        let landed =
            run.plan().is_some_and(|(_, plan)| plan.features.keys().any(|id| plan.is_landed(id)));
        if landed || run.status.is_terminal() {
            break;
        }
    }
    let (_, plan) = run.plan().unwrap();
    let landed: Vec<_> = plan.features.keys().filter(|id| plan.is_landed(id)).cloned().collect();
    assert!(!landed.is_empty(), "chance landed nothing: {:?}", run.status);
    let found = store.view().landed(&run.queue.project, "plans/harbour.toml").unwrap();
    let found: Vec<_> = found.into_iter().map(|row| row.feature).collect();
    assert_eq!(found, landed);
    assert_eq!(store.view().landed(&run.queue.project, "plans/other.toml").unwrap(), vec![]);
}

macro_rules! conformance {
    ($($case:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $case() {
                super::$case(&super::Folder(tempfile::tempdir().unwrap()));
            })*
        }
    };
}

conformance!(
    tokens_only_grow,
    only_the_newest_owner_writes,
    what_was_acknowledged_is_there_for_the_next_owner,
    events_come_in_order_and_are_found_by_run_feature_and_kind,
    numbers_of_runs_rise_and_ids_sort_by_them,
    outbox_is_what_the_state_asks_for,
    wave_shows_the_run_that_matters_most,
    projects_are_what_the_home_s_facts_make,
    landed_features_of_a_plan_are_found_by_its_path,
);
