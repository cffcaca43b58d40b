//! Committing what an agent left over in its worktree. It must not know agents, nor what follows from the outcome.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::exec::Done;
use crate::furnish::Furnished;
use crate::identity::{Identity, IdentitySource};
use crate::invocation::{Invocation, tail};
use crate::message::with_trailers;
use crate::repo::Repo;
use crate::status::{Change, DirtyPath, Scope};

/// Who commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitMode {
    /// Left-over changes are committed here.
    Auto,
    /// The agent commits by itself; left-over changes are only reported.
    Agent,
}

/// What to commit. The caller guarantees that no job runs in the worktree.
#[derive(Debug, Clone)]
pub struct CommitRequest {
    /// Root of the worktree.
    pub worktree: PathBuf,
    /// Short name of the branch that must be checked out there.
    pub branch: String,
    /// The commit that the branch was made from.
    pub base: Oid,
    /// Message without trailers.
    pub message: String,
    /// Trailers, in order.
    pub trailers: Vec<(String, String)>,
    /// Time of author and committer, in Unix seconds.
    pub when_unix_s: i64,
    /// Who commits.
    pub mode: CommitMode,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The changes that were left over are in this new commit, and the repository's hooks agreed.
    Committed {
        /// The new head of the branch.
        oid: Oid,
    },
    /// Nothing was left over, and the branch is beyond its base. It is also the answer to a repeated call.
    AlreadyCommitted {
        /// The head of the branch.
        oid: Oid,
    },
    /// Nothing was left over, and the branch is at its base.
    NoChange,
    /// A hook of the repository refused the commit. Everything is still in the worktree.
    HookRefused {
        /// The end of what the hook printed.
        output: String,
    },
    /// Another branch, or none, is checked out in the worktree. Nothing was done.
    LeftBranch {
        /// Full name of the branch; `None` for a detached head.
        found: Option<String>,
    },
    /// The branch does not contain its base any more. Nothing was done.
    LeftBase {
        /// Where the branch is; `None` when it has no commit at all.
        head: Option<Oid>,
    },
    /// [`CommitMode::Agent`], and changes were left over. Nothing was done.
    LeftOver {
        /// The head of the branch, if it is beyond its base.
        committed: Option<Oid>,
        /// The changes.
        paths: Vec<DirtyPath>,
    },
    /// Some of the changes cannot go into a commit; none was committed.
    Uncommittable {
        /// The paths, as far as they are known: open conflicts, nested repositories, changes inside of submodules.
        paths: Vec<DirtyPath>,
        /// The end of what git printed, for instance about files that it cannot read.
        output: String,
    },
}

impl Repo {
    /// Commits what is left over in a worktree, by the user's identity and with the repository's hooks.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is no worktree, [`GitError::ForeignWorktree`]; what a call can give.
    pub fn commit_leftovers(&self, request: &CommitRequest) -> Result<CommitOutcome> {
        let worktree = &*request.worktree;
        let admin = AdminDir::of(self, worktree)?;
        admin.remove_own_locks()?;
        let refname = format!("refs/heads/{}", request.branch);
        let found = self.branch_in(worktree)?;
        if found.as_ref() != Some(&refname) {
            return Ok(CommitOutcome::LeftBranch { found });
        }
        let Some(head) = self.resolve(&refname)? else {
            return Ok(CommitOutcome::LeftBase { head: None });
        };
        if !self.is_ancestor(&request.base, &head)? {
            return Ok(CommitOutcome::LeftBase { head: Some(head) });
        }
        // What was copied from the user's checkout is the user's, whatever git says of it by now.
        let guarded = Furnished::read(&admin)?.unwrap_or_default().included;
        let (kept_out, status): (Vec<_>, Vec<_>) = self
            .status(worktree, Scope::All)?
            .into_iter()
            .partition(|dirty| guarded.contains(&dirty.path));
        if status.is_empty() && !is_merging(&admin) {
            return Ok(settled(request, head));
        }
        match request.mode {
            CommitMode::Agent => Ok(CommitOutcome::LeftOver {
                committed: (head != request.base).then_some(head),
                paths: status,
            }),
            CommitMode::Auto => {
                self.unstage(worktree, &kept_out)?;
                self.commit_all(request, &admin, head, (status, kept_out))
            }
        }
    }

