//! The store as its one owner uses it: opened, an epoch taken, then turn by turn.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::ballast::Ballast;
use crate::connection;
use crate::epoch::read_home;
use crate::error::{Doing as _, OpenError, StoreError};
use crate::files;
use crate::highwater::{Found, Highwater};
use crate::migrate::{self, Migration};
use crate::read::View;
use crate::turn::Turn;

/// Space kept back for a full disk, in bytes.
const BALLAST_BYTES: u64 = 1024 * 1024;

/// What fences every write: a greater one refuses all smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Rises when the store went back in time.
    pub generation: u64,
    /// Rises with every daemon.
    pub epoch: u64,
}

/// How a store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Space kept back for a full disk, in bytes; 0 for none.
    pub ballast_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { ballast_bytes: BALLAST_BYTES }
    }
}

/// The store of a home, open for writing.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) home: PathBuf,
    pub(crate) highwater: Highwater,
    pub(crate) found: Found,
    pub(crate) token: Option<Token>,
    pub(crate) ballast: Ballast,
    migration: Migration,
}

impl Store {
    /// Opens the store of `home`, which must be a folder; makes or migrates it where needed.
    ///
    /// # Errors
    /// [`OpenError`]: on a network file system, of another program, newer than this program,
    /// damaged, or refused by the operating system.
    pub fn open(home: &Path) -> Result<Self, OpenError> {
        Self::open_with(home, Options::default())
    }

    /// Opens the store of `home` with other options.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(home: &Path, options: Options) -> Result<Self, OpenError> {
        connection::check_sqlite()?;
        files::check_local(home)?;
        if crate::restore::is_under_way(home) {
            return Err(OpenError::Damaged {
                path: home.join(files::STORE),
                what: "a restore of it was begun and not ended".to_owned(),
                backup: files::newest_backup(home),
            });
        }
        let mut conn = connection::open_writer(home)?;
        connection::check_pages(&conn, home)?;
        let migration = migrate::migrate(&mut conn, home)?;
        let (highwater, mut found) = Highwater::open(home)?;
        let (_, mark) = read_home(&conn)?;
        if found == Found::Nothing && mark.turn == 0 {
            // From here on a missing highwater is a lost one.
            highwater.write(&mark)?;
            found = Found::Mark(mark);
        }
        files::sync_dir(home).map_err(|source| OpenError::File {
            doing: "sync",
            path: home.to_owned(),
            source,
        })?;
        let ballast = Ballast::of(home, options.ballast_bytes);
        let store =
            Self { conn, home: home.to_owned(), highwater, found, token: None, ballast, migration };
        store.refill_ballast()?;
        Ok(store)
    }

    /// What opening did to the schema.
    pub fn migration(&self) -> &Migration {
        &self.migration
    }

    /// The token of this owner, once it has taken an epoch.
    pub fn token(&self) -> Option<Token> {
        self.token
    }

    /// All that can be asked of the store, on the owner's own connection.
    pub fn view(&self) -> View<'_> {
        View::new(&self.conn)
    }

    /// Records a group of inputs in one transaction: `work` hands each of them to
    /// [`Turn::input`]. When this returns `Ok`, all that was not refused is durable, and so is the
    /// highwater; a group in which nothing was written costs no sync.
    ///
    /// # Errors
    /// [`StoreError`], and then nothing of the group is recorded. After [`StoreError::Full`] and
    /// [`StoreError::Busy`] the group may be tried again; after any other the owner must end.
    pub fn turn<R>(&mut self, work: impl FnOnce(&mut Turn<'_>) -> R) -> Result<R, StoreError> {
        let mut turn = Turn::begin(self)?;
        let result = work(&mut turn);
        turn.commit()?;
        // What was recorded stays so: without a ballast only the next full disk is worse.
        let _ = self.ballast.restore();
        Ok(result)
    }

    /// Gives up the space that was kept back, so that inputs which must not be lost can be
    /// recorded on a full disk. `false` when there was none.
    ///
    /// # Errors
    /// [`StoreError::File`].
    pub fn spend_ballast(&self) -> Result<bool, StoreError> {
        self.ballast.spend().map_err(|source| self.ballast_error("remove", source))
    }

    /// Whether the ballast is spent, after an attempt to take it back: what adds work should be
    /// refused then.
    pub fn is_short_of_space(&self) -> bool {
        // What cannot be looked at is found out by the next write.
        let _ = self.ballast.restore();
        self.ballast.is_spent()
    }

    /// Takes space back for the next time. `false` when the disk has no room for it. Turns do so by
    /// themselves once there is plenty.
    ///
    /// # Errors
    /// [`StoreError::File`].
    pub fn refill_ballast(&self) -> Result<bool, StoreError> {
        self.ballast.fill().map_err(|source| self.ballast_error("allocate", source))
    }

    fn ballast_error(&self, doing: &'static str, source: std::io::Error) -> StoreError {
        StoreError::File { doing, path: self.home.join("ballast"), source }
    }

    /// Copies the whole store to the file `to` while it stays in use.
    ///
    /// # Errors
    /// [`StoreError`] when the copy is not complete; then there is no file of that name.
    pub fn backup_to(&self, to: &Path) -> Result<(), StoreError> {
        crate::backup::copy(&self.conn, to)
    }

    /// Moves the WAL into the database as far as readers allow.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        fail::fail_point!("store.checkpoint.before_truncate");
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .doing("checkpoint the store")?;
        fail::fail_point!("store.checkpoint.after_truncate");
        Ok(())
    }

    /// Closes the store in good order: the WAL is empty afterwards, where the disk has room for
    /// that and no reader is in the way, and both companions stay, so that readers work on a
    /// read-only home.
    ///
    /// # Errors
    /// [`StoreError`]; all that was acknowledged stays durable.
    pub fn close(self) -> Result<(), StoreError> {
        match self.checkpoint() {
            // The WAL keeps what the database cannot take now.
            Ok(()) | Err(StoreError::Full | StoreError::Busy) => {}
            Err(error) => return Err(error),
        }
        self.conn.close().map_err(|(_, source)| StoreError::of("close the store", source))
    }
}

/// What taking an epoch found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Began {
    /// The token of the new owner.
    pub token: Token,
    /// The home's own id, for the tag of its jobs.
    pub home_id: String,
    /// Set when the store is behind what is known of it: everything that runs must be looked at
    /// before anything starts. The generation has risen.
    pub went_back: Option<WentBack>,
}

/// How it is known that the store went back in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WentBack {
    /// Acknowledged transactions are missing.
    Behind {
        /// Transactions that the store has.
        turn: u64,
        /// Transactions that had been acknowledged.
        highwater: u64,
    },
    /// The newest acknowledged event is another one.
    Diverged {
        /// Its sequence number.
        seq: u64,
    },
    /// The highwater file is gone or unreadable, so nothing can be proved.
    HighwaterLost,
}
