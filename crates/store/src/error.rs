//! How the store refuses, and who can act on it. No text of SQL leaves this crate.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;
use tidegate_core::ids::RunId;

/// Recorded data that does not read back: the subject is corrupt, nothing is guessed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("corrupt record of {}: {why}", .run.as_ref().map_or("the home", RunId::as_str))]
pub struct Corrupt {
    /// The run; `None` for the home's own records.
    pub run: Option<RunId>,
    /// The event, where one is to blame; `None` for a row.
    pub seq: Option<u64>,
    /// What does not fit.
    pub why: String,
}

/// Why a read or a turn failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer epoch exists: this daemon was replaced and must end. Nothing was written.
    #[error("a newer daemon owns the store")]
    Fenced,
    /// The disk is full. The whole group was undone; it may be tried again.
    #[error("the disk of the home is full")]
    Full,
    /// Another process holds the write lock for longer than the limit. Undone; may be tried again.
    #[error("the store is locked by another process")]
    Busy,
    /// The operating system refused. What is durable is unknown: the daemon must end.
    #[error("{doing}: {source}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The highwater file could not be written: the daemon must end without an answer.
    #[error("{doing} {}: {source}", .path.display())]
    File {
        /// What was attempted.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Pages of the database are damaged: the daemon must end, a backup must be restored.
    #[error("the store is damaged: {source}")]
    Damaged {
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A constraint of the schema does not hold: the caller is wrong. This input was not recorded.
    #[error("{doing}: refused by the schema: {source}")]
    Refused {
        /// What was attempted.
        doing: &'static str,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A record does not read back.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The bytes are not those that the content address names.
    #[error("the pinned bytes do not match their address {0}")]
    WrongBlob(tidegate_core::ids::BlobId),
    /// An earlier input of the group met a failure that undoes all of it.
    #[error("the group of this input failed")]
    Aborted,
}

impl StoreError {
    /// Whether it undoes the whole group rather than one input.
    pub(crate) fn is_fatal_to_group(&self) -> bool {
        match self {
            Self::Fenced
            | Self::Full
            | Self::Busy
            | Self::Io { .. }
            | Self::File { .. }
            | Self::Damaged { .. }
            | Self::Aborted => true,
            Self::Refused { .. } | Self::Corrupt(_) | Self::WrongBlob(_) => false,
        }
    }

    /// Sorts what SQLite says by who can act on it.
    pub(crate) fn of(doing: &'static str, source: rusqlite::Error) -> Self {
        match &source {
            rusqlite::Error::SqliteFailure(cause, _) => match cause.code {
                ErrorCode::DiskFull => Self::Full,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged { source },
                ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig => {
                    Self::Refused { doing, source }
                }
                _ => Self::Io { doing, source },
            },
            // Our statements are fixed: one that does not fit meets a damaged schema.
            rusqlite::Error::SqlInputError { .. } => Self::Damaged { source },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => {
                Self::Corrupt(Corrupt { run: None, seq: None, why: source.to_string() })
            }
            _ => Self::Io { doing, source },
        }
    }
}

/// Says what was attempted when SQLite refuses.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for Result<T, rusqlite::Error> {
    fn doing(self, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::of(what, source))
    }
}

/// Why a store could not be opened. Nothing was changed, but for a migration that was complete.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no store in this home yet (readers only).
    #[error("no store in {}", .home.display())]
    NoStore {
        /// The home.
        home: PathBuf,
    },
    /// The store was put there without its companions; a daemon must open it once (readers only).
    #[error("the store in {} was never opened here: start the daemon once", .home.display())]
    Unprepared {
        /// The home.
        home: PathBuf,
    },
    /// A newer Tidegate made the store.
    #[error("the store has schema {found}, this Tidegate knows {known}")]
    StoreNewer {
        /// The schema found.
        found: u32,
        /// The newest schema that this program knows.
        known: u32,
    },
    /// An older Tidegate made the store; the daemon migrates it (readers only).
    #[error("the store has schema {found}, this Tidegate needs {known}: restart the daemon")]
    NeedsMigration {
        /// The schema found.
        found: u32,
        /// The schema needed.
        known: u32,
    },
    /// The home is on a network file system, where locks and syncs cannot be trusted.
    #[error("{} is on a network file system ({kind})", .home.display())]
    NetworkFileSystem {
        /// The home.
        home: PathBuf,
        /// The file system's name.
        kind: &'static str,
    },
    /// The file is a database of another program.
    #[error("{} is not a store of Tidegate", .path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// Pages are damaged.
    #[error("{} is damaged: {what}; {}", .path.display(), restore_hint(.backup.as_ref()))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
        /// The newest backup, when there is one.
        backup: Option<PathBuf>,
    },
    /// The SQLite that is linked has a known fault.
    #[error("SQLite {found} is linked, at least {need} is needed")]
    SqliteTooOld {
        /// The version linked.
        found: String,
        /// The oldest version without the fault.
        need: &'static str,
    },
    /// A setting did not take.
    #[error("setting {name}: wanted {want}, got {got}")]
    Pragma {
        /// The setting.
        name: &'static str,
        /// The value wanted.
        want: String,
        /// The value read back.
        got: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", .path.display())]
    File {
        /// What was attempted.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// SQLite refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn restore_hint(backup: Option<&PathBuf>) -> String {
    match backup {
        Some(path) => {
            format!("to restore {}: `tidegate doctor --restore`", path.display())
        }
        None => "there is no backup in backups/; with one from elsewhere to restore: \
                 `tidegate doctor --restore FILE`"
            .to_owned(),
    }
}
