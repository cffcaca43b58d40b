//! What git knows of a worktree, read from a copy of its index. The agent's own index, its times included, stays as it is.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use super::blobs::Scratch;
use super::entries::{IndexEntry, index_entries, records};
use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::invocation::{Access, Invocation, Place};
use crate::repo::Repo;

/// A worktree as git records it, whatever became of its `.git`.
#[derive(Debug)]
pub(super) struct IndexCopy<'a> {
    repo: &'a Repo,
    worktree: &'a Path,
    git_dir: PathBuf,
    index: PathBuf,
    /// Size, inode and times of the index that was copied; `None` when there was none.
    pub(super) stamp: Option<String>,
    /// The commit that is checked out.
    pub(super) head: Option<Oid>,
    /// Full name of the branch that is checked out.
    pub(super) branch: Option<String>,
    /// What git has begun there and not ended.
    pub(super) operation: Option<&'static str>,
}

impl<'a> IndexCopy<'a> {
    pub(super) fn of(repo: &'a Repo, worktree: &'a Path, scratch: &Scratch) -> Result<Self> {
        let admin = match AdminDir::of(repo, worktree) {
            Ok(admin) if admin.path() != repo.common_dir() => Some(admin),
            // An agent may have removed or replaced `.git`; the registration knows the path.
            Ok(_) | Err(GitError::Missing { .. } | GitError::ForeignWorktree { .. }) => {
                AdminDir::all(repo)?.into_iter().skip(1).find(|a| a.worktree() == worktree)
            }
            Err(error) => return Err(error),
        };
        let index = scratch.path().join("index");
        let Some(admin) = admin else {
            let git_dir = repo.common_dir().to_owned();
            return Ok(Self {
                repo,
                worktree,
                git_dir,
                index,
                stamp: None,
                head: None,
                branch: None,
                operation: None,
            });
        };
        let from = admin.join("index");
        let stamp = match fs::metadata(&from) {
            Ok(meta) => {
                fs::copy(&from, &index).map_err(GitError::io("copy", &from))?;
                let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
                Some(format!("{} {} {times:?}", meta.ino(), meta.len()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(GitError::Io { doing: "look at", path: from, source }),
        };
        let git_dir = admin.path().to_owned();
        let operation = admin.operation().map(crate::admin_dir::Operation::as_str);
        let mut copy =
            Self { repo, worktree, git_dir, index, stamp, head: None, branch: None, operation };
        copy.read_head()?;
        Ok(copy)
    }

    fn read_head(&mut self) -> Result<()> {
        let doing = "reading the head of a worktree";
        let head =
            self.call(doing).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).done()?;
        let text = String::from_utf8_lossy(&head.stdout).into_owned();
        let oid = head.success().then(|| Oid::new(text.trim_end().to_owned()));
        let branch = self.call(doing).args(["symbolic-ref", "--quiet", "HEAD"]).done()?;
        let name = String::from_utf8_lossy(&branch.stdout).trim_end().to_owned();
        self.head = oid.flatten();
        self.branch = branch.success().then_some(name);
        Ok(())
    }

    fn call(&self, doing: &'static str) -> Invocation<'_> {
        let mut tree = std::ffi::OsString::from("--work-tree=");
        tree.push(self.worktree);
        Invocation::new(self.repo.git(), doing, Place::Common(&self.git_dir), Access::Read)
            .global(tree)
            .env("GIT_INDEX_FILE", &self.index)
    }

    /// What is tracked, conflicts included.
    pub(super) fn entries(&self) -> Result<Vec<IndexEntry>> {
        let call = self.call("listing an index").args(["ls-files", "-t", "--stage", "-z"]);
        index_entries(&call.bytes()?)
    }

    /// Those of `paths`, none of which is tracked, that the worktree ignores.
    pub(super) fn ignored(&self, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        ignored(self.call(IGNORING), paths)
    }

    /// The same within a repository inside of the worktree, by paths relative to that. One that git cannot open
    /// ignores nothing.
    pub(super) fn ignored_in(&self, nested: &Path, paths: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let place = Place::Worktree(nested);
        let call = Invocation::new(self.repo.git(), IGNORING, place, Access::Read);
        ignored(call, paths).unwrap_or_default()
    }
}

const IGNORING: &str = "asking what is ignored";

fn ignored(call: Invocation<'_>, paths: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    let mut text = Vec::new();
    for path in paths {
        // A name may begin like one of git's magic signs.
        text.extend(b"./");
        text.extend_from_slice(path);
        text.push(0);
    }
    let call = call.args(["check-ignore", "-z", "--stdin"]).stdin(text);
    let done = call.done()?;
    match done.code() {
        // 1: none of them.
        Some(0 | 1) => Ok(records(&done.stdout)
            .map(|path| path.strip_prefix(b"./").unwrap_or(path).to_vec())
            .collect()),
        _ => Err(call.refused(&done)),
    }
}
