//! Numbered changes of the schema: one transaction each, a backup before the first.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rusqlite::Connection;

use crate::backup;
use crate::connection::{APPLICATION_ID, pragma};
use crate::error::{Doing as _, OpenError, StoreError};

/// The changes, in order: the n-th leads to schema n. Never edited once released.
const STEPS: [&str; 11] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_roles.sql"),
    include_str!("migrations/0003_operating.sql"),
    include_str!("migrations/0004_deleted.sql"),
    include_str!("migrations/0005_rounds.sql"),
    include_str!("migrations/0006_commands.sql"),
    include_str!("migrations/0007_people.sql"),
    include_str!("migrations/0008_told.sql"),
    include_str!("migrations/0009_remotes.sql"),
    include_str!("migrations/0010_reviews.sql"),
    include_str!("migrations/0011_evidence.sql"),
];

/// The newest schema that this program knows.
#[expect(clippy::cast_possible_truncation, reason = "a short list")]
pub(crate) const SCHEMA: u32 = STEPS.len() as u32;

const COMPARING: &str = "compare the schema";

/// What opening did to the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Migration {
    /// The store is new.
    Created,
    /// It had the right schema.
    Current,
    /// It was brought up to date.
    Migrated {
        /// The schema that it had.
        from: u32,
        /// The copy that was made before.
        backup: PathBuf,
    },
}

/// Brings the schema up to date.
pub(crate) fn migrate(conn: &mut Connection, home: &Path) -> Result<Migration, OpenError> {
    apply(conn, home, &STEPS)
}

fn apply(conn: &mut Connection, home: &Path, steps: &[&str]) -> Result<Migration, OpenError> {
    let found = pragma(conn, home, "user_version")?;
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let Ok(found) = u32::try_from(found) else {
        return Err(OpenError::NotOurs { path: home.join(crate::files::STORE) });
    };
    if found > known {
        return Err(OpenError::StoreNewer { found, known });
    }
    if found == known {
        check_schema(conn, home, steps)?;
        return Ok(Migration::Current);
    }
    let done = if found == 0 {
        Migration::Created
    } else {
        let path = backup::before_migration(conn, home, found)?;
        Migration::Migrated { from: found, backup: path }
    };
    for (number, sql) in (1..).zip(steps).skip(found as usize) {
        run_step(conn, number, sql)?;
    }
    Ok(done)
}

fn run_step(conn: &mut Connection, number: u32, sql: &str) -> Result<(), StoreError> {
    const DOING: &str = "migrate the store";
    fail::fail_point!("store.migrate.before_step");
    let transaction =
        conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).doing(DOING)?;
    transaction.execute_batch(sql).doing(DOING)?;
    if number == 1 {
        transaction.pragma_update(None, "application_id", APPLICATION_ID).doing(DOING)?;
        first_row(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", number).doing(DOING)?;
    fail::fail_point!("store.migrate.before_commit");
    transaction.commit().doing(DOING)?;
    fail::fail_point!("store.migrate.after_commit");
    Ok(())
}

/// Compares the schema with the one that the steps make: its text is stored in pages, too.
fn check_schema(conn: &Connection, home: &Path, steps: &[&str]) -> Result<(), OpenError> {
    let found = schema(conn).map_err(|error| crate::connection::damage(home, error))?;
    if found == *model(steps)? {
        return Ok(());
    }
    Err(OpenError::Damaged {
        path: home.join(crate::files::STORE),
        what: "its schema is not the one of its version".to_owned(),
        backup: crate::files::newest_backup(home),
    })
}

/// The schema that the steps make. That of this program is made once: a process may open many homes.
fn model(steps: &[&str]) -> Result<Cow<'static, [String]>, StoreError> {
    static OURS: OnceLock<Vec<String>> = OnceLock::new();
    let ours = steps == STEPS;
    if let Some(made) = OURS.get().filter(|_| ours) {
        return Ok(Cow::Borrowed(made));
    }
    let model = Connection::open_in_memory().doing(COMPARING)?;
    for sql in steps {
        model.execute_batch(sql).doing(COMPARING)?;
    }
    let made = schema(&model)?;
    Ok(if ours { Cow::Borrowed(OURS.get_or_init(|| made)) } else { Cow::Owned(made) })
}

/// What the schema is made of, in an order of its own.
fn schema(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '')
               FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name";
    let mut statement = conn.prepare(sql).doing(COMPARING)?;
    let rows = statement.query_map([], |row| row.get(0)).doing(COMPARING)?;
    rows.collect::<Result<_, _>>().doing(COMPARING)
}

/// The home's row, with an id that no other home has.
fn first_row(conn: &Connection) -> Result<(), StoreError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| StoreError::File {
        doing: "take random bytes for",
        path: PathBuf::from("the home's id"),
        source: std::io::Error::other(error.to_string()),
    })?;
    conn.execute(
        "INSERT INTO home_state (id, home_id, generation, epoch, turn, seq, run_seq, head)
         VALUES (1, ?1, 1, 0, 0, 0, 0, ?2)",
        (crate::chain::hex(&random), crate::chain::GENESIS),
    )
    .doing("write the home's row")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::connection::open_writer;

    fn with_one_more(step: &'static str) -> Vec<&'static str> {
        STEPS.into_iter().chain([step]).collect()
    }

    #[test]
    fn migration_of_an_older_store_keeps_its_rows_and_a_backup() {
        let home = tempfile::tempdir().unwrap();
        let mut conn = open_writer(home.path()).unwrap();
        assert_eq!(migrate(&mut conn, home.path()).unwrap(), Migration::Created);
        let steps = with_one_more("ALTER TABLE projects ADD COLUMN note TEXT; SELECT 1;");
        let Migration::Migrated { from: SCHEMA, backup } =
            apply(&mut conn, home.path(), &steps).unwrap()
        else {
            panic!("expected a migration from {SCHEMA}");
        };
        let newer = SCHEMA + 1;
        let count: i64 =
            conn.query_row("SELECT count(*) FROM home_state", [], |row| row.get(0)).unwrap();
        assert_eq!(
            (count, pragma(&conn, home.path(), "user_version").unwrap()),
            (1, newer.cast_signed())
        );
        let old = Connection::open(&backup).unwrap();
        let version: u32 = old.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, SCHEMA);
        let Err(OpenError::StoreNewer { found, known }) = migrate(&mut conn, home.path()) else {
            panic!("a newer schema is refused");
        };
        assert_eq!((found, known), (newer, SCHEMA));
    }

    #[test]
    fn migration_that_fails_half_way_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let mut conn = open_writer(home.path()).unwrap();
        migrate(&mut conn, home.path()).unwrap();
        let steps = with_one_more("ALTER TABLE projects ADD COLUMN note TEXT; SELECT nothing;");
        assert!(apply(&mut conn, home.path(), &steps).is_err());
        assert_eq!(pragma(&conn, home.path(), "user_version").unwrap(), SCHEMA.cast_signed());
        assert!(conn.prepare("SELECT note FROM projects").is_err());
    }
}
