//! The engine's start: every run that has not ended is rebuilt from its log, adopted, and all that
//! its state asks for is handed out again, to be probed before it is repeated.

use tidegate_core::admission::Caps;
use tidegate_core::ids::RunId;
use tidegate_core::run::{Input, Run, Status};
use tidegate_protocol::Problem;
use tidegate_store::{Corrupt, Store, StoreError, Turn};

use super::dispatch::Dispatch;
use super::endings::end_of;
use super::live::{Live, Stage};
use super::open::{OpenBackground, OpenCommand};
use super::record::{conclude, end as end_command};
use super::turn::{Chance, Engine, EngineError, admit, apply};

/// What was found at the start.
#[derive(Debug, Default)]
pub struct Recovered {
    /// Runs that were running and go on.
    pub adopted: Vec<RunId>,
    /// Runs whose records do not read back; their lanes are held.
    pub corrupt: Vec<(RunId, String)>,
}

/// Makes an engine of a store whose epoch was taken.
///
/// # Errors
/// [`EngineError`] when the store cannot be read or written.
pub fn recover<D: Dispatch>(
    mut store: Store,
    mut dispatch: D,
    caps: Caps,
    supervisor: String,
    chance: &mut impl Chance,
) -> Result<(Engine<D>, Recovered), EngineError> {
    let (live, damaged) = read_open_runs(&store)?;
    let corrupt = damaged.iter().map(|(run, why)| (run.clone(), why.to_string())).collect();
    let running = live.runs().filter(|run| matches!(run.status, Status::Running { .. }));
    let adopted: Vec<RunId> = running.map(|run| run.id.clone()).collect();
    let adopt = Input::Adopt { supervisor: supervisor.clone() };
    let held = dispatch.holds_admission();
    let worktrees = dispatch.worktrees();
    let orphans = live.commands.orphans(&live);
    let staged = store
        .turn(|turn| {
            let mut stage = Stage::new(&live);
            let now = chance.now();
            for (run, why) in &damaged {
                log_failure(run, turn.input(|write| write.quarantine(run, why, now.wall)));
            }
            log_failure("claims", turn.input(|write| write.claim_commands().map(|_| ())));
            for id in &adopted {
                let taken = turn.input(|write| apply(&stage, write, id, &adopt, chance.now()));
                match taken {
                    // Everything that is open is handed out, not only what the adoption adds.
                    Ok(Some((_, after))) => stage.set(None, after),
                    Ok(None) => {}
                    Err(error) => tracing::error!(run = %id, ?error, "not adopted"),
                }
            }
            stage.touch_all();
            if !held {
                admit(&mut stage, turn, &supervisor, (caps, &worktrees), chance);
            }
            conclude(&mut stage, turn, chance);
            end_orphans(&mut stage, turn, &orphans, chance);
            stage.finish()
        })
        .map_err(EngineError::Store)?;
    let cleanups: Vec<_> = live.home.cleanups.values().cloned().collect();
    let restorations = live.home.restorations.clone();
    let mut engine = Engine::new(store, live, dispatch, caps, supervisor);
    engine.settle(staged);
    engine.owes_admission = held || engine.live.lacks_worktrees(caps, &worktrees);
    for cleanup in &cleanups {
        engine.dispatch.clean_up(cleanup);
    }
    for (number, restoration) in &restorations {
        engine.dispatch.restore(*number, restoration);
    }
    Ok((engine, Recovered { adopted, corrupt }))
}

/// The runs that have not ended, and those whose records do not read back.
fn read_open_runs(store: &Store) -> Result<(Live, Vec<(RunId, Corrupt)>), EngineError> {
    let mut live = Live::default();
    let mut damaged = Vec::new();
    live.home = store.view().home().map_err(EngineError::Store)?;
    for record in store.view().open_commands().map_err(EngineError::Store)? {
        live.commands.put_record(&record);
    }
    for record in store.view().backgrounds().map_err(EngineError::Store)? {
        if let Some(background) = OpenBackground::of(&record) {
            live.commands.put_background(background);
        }
    }
    let open = store.view().pending_and_running().map_err(EngineError::Store)?;
    for row in open {
        let (id, readable) = match row {
            Ok(row) => (row.id, Ok(row.queue)),
            Err(why) => match why.run.clone() {
                Some(run) => (run, Err(why)),
                None => return Err(EngineError::Store(StoreError::Corrupt(why))),
            },
        };
        let rebuilt = rebuild(store, &id)?;
        let (queue, why) = match (readable, rebuilt) {
            (Ok(_), Ok(run)) => {
                live.put(run);
                continue;
            }
            (Ok(queue), Err(why)) => (Some(queue), why),
            (Err(why), Ok(run)) => (Some(run.queue), why),
            // Neither its row nor its log tells its queue: nothing of it can start either.
            (Err(why), Err(_)) => (None, why),
        };
        if let Some(queue) = queue {
            live.hold(queue);
        }
        damaged.push((id, why));
    }
    Ok((live, damaged))
}

/// Commands about runs that have ended are brought to their end by what these came to.
fn end_orphans(
    stage: &mut Stage<'_>,
    turn: &mut Turn<'_>,
    orphans: &[OpenCommand],
    chance: &mut impl Chance,
) {
    for command in orphans {
        let now = chance.now();
        let ended = turn.input(|write| {
            let run = command.run.as_ref();
            let run = run.map_or(Ok(None), |run| write.view().rebuild(run))?;
            let end = run.and_then(|run| end_of(command.awaits, &run, command.feature.as_ref()));
            let lost = || Err(Problem::internal("what it waited for is gone"));
            end_command(write, command, &end.unwrap_or_else(lost), now)
        });
        match ended {
            Ok(()) => stage.end(command.id.clone()),
            Err(error) => log_failure(&command.id, Err(error)),
        }
    }
}

/// The run that its log tells of; the inner error when the log does not read back.
fn rebuild(store: &Store, id: &RunId) -> Result<Result<Run, Corrupt>, EngineError> {
    let missing = || Corrupt { run: Some(id.clone()), seq: None, why: "it has no log".to_owned() };
    match store.view().rebuild(id) {
        Ok(run) => Ok(run.ok_or_else(missing)),
        Err(StoreError::Corrupt(why)) => Ok(Err(why)),
        Err(error) => Err(EngineError::Store(error)),
    }
}

fn log_failure(what: impl std::fmt::Display, outcome: Result<(), StoreError>) {
    if let Err(error) = outcome {
        tracing::error!(%what, %error, "not recorded");
    }
}
