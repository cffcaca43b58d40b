//! Removing what no snapshot needs any more. It must not know why a snapshot went.
//!
//! git names what can go and we remove it: `git prune` itself, when it may look into the user's repository, also drops
//! every object that a pack there has, and that pack may be gone tomorrow.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tidegate_core::ids::Oid;

use super::vault::Vault;
use crate::error::Result;

const DOING: &str = "collecting garbage of snapshots";
/// What git says of a file that a killed call left.
const LEFT_OVER: &[u8] = b"Removing stale temporary file ";

impl Vault {
    /// Removes objects that no snapshot needs and that are older than an hour, once no snapshot is at work.
    ///
    /// # Errors
    /// What a call can give.
    pub fn collect(&self) -> Result<()> {
        let gate = Gate::of(&self.dir);
        let _alone = gate.alone();
        let call = self.lent(self.read(DOING)).args(["prune", "--dry-run", "--expire=1.hour.ago"]);
        let printed = call.bytes()?;
        let objects = self.dir.join("objects");
        fail::fail_point!("git.snapshot.before_collect");
        for line in printed.split(|b| *b == b'\n') {
            if let Some(file) = file_of(&objects, line) {
                crate::refs::remove_if_there(&file)?;
            }
        }
        fail::fail_point!("git.snapshot.after_collect");
        Ok(())
    }
}

/// The file that a line of git's list is about: a loose object, or what a killed call left.
fn file_of(objects: &Path, line: &[u8]) -> Option<PathBuf> {
    if let Some(path) = line.strip_prefix(LEFT_OVER) {
        let path = Path::new(OsStr::from_bytes(path));
        let is_ours = path.starts_with(objects)
            && path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"tmp_"));
        return is_ours.then(|| path.to_owned());
    }
    let name = line.split(|b| *b == b' ').next()?;
    let oid = Oid::new(str::from_utf8(name).ok()?.to_owned())?;
    let (folder, rest) = oid.as_str().split_at(2);
    Some(objects.join(folder).join(rest))
}

/// Lets snapshots of one private repository work side by side, and a collection of garbage alone.
pub(super) struct Gate(Arc<RwLock<()>>);

impl Gate {
    pub(super) fn of(vault: &Path) -> Self {
        static ALL: OnceLock<Mutex<HashMap<PathBuf, Arc<RwLock<()>>>>> = OnceLock::new();
        let all = ALL.get_or_init(Mutex::default).lock();
        let mut all = all.unwrap_or_else(PoisonError::into_inner);
        Self(Arc::clone(all.entry(vault.to_owned()).or_default()))
    }

    /// Not to be taken twice by one thread.
    pub(super) fn shared(&self) -> RwLockReadGuard<'_, ()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn line_about_anything_else_names_no_file() {
        let objects = Path::new("/v/objects");
        let oid = "0123456789012345678901234567890123456789";
        let object = file_of(objects, format!("{oid} blob").as_bytes()).unwrap();
        assert_eq!(object, Path::new("/v/objects/01/23456789012345678901234567890123456789"));
        let left = file_of(objects, b"Removing stale temporary file /v/objects/pack/tmp_pack_a");
        assert_eq!(left.unwrap(), Path::new("/v/objects/pack/tmp_pack_a"));
        for other in [
            format!("rm -f /u/objects/01/{}", &oid[2..]),
            "Removing stale temporary file /u/objects/pack/tmp_pack_a".to_owned(),
            "Removing stale temporary file /v/objects/pack/pack-a.pack".to_owned(),
            String::new(),
        ] {
            assert_eq!(file_of(objects, other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn collection_waits_for_every_snapshot_at_work() {
        let (one, other) = (Gate::of(Path::new("/v")), Gate::of(Path::new("/v")));
        let at_work = one.shared();
        assert!(other.0.try_read().is_ok(), "snapshots do not wait for each other");
        assert!(other.0.try_write().is_err());
        drop(at_work);
        let _alone = other.alone();
        assert!(one.0.try_read().is_err());
    }
}
