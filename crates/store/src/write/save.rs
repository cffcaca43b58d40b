//! One input's writes.

use tidegate_core::home::HomeEvent;
use tidegate_core::ids::{BlobId, RunId};
use tidegate_core::run::{Event, Run};
use tidegate_core::time::WallMs;

use super::log::Log;
use super::people;
use super::projection;
use crate::chain;
use crate::error::{Corrupt, Doing as _, StoreError};
use crate::read::View;
use crate::row::{Marks, RunRow};

/// What one input writes; undone alone when the input is refused.
#[derive(Debug)]
pub struct Savepoint<'t> {
    pub(crate) log: Log<'t>,
    /// Whether anything was written.
    pub(crate) dirty: bool,
    /// What undoes the whole group.
    pub(crate) failed: Option<StoreError>,
}

impl Savepoint<'_> {
    /// Records what happened to a run: the facts, and what they made of it. `before` is the run as
    /// it was, `None` for a new one; `at` is the wall clock of the turn.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when a pinned blob is missing or the queue has an active run;
    /// [`StoreError::Aborted`] when the group fails.
    pub fn save(
        &mut self,
        before: Option<&Run>,
        after: &Run,
        events: &[Event],
        at: WallMs,
    ) -> Result<(), StoreError> {
        debug_assert!(leads_to(before, after, events), "BUG: the events lead elsewhere");
        self.guard(|savepoint| {
            let Some(marks) = marks(events, at, savepoint.log.tail.seq) else { return Ok(()) };
            savepoint.log.append_run(&after.id, events, at)?;
            let row = RunRow::of(after, marks);
            let conn = savepoint.log.conn;
            match before {
                None => {
                    projection::insert_run(conn, &row)?;
                    projection::refer_to_blobs(conn, after)?;
                }
                Some(before) => {
                    projection::update_run(conn, &row)?;
                    let features = |run: &Run| run.plan().map(|(spec, _)| spec.features.len());
                    if features(before) != features(after) {
                        projection::refer_to_blobs(conn, after)?;
                    }
                }
            }
            projection::write_features(conn, before, after)?;
            projection::write_jobs(conn, before, after)?;
            projection::write_agents(conn, before, after)?;
            people::write_people(conn, before, after)?;
            projection::write_outbox(conn, before, after, marks.last_seq, at)
        })
    }

    /// Records a fact of the home.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when the group fails.
    pub fn append_home(&mut self, event: &HomeEvent, at: WallMs) -> Result<(), StoreError> {
        self.guard(|savepoint| savepoint.log.append_home(event, at))
    }

    /// Keeps pinned bytes under their content address; bytes that are there already are left.
    ///
    /// # Errors
    /// [`StoreError::WrongBlob`] when the address is another one.
    pub fn put_blob(&mut self, id: &BlobId, bytes: &[u8]) -> Result<(), StoreError> {
        self.guard(|savepoint| {
            if chain::address(bytes) != id.as_str() {
                return Err(StoreError::WrongBlob(id.clone()));
            }
            savepoint
                .log
                .conn
                .prepare_cached(
                    "INSERT INTO blobs (id, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                )
                .and_then(|mut statement| statement.execute((id.as_str(), bytes)))
                .map(|_| ())
                .doing("keep pinned bytes")
        })
    }

    /// The sequence number of the next run. It is used up when the input is recorded.
    pub fn next_seq(&mut self) -> u64 {
        self.dirty = true;
        self.log.tail.run_seq += 1;
        self.log.tail.run_seq
    }

    /// Marks a run whose records do not read back; readers show it, its lane stays held.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when the group fails.
    pub fn quarantine(&mut self, run: &RunId, why: &Corrupt, at: WallMs) -> Result<(), StoreError> {
        self.guard(|savepoint| {
            savepoint
                .log
                .conn
                .prepare_cached(
                    "INSERT INTO quarantined (run, why, at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (run) DO UPDATE SET why = excluded.why",
                )
                .and_then(|mut statement| statement.execute((run.as_str(), why.to_string(), at.0)))
                .map(|_| ())
                .doing("mark a corrupt run")
        })
    }

    /// All that can be asked of the store, with what this group has written so far.
    pub fn view(&self) -> View<'_> {
        View::new(self.log.conn)
    }

    /// Remembers a failure that undoes the whole group, and tells the input so.
    pub(super) fn guard<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.failed.is_some() {
            return Err(StoreError::Aborted);
        }
        self.dirty = true;
        match work(self) {
            Err(error) if error.is_fatal_to_group() => {
                self.failed = Some(error);
                Err(StoreError::Aborted)
            }
            other => other,
        }
    }
}

/// What the events say beside the state; `None` when there are none.
fn marks(events: &[Event], at: WallMs, seq_before: u64) -> Option<Marks> {
    let count = u64::try_from(events.len()).ok().filter(|count| *count > 0)?;
    Some(Marks { claimed_at: claimed_at(events), updated_at: at, last_seq: seq_before + count })
}

/// When the run was claimed, where the events say so.
pub(crate) fn claimed_at(events: &[Event]) -> Option<WallMs> {
    events
        .iter()
        .find_map(|event| if let Event::Claimed { at, .. } = event { Some(*at) } else { None })
}

/// Whether the events make `after` of `before`.
fn leads_to(before: Option<&Run>, after: &Run, events: &[Event]) -> bool {
    let made = match before {
        None => Run::replay(events),
        Some(before) => {
            let mut run = before.clone();
            for event in events {
                run.apply(event);
            }
            Some(run)
        }
    };
    made.as_ref() == Some(after)
}