    fn commit_all(
        &self,
        request: &CommitRequest,
        admin: &AdminDir,
        head: Oid,
        (status, kept_out): (Vec<DirtyPath>, Vec<DirtyPath>),
    ) -> Result<CommitOutcome> {
        let impossible: Vec<_> =
            status.into_iter().filter(|dirty| !is_committable(dirty.change)).collect();
        if !impossible.is_empty() {
            return Ok(CommitOutcome::Uncommittable { paths: impossible, output: String::new() });
        }
        let worktree = &*request.worktree;
        fail::fail_point!("git.commit.before_add");
        let added = self
            .write_in(worktree, "adding the changes of a worktree")
            .args(["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"])
            .stdin(all_but(&kept_out))
            .done()?;
        fail::fail_point!("git.commit.after_add");
        if !added.success() {
            let output = tail(&added.stderr);
            return Ok(CommitOutcome::Uncommittable { paths: Vec::new(), output });
        }
        if !is_merging(admin) && self.nothing_staged(worktree)? {
            // The difference was one of times, or of line ends that git evens out.
            return Ok(settled(request, head));
        }
        fail::fail_point!("git.commit.before_commit");
        let (call, done) = self.run_commit(request)?;
        fail::fail_point!("git.commit.after_commit");
        match done.code() {
            Some(0) => {
                let refname = format!("refs/heads/{}", request.branch);
                let oid = self.resolve(&refname)?;
                oid.map(|oid| CommitOutcome::Committed { oid })
                    .ok_or(GitError::Missing { what: refname })
            }
            // A hook's refusal; everything else that goes wrong in a commit gives 128.
            Some(1) => {
                let mut output = done.stdout;
                output.extend_from_slice(&done.stderr);
                Ok(CommitOutcome::HookRefused { output: tail(&output) })
            }
            _ => Err(call.refused(&done)),
        }
    }

    /// Takes paths out of the index that are not in the head.
    fn unstage(&self, worktree: &Path, paths: &[DirtyPath]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        self.write_in(worktree, "unstaging copied files")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .args(["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD"])
            .stdin(listed("", paths))
            .bytes()
            .map(drop)
    }

    fn run_commit<'a>(&'a self, request: &'a CommitRequest) -> Result<(Invocation<'a>, Done)> {
        let identity = self.identity()?;
        let mut call = Invocation::committing(self, request).with_hooks();
        call = match identity.source {
            // Git finds it by itself then, and another committer than the author too.
            IdentitySource::Configured => call,
            IdentitySource::Fallback => named(call, &identity, request.when_unix_s),
        };
        let done = match call.done() {
            Err(GitError::LockBusy { path }) => {
                let refname = format!("refs/heads/{}", request.branch);
                if !self.reclaim_ref_lock(&refname)? {
                    return Err(GitError::LockBusy { path });
                }
                call.done()
            }
            other => other,
        }?;
        Ok((call, done))
    }

    fn nothing_staged(&self, worktree: &Path) -> Result<bool> {
        self.read_in(worktree, "looking for staged changes")
            .args(["diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--"])
            .answer()
    }
}

impl<'a> Invocation<'a> {
    fn committing(repo: &'a Repo, request: &'a CommitRequest) -> Self {
        let date = format!("@{} +0000", request.when_unix_s);
        repo.write_in(&request.worktree, "committing")
            .args(["commit", "--quiet", "--no-status", "--cleanup=whitespace", "--file=-"])
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .stdin(with_trailers(&request.message, &request.trailers))
    }
}

/// Everything but these paths, as a list for git.
fn all_but(kept_out: &[DirtyPath]) -> Vec<u8> {
    let mut list = b":(top)\0".to_vec();
    list.extend(listed(":(top,exclude,literal)", kept_out));
    list
}

fn listed(before: &str, paths: &[DirtyPath]) -> Vec<u8> {
    let mut list = Vec::new();
    for dirty in paths {
        list.extend_from_slice(before.as_bytes());
        list.extend_from_slice(dirty.path.as_os_str().as_bytes());
        list.push(0);
    }
    list
}

fn named<'a>(mut call: Invocation<'a>, identity: &Identity, when_unix_s: i64) -> Invocation<'a> {
    for (name, value) in identity.variables(when_unix_s) {
        call = call.env(name, value);
    }
    call
}

fn settled(request: &CommitRequest, head: Oid) -> CommitOutcome {
    if head == request.base {
        CommitOutcome::NoChange
    } else {
        CommitOutcome::AlreadyCommitted { oid: head }
    }
}

/// A merge whose result is staged is concluded by the commit, even if it changes nothing.
fn is_merging(admin: &AdminDir) -> bool {
    admin.join("MERGE_HEAD").exists()
}

fn is_committable(change: Change) -> bool {
    match change {
        Change::Staged | Change::Unstaged | Change::Both | Change::Untracked => true,
        Change::Unmerged | Change::NestedRepository | Change::SubmoduleContent => false,
    }
}
