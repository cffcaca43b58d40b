//! A store opened to be read, beside a daemon or without one, even on a read-only home.
//!
//! Nothing of the home changes by it: the database, the WAL and the WAL's index are opened
//! read-only. Where no daemon has the index open it is not trusted, and SQLite builds one in
//! memory from the WAL.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::connection::{APPLICATION_ID, check_sqlite, damage, pragma, stable_plans};
use crate::error::{Doing as _, OpenError, StoreError};
use crate::files::{self, STORE};
use crate::migrate::SCHEMA;
use crate::read::View;

/// Times that a read is made anew when a daemon that came or went made it fail.
const TRIES: u32 = 5;
/// How long one try waits for a lock; a stopped daemon must not hold readers up.
const BUSY: Duration = Duration::from_millis(300);

/// A store that is only read.
///
/// In the process of a daemon the store must be opened before any reader is.
#[derive(Debug)]
pub struct Reader {
    conn: Connection,
    home: PathBuf,
}

impl Reader {
    /// Opens the store of `home`.
    ///
    /// # Errors
    /// [`OpenError`]: there is none, its schema is older or newer, it was put there without its
    /// companions, or the operating system refuses.
    pub fn open(home: &Path) -> Result<Self, OpenError> {
        check_sqlite()?;
        let mut tries = 1;
        loop {
            match Self::try_open(home) {
                Err(OpenError::Store(error)) if tries < TRIES && is_passing(&error) => tries += 1,
                other => return other,
            }
        }
    }

    fn try_open(home: &Path) -> Result<Self, OpenError> {
        let path = home.join(STORE);
        if !exists(&path)? {
            return Err(OpenError::NoStore { home: home.to_owned() });
        }
        // SQLite would make a missing WAL, and nothing may be made here.
        for suffix in ["-wal", "-shm"] {
            if !exists(&files::companion(home, suffix))? {
                return Err(OpenError::Unprepared { home: home.to_owned() });
            }
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(uri(&path), flags).doing("open the store")?;
        conn.busy_timeout(BUSY).doing("limit the wait of readers")?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .doing("keep readers from writing")?;
        conn.execute_batch(
            "PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
        )
        .doing("keep readers from writing")?;
        stable_plans(&conn)?;
        check_schema(&conn, home)?;
        Ok(Self { conn, home: home.to_owned() })
    }

    /// Asks questions that are all answered from one state of the store. `ask` may be called
    /// again when a daemon that came or went disturbed it.
    ///
    /// # Errors
    /// What `ask` says, or [`StoreError`].
    pub fn read<T>(
        &mut self,
        ask: impl Fn(View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut tries = 1;
        loop {
            match self.try_read(&ask) {
                Err(error) if tries < TRIES && is_passing(&error) => {
                    tries += 1;
                    if let Ok(fresh) = Self::try_open(&self.home) {
                        *self = fresh;
                    }
                }
                other => return other,
            }
        }
    }

    /// Copies the store to the home's backups while its owner goes on, and removes the oldest
    /// copies. `None` when the newest one has all of it already.
    ///
    /// # Errors
    /// [`StoreError`]; then there is no new copy.
    pub fn back_up(&self) -> Result<Option<PathBuf>, StoreError> {
        crate::backup::rolling(&self.conn, &self.home)
    }

    fn try_read<T>(
        &self,
        ask: impl Fn(View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let transaction = self.conn.unchecked_transaction().doing("begin to read")?;
        let answer = ask(View::new(&transaction));
        transaction.finish().doing("end a read")?;
        answer
    }
}

fn exists(path: &Path) -> Result<bool, OpenError> {
    path.try_exists().map_err(|source| OpenError::File {
        doing: "look for",
        path: path.to_owned(),
        source,
    })
}

/// The address of the database, with all its files read-only.
fn uri(path: &Path) -> String {
    uri_with(path, "?mode=ro&readonly_shm=1")
}

/// The address of a database file, opened with these words.
pub(crate) fn uri_with(path: &Path, words: &str) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri.push_str(words);
    uri
}

fn check_schema(conn: &Connection, home: &Path) -> Result<(), OpenError> {
    let id = pragma(conn, home, "application_id")?;
    let found = pragma(conn, home, "user_version")?;
    let known = SCHEMA;
    match (id, u32::try_from(found)) {
        // A daemon is about to make it.
        (0, Ok(0)) if is_empty(conn)? => Err(OpenError::NoStore { home: home.to_owned() }),
        (APPLICATION_ID, Ok(found)) if found < known => {
            Err(OpenError::NeedsMigration { found, known })
        }
        (APPLICATION_ID, Ok(found)) if found > known => Err(OpenError::StoreNewer { found, known }),
        (APPLICATION_ID, Ok(_)) => Ok(()),
        (_, _) => Err(OpenError::NotOurs { path: home.join(STORE) }),
    }
}

fn is_empty(conn: &Connection) -> Result<bool, StoreError> {
    conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
        .doing("read the schema")
}

/// Whether another try may succeed: a daemon that opened or closed the store in between.
fn is_passing(error: &StoreError) -> bool {
    match error {
        StoreError::Busy | StoreError::Damaged { .. } => true,
        StoreError::Io { source: rusqlite::Error::SqliteFailure(cause, _), .. } => matches!(
            cause.code,
            ErrorCode::ReadOnly
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::CannotOpen
                | ErrorCode::SchemaChanged
        ),
        StoreError::Io { .. }
        | StoreError::Fenced
        | StoreError::Full
        | StoreError::File { .. }
        | StoreError::Refused { .. }
        | StoreError::Corrupt(_)
        | StoreError::WrongBlob(_)
        | StoreError::Aborted => false,
    }
}

/// Turns damage that a read meets into advice how to restore.
pub fn advise(home: &Path, error: StoreError) -> OpenError {
    damage(home, error)
}
