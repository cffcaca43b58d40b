//! Records of commands: kept under their key, claimed, ended, and forgotten when they are old.

use tidegate_core::command::{Awaits, CommandId, CommandStatus};
use tidegate_core::ids::RunId;
use tidegate_core::time::WallMs;
use tidegate_store::{Background, CommandEnd, CommandFilter, CommandRecord, Store, StoreError};

use crate::builders::{AT, begin};

fn record(number: u64) -> CommandRecord {
    CommandRecord {
        seq: i64::try_from(number).unwrap(),
        id: CommandId::from_parts(number, 7),
        actor: "user".into(),
        key: format!("k{number}"),
        body_hash: [3; 32],
        verb: "run.cancel".into(),
        run: Some(RunId::new("r000001abcd").unwrap()),
        feature: None,
        args_json: "{}".into(),
        status: CommandStatus::Completed,
        requested_at: AT,
        processed_at: Some(AT),
        epoch: 1,
        attempts: 1,
        response_json: "{\"ok\":true,\"data\":1}".into(),
        result_json: Some("{\"ok\":true,\"data\":1}".into()),
        awaits: None,
        background: None,
    }
}

fn open(number: u64) -> CommandRecord {
    CommandRecord {
        status: CommandStatus::Processing,
        processed_at: None,
        result_json: None,
        awaits: Some(Awaits::RunEnd),
        ..record(number)
    }
}

fn keep(store: &mut Store, record: &CommandRecord) -> Result<(), StoreError> {
    store.turn(|turn| turn.input(|s| s.remember(record))).unwrap()
}

#[test]
fn command_is_kept_under_its_key_until_it_is_old() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    let first = record(1);
    keep(&mut store, &first).unwrap();
    assert_eq!(store.view().recall("user", "k1").unwrap(), Some(first.clone()));
    assert_eq!(store.view().command(&first.id).unwrap(), Some(first.clone()));
    assert_eq!(store.view().recall("job", "k1").unwrap(), None);
    let other = CommandRecord { id: CommandId::from_parts(9, 9), seq: 9, ..first.clone() };
    let again = keep(&mut store, &other);
    assert!(matches!(again, Err(StoreError::Refused { .. })), "{again:?}");
    let forget = |store: &mut Store, wall| {
        store.turn(|turn| turn.input(|s| s.forget_commands_before(wall))).unwrap().unwrap()
    };
    keep(&mut store, &open(2)).unwrap();
    let background = Some(Background::Running);
    keep(&mut store, &CommandRecord { background, ..record(3) }).unwrap();
    assert_eq!(forget(&mut store, AT), 0);
    assert_eq!(forget(&mut store, WallMs(AT.0 + 1)), 1, "what has not ended stays");
    assert_eq!(store.view().recall("user", "k1").unwrap(), None);
}

#[test]
fn open_command_is_claimed_by_the_next_epoch_and_ended_once() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    keep(&mut store, &open(1)).unwrap();
    keep(&mut store, &record(2)).unwrap();
    let claim = |store: &mut Store| {
        let work = |s: &mut tidegate_store::Savepoint<'_>| -> Result<usize, StoreError> {
            let count = s.claim_commands()?;
            Ok(count)
        };
        store.turn(|turn| turn.input(work)).unwrap().unwrap()
    };
    assert_eq!(claim(&mut store), 0, "its own epoch has it already");
    store.begin_epoch(1, "0", AT).unwrap();
    assert_eq!(claim(&mut store), 1);
    let claimed = store.view().open_commands().unwrap();
    assert_eq!(claimed, [CommandRecord { epoch: 2, attempts: 2, ..open(1) }]);
    let end = CommandEnd {
        id: open(1).id,
        status: CommandStatus::Failed,
        at: WallMs(AT.0 + 5),
        result_json: "{\"ok\":false}".into(),
    };
    store.turn(|turn| turn.input(|s| s.end_command(&end))).unwrap().unwrap();
    assert!(store.view().open_commands().unwrap().is_empty());
    let ended = store.view().command(&open(1).id).unwrap().unwrap();
    assert_eq!((ended.status, ended.processed_at), (CommandStatus::Failed, Some(end.at)));
    assert_eq!(ended.result_json.as_deref(), Some("{\"ok\":false}"));
}

#[test]
fn commands_are_listed_newest_first_by_status_and_run() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    for number in 1..=5 {
        let one = if number == 3 { open(number) } else { record(number) };
        keep(&mut store, &one).unwrap();
    }
    let list = |filter: CommandFilter| -> Vec<i64> {
        let found = store.view().commands(&filter).unwrap();
        found.into_iter().map(|record| record.seq).collect()
    };
    let all = CommandFilter { limit: 10, ..CommandFilter::default() };
    assert_eq!(list(all.clone()), [5, 4, 3, 2, 1]);
    assert_eq!(list(CommandFilter { before: Some(4), limit: 2, ..all.clone() }), [3, 2]);
    let status = Some(CommandStatus::Processing);
    assert_eq!(list(CommandFilter { status, ..all.clone() }), [3]);
    let run = Some(RunId::new("r000002abcd").unwrap());
    assert!(list(CommandFilter { run, ..all }).is_empty());
}

#[test]
fn background_work_ends_with_its_error_and_the_newest_error_is_told() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, _) = begin(home.path());
    for number in 1..=2 {
        let background = Some(Background::Running);
        keep(&mut store, &CommandRecord { background, ..record(number) }).unwrap();
    }
    assert_eq!(store.view().backgrounds().unwrap().len(), 2);
    for (number, at) in [(1, 9), (2, 4)] {
        let error_json = format!("{{\"n\":{number}}}");
        let failed = Background::Failed { at: WallMs(at), error_json };
        store
            .turn(|turn| turn.input(|s| s.end_background(&record(number).id, &failed)))
            .unwrap()
            .unwrap();
    }
    assert!(store.view().backgrounds().unwrap().is_empty());
    assert_eq!(store.view().last_failed_background().unwrap().unwrap().seq, 1);
}
