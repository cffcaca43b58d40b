//! One group of inputs in one transaction, each input in a savepoint of its own.

use tidegate_core::time::WallMs;

use crate::epoch::{read_home, write_counters};
use crate::error::{Doing as _, StoreError};
use crate::highwater::{Found, Mark};
use crate::store::{Store, Token};
use crate::write::{Log, Savepoint};

/// An open group. Ends by the return of [`Store::turn`]; a panic undoes it.
#[derive(Debug)]
pub struct Turn<'s> {
    store: &'s mut Store,
    token: Token,
    tail: Mark,
    /// Whether any input has written.
    dirty: bool,
    /// What undoes the whole group.
    failed: Option<StoreError>,
    open: bool,
}

impl<'s> Turn<'s> {
    pub(crate) fn begin(store: &'s mut Store) -> Result<Self, StoreError> {
        let token = store.token.ok_or(StoreError::Fenced)?;
        fail::fail_point!("store.turn.before_begin");
        run(store, "BEGIN IMMEDIATE", "begin a turn")?;
        let tail = read_home(&store.conn).map(|(_, tail)| tail);
        let mut turn =
            Self { store, token, tail: Mark::default(), dirty: false, failed: None, open: true };
        turn.tail = tail?;
        if (Token { generation: turn.tail.generation, epoch: turn.tail.epoch }) != token {
            return Err(StoreError::Fenced);
        }
        turn.tail.turn += 1;
        Ok(turn)
    }

    /// Records one input: when `work` refuses, all that it wrote is undone, and nothing else.
    ///
    /// # Errors
    /// What `work` refuses with; [`StoreError::Aborted`] when an earlier input of the group met a
    /// failure that undoes all of it.
    pub fn input<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&mut Savepoint<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.failed.is_some() {
            return Err(StoreError::Aborted.into());
        }
        if let Err(error) = run(self.store, "SAVEPOINT input", "begin an input") {
            self.failed = Some(error);
            return Err(StoreError::Aborted.into());
        }
        let log = Log { conn: &self.store.conn, token: self.token, tail: self.tail };
        let mut savepoint = Savepoint { log, dirty: false, failed: None };
        let result = work(&mut savepoint);
        let Savepoint { log: Log { tail, .. }, dirty, failed } = savepoint;
        if let Some(error) = failed {
            self.failed = Some(error);
            return result.and(Err(StoreError::Aborted.into()));
        }
        match result {
            Ok(value) => match run(self.store, "RELEASE input", "end an input") {
                Ok(()) => {
                    self.tail = tail;
                    self.dirty |= dirty;
                    Ok(value)
                }
                Err(error) => {
                    self.failed = Some(error);
                    Err(StoreError::Aborted.into())
                }
            },
            Err(refusal) => {
                let undone = run(self.store, "ROLLBACK TO input", "undo an input")
                    .and_then(|()| run(self.store, "RELEASE input", "end an input"));
                if let Err(error) = undone {
                    self.failed = Some(error);
                }
                Err(refusal)
            }
        }
    }

    pub(crate) fn commit(mut self) -> Result<(), StoreError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if !self.dirty {
            return Ok(());
        }
        write_counters(&self.store.conn, &self.tail)?;
        fail::fail_point!("store.commit.before_commit", |_| Err(StoreError::Full));
        run(self.store, "COMMIT", "commit a turn")?;
        self.open = false;
        fail::fail_point!("store.commit.after_commit");
        self.store.highwater.write(&self.tail)?;
        self.store.found = Found::Mark(self.tail);
        Ok(())
    }
}

impl Drop for Turn<'_> {
    /// Undoes a group that was not committed. SQLite may have done so by itself.
    fn drop(&mut self) {
        if self.open && !self.store.conn.is_autocommit() {
            // Nothing can be done about a failure: the connection stays in its transaction, and
            // the next BEGIN says so.
            let _ = run(self.store, "ROLLBACK", "undo a turn");
        }
    }
}

fn run(store: &Store, sql: &'static str, doing: &'static str) -> Result<(), StoreError> {
    store
        .conn
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]))
        .map(|_| ())
        .doing(doing)
}

impl Store {
    /// Records that the daemon ends in good order. Nothing may be recorded afterwards.
    ///
    /// # Errors
    /// As [`Store::turn`].
    pub fn end_epoch(&mut self, at: WallMs) -> Result<(), StoreError> {
        let Some(token) = self.token else { return Ok(()) };
        let stopped = tidegate_core::home::HomeEvent::DaemonStopped { epoch: token.epoch, at };
        self.turn(|turn| turn.input(|savepoint| savepoint.append_home(&stopped, at)))??;
        self.token = None;
        Ok(())
    }
}
