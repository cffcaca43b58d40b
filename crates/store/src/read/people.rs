//! Questions and messages of a run, from their rows.

use rusqlite::Row;
use tidegate_core::ids::{FeatureId, QuestionId, RunId};
use tidegate_core::run::{Message, Question};

use super::parts::understood;
use super::{View, corrupt};
use crate::codec::{self, json::Malformed};
use crate::error::StoreError;
use crate::row::{MessageRow, QuestionRow};

impl View<'_> {
    /// The questions of a run by number.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn questions(&self, run: &RunId) -> Result<Vec<QuestionRow>, StoreError> {
        let rows = self.rows(
            "SELECT number, word, question FROM questions
             WHERE run = (SELECT seq FROM runs WHERE id = ?1) ORDER BY number",
            [run.as_str()],
            "read the questions of a run",
            |row| {
                let (number, word, text) = columns(row)?;
                Ok(understand(&word, &text, |question: &Question| question.fate.word()).map(
                    |question| QuestionRow { id: QuestionId::new(run.clone(), number), question },
                ))
            },
        )?;
        understood(run, rows)
    }

    /// The runs that have a feature of this id, newest first, and whether each has ended.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn runs_with_feature(&self, id: &FeatureId) -> Result<Vec<(RunId, bool)>, StoreError> {
        let rows: Vec<(String, bool)> = self.rows(
            "SELECT runs.id, runs.ended_at IS NOT NULL FROM features
             JOIN runs ON runs.seq = features.run
             WHERE features.feature = ?1 ORDER BY runs.seq DESC",
            [id.as_str()],
            "look for the runs of a feature",
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let named = rows.into_iter().map(|(run, ended)| Ok((RunId::new(run)?, ended)));
        let named: Result<_, tidegate_core::ids::InvalidName> = named.collect();
        Ok(named.map_err(|error| corrupt(None, &error))?)
    }

    /// The messages to agents of a run by number.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one does not read back.
    pub fn messages(&self, run: &RunId) -> Result<Vec<MessageRow>, StoreError> {
        let rows = self.rows(
            "SELECT number, word, message FROM messages
             WHERE run = (SELECT seq FROM runs WHERE id = ?1) ORDER BY number",
            [run.as_str()],
            "read the messages of a run",
            |row| {
                let (number, word, text) = columns(row)?;
                Ok(understand(&word, &text, |message: &Message| message.delivery.word())
                    .map(|message| MessageRow { number, message }))
            },
        )?;
        understood(run, rows)
    }
}

fn columns(row: &Row<'_>) -> Result<(u32, String, String), rusqlite::Error> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// Reads one whose own word must stand beside it.
fn understand<T: codec::json::Json>(
    word: &str,
    text: &str,
    own: impl FnOnce(&T) -> &'static str,
) -> Result<T, Malformed> {
    let read: T = codec::decode(text)?;
    let own = own(&read);
    if own != word {
        return Err(Malformed::new(format!("is {word:?} beside the state {own:?}")));
    }
    Ok(read)
}
