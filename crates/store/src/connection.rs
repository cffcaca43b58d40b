//! How the database is opened for writing: the settings, and the proof that they took.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, FileControl, OpenFlags};

use crate::error::{Doing as _, OpenError, StoreError};
use crate::files;

/// `TDGT`: says that the file is ours.
pub(crate) const APPLICATION_ID: i32 = 0x5444_4754;
/// The first version without the fault by which a reset of the WAL could corrupt the database.
const SQLITE_MIN: (i32, &str) = (3_051_003, "3.51.3");
/// Files up to this size are checked page by page when they are opened, in bytes.
const CHECKED_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Statements kept prepared.
const STATEMENTS: usize = 128;

/// The settings, with the value that is read back.
const SETTINGS: [(&str, &str, &str); 10] = [
    ("journal_mode", "WAL", "wal"),
    ("synchronous", "FULL", "2"),
    ("foreign_keys", "ON", "1"),
    ("busy_timeout", "5000", "5000"),
    ("wal_autocheckpoint", "1000", "1000"),
    ("journal_size_limit", "67108864", "67108864"),
    ("mmap_size", "0", "0"),
    ("cell_size_check", "ON", "1"),
    ("trusted_schema", "OFF", "0"),
    ("temp_store", "MEMORY", "2"),
];

/// Refuses a SQLite with a known fault.
pub(crate) fn check_sqlite() -> Result<(), OpenError> {
    if rusqlite::version_number() < SQLITE_MIN.0 {
        let found = rusqlite::version().to_owned();
        return Err(OpenError::SqliteTooOld { found, need: SQLITE_MIN.1 });
    }
    Ok(())
}

/// Opens the database of `home` for writing, made empty where there is none. The schema is not
/// looked at.
pub(crate) fn open_writer(home: &Path) -> Result<Connection, OpenError> {
    let path = home.join(files::STORE);
    create_private(&path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(&path, flags).doing("open the store")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    check_ours(&conn, home)?;
    for (name, value, want) in SETTINGS {
        set(&conn, home, name, value, want)?;
    }
    // Readers on a read-only home need both companions, so they stay when the last one leaves.
    let mut persist = 1;
    conn.file_control(Some("main"), FileControl::PersistWal(&mut persist)).doing("keep the WAL")?;
    stable_plans(&conn)?;
    let deny = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true);
    deny.doing("protect the schema")?;
    Ok(conn)
}

/// Makes plans independent of the values asked for: else SQLite makes them anew for each.
pub(crate) fn stable_plans(conn: &Connection) -> Result<(), StoreError> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(|_| ())
        .doing("keep plans stable")
}

/// Makes an empty file with a mode of its own: SQLite would take the umask's. Never opens one
/// that exists.
fn create_private(path: &Path) -> Result<(), OpenError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(OpenError::File { doing: "create", path: path.to_owned(), source }),
    }
}

fn set(
    conn: &Connection,
    home: &Path,
    name: &'static str,
    value: &str,
    want: &str,
) -> Result<(), OpenError> {
    let read = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
    let told = conn.query_row(&format!("PRAGMA {name} = {value}"), [], read);
    match told {
        Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => {}
        Err(source) => return Err(damage(home, StoreError::of("set the store up", source))),
    }
    let got = conn
        .query_row(&format!("PRAGMA {name}"), [], read)
        .map_err(|source| damage(home, StoreError::of("read a setting back", source)))?;
    let got = match got {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        rusqlite::types::Value::Null
        | rusqlite::types::Value::Real(_)
        | rusqlite::types::Value::Blob(_) => String::new(),
    };
    if got == want { Ok(()) } else { Err(OpenError::Pragma { name, want: want.to_owned(), got }) }
}

/// Refuses a database of another program. An empty one is taken for new.
fn check_ours(conn: &Connection, home: &Path) -> Result<(), OpenError> {
    let id: i32 = pragma(conn, home, "application_id")?;
    if id == APPLICATION_ID {
        return Ok(());
    }
    let tables = conn
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map_err(|source| damage(home, StoreError::of("read the schema", source)))?;
    if id == 0 && tables == 0 {
        return Ok(());
    }
    Err(OpenError::NotOurs { path: home.join(files::STORE) })
}

/// Reads a number that the database's header holds.
pub(crate) fn pragma(conn: &Connection, home: &Path, name: &str) -> Result<i32, OpenError> {
    conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
        .map_err(|source| damage(home, StoreError::of("read the store's header", source)))
}

/// Names the file and the way to restore when pages are damaged.
pub(crate) fn damage(home: &Path, error: StoreError) -> OpenError {
    match error {
        StoreError::Damaged { source } => OpenError::Damaged {
            path: home.join(files::STORE),
            what: source.to_string(),
            backup: files::newest_backup(home),
        },
        StoreError::Fenced
        | StoreError::Full
        | StoreError::Busy
        | StoreError::Io { .. }
        | StoreError::File { .. }
        | StoreError::Refused { .. }
        | StoreError::Corrupt(_)
        | StoreError::WrongBlob(_)
        | StoreError::Aborted => OpenError::Store(error),
    }
}

/// Walks the pages of a database that is not too large, and refuses a damaged one. Rows that a
/// `CHECK` would refuse are no damage of pages: their run alone is corrupt.
pub(crate) fn check_pages(conn: &Connection, home: &Path) -> Result<(), OpenError> {
    let pages = pragma(conn, home, "page_count")?;
    let size = pragma(conn, home, "page_size")?;
    let bytes = u64::try_from(pages).unwrap_or(0) * u64::try_from(size).unwrap_or(0);
    if bytes > CHECKED_BYTES_MAX {
        return Ok(());
    }
    let switch = |on: bool| {
        let text = if on { "ON" } else { "OFF" };
        conn.execute_batch(&format!("PRAGMA ignore_check_constraints = {text}"))
            .doing("prepare the check of pages")
    };
    switch(true)?;
    let told = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    switch(false)?;
    match told {
        Ok(word) if word == "ok" => Ok(()),
        Ok(what) => Err(OpenError::Damaged {
            path: home.join(files::STORE),
            what: in_one_line(&what),
            backup: files::newest_backup(home),
        }),
        Err(source) => Err(damage(home, StoreError::of("check the pages", source))),
    }
}

/// What `quick_check` says, without the line that only names the database.
fn in_one_line(told: &str) -> String {
    let lines = told.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.filter(|line| !line.starts_with("***")).collect::<Vec<_>>().join("; ")
}
