//! Takes runs out of one state of the store, with their places in their queues.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::ids::{QueueKey, RunId};
use tidegate_core::pause::{Pause, Scope, covering};
use tidegate_protocol::{LaneDoc, LaneList, PauseDoc};
use tidegate_store::{Corrupt, Listed, RunRow, RunStatus, StoreError, TurnRow, View};

use super::moment::stamp;
use super::run_doc::Recorded;
use super::waiting::QueuePlace;

/// A run as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) recorded: Recorded,
    /// Its place, while it waits.
    pub(super) queue: Option<QueuePlace>,
}

/// The queues with runs that wait or run.
#[derive(Debug, Clone, Default)]
pub(super) struct Queues {
    active: BTreeMap<QueueKey, RunId>,
    /// Those that may begin, next first.
    pending: BTreeMap<QueueKey, Vec<RunId>>,
    /// Those that a person holds.
    kept: BTreeMap<QueueKey, Vec<RunId>>,
    held: BTreeMap<QueueKey, String>,
    pauses: BTreeMap<Scope, Pause>,
}

impl Queues {
    /// Every queue.
    pub(super) fn read(view: &View<'_>) -> Result<Self, StoreError> {
        Self::of(view, view.turns()?)
    }

    fn of(view: &View<'_>, turns: Vec<TurnRow>) -> Result<Self, StoreError> {
        let mut queues = Self { pauses: view.pauses()?, ..Self::default() };
        for turn in turns {
            match turn.status {
                RunStatus::Running => {
                    queues.active.insert(turn.queue, turn.run);
                }
                RunStatus::Pending if turn.held => {
                    queues.kept.entry(turn.queue).or_default().push(turn.run);
                }
                RunStatus::Pending => {
                    queues.pending.entry(turn.queue).or_default().push(turn.run);
                }
                RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => {}
            }
        }
        for mark in view.quarantined()? {
            if let Ok(Some(row)) = view.run(&mark.run) {
                let why = format!("run {} is corrupt: {}", mark.run, mark.why);
                queues.held.insert(row.queue, why);
            }
        }
        Ok(queues)
    }

    /// The place of a pending run. A held one has its place once it is released: it is last.
    pub(super) fn place(&self, queue: &QueueKey, run: &RunId) -> QueuePlace {
        let waiting = self.pending.get(queue).map(Vec::as_slice).unwrap_or_default();
        let ahead = waiting.iter().position(|other| other == run).unwrap_or(waiting.len());
        QueuePlace {
            active: self.active.get(queue).cloned(),
            ahead,
            first: waiting.first().filter(|_| ahead > 0).cloned(),
            held: self.held.get(queue).cloned(),
            paused: covering(&self.pauses, queue).map(|(scope, at)| (scope.clone(), at.clone())),
        }
    }

    /// The queues as documents, by name.
    pub(super) fn documents(&self) -> LaneList {
        let keys = self.active.keys().chain(self.pending.keys()).chain(self.kept.keys());
        let keys: BTreeSet<&QueueKey> = keys.collect();
        let document = |key: &QueueKey| LaneDoc {
            project: key.project.to_string(),
            lane: key.lane.to_string(),
            adhoc_run_id: key.adhoc.as_ref().map(ToString::to_string),
            paused: covering(&self.pauses, key).map(|(scope, pause)| lanes_pause(scope, pause)),
            active: self.active.get(key).map(ToString::to_string),
            next: self.pending.get(key).and_then(|runs| runs.first()).map(ToString::to_string),
            pending: count(&self.pending, key) + count(&self.kept, key),
            held: count(&self.kept, key),
        };
        LaneList {
            lanes: keys.into_iter().map(document).collect(),
            pauses: self.pauses.iter().map(|(scope, at)| lanes_pause(scope, at)).collect(),
        }
    }
}

fn count(runs: &BTreeMap<QueueKey, Vec<RunId>>, key: &QueueKey) -> u64 {
    runs.get(key).map_or(0, |runs| runs.len() as u64)
}

/// A pause of lanes as a document.
pub(super) fn lanes_pause(scope: &Scope, pause: &Pause) -> PauseDoc {
    PauseDoc {
        scope: scope.name(),
        project: scope.project.as_ref().map(ToString::to_string),
        lane: scope.lane.as_ref().map(ToString::to_string),
        by: pause.by.clone(),
        since: stamp(pause.at),
        reason: pause.reason.clone(),
    }
}

/// One run; `None` when there is none.
pub(super) fn load(view: &View<'_>, id: &RunId) -> Result<Option<Loaded>, StoreError> {
    let Some(row) = view.run(id)? else { return Ok(None) };
    let queues = match row.status {
        RunStatus::Pending => Some(Queues::of(view, view.turns_of(&row.queue)?)?),
        RunStatus::Running | RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => {
            None
        }
    };
    load_row(view, &row, queues.as_ref())
}

/// The run of a row.
pub(super) fn load_row(
    view: &View<'_>,
    row: &RunRow,
    queues: Option<&Queues>,
) -> Result<Option<Loaded>, StoreError> {
    let Some(run) = view.rebuild(&row.id)? else { return Ok(None) };
    let waits = row.status == RunStatus::Pending;
    let queue = queues.filter(|_| waits).map(|queues| queues.place(&row.queue, &row.id));
    let deleted = view.is_deleted(&row.id)?;
    let (updated_at, last_seq) = (row.updated_at, row.last_seq);
    Ok(Some(Loaded { recorded: Recorded { run, updated_at, last_seq, deleted }, queue }))
}

/// The runs of rows; one that does not read back hides no other.
pub(super) fn load_rows(
    view: &View<'_>,
    rows: Vec<Listed>,
    queues: &Queues,
) -> Result<Vec<Result<Loaded, Corrupt>>, StoreError> {
    let mut loaded = Vec::with_capacity(rows.len());
    for row in rows {
        match row.map_err(StoreError::from).and_then(|row| load_row(view, &row, Some(queues))) {
            Ok(run) => loaded.extend(run.map(Ok)),
            Err(StoreError::Corrupt(corrupt)) => loaded.push(Err(corrupt)),
            Err(other) => return Err(other),
        }
    }
    Ok(loaded)
}
