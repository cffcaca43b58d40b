//! The note beside a worktree that a fast-forward has begun there, so that a killed one can be told from a user's edits.
//! It must not know how to forward, nor how to recover.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::refs::remove_if_there;

const NAME: &str = "tidegate-forward";
const HEADER: &str = "tidegate-forward 1";

/// What a fast-forward is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForwardRecord {
    /// Full name of the branch that is checked out.
    pub(crate) refname: String,
    pub(crate) old: Oid,
    pub(crate) new: Oid,
    /// Content of the user's `ORIG_HEAD`, which git overwrites.
    pub(crate) orig_head: Option<String>,
    pub(crate) worktree: PathBuf,
}

impl ForwardRecord {
    /// Reads the user's `ORIG_HEAD`, without its line end.
    pub(crate) fn orig_head(admin: &AdminDir) -> Option<String> {
        fs::read_to_string(admin.join("ORIG_HEAD")).ok().map(|text| text.trim_end().to_owned())
    }

    /// Writes it durably.
    pub(crate) fn write(&self, admin: &AdminDir) -> Result<()> {
        let path = admin.join(NAME);
        let temporary = admin.join("tidegate-forward.new");
        let mut bytes = format!(
            "{HEADER}\nref {}\nold {}\nnew {}\norig {}\nworktree ",
            self.refname,
            self.old,
            self.new,
            self.orig_head.as_deref().unwrap_or("-")
        )
        .into_bytes();
        bytes.extend_from_slice(self.worktree.as_os_str().as_bytes());
        fail::fail_point!("git.forward_record.before_write");
        File::create(&temporary)
            .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
            .map_err(GitError::io("write", &temporary))?;
        fs::rename(&temporary, &path).map_err(GitError::io("rename", &temporary))?;
        sync_dir(admin.path())?;
        fail::fail_point!("git.forward_record.after_write");
        Ok(())
    }

    /// Reads the one that was left here, if any. A torn one was never in force: it is removed.
    pub(crate) fn read(admin: &AdminDir) -> Result<Option<Self>> {
        let path = admin.join(NAME);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(GitError::Io { doing: "read", path, source }),
        };
        let record = parse(&bytes);
        if record.is_none() {
            remove_if_there(&path)?;
        }
        Ok(record)
    }

    /// Puts the user's `ORIG_HEAD` back and removes the record.
    pub(crate) fn close(&self, admin: &AdminDir) -> Result<()> {
        let path = admin.join("ORIG_HEAD");
        if Self::orig_head(admin) != self.orig_head {
            match &self.orig_head {
                Some(text) => {
                    fs::write(&path, format!("{text}\n")).map_err(GitError::io("write", &path))?;
                }
                None => {
                    remove_if_there(&path)?;
                }
            }
        }
        fail::fail_point!("git.forward_record.before_remove");
        remove_if_there(&admin.join(NAME))?;
        fail::fail_point!("git.forward_record.after_remove");
        Ok(())
    }
}

fn parse(bytes: &[u8]) -> Option<ForwardRecord> {
    let mut lines = bytes.splitn(6, |b| *b == b'\n');
    let mut text = |prefix: &str| std::str::from_utf8(lines.next()?).ok()?.strip_prefix(prefix);
    text(HEADER)?;
    let refname = text("ref ")?.to_owned();
    let old = Oid::new(text("old ")?)?;
    let new = Oid::new(text("new ")?)?;
    let orig = text("orig ")?;
    let orig_head = (orig != "-").then(|| orig.to_owned());
    let worktree = lines.next()?.strip_prefix(b"worktree ")?;
    let worktree = Path::new(OsStr::from_bytes(worktree)).to_owned();
    Some(ForwardRecord { refname, old, new, orig_head, worktree })
}

fn sync_dir(path: &Path) -> Result<()> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(GitError::io("sync", path))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn record_with_a_hostile_path_is_read_and_a_cut_one_is_not() {
        let old = "a".repeat(40);
        let text =
            format!("{HEADER}\nref refs/heads/m\nold {old}\nnew {old}\norig -\nworktree /a\nb");
        let record = parse(text.as_bytes()).unwrap();
        assert_eq!(record.worktree, Path::new("/a\nb"));
        assert_eq!(record.orig_head, None);
        assert_eq!(parse(&text.as_bytes()[..60]), None);
        assert_eq!(parse(b""), None);
    }
}
