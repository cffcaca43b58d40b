//! Putting a backup in the place of a store that is damaged, and making copies of one that is not.

use std::path::{Path, PathBuf};

use tidegate_process::{HomeLock, LockError};
use tidegate_store::{BackupInfo, OpenError, Reader, Store, StoreError, Token};

use super::strays::{Stray, strays};
use crate::clock;
use crate::host::HomeFiles;

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The backup that stands in the store's place now.
    pub backup: PathBuf,
    /// Where the store that was there is kept.
    pub kept: PathBuf,
    /// The token from now on.
    pub token: Token,
    /// Transactions that were acknowledged behind the backup and are gone; `None` when nobody
    /// knows.
    pub lost: Option<u64>,
    /// Job directories that the restored store does not know.
    pub strays: Vec<Stray>,
    /// Backups that were passed over, with what is wrong with each.
    pub passed_over: Vec<(PathBuf, String)>,
}

/// Why nothing was restored, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A daemon holds the home.
    #[error("a daemon runs{}: stop it first", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Running {
        /// Its pid, for people.
        pid: Option<u32>,
    },
    /// There is no backup that is whole.
    #[error("there is no backup to restore{}", .why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    NoBackup {
        /// What is wrong with the newest one.
        why: Option<String>,
    },
    /// The backup is one of another home: its runs have nothing to do with the jobs of this one.
    #[error("{} is a backup of another home", backup.display())]
    OtherHome {
        /// The backup.
        backup: PathBuf,
    },
    /// The home's lock cannot be taken.
    #[error(transparent)]
    Lock(LockError),
    /// The store cannot be read, or the backup cannot be put in its place.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The restored store cannot be written.
    #[error("the restored store: {0}")]
    Store(#[from] StoreError),
}

/// Puts `backup`, or the newest one that is whole, in the place of the store. No daemon may run.
///
/// The store that was there is kept. The token generation rises: whatever was started under an
/// earlier token is a stranger from now on, and is looked at before anything starts.
///
/// # Errors
/// [`RestoreError`]; it may be begun again.
pub fn restore(home: &Path, backup: Option<&Path>) -> Result<Restored, RestoreError> {
    let lock = match HomeLock::acquire(&HomeFiles::new(home).lock()) {
        Ok(lock) => lock,
        Err(LockError::Held { note, .. }) => {
            return Err(RestoreError::Running { pid: note.map(|note| note.daemon.pid) });
        }
        Err(error) => return Err(RestoreError::Lock(error)),
    };
    let (backup, info, passed_over) = choose(home, backup)?;
    // A store that is too damaged to say whose it is proves nothing.
    if super::owner(home).is_ok_and(|owner| owner.home_id != info.home_id) {
        return Err(RestoreError::OtherHome { backup });
    }
    let known = tidegate_store::acknowledged(home).map_err(|source| OpenError::File {
        doing: "read",
        path: home.join("highwater"),
        source,
    })?;
    let kept =
        home.join("quarantine").join(format!("{}{}", tidegate_store::KEPT_STORE, clock::wall().0));
    tidegate_store::install(home, &backup, &kept)?;
    let mut store = Store::open(home)?;
    let at = clock::wall();
    let pid = std::process::id();
    let began = store.begin_epoch(pid, env!("CARGO_PKG_VERSION"), at)?;
    let strays = strays(home, &store.view().known_jobs()?);
    let ahead = strays.iter().filter_map(|stray| stray.token).max();
    let ahead = ahead.map(|(generation, epoch)| Token { generation, epoch });
    let behind = ahead.is_some_and(|ahead| ahead >= began.token);
    let token = if began.went_back.is_none() || behind {
        // A copy may be as new as the store was: its token is an old one all the same.
        store.raise_generation(ahead.map_or(began.token, |ahead| ahead.max(began.token)), at)?
    } else {
        began.token
    };
    store.end_epoch(at)?;
    store.close()?;
    drop(lock);
    let lost = known.map(|known| known.turn.saturating_sub(info.turn));
    Ok(Restored { backup, kept, token, lost, strays, passed_over })
}

type Chosen = (PathBuf, BackupInfo, Vec<(PathBuf, String)>);

fn choose(home: &Path, wanted: Option<&Path>) -> Result<Chosen, RestoreError> {
    if let Some(path) = wanted {
        let info = tidegate_store::inspect_backup(path)?;
        return Ok((path.to_owned(), info, Vec::new()));
    }
    let mut passed_over = Vec::new();
    for path in tidegate_store::backups(home) {
        match tidegate_store::inspect_backup(&path) {
            Ok(info) => return Ok((path, info, passed_over)),
            Err(error) => passed_over.push((path, error.to_string())),
        }
    }
    let why = passed_over.into_iter().next().map(|(_, why)| why);
    Err(RestoreError::NoBackup { why })
}

/// Makes a copy of the store now, daemon or not. `None` when the newest copy has all of it.
///
/// # Errors
/// [`OpenError`]; then there is no new copy.
pub fn back_up(home: &Path) -> Result<Option<PathBuf>, OpenError> {
    Reader::open(home)?.back_up().map_err(OpenError::Store)
}
