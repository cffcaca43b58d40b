//! Reading `git worktree list --porcelain -z`. It must not know what a worktree is for.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::repo::Repo;

/// One registered worktree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) head: Option<Oid>,
    /// Full name of the branch; `None` when detached or bare.
    pub(crate) branch: Option<String>,
    pub(crate) bare: bool,
    pub(crate) locked: bool,
    pub(crate) prunable: bool,
}

const DOING: &str = "listing worktrees";
/// What git writes to `commondir`: the way from `worktrees/<id>` to the common directory.
const COMMON_DIR: &[u8] = b"../..\n";

impl Repo {
    /// All registered worktrees, the main one first.
    ///
    /// A `git worktree add` that was killed between making a file of the registration and writing it leaves one that
    /// no git can list any more, the user's neither. Such a file is completed: it always says the same, so that a git
    /// that is just about to write it is not in the way either.
    pub(crate) fn worktrees(&self) -> Result<Vec<Listed>> {
        let list = || self.read(DOING).args(["worktree", "list", "--porcelain", "-z"]).bytes();
        match list() {
            Ok(bytes) => parse(&bytes),
            Err(GitError::Refused { .. }) if self.complete_registrations()? => parse(&list()?),
            Err(error) => Err(error),
        }
    }

    /// Whether there was a registration to be completed.
    fn complete_registrations(&self) -> Result<bool> {
        let mut completed = false;
        for admin in AdminDir::all(self)?.into_iter().skip(1) {
            let file = admin.join("commondir");
            if fs::metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() == 0) {
                fs::write(&file, COMMON_DIR).map_err(GitError::io("write", &file))?;
                completed = true;
            }
        }
        Ok(completed)
    }
}

fn parse(bytes: &[u8]) -> Result<Vec<Listed>> {
    let unparsable = || GitError::Unparsable { doing: DOING };
    let mut all: Vec<Listed> = Vec::new();
    for line in bytes.split(|b| *b == 0).filter(|line| !line.is_empty()) {
        let split = line.iter().position(|b| *b == b' ').unwrap_or(line.len());
        let (key, value) = (&line[..split], line.get(split + 1..).unwrap_or_default());
        if key == b"worktree" {
            let path = Path::new(OsStr::from_bytes(value)).to_owned();
            all.push(Listed { path, ..Listed::default() });
            continue;
        }
        let last = all.last_mut().ok_or_else(unparsable)?;
        match key {
            b"HEAD" => {
                let text = std::str::from_utf8(value).map_err(|_| unparsable())?;
                let oid = Oid::new(text).ok_or_else(unparsable)?;
                // An unborn branch is listed with the zero object name.
                last.head = Some(oid).filter(|oid| oid.as_str().bytes().any(|b| b != b'0'));
            }
            b"branch" => last.branch = Some(String::from_utf8_lossy(value).into_owned()),
            b"bare" => last.bare = true,
            b"locked" => last.locked = true,
            b"prunable" => last.prunable = true,
            // Later versions may add attributes.
            _ => {}
        }
    }
    Ok(all)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn list_with_odd_paths_and_states_is_read() {
        let oid = "a".repeat(40);
        let text = format!(
            "worktree /r\0bare\0\0worktree /x\ny\0HEAD {oid}\0branch refs/heads/m\0locked why\n so\0\0\
             worktree /z\0HEAD {}\0detached\0prunable gone\0\0",
            "0".repeat(40)
        );
        let all = parse(text.as_bytes()).unwrap();
        assert_eq!(all.len(), 3);
        assert!(all[0].bare);
        assert_eq!(all[1].path, Path::new("/x\ny"));
        assert_eq!(all[1].branch.as_deref(), Some("refs/heads/m"));
        assert_eq!(all[1].head, Oid::new(oid));
        assert!(all[1].locked && !all[1].prunable);
        assert!(all[2].prunable && all[2].branch.is_none() && all[2].head.is_none());
    }

    #[test]
    fn list_that_starts_in_the_middle_is_unparsable() {
        assert!(matches!(parse(b"HEAD x\0"), Err(GitError::Unparsable { .. })));
    }
}
