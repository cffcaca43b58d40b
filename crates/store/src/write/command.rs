//! Records of commands: what was asked by whom, what it was answered, and how it ended.

use rusqlite::params;
use tidegate_core::command::{Awaits, CommandId, CommandStatus};
use tidegate_core::ids::{FeatureId, RunId};
use tidegate_core::time::WallMs;

use super::save::Savepoint;
use crate::error::{Doing as _, StoreError};

/// A command of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRecord {
    /// Its order: later ones are greater. Commands of older programs have a negative one.
    pub seq: i64,
    /// Its id.
    pub id: CommandId,
    /// Who gave it: keys of different actors never meet.
    pub actor: String,
    /// Its idempotency key.
    pub key: String,
    /// SHA-256 of its body: the same key with another body is a mistake of the client.
    pub body_hash: [u8; 32],
    /// Its name.
    pub verb: String,
    /// The run that it is about, or that it made.
    pub run: Option<RunId>,
    /// The feature that it is about.
    pub feature: Option<FeatureId>,
    /// What was asked, as JSON.
    pub args_json: String,
    /// Where it stands.
    pub status: CommandStatus,
    /// When it was asked for, on the wall clock.
    pub requested_at: WallMs,
    /// When it ended, on the wall clock.
    pub processed_at: Option<WallMs>,
    /// The epoch of the daemon that claimed it last.
    pub epoch: u64,
    /// How often it was begun.
    pub attempts: u32,
    /// The envelope that its client was given at once.
    pub response_json: String,
    /// The envelope of its end.
    pub result_json: Option<String>,
    /// What its end hangs on, while it is not there.
    pub awaits: Option<Awaits>,
    /// The work that it started in the background of a lane: its run.
    pub background: Option<Background>,
}

/// Work in the background of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Background {
    /// It has not ended.
    Running,
    /// It ended well.
    Completed {
        /// When, on the wall clock.
        at: WallMs,
    },
    /// It ended badly.
    Failed {
        /// When, on the wall clock.
        at: WallMs,
        /// The code and the message, as JSON.
        error_json: String,
    },
}

/// How a command ends that was not done at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnd {
    /// Which.
    pub id: CommandId,
    /// Completed or failed.
    pub status: CommandStatus,
    /// When, on the wall clock.
    pub at: WallMs,
    /// The envelope of its end.
    pub result_json: String,
}

impl Background {
    /// Its word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
        }
    }

    /// When it ended, and the error of a bad end.
    fn columns(&self) -> (Option<u64>, Option<&str>) {
        match self {
            Self::Running => (None, None),
            Self::Completed { at } => (Some(at.0), None),
            Self::Failed { at, error_json } => (Some(at.0), Some(error_json)),
        }
    }
}

impl Savepoint<'_> {
    /// The number that the log's next event has.
    pub fn next_event(&self) -> u64 {
        self.log.tail.seq + 1
    }

    /// The epoch under which this is written.
    pub fn epoch(&self) -> u64 {
        self.log.token.epoch
    }

    /// Keeps a command, in place of what was kept of it before.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the actor's key names another command.
    pub fn remember(&mut self, command: &CommandRecord) -> Result<(), StoreError> {
        let ended = command.background.as_ref().map(Background::columns).unwrap_or_default();
        self.guard(|savepoint| {
            savepoint
                .log
                .conn
                .prepare_cached(
                    "INSERT INTO commands (seq, id, actor, key, body_hash, verb, run, feature,
                     args, status, requested_at, processed_at, epoch, attempts, response, result,
                     awaits, background, background_ended_at, background_error)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                     ?17, ?18, ?19, ?20)
                     ON CONFLICT (id) DO UPDATE SET run = excluded.run, status = excluded.status,
                     processed_at = excluded.processed_at, epoch = excluded.epoch,
                     attempts = excluded.attempts, response = excluded.response,
                     result = excluded.result, awaits = excluded.awaits,
                     background = excluded.background,
                     background_ended_at = excluded.background_ended_at,
                     background_error = excluded.background_error",
                )
                .and_then(|mut statement| {
                    statement.execute(params![
                        command.seq,
                        command.id.as_str(),
                        command.actor,
                        command.key,
                        command.body_hash,
                        command.verb,
                        command.run.as_ref().map(RunId::as_str),
                        command.feature.as_ref().map(FeatureId::as_str),
                        command.args_json,
                        command.status.word(),
                        command.requested_at.0,
                        command.processed_at.map(|at| at.0),
                        command.epoch,
                        command.attempts,
                        command.response_json,
                        command.result_json,
                        command.awaits.map(Awaits::text),
                        command.background.as_ref().map(Background::word),
                        ended.0,
                        ended.1,
                    ])
                })
                .map(|_| ())
                .doing("keep a command")
        })
    }

    /// Records the end of a command that was not done at once.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when the group fails.
    pub fn end_command(&mut self, end: &CommandEnd) -> Result<(), StoreError> {
        self.guard(|savepoint| {
            let epoch = savepoint.log.token.epoch;
            savepoint
                .log
                .conn
                .prepare_cached(
                    "UPDATE commands SET status = ?2, processed_at = ?3, result = ?4,
                     awaits = NULL, epoch = ?5 WHERE id = ?1",
                )
                .and_then(|mut statement| {
                    let id = end.id.as_str();
                    statement.execute((id, end.status.word(), end.at.0, &end.result_json, epoch))
                })
                .map(|_| ())
                .doing("record the end of a command")
        })
    }

    /// Records the end of the work that a command started in the background.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when the group fails.
    pub fn end_background(
        &mut self,
        id: &CommandId,
        background: &Background,
    ) -> Result<(), StoreError> {
        let (at, error) = background.columns();
        self.guard(|savepoint| {
            savepoint
                .log
                .conn
                .prepare_cached(
                    "UPDATE commands SET background = ?2, background_ended_at = ?3,
                     background_error = ?4 WHERE id = ?1",
                )
                .and_then(|mut statement| {
                    statement.execute((id.as_str(), background.word(), at, error))
                })
                .map(|_| ())
                .doing("record the end of background work")
        })
    }

    /// Claims what another daemon had begun and not ended. Returns how many.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when the group fails.
    pub fn claim_commands(&mut self) -> Result<usize, StoreError> {
        self.guard(|savepoint| {
            let epoch = savepoint.log.token.epoch;
            savepoint
                .log
                .conn
                .prepare_cached(
                    "UPDATE commands SET epoch = ?1, attempts = attempts + 1
                     WHERE status IN ('pending', 'processing') AND epoch <> ?1",
                )
                .and_then(|mut statement| statement.execute([epoch]))
                .doing("claim the open commands")
        })
    }

    /// Forgets the commands asked for before `wall` that have ended. Returns how many.
    ///
    /// # Errors
    /// [`StoreError::Aborted`] when the group fails.
    pub fn forget_commands_before(&mut self, wall: WallMs) -> Result<usize, StoreError> {
        self.guard(|savepoint| {
            savepoint
                .log
                .conn
                .prepare_cached(
                    "DELETE FROM commands WHERE requested_at < ?1
                     AND status IN ('completed', 'failed')
                     AND (background IS NULL OR background <> 'running')",
                )
                .and_then(|mut statement| statement.execute([wall.0]))
                .doing("forget old commands")
        })
    }
}
