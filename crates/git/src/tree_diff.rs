//! Which paths two commits differ in: reading `git diff-tree -r -z`. It must not know what for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// What a path is in one of the commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Symlink,
    Submodule,
}

/// One side of a differing path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) kind: EntryKind,
    pub(crate) oid: Oid,
}

/// One differing path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) old: Option<Side>,
    pub(crate) new: Option<Side>,
}

const DOING: &str = "comparing two trees";

impl Repo {
    /// All paths in which two commits differ; renames are a removal and an addition.
    pub(crate) fn tree_diff(&self, old: &Oid, new: &Oid) -> Result<Vec<Entry>> {
        let bytes = self
            .read(DOING)
            .args(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"])
            .args([old.as_str(), new.as_str()])
            .bytes()?;
        parse(&bytes).ok_or(GitError::Unparsable { doing: DOING })
    }
}

/// Reads `:mode mode oid oid letter NUL path NUL`.
fn parse(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut all = Vec::new();
    let mut fields = bytes.split(|b| *b == 0).filter(|field| !field.is_empty());
    while let Some(head) = fields.next() {
        let head = std::str::from_utf8(head.strip_prefix(b":")?).ok()?;
        let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
        let words: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old, new, _letter] = words[..] else { return None };
        all.push(Entry { path, old: side(old_mode, old)?, new: side(new_mode, new)? });
    }
    Some(all)
}

/// The outer option says whether it was readable, the inner one whether there is such a side.
#[expect(clippy::option_option, reason = "unreadable and absent are different answers")]
fn side(mode: &str, oid: &str) -> Option<Option<Side>> {
    let kind = match mode {
        "000000" => return Some(None),
        "120000" => EntryKind::Symlink,
        "160000" => EntryKind::Submodule,
        mode if mode.starts_with("100") => EntryKind::File,
        _ => return None,
    };
    Some(Some(Side { kind, oid: Oid::new(oid)? }))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn diff_of_all_kinds_is_read() {
        let (a, b, z) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let text = format!(
            ":100644 100755 {a} {b} M\0x\ny\0:000000 120000 {z} {b} A\0link\0:160000 000000 {a} {z} D\0sub\0"
        );
        let all = parse(text.as_bytes()).unwrap();
        assert_eq!(all.len(), 3);
        assert_eq!(all[0].path, PathBuf::from("x\ny"));
        assert_eq!(all[1].new.as_ref().unwrap().kind, EntryKind::Symlink);
        assert!(all[1].old.is_none() && all[2].new.is_none());
        assert!(parse(b"junk\0x\0").is_none());
    }
}
