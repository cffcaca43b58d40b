//! The view itself, and how its questions are put.

use rusqlite::{Connection, Params, Row};

use crate::codec::json::{Malformed, Text};
use crate::error::{Corrupt, Doing as _, StoreError};

/// Questions to one state of the store.
#[derive(Debug)]
pub struct View<'c> {
    pub(super) conn: &'c Connection,
}

impl<'c> View<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Self {
        Self { conn }
    }

    /// All rows of one cached statement, each made by `make`.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: impl Params,
        doing: &'static str,
        mut make: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql).doing(doing)?;
        let rows = statement.query_map(values, |row| make(row)).doing(doing)?;
        rows.collect::<Result<_, _>>().doing(doing)
    }

    /// The first row of one cached statement, made by `make`.
    pub(super) fn row<T>(
        &self,
        sql: &str,
        values: impl Params,
        doing: &'static str,
        make: impl FnOnce(&Row<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<Option<T>, StoreError> {
        use rusqlite::OptionalExtension as _;
        let mut statement = self.conn.prepare_cached(sql).doing(doing)?;
        statement.query_row(values, make).optional().doing(doing)
    }
}

/// Reads an identifier or a word of a column.
pub(super) fn parse<T: Text>(column: &str, text: String) -> Result<T, Malformed> {
    T::from_text(text).map_err(|error| error.inside(column))
}

/// Reads one that may be absent.
pub(super) fn parse_optional<T: Text>(
    column: &str,
    text: Option<String>,
) -> Result<Option<T>, Malformed> {
    text.map(|text| parse(column, text)).transpose()
}

/// Says whose record does not read back.
pub(super) fn corrupt(run: Option<&tidegate_core::ids::RunId>, error: &impl ToString) -> Corrupt {
    Corrupt { run: run.cloned(), seq: None, why: error.to_string() }
}
