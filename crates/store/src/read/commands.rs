//! What is remembered of commands: one by its id or its key, lists, and those that have not ended.

use rusqlite::Row;
use rusqlite::types::Value;
use tidegate_core::command::{Awaits, CommandId, CommandStatus};
use tidegate_core::ids::RunId;
use tidegate_core::time::WallMs;

use super::{View, corrupt, parse, parse_optional};
use crate::codec::json::Malformed;
use crate::error::{Corrupt, StoreError};
use crate::write::{Background, CommandRecord};

const COLUMNS: &str = "seq, id, actor, key, body_hash, verb, run, feature, args, status, \
    requested_at, processed_at, epoch, attempts, response, result, awaits, background, \
    background_ended_at, background_error";

/// Which commands to list. `None` means any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandFilter {
    /// Commands of this status.
    pub status: Option<CommandStatus>,
    /// Commands about this run.
    pub run: Option<RunId>,
    /// Commands of this name.
    pub verb: Option<String>,
    /// Commands older than the one with this order: the end of the page before.
    pub before: Option<i64>,
    /// Commands per page, at least 1.
    pub limit: u32,
}

/// A row as it stands in the table.
struct Raw {
    record: Result<CommandRecord, Corrupt>,
}

fn read(row: &Row<'_>) -> Result<Raw, rusqlite::Error> {
    let (id, run, feature): (String, Option<String>, Option<String>) =
        (row.get(1)?, row.get(6)?, row.get(7)?);
    let (status, awaits): (String, Option<String>) = (row.get(9)?, row.get(16)?);
    let background: Option<String> = row.get(17)?;
    let ended: Option<u64> = row.get(18)?;
    let error: Option<String> = row.get(19)?;
    let odd =
        |what: &str, word: &str| Malformed::new(format!("unknown word {word:?}")).inside(what);
    let understood = || -> Result<_, Malformed> {
        let status = CommandStatus::from_word(&status).ok_or_else(|| odd("status", &status))?;
        let awaits = match awaits {
            Some(text) => Some(Awaits::from_text(&text).ok_or_else(|| odd("awaits", &text))?),
            None => None,
        };
        let background = match (background.as_deref(), ended, error) {
            (None, _, _) => None,
            (Some("running"), _, _) => Some(Background::Running),
            (Some("completed"), Some(at), _) => Some(Background::Completed { at: WallMs(at) }),
            (Some("failed"), Some(at), Some(error_json)) => {
                Some(Background::Failed { at: WallMs(at), error_json })
            }
            (Some(word), _, _) => return Err(odd("background", word)),
        };
        let (run, feature) = (parse_optional("run", run)?, parse_optional("feature", feature)?);
        Ok((parse("id", id)?, run, feature, status, awaits, background))
    };
    let record = match understood() {
        Ok((id, run, feature, status, awaits, background)) => Ok(CommandRecord {
            seq: row.get(0)?,
            id,
            actor: row.get(2)?,
            key: row.get(3)?,
            body_hash: row.get(4)?,
            verb: row.get(5)?,
            run,
            feature,
            args_json: row.get(8)?,
            status,
            requested_at: WallMs(row.get(10)?),
            processed_at: row.get::<_, Option<u64>>(11)?.map(WallMs),
            epoch: row.get(12)?,
            attempts: row.get(13)?,
            response_json: row.get(14)?,
            result_json: row.get(15)?,
            awaits,
            background,
        }),
        Err(error) => Err(corrupt(None, &error)),
    };
    Ok(Raw { record })
}

impl View<'_> {
    /// The command of this actor with this key.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it does not read back.
    pub fn recall(&self, actor: &str, key: &str) -> Result<Option<CommandRecord>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM commands WHERE actor = ?1 AND key = ?2");
        self.one_command(&sql, [actor, key])
    }

    /// The command of this id.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it does not read back.
    pub fn command(&self, id: &CommandId) -> Result<Option<CommandRecord>, StoreError> {
        self.one_command(&format!("SELECT {COLUMNS} FROM commands WHERE id = ?1"), [id.as_str()])
    }

    /// Commands, the newest first.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn commands(&self, filter: &CommandFilter) -> Result<Vec<CommandRecord>, StoreError> {
        let mut values = vec![Value::Integer(filter.before.unwrap_or(i64::MAX))];
        let mut sql = format!("SELECT {COLUMNS} FROM commands WHERE seq < ?");
        let mut add = |condition: &str, value: Option<String>| {
            if let Some(value) = value {
                sql.push_str(condition);
                values.push(Value::Text(value));
            }
        };
        add(" AND status = ?", filter.status.map(|status| status.word().to_owned()));
        add(" AND run = ?", filter.run.as_ref().map(ToString::to_string));
        add(" AND verb = ?", filter.verb.clone());
        sql.push_str(" ORDER BY seq DESC LIMIT ?");
        values.push(Value::Integer(i64::from(filter.limit.max(1))));
        self.many_commands(&sql, rusqlite::params_from_iter(values))
    }

    /// The commands that have not ended, the oldest first.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn open_commands(&self) -> Result<Vec<CommandRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM commands WHERE status IN ('pending', 'processing') ORDER BY seq"
        );
        self.many_commands(&sql, [])
    }

    /// The commands whose work goes on in the background, the oldest first.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn backgrounds(&self) -> Result<Vec<CommandRecord>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM commands WHERE background = 'running' ORDER BY seq");
        self.many_commands(&sql, [])
    }

    /// The command whose work in the background ended badly last.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it does not read back.
    pub fn last_failed_background(&self) -> Result<Option<CommandRecord>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM commands WHERE background = 'failed'
             ORDER BY background_ended_at DESC, seq DESC LIMIT 1"
        );
        self.one_command(&sql, [])
    }

    fn one_command(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<Option<CommandRecord>, StoreError> {
        match self.row(sql, values, "read a command", read)? {
            Some(raw) => Ok(Some(raw.record?)),
            None => Ok(None),
        }
    }

    fn many_commands(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<CommandRecord>, StoreError> {
        let rows = self.rows(sql, values, "read commands", read)?;
        Ok(rows.into_iter().map(|raw| raw.record).collect::<Result<_, Corrupt>>()?)
    }
}
