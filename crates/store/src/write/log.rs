//! The tail of the log: events are appended here and nowhere else.

use rusqlite::{Connection, OptionalExtension as _};
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::RunId;
use tidegate_core::pause::Scope;
use tidegate_core::run::Event;
use tidegate_core::time::WallMs;

use crate::chain::{self, Entry, GENESIS, HOME, Hash};
use crate::codec;
use crate::error::{Doing as _, StoreError};
use crate::highwater::Mark;
use crate::store::Token;

/// The log at its end, within a transaction.
#[derive(Debug)]
pub(crate) struct Log<'c> {
    pub(crate) conn: &'c Connection,
    pub(crate) token: Token,
    /// How far the log is, this transaction included.
    pub(crate) tail: Mark,
}

/// Chains that were touched in one call, written back together.
struct Heads(Vec<(String, u64, Hash)>);

impl Log<'_> {
    /// Appends the facts of a run.
    pub(crate) fn append_run(
        &mut self,
        run: &RunId,
        events: &[Event],
        at: WallMs,
    ) -> Result<(), StoreError> {
        let mut heads = Heads(Vec::new());
        for event in events {
            let subject = chain::subject_text(run, &event.subject());
            let body = codec::event_body(event);
            self.append(&mut heads, &subject, Some(run), (event.kind(), &body), at)?;
        }
        self.write_heads(&heads)
    }

    /// Appends a fact of the home.
    pub(crate) fn append_home(&mut self, event: &HomeEvent, at: WallMs) -> Result<(), StoreError> {
        let mut heads = Heads(Vec::new());
        let body = codec::home_body(event);
        self.append(&mut heads, HOME, None, (event.kind(), &body), at)?;
        self.write_heads(&heads)?;
        self.project_home(event)
    }

    fn append(
        &mut self,
        heads: &mut Heads,
        subject: &str,
        run: Option<&RunId>,
        (kind, body): (&str, &str),
        at: WallMs,
    ) -> Result<(), StoreError> {
        let known = heads.0.iter().position(|(known, _, _)| known == subject);
        let place = if let Some(place) = known {
            place
        } else {
            let (n, hash) = self.head_of(subject)?;
            heads.0.push((subject.to_owned(), n, hash));
            heads.0.len() - 1
        };
        let head = &mut heads.0[place];
        let entry = Entry {
            seq: self.tail.seq + 1,
            subject,
            n: head.1 + 1,
            kind,
            at: at.0,
            generation: self.token.generation,
            epoch: self.token.epoch,
            body,
        };
        let hash = chain::link(&head.2, &entry);
        self.conn
            .prepare_cached(
                "INSERT INTO events
                 (seq, subject, n, run, kind, at, generation, epoch, body, hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )
            .and_then(|mut statement| {
                statement.execute(rusqlite::params![
                    entry.seq,
                    subject,
                    entry.n,
                    run.map(RunId::as_str),
                    kind,
                    entry.at,
                    entry.generation,
                    entry.epoch,
                    body,
                    hash,
                ])
            })
            .doing("append an event")?;
        (head.1, head.2) = (entry.n, hash);
        self.tail.seq = entry.seq;
        self.tail.head = hash;
        Ok(())
    }

    fn head_of(&self, subject: &str) -> Result<(u64, Hash), StoreError> {
        let known = self
            .conn
            .prepare_cached("SELECT n, hash FROM chains WHERE subject = ?1")
            .and_then(|mut statement| {
                statement.query_row([subject], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .doing("read the head of a chain")?;
        Ok(known.unwrap_or((0, GENESIS)))
    }

    fn write_heads(&self, heads: &Heads) -> Result<(), StoreError> {
        for (subject, n, hash) in &heads.0 {
            self.conn
                .prepare_cached(
                    "INSERT INTO chains (subject, n, hash) VALUES (?1, ?2, ?3)
                     ON CONFLICT (subject) DO UPDATE SET n = excluded.n, hash = excluded.hash",
                )
                .and_then(|mut statement| statement.execute((subject, n, hash)))
                .doing("write the head of a chain")?;
        }
        Ok(())
    }

    fn project_home(&self, event: &HomeEvent) -> Result<(), StoreError> {
        const DOING: &str = "write a row of the home";
        match event {
            HomeEvent::DaemonStarted { .. }
            | HomeEvent::CleanupAsked { .. }
            | HomeEvent::RemovalProved { .. }
            | HomeEvent::RestoreAsked { .. }
            | HomeEvent::RestoreEnded { .. }
            | HomeEvent::CommandAccepted(_)
            | HomeEvent::CommandCompleted(_)
            | HomeEvent::CommandFailed(_)
            | HomeEvent::BackgroundEnded(_) => Ok(()),
            HomeEvent::CleanupEnded { number, end } => {
                self.project_deleted(*number, end.deleted.as_ref())
            }
            HomeEvent::DaemonStopped { at, .. } => self
                .conn
                .execute("UPDATE home_state SET daemon_stopped_at = ?1 WHERE id = 1", [at.0])
                .map(|_| ())
                .doing(DOING),
            HomeEvent::ProjectRegistered { project, place } => self
                .conn
                .prepare_cached(
                    "INSERT INTO projects (id, root, common_dir) VALUES (?1, ?2, ?3)
                     ON CONFLICT (id) DO UPDATE
                     SET root = excluded.root, common_dir = excluded.common_dir",
                )
                .and_then(|mut statement| {
                    statement.execute((project.as_str(), &place.root, &place.common_dir))
                })
                .map(|_| ())
                .doing(DOING),
            HomeEvent::LanePaused { scope, pause } => self
                .conn
                .prepare_cached(
                    "INSERT INTO pauses (project, lane, pause) VALUES (?1, ?2, ?3)
                     ON CONFLICT (project, lane) DO UPDATE SET pause = excluded.pause",
                )
                .and_then(|mut statement| {
                    let (project, lane) = scope_columns(scope);
                    statement.execute((project, lane, codec::encode(pause)))
                })
                .map(|_| ())
                .doing(DOING),
            HomeEvent::LaneResumed { scope, .. } => self
                .conn
                .prepare_cached("DELETE FROM pauses WHERE project = ?1 AND lane = ?2")
                .and_then(|mut statement| statement.execute(scope_columns(scope)))
                .map(|_| ())
                .doing(DOING),
            HomeEvent::ProjectRemoved { project } => self
                .conn
                .prepare_cached("DELETE FROM projects WHERE id = ?1")
                .and_then(|mut statement| statement.execute([project.as_str()]))
                .map(|_| ())
                .doing(DOING),
        }
    }

    fn project_deleted(&self, cleanup: u64, run: Option<&RunId>) -> Result<(), StoreError> {
        let Some(run) = run else { return Ok(()) };
        self.conn
            .prepare_cached(
                "INSERT INTO deleted_runs (run, cleanup) VALUES (?1, ?2)
                 ON CONFLICT (run) DO UPDATE SET cleanup = excluded.cleanup",
            )
            .and_then(|mut statement| statement.execute((run.as_str(), cleanup)))
            .map(|_| ())
            .doing("write the row of a deleted run")
    }
}

/// What a pause is about, in columns: empty means every one.
fn scope_columns(scope: &Scope) -> (&str, &str) {
    let project = scope.project.as_ref().map_or("", |project| project.as_str());
    (project, scope.lane.as_ref().map_or("", |lane| lane.as_str()))
}
