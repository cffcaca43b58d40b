//! Whole copies of the database, made by SQLite while it is in use.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::error::{Doing as _, OpenError, StoreError};
use crate::files;

/// Copies the database to `to`, which must not exist: a temporary name, synced, then renamed.
pub(crate) fn copy(conn: &Connection, to: &Path) -> Result<(), StoreError> {
    let part = to.with_extension("part");
    let fail = |doing| {
        let path = to.to_owned();
        move |source| StoreError::File { doing, path, source }
    };
    match fs::remove_file(&part) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => return Err(fail("clear the way for")(source)),
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
    let folder = home.join("backups");
    fs::create_dir_all(&folder).map_err(|source| OpenError::File {
        doing: "create",
        path: folder.clone(),
        source,
    })?;
    let turn: i64 = conn
        .query_row("SELECT turn FROM home_state", [], |row| row.get(0))
        .doing("read the turn")?;
    let path = folder.join(format!("store-{turn:012}-schema-{schema}.db"));
    fail::fail_point!("store.migrate.before_backup");
    copy(conn, &path)?;
    fail::fail_point!("store.migrate.after_backup");
    Ok(path)
}
