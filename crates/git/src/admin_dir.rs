//! The administrative directory of one worktree (`.git`, or `.git/worktrees/<id>`): finding it, and reading from it what
//! is going on there. It must not know what the worktree is for.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{GitError, Result};
use crate::refs::remove_if_there;
use crate::repo::Repo;

/// Something that git has begun in a worktree and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `git rebase` or `git am`.
    Rebase,
    /// `git merge`.
    Merge,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
}

impl Operation {
    /// The subcommand of git that ends it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rebase => "rebase",
            Self::Merge => "merge",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
        }
    }
}

/// Files whose presence says that an operation is going on.
const SIGNS: [(&str, Operation); 7] = [
    ("rebase-merge", Operation::Rebase),
    ("rebase-apply", Operation::Rebase),
    ("MERGE_HEAD", Operation::Merge),
    ("CHERRY_PICK_HEAD", Operation::CherryPick),
    ("REVERT_HEAD", Operation::Revert),
    ("sequencer", Operation::CherryPick),
    ("BISECT_LOG", Operation::Bisect),
];

/// The administrative directory of one worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdminDir(PathBuf);

impl AdminDir {
    /// The one of the worktree at `path`, proved to belong to `repo`.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is no worktree; [`GitError::ForeignWorktree`].
    pub(crate) fn of(repo: &Repo, path: &Path) -> Result<Self> {
        let link = path.join(".git");
        let foreign = || GitError::ForeignWorktree { path: path.to_owned() };
        let missing = || GitError::Missing { what: format!("the worktree {}", path.display()) };
        let meta = match fs::symlink_metadata(&link) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            Err(source) => return Err(GitError::Io { doing: "look at", path: link, source }),
        };
        let named = if meta.is_file() {
            let bytes = fs::read(&link).map_err(GitError::io("read", &link))?;
            let target = bytes.strip_prefix(b"gitdir: ").ok_or_else(foreign)?;
            let target = target.strip_suffix(b"\n").unwrap_or(target);
            path.join(OsStr::from_bytes(target))
        } else {
            link
        };
        let dir = named.canonicalize().map_err(|_| foreign())?;
        let common = repo.common_dir();
        let linked = dir.parent() == Some(&common.join("worktrees"));
        if dir == common || linked { Ok(Self(dir)) } else { Err(foreign()) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// The root of the worktree, as git recorded it; the directory itself for a bare repository.
    pub(crate) fn worktree(&self) -> PathBuf {
        let link = match fs::read(self.join("gitdir")) {
            Ok(bytes) => self.join(OsStr::from_bytes(bytes.trim_ascii_end())),
            Err(_) => self.0.clone(),
        };
        let is_link = link.file_name().is_some_and(|name| name == ".git");
        link.parent().filter(|_| is_link).map_or_else(|| self.0.clone(), Path::to_owned)
    }

    /// What git has begun here and not ended.
    pub(crate) fn operation(&self) -> Option<Operation> {
        SIGNS.iter().find(|(name, _)| self.join(name).exists()).map(|(_, operation)| *operation)
    }

    /// The branch that is being rebased or bisected here, while `HEAD` is detached.
    pub(crate) fn branch_held(&self) -> Option<(String, Operation)> {
        let read = |name: &str| fs::read_to_string(self.join(name)).ok();
        for name in ["rebase-merge/head-name", "rebase-apply/head-name"] {
            if let Some(text) = read(name) {
                return Some((text.trim_end().to_owned(), Operation::Rebase));
            }
        }
        let start = read("BISECT_START")?;
        Some((format!("refs/heads/{}", start.trim_end()), Operation::Bisect))
    }

    /// Removes what a killed git left locked here. Only for worktrees of ours that nobody is at work in.
    pub(crate) fn remove_own_locks(&self) -> Result<()> {
        for name in
            ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "MERGE_HEAD.lock", "config.worktree.lock"]
        {
            remove_if_there(&self.join(name))?;
        }
        Ok(())
    }

    /// All of a repository: the main one first.
    pub(crate) fn all(repo: &Repo) -> Result<Vec<Self>> {
        let mut all = vec![Self(repo.common_dir().to_owned())];
        let folder = repo.common_dir().join("worktrees");
        match fs::read_dir(&folder) {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(GitError::io("list", &folder))?;
                    all.push(Self(entry.path()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(GitError::Io { doing: "list", path: folder, source }),
        }
        Ok(all)
    }
}
