//! What is changed in a worktree: reading `git status --porcelain=v2 -z`. It must not know whether a change is welcome.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// How a path differs from the commit that is checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// In the index only.
    Staged,
    /// In the worktree only.
    Unstaged,
    /// In the index, and again in the worktree.
    Both,
    /// Not merged: a conflict is open.
    Unmerged,
    /// Not tracked, and not ignored.
    Untracked,
    /// Not tracked, and a git repository of its own: git would record a link and lose the content.
    NestedRepository,
    /// A submodule whose own worktree is changed, which no commit here can record.
    SubmoduleContent,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirtyPath {
    /// Relative to the root of the worktree; any bytes but NUL.
    pub path: PathBuf,
    /// How it differs.
    pub change: Change,
}

/// Which paths count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Tracked ones.
    Tracked,
    /// Tracked ones, and all that are neither tracked nor ignored.
    All,
}

const DOING: &str = "reading the state of a worktree";

impl Repo {
    /// The changed paths of a worktree, untracked ones included, ignored ones not; empty means clean. Writes nothing.
    ///
    /// # Errors
    /// [`GitError::Missing`] and [`GitError::ForeignWorktree`] when it is no worktree of this repository.
    pub fn worktree_status(&self, worktree: &Path) -> Result<Vec<DirtyPath>> {
        crate::admin_dir::AdminDir::of(self, worktree)?;
        self.status(worktree, Scope::All)
    }

    pub(crate) fn status(&self, worktree: &Path, scope: Scope) -> Result<Vec<DirtyPath>> {
        let untracked = match scope {
            Scope::Tracked => "--untracked-files=no",
            Scope::All => "--untracked-files=all",
        };
        let bytes = self
            .read_in(worktree, DOING)
            .args([
                "status",
                "--porcelain=v2",
                "-z",
                "--no-renames",
                "--ignore-submodules=untracked",
            ])
            .arg(untracked)
            .bytes()?;
        parse(&bytes)
    }
}

/// Number of fields before the path, by the kind of line.
fn fields_before_path(kind: u8) -> Option<usize> {
    match kind {
        b'1' => Some(8),
        b'2' => Some(9),
        b'u' => Some(10),
        b'?' | b'!' => Some(1),
        _ => None,
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<DirtyPath>> {
    let unparsable = || GitError::Unparsable { doing: DOING };
    let mut all = Vec::new();
    let mut lines = bytes.split(|b| *b == 0).filter(|line| !line.is_empty());
    while let Some(line) = lines.next() {
        if line[0] == b'#' {
            continue;
        }
        let before = fields_before_path(line[0]).ok_or_else(unparsable)?;
        let fields: Vec<&[u8]> = line.splitn(before + 1, |b| *b == b' ').collect();
        let path = *fields.get(before).ok_or_else(unparsable)?;
        let change = match line[0] {
            b'1' => tracked_change(fields[1], fields[2]),
            b'2' => {
                // The path that it was renamed from.
                lines.next().ok_or_else(unparsable)?;
                tracked_change(fields[1], fields[2])
            }
            b'u' => Change::Unmerged,
            b'!' => continue,
            _ if path.ends_with(b"/") => Change::NestedRepository,
            _ => Change::Untracked,
        };
        let path = path.strip_suffix(b"/").unwrap_or(path);
        all.push(DirtyPath { path: PathBuf::from(OsStr::from_bytes(path)), change });
    }
    Ok(all)
}

/// `xy` is the state in the index and in the worktree; `sub` is `N...`, or `S` and the flags `C`, `M`, `U`.
fn tracked_change(xy: &[u8], sub: &[u8]) -> Change {
    let content_only = sub.first() == Some(&b'S')
        && sub.get(1) == Some(&b'.')
        && sub[1..].iter().any(|b| *b == b'M' || *b == b'U');
    if content_only && xy.first() == Some(&b'.') {
        return Change::SubmoduleContent;
    }
    match xy {
        [b'.', _] => Change::Unstaged,
        [_, b'.'] => Change::Staged,
        _ => Change::Both,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn status_of_every_kind_is_read() {
        let h = "a".repeat(40);
        let text = format!(
            "1 M. N... 100644 100644 100644 {h} {h} staged name\0\
             1 .M N... 100644 100644 100644 {h} {h} line\nbreak\0\
             1 MM N... 100644 100644 100644 {h} {h} both\0\
             2 R. N... 100644 100644 100644 {h} {h} R100 new\0old\0\
             u UU N... 100644 100644 100644 100644 {h} {h} {h} torn\0\
             1 .M S.M. 160000 160000 160000 {h} {h} sub\0\
             ? fresh\0? nested/\0! ignored\0"
        );
        let expected = [
            ("staged name", Change::Staged),
            ("line\nbreak", Change::Unstaged),
            ("both", Change::Both),
            ("new", Change::Staged),
            ("torn", Change::Unmerged),
            ("sub", Change::SubmoduleContent),
            ("fresh", Change::Untracked),
            ("nested", Change::NestedRepository),
        ];
        let found = parse(text.as_bytes()).unwrap();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(path, change)| DirtyPath { path: path.into(), change })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn status_of_an_unknown_kind_is_unparsable() {
        assert!(matches!(parse(b"9 what\0"), Err(GitError::Unparsable { .. })));
    }
}
