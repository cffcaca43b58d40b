//! Taking an epoch: the moment at which a daemon becomes the owner, and at which it is found out
//! whether the store is as new as it was.

use rusqlite::{Connection, TransactionBehavior};
use tidegate_core::home::HomeEvent;
use tidegate_core::time::WallMs;

use crate::error::{Doing as _, StoreError};
use crate::highwater::{Found, Mark};
use crate::store::{Began, Store, Token, WentBack};
use crate::write::Log;

impl Store {
    /// Becomes the owner: the epoch rises, and with it every earlier owner is fenced off. The
    /// fact is recorded and durable when this returns.
    ///
    /// # Errors
    /// [`StoreError`]; then no epoch was taken.
    pub fn begin_epoch(
        &mut self,
        pid: u32,
        version: &str,
        at: WallMs,
    ) -> Result<Began, StoreError> {
        match self.try_epoch(pid, version, at) {
            // A new daemon must be able to start on a full disk, to record what ends meanwhile.
            Err(StoreError::Full) if self.spend_ballast()? => self.try_epoch(pid, version, at),
            other => other,
        }
    }

    fn try_epoch(&mut self, pid: u32, version: &str, at: WallMs) -> Result<Began, StoreError> {
        const DOING: &str = "take the epoch";
        fail::fail_point!("store.epoch.before_begin");
        let transaction =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).doing(DOING)?;
        let (home_id, recorded) = read_home(&transaction)?;
        let went_back = compare(&transaction, &recorded, self.found)?;
        let mark = next(&recorded, self.found, went_back.is_some());
        let token = Token { generation: mark.generation, epoch: mark.epoch };
        transaction
            .execute(
                "UPDATE home_state SET generation = ?1, epoch = ?2, daemon_pid = ?3,
                 daemon_version = ?4, daemon_started_at = ?5, daemon_stopped_at = NULL
                 WHERE id = 1",
                (token.generation, token.epoch, pid, version, at.0),
            )
            .doing(DOING)?;
        let mut log = Log { conn: &transaction, token, tail: mark };
        let started = HomeEvent::DaemonStarted {
            epoch: token.epoch,
            generation: token.generation,
            pid,
            version: version.to_owned(),
            at,
        };
        log.append_home(&started, at)?;
        let mark = log.tail;
        write_counters(&transaction, &mark)?;
        fail::fail_point!("store.epoch.before_commit");
        transaction.commit().doing(DOING)?;
        fail::fail_point!("store.epoch.after_commit");
        self.highwater.write(&mark)?;
        self.found = Found::Mark(mark);
        self.token = Some(token);
        Ok(Began { token, home_id, went_back })
    }

    /// Raises the generation because something else than the store proves that it went back in
    /// time: job directories with a greater token. Every earlier token is refused from here on.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing has changed.
    pub fn raise_generation(&mut self, known: Token, at: WallMs) -> Result<Token, StoreError> {
        const DOING: &str = "raise the generation";
        let own = self.token.ok_or(StoreError::Fenced)?;
        let transaction =
            self.conn.transaction_with_behavior(TransactionBehavior::Immediate).doing(DOING)?;
        let (_, mut mark) = read_home(&transaction)?;
        if (Token { generation: mark.generation, epoch: mark.epoch }) != own {
            return Err(StoreError::Fenced);
        }
        let token = Token {
            generation: own.generation.max(known.generation) + 1,
            epoch: own.epoch.max(known.epoch) + 1,
        };
        mark.generation = token.generation;
        mark.epoch = token.epoch;
        mark.turn += 1;
        let (pid, version): (u32, String) = transaction
            .query_row("SELECT daemon_pid, daemon_version FROM home_state", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .doing(DOING)?;
        transaction
            .execute(
                "UPDATE home_state SET generation = ?1, epoch = ?2 WHERE id = 1",
                (token.generation, token.epoch),
            )
            .doing(DOING)?;
        let mut log = Log { conn: &transaction, token, tail: mark };
        let (generation, epoch) = (token.generation, token.epoch);
        log.append_home(&HomeEvent::DaemonStarted { epoch, generation, pid, version, at }, at)?;
        let mark = log.tail;
        write_counters(&transaction, &mark)?;
        fail::fail_point!("store.generation.before_commit");
        transaction.commit().doing(DOING)?;
        fail::fail_point!("store.generation.after_commit");
        self.highwater.write(&mark)?;
        self.token = Some(token);
        Ok(token)
    }
}

/// The home's id and how far the store has come.
pub(crate) fn read_home(conn: &Connection) -> Result<(String, Mark), StoreError> {
    conn.prepare_cached(
        "SELECT home_id, generation, epoch, turn, seq, run_seq, head FROM home_state WHERE id = 1",
    )
    .and_then(|mut statement| {
        statement.query_row([], |row| {
            let mark = Mark {
                generation: row.get(1)?,
                epoch: row.get(2)?,
                turn: row.get(3)?,
                seq: row.get(4)?,
                run_seq: row.get(5)?,
                head: row.get(6)?,
            };
            Ok((row.get(0)?, mark))
        })
    })
    .doing("read the home's row")
}

/// Writes the counters of the home's row.
pub(crate) fn write_counters(conn: &Connection, mark: &Mark) -> Result<(), StoreError> {
    conn.prepare_cached(
        "UPDATE home_state SET turn = ?1, seq = ?2, run_seq = ?3, head = ?4
         WHERE id = 1 AND generation = ?5 AND epoch = ?6",
    )
    .and_then(|mut statement| {
        statement.execute((
            mark.turn,
            mark.seq,
            mark.run_seq,
            mark.head,
            mark.generation,
            mark.epoch,
        ))
    })
    .doing("write the home's row")
    .and_then(|rows| if rows == 1 { Ok(()) } else { Err(StoreError::Fenced) })
}

/// Compares the store with what was acknowledged.
fn compare(conn: &Connection, store: &Mark, found: Found) -> Result<Option<WentBack>, StoreError> {
    let known = match found {
        Found::Nothing | Found::Unreadable => return Ok(Some(WentBack::HighwaterLost)),
        Found::Mark(known) => known,
    };
    if store.turn < known.turn || store.generation < known.generation {
        return Ok(Some(WentBack::Behind { turn: store.turn, highwater: known.turn }));
    }
    if known.seq == 0 {
        return Ok(None);
    }
    let hash = conn.query_row("SELECT hash FROM events WHERE seq = ?1", [known.seq], |row| {
        row.get::<_, crate::chain::Hash>(0)
    });
    match hash {
        Ok(hash) if hash == known.head => Ok(None),
        Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => {
            Ok(Some(WentBack::Diverged { seq: known.seq }))
        }
        Err(source) => Err(StoreError::of("look for the newest event", source)),
    }
}

/// The counters of the new epoch: past all that either side knows, so that nothing is issued twice.
fn next(store: &Mark, found: Found, went_back: bool) -> Mark {
    let known = match found {
        Found::Mark(known) => known,
        Found::Nothing | Found::Unreadable => *store,
    };
    Mark {
        generation: store.generation.max(known.generation) + u64::from(went_back),
        epoch: store.epoch.max(known.epoch) + 1,
        turn: store.turn.max(known.turn) + 1,
        seq: store.seq.max(known.seq),
        run_seq: store.run_seq.max(known.run_seq),
        head: store.head,
    }
}
