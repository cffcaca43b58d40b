//! Groups of inputs: what is refused is undone alone, what is recorded is there afterwards.

use tidegate_core::run::{Input, step};
use tidegate_core::time::{BootMs, Now};
use tidegate_store::{EventFilter, ListFilter, Resolved, RunStatus, StoreError, blob_id};

use crate::builders::{AT, PINNED, begin, launcher_work, submit, submit_one};

const NOW: Now = Now { wall: AT, boot: BootMs(5), entropy: 9 };

#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("mine")]
    Mine,
}

#[test]
fn submitted_run_is_read_back_by_every_question() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let run = submit_one(&mut store, "main");
    let view = store.view();
    let row = view.run(&run.id).unwrap().unwrap();
    assert_eq!((row.status, row.seq, row.active_wave), (RunStatus::Pending, 1, Some(1)));
    assert_eq!(view.rebuild(&run.id).unwrap().as_ref(), Some(&run));
    assert_eq!(view.resolve_prefix("r0").unwrap(), Resolved::One(run.id.clone()));
    assert_eq!(view.resolve_prefix("r1").unwrap(), Resolved::None);
    assert_eq!(view.list(&ListFilter::default()).unwrap().runs, vec![Ok(row.clone())]);
    assert_eq!(view.pending_and_running().unwrap(), vec![Ok(row)]);
    assert_eq!(view.blob(&blob_id(PINNED)).unwrap().as_deref(), Some(PINNED));
    let events = view.events_after(0, &EventFilter::default(), 10).unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["daemon-started", "submitted"]);
    assert_eq!(view.last_seq().unwrap(), 2);
    assert!(view.verify().unwrap().broken.is_empty());
}

#[test]
fn refused_input_is_undone_alone() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let work = launcher_work;
    let (first, second, third) = store
        .turn(|turn| {
            let first = turn.input::<_, Refusal>(|s| Ok(submit(s, "a", None, work(), 1)?));
            let second = turn.input::<(), Refusal>(|s| {
                submit(s, "b", None, work(), 2)?;
                Err(Refusal::Mine)
            });
            let third = turn.input::<_, Refusal>(|s| Ok(submit(s, "c", None, work(), 3)?));
            (first, second, third)
        })
        .unwrap();
    let (first, third) = (first.unwrap(), third.unwrap());
    assert_eq!(second.unwrap_err().to_string(), "mine");
    assert_eq!((first.seq, third.seq), (1, 2), "the refused run used no number up");
    let page = store.view().list(&ListFilter { limit: 9, ..ListFilter::default() }).unwrap();
    let lanes: Vec<_> =
        page.runs.iter().map(|run| run.as_ref().unwrap().queue.lane.to_string()).collect();
    assert_eq!(lanes, ["c", "a"]);
    assert!(store.view().verify().unwrap().broken.is_empty());
}

#[test]
fn group_of_refused_inputs_writes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let before = store.view().home_row().unwrap();
    let refused = store
        .turn(|turn| {
            turn.input::<(), Refusal>(|s| {
                submit(s, "b", None, launcher_work(), 2)?;
                Err(Refusal::Mine)
            })
        })
        .unwrap();
    assert!(matches!(refused, Err(Refusal::Mine)));
    assert_eq!(store.view().home_row().unwrap(), before);
}

#[test]
fn schema_refuses_a_second_active_run_of_a_queue_and_a_missing_blob() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let one = submit_one(&mut store, "main");
    let other = submit_one(&mut store, "main");
    let claim = |store: &mut tidegate_store::Store, run| {
        let input = Input::Claim { supervisor: "s".into() };
        let made = step(run, &input, NOW).unwrap();
        store.turn(|turn| turn.input(|s| s.save(Some(run), &made.run, &made.events, AT))).unwrap()
    };
    claim(&mut store, &one).unwrap();
    assert!(matches!(claim(&mut store, &other), Err(StoreError::Refused { .. })));
    assert_eq!(store.view().run(&other.id).unwrap().unwrap().status, RunStatus::Pending);

    let mut lost = one.clone();
    lost.env = blob_id(b"never pinned");
    let refused = store
        .turn(|turn| {
            turn.input(|s| {
                let mut work = launcher_work();
                if let tidegate_core::run::Work::Launcher { spec, .. } = &mut work {
                    spec.cwd = "/".into();
                }
                let seq = s.next_seq();
                let submitted = tidegate_core::run::Submitted {
                    priority: 0,
                    id: tidegate_core::ids::RunId::from_parts(seq, 1),
                    seq,
                    queue: lost.queue.clone(),
                    actor: "user".into(),
                    at: AT,
                    env: lost.env.clone(),
                    parent: None,
                    work,
                };
                let run = tidegate_core::run::Run::from_submitted(&submitted);
                let first = tidegate_core::run::Event::Submitted(Box::new(submitted));
                s.save(None, &run, &[first], AT)
            })
        })
        .unwrap();
    assert!(matches!(refused, Err(StoreError::Refused { .. })));
    assert!(store.view().verify().unwrap().broken.is_empty());
}

#[test]
fn blob_under_another_address_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let put = store.turn(|turn| turn.input(|s| s.put_blob(&blob_id(b"one"), b"two"))).unwrap();
    assert!(matches!(put, Err(StoreError::WrongBlob(_))));
    assert_eq!(store.view().blob(&blob_id(b"one")).unwrap(), None);
}

#[test]
fn pages_of_a_list_meet_every_run_once() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    for lane in 0..7 {
        submit_one(&mut store, &format!("lane{lane}"));
    }
    let mut filter = ListFilter { limit: 3, ..ListFilter::default() };
    let mut seqs = Vec::new();
    loop {
        let page = store.view().list(&filter).unwrap();
        seqs.extend(page.runs.iter().map(|run| run.as_ref().unwrap().seq));
        let Some(next) = page.next else { break };
        filter.before = Some(next);
    }
    assert_eq!(seqs, [7, 6, 5, 4, 3, 2, 1]);
}

#[test]
fn panic_in_an_input_undoes_the_group_and_the_store_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = store.turn(|turn| {
            turn.input::<(), StoreError>(|s| {
                submit(s, "a", None, launcher_work(), 1)?;
                panic!("a bug of the caller")
            })
        });
    }));
    assert!(caught.is_err());
    assert_eq!(submit_one(&mut store, "b").seq, 1);
    assert!(store.view().verify().unwrap().broken.is_empty());
}
