//! Writes the rows of what agents ask people and of what people tell agents.

use rusqlite::{Connection, params};
use tidegate_core::run::Run;

use crate::codec;
use crate::error::{Doing as _, StoreError};
use crate::row::{self, MessageRow, QuestionRow};

/// Writes the questions and messages that changed. None is ever removed.
pub(crate) fn write_people(
    conn: &Connection,
    before: Option<&Run>,
    after: &Run,
) -> Result<(), StoreError> {
    for row in row::questions_of(after) {
        let known = before.and_then(|before| before.questions.get(&row.id));
        if known != Some(&row.question) {
            write_question(conn, after.seq, &row)?;
        }
    }
    for row in row::messages_of(after) {
        let known = before.and_then(|before| before.messages.get(&row.number));
        if known != Some(&row.message) {
            write_message(conn, after.seq, &row)?;
        }
    }
    Ok(())
}

pub(super) fn write_question(
    conn: &Connection,
    run: u64,
    row: &QuestionRow,
) -> Result<(), StoreError> {
    conn.prepare_cached(
        "INSERT INTO questions (run, number, word, question) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (run, number) DO UPDATE SET word = excluded.word,
         question = excluded.question",
    )
    .and_then(|mut statement| {
        statement.execute(params![
            run,
            row.id.number(),
            row.question.fate.word(),
            codec::encode(&row.question),
        ])
    })
    .map(|_| ())
    .doing("write the row of a question")
}

pub(super) fn write_message(
    conn: &Connection,
    run: u64,
    row: &MessageRow,
) -> Result<(), StoreError> {
    conn.prepare_cached(
        "INSERT INTO messages (run, number, word, message) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (run, number) DO UPDATE SET word = excluded.word,
         message = excluded.message",
    )
    .and_then(|mut statement| {
        statement.execute(params![
            run,
            row.number,
            row.message.delivery.word(),
            codec::encode(&row.message),
        ])
    })
    .map(|_| ())
    .doing("write the row of a message")
}
