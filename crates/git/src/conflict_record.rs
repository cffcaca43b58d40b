//! The note beside a worktree that a merge was begun there by us, so that a killed one can be told from a reconciler's
//! work. It must not know how to merge.

use std::fs::{self, File};
use std::io::{self, Write};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::refs::remove_if_there;

const NAME: &str = "tidegate-conflict";
const HEADER: &str = "tidegate-conflict 1";

/// A merge that is being prepared: until its end nobody but us was in the worktree, which was clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConflictRecord {
    /// Where the branch was.
    pub(crate) feature: Oid,
    pub(crate) target: Oid,
}

impl ConflictRecord {
    /// Writes it durably.
    pub(crate) fn write(&self, admin: &AdminDir) -> Result<()> {
        let temporary = admin.join("tidegate-conflict.new");
        let text = format!("{HEADER}\nfeature {}\ntarget {}\n", self.feature, self.target);
        fail::fail_point!("git.conflict_record.before_write");
        File::create(&temporary)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .map_err(GitError::io("write", &temporary))?;
        fs::rename(&temporary, admin.join(NAME)).map_err(GitError::io("rename", &temporary))?;
        File::open(admin.path())
            .and_then(|dir| dir.sync_all())
            .map_err(GitError::io("sync", admin.path()))?;
        fail::fail_point!("git.conflict_record.after_write");
        Ok(())
    }

    /// Reads the one that was left here, if any. A torn one was never in force: it is removed.
    pub(crate) fn read(admin: &AdminDir) -> Result<Option<Self>> {
        let path = admin.join(NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(GitError::Io { doing: "read", path, source }),
        };
        let record = parse(&text);
        if record.is_none() {
            remove_if_there(&path)?;
        }
        Ok(record)
    }

    /// Says that the preparation is over: from now on the worktree is the reconciler's.
    pub(crate) fn close(admin: &AdminDir) -> Result<()> {
        fail::fail_point!("git.conflict_record.before_remove");
        remove_if_there(&admin.join(NAME))?;
        fail::fail_point!("git.conflict_record.after_remove");
        Ok(())
    }
}

fn parse(text: &str) -> Option<ConflictRecord> {
    let mut lines = text.lines();
    let mut field = |prefix: &str| lines.next()?.strip_prefix(prefix).map(str::to_owned);
    field(HEADER)?;
    let feature = Oid::new(field("feature ")?)?;
    let target = Oid::new(field("target ")?)?;
    Some(ConflictRecord { feature, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_read_and_a_cut_one_is_not() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let text = format!("{HEADER}\nfeature {a}\ntarget {b}\n");
        assert!(parse(&text).is_some_and(|record| record.target.as_str() == b));
        assert_eq!(parse(&text[..50]), None);
    }
}
