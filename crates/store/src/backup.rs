//! Whole copies of the database, made by SQLite while it is in use.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::connection::APPLICATION_ID;
use crate::error::{Doing as _, OpenError, StoreError};
use crate::files;
use crate::migrate::SCHEMA;
use crate::read::View;

/// Copies that are kept of those made while the store is in use.
const KEPT: usize = 4;
/// Copies that are kept of those made before a change of the schema.
const KEPT_OF_SCHEMAS: usize = 3;

/// Copies the database to `to`, which must not exist: a temporary name, synced, then renamed.
pub(crate) fn copy(conn: &Connection, to: &Path) -> Result<(), StoreError> {
    let part = to.with_extension("part");
    let fail = |doing| {
        let path = to.to_owned();
        move |source| StoreError::File { doing, path, source }
    };
    let journal = part.with_extension("part-journal");
    for left in [&part, &journal] {
        match fs::remove_file(left) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(fail("clear the way for")(source)),
        }
    }
    let mut target = Connection::open(&part).doing("create the backup")?;
    {
        let backup = Backup::new(conn, &mut target).doing("begin the backup")?;
        while backup.step(-1).doing("copy the pages")? != StepResult::Done {}
    }
    target.close().map_err(|(_, source)| StoreError::of("close the backup", source))?;
    fs::File::open(&part).and_then(|file| file.sync_all()).map_err(fail("sync"))?;
    fail::fail_point!("store.backup.before_rename");
    fs::rename(&part, to).map_err(fail("name"))?;
    fail::fail_point!("store.backup.after_rename");
    let parent = to.parent().unwrap_or(Path::new("."));
    files::sync_dir(parent).map_err(fail("sync the folder of"))
}

/// The copy that is kept when the schema is about to change.
pub(crate) fn before_migration(
    conn: &Connection,
    home: &Path,
    schema: u32,
) -> Result<PathBuf, OpenError> {
    let folder = folder(home).map_err(OpenError::Store)?;
    let turn: i64 = conn
        .query_row("SELECT turn FROM home_state", [], |row| row.get(0))
        .doing("read the turn")?;
    let path = folder.join(format!("store-{turn:012}-schema-{schema}.db"));
    fail::fail_point!("store.migrate.before_backup");
    copy(conn, &path)?;
    fail::fail_point!("store.migrate.after_backup");
    prune(&folder);
    Ok(path)
}

/// A copy of the store as it is now, made beside its owner, by a connection of its own. `None`
/// when the newest copy has all of it already.
pub(crate) fn rolling(conn: &Connection, home: &Path) -> Result<Option<PathBuf>, StoreError> {
    let turn: i64 = conn
        .query_row("SELECT turn FROM home_state", [], |row| row.get(0))
        .doing("read the turn")?;
    let folder = folder(home)?;
    // Named by the turn that it has at least: the copy may have later ones too.
    let path = folder.join(format!("store-{turn:012}.db"));
    if path.exists() {
        return Ok(None);
    }
    copy(conn, &path)?;
    prune(&folder);
    Ok(Some(path))
}

fn folder(home: &Path) -> Result<PathBuf, StoreError> {
    let folder = home.join("backups");
    fs::create_dir_all(&folder).map_err(|source| StoreError::File {
        doing: "create",
        path: folder.clone(),
        source,
    })?;
    Ok(folder)
}

/// Removes the oldest copies of each sort. One that stays is only one too many.
fn prune(folder: &Path) {
    let (of_schemas, rolling): (Vec<PathBuf>, Vec<PathBuf>) =
        list(folder).into_iter().partition(|path| is_of_schema(path));
    for old in of_schemas.iter().skip(KEPT_OF_SCHEMAS).chain(rolling.iter().skip(KEPT)) {
        let _ = fs::remove_file(old);
    }
}

fn is_of_schema(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name.to_string_lossy().contains("-schema-"))
}

/// The copies in a folder, newest first: their names carry their turn.
fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "db"))
        .collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found
}

/// The backups of a home, newest first.
pub fn backups(home: &Path) -> Vec<PathBuf> {
    list(&home.join("backups"))
}

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupInfo {
    /// Its schema.
    pub schema: u32,
    /// Transactions that it has.
    pub turn: u64,
    /// Its newest event.
    pub seq: u64,
    /// The home that it is of.
    pub home_id: String,
}

/// What a backup says of itself; nothing is proved and nothing is changed.
///
/// # Errors
/// [`OpenError`] when it cannot be read at all.
pub fn peek_backup(path: &Path) -> Result<BackupInfo, OpenError> {
    info(&open(path)?, path)
}

/// Proves a backup: its pages, and with the present schema its chains and rows too. Nothing of it
/// is changed.
///
/// # Errors
/// [`OpenError`] names what is wrong with it.
pub fn inspect_backup(path: &Path) -> Result<BackupInfo, OpenError> {
    let conn = open(path)?;
    let say = |error: rusqlite::Error| damaged(path, error.to_string());
    conn.execute_batch("PRAGMA ignore_check_constraints = ON").map_err(say)?;
    let told: String =
        conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(say)?;
    if told != "ok" {
        return Err(damaged(path, told));
    }
    let info = info(&conn, path)?;
    if info.schema > SCHEMA {
        return Err(OpenError::StoreNewer { found: info.schema, known: SCHEMA });
    }
    if info.schema == SCHEMA {
        let report = View::new(&conn).verify().map_err(OpenError::Store)?;
        if let Some(first) = report.broken.first() {
            return Err(damaged(path, first.why.clone()));
        }
    }
    Ok(info)
}

fn open(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Nobody writes to it, and companions must not be made.
    let uri = crate::reader::uri_with(path, "?immutable=1");
    Ok(Connection::open_with_flags(uri, flags).doing("open the backup")?)
}

fn info(conn: &Connection, path: &Path) -> Result<BackupInfo, OpenError> {
    let say = |error: rusqlite::Error| damaged(path, error.to_string());
    let id: i32 = conn.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(say)?;
    if id != APPLICATION_ID {
        return Err(OpenError::NotOurs { path: path.to_owned() });
    }
    let schema: u32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(say)?;
    let (home_id, turn, seq) = conn
        .query_row("SELECT home_id, turn, seq FROM home_state", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .map_err(say)?;
    Ok(BackupInfo { schema, turn, seq, home_id })
}

fn damaged(path: &Path, what: String) -> OpenError {
    OpenError::Damaged { path: path.to_owned(), what, backup: None }
}
