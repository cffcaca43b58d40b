//! Takes runs out of one state of the store, with their places in their queues.

use std::collections::BTreeMap;

use tidegate_core::ids::{QueueKey, RunId};
use tidegate_store::{Corrupt, Listed, RunRow, RunStatus, StoreError, View};

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
    pending: BTreeMap<QueueKey, Vec<RunId>>,
    held: BTreeMap<QueueKey, String>,
}

impl Queues {
    pub(super) fn read(view: &View<'_>) -> Result<Self, StoreError> {
        let mut queues = Self::default();
        for row in view.pending_and_running()?.into_iter().flatten() {
            match row.status {
                RunStatus::Running => {
                    queues.active.insert(row.queue, row.id);
                }
                RunStatus::Pending => queues.pending.entry(row.queue).or_default().push(row.id),
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

    /// The place of a pending run.
    pub(super) fn place(&self, queue: &QueueKey, run: &RunId) -> QueuePlace {
        let waiting = self.pending.get(queue).map(Vec::as_slice).unwrap_or_default();
        QueuePlace {
            active: self.active.get(queue).cloned(),
            ahead: waiting.iter().filter(|other| *other < run).cloned().collect(),
            held: self.held.get(queue).cloned(),
        }
    }
}

/// One run; `None` when there is none.
pub(super) fn load(view: &View<'_>, id: &RunId) -> Result<Option<Loaded>, StoreError> {
    let Some(row) = view.run(id)? else { return Ok(None) };
    let queues = match row.status {
        RunStatus::Pending => Some(Queues::read(view)?),
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
    let (updated_at, last_seq) = (row.updated_at, row.last_seq);
    Ok(Some(Loaded { recorded: Recorded { run, updated_at, last_seq }, queue }))
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
