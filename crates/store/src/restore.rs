//! Putting a backup in the place of the store. Only for whoever holds the home's lock.
//!
//! A log of the old database must never meet the new one: SQLite would write old pages into it. So
//! the old files are kept under a second name first, then the log goes, then the database is
//! replaced. A mark stands in the home from the first step to the last: with it no store is opened,
//! and the restore can be begun again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::files::{self, STORE};

/// Name of the mark.
const MARK: &str = "restoring";
/// Name of the copy before it is the store.
const PART: &str = "store.db.restoring";
/// Beginning of the name of the folder, in `quarantine`, that a replaced store is kept in.
pub const KEPT_STORE: &str = "store-";

/// Whether a restore was begun and not ended.
pub(crate) fn is_under_way(home: &Path) -> bool {
    home.join(MARK).exists()
}

/// Replaces the store of `home` by a copy of `backup`, and keeps what was there in `kept`.
///
/// # Errors
/// [`OpenError::File`]; it may be repeated, with the same backup or with another one.
pub fn install(home: &Path, backup: &Path, kept: &Path) -> Result<(), OpenError> {
    let at = |doing: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| OpenError::File { doing, path, source }
    };
    let part = home.join(PART);
    fs::copy(backup, &part).map_err(at("copy", backup))?;
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&part, private).map_err(at("protect", &part))?;
    sync(&part).map_err(at("sync", &part))?;
    let mark = home.join(MARK);
    fs::write(&mark, backup.as_os_str().as_encoded_bytes()).map_err(at("write", &mark))?;
    sync(&mark).and_then(|()| files::sync_dir(home)).map_err(at("sync", &mark))?;
    fail::fail_point!("store.restore.after_mark");
    fs::create_dir_all(kept).map_err(at("create", kept))?;
    for name in names() {
        let (from, to) = (home.join(&name), kept.join(&name));
        match fs::hard_link(&from, &to) {
            Ok(()) => {}
            // Without a store of its own, or kept by an earlier try.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists
                ) => {}
            Err(source) => return Err(at("keep", &from)(source)),
        }
    }
    files::sync_dir(kept).map_err(at("sync", kept))?;
    fail::fail_point!("store.restore.before_remove_log");
    for name in names().into_iter().skip(1) {
        let path = home.join(name);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(at("remove", &path)(source)),
        }
    }
    files::sync_dir(home).map_err(at("sync", home))?;
    fail::fail_point!("store.restore.before_rename");
    let store = home.join(STORE);
    fs::rename(&part, &store).map_err(at("rename", &part))?;
    files::sync_dir(home).map_err(at("sync", home))?;
    fail::fail_point!("store.restore.after_rename");
    fs::remove_file(&mark).map_err(at("remove", &mark))?;
    files::sync_dir(home).map_err(at("sync", home))
}

/// The files of a store, the database first.
fn names() -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|suffix| PathBuf::from(format!("{STORE}{suffix}")))
}

fn sync(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}
