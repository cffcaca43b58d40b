//! Bringing a feature's branch up to date with its target, in its worktree. It must not know why that is wanted.

use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::Result;
use crate::fast_forward::{FastForward, Forwarded};
use crate::identity::Identity;
use crate::merge::{MergeOutcome, MergeRequest, NoChangeReason, Strategy};
use crate::repo::Repo;

/// What to merge into the branch.
#[derive(Debug, Clone)]
pub struct SyncRequest {
    /// The commit of the target.
    pub target: Oid,
    /// Message of the merge commit.
    pub message: String,
    /// Its time in Unix seconds; the same for a repeated call.
    pub when_unix_s: i64,
    /// Its author and committer.
    pub identity: Identity,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncOutcome {
    /// No sync was asked for.
    NotAsked,
    /// The branch contains the target's commit already.
    AlreadyIn,
    /// The branch is at this new merge commit, and the files with it.
    Merged {
        /// The merge commit.
        commit: Oid,
    },
    /// Changes are not committed, or an untracked file lies where the target has one; nothing was done.
    Dirty {
        /// The paths.
        paths: Vec<PathBuf>,
    },
    /// Another branch is checked out, or git has begun something there; nothing was done.
    OffBranch,
    /// The two do not merge; nothing was done.
    Conflict {
        /// All paths that take part.
        paths: Vec<PathBuf>,
        /// What git says about them.
        notes: Vec<String>,
    },
    /// The two share no history; nothing was done.
    Unrelated,
}

impl Repo {
    /// Merges in plumbing first, so that a conflict never reaches the worktree.
    pub(crate) fn sync_worktree(
        &self,
        worktree: &Path,
        admin: &AdminDir,
        branch: Option<&str>,
        request: &SyncRequest,
    ) -> Result<SyncOutcome> {
        let Some(refname) = branch.filter(|name| name.starts_with("refs/heads/tidegate/")) else {
            return Ok(SyncOutcome::OffBranch);
        };
        let Some(old) = self.resolve(refname)? else { return Ok(SyncOutcome::OffBranch) };
        if self.is_ancestor(&request.target, &old)? {
            return Ok(SyncOutcome::AlreadyIn);
        }
        if admin.operation().is_some() {
            return Ok(SyncOutcome::OffBranch);
        }
        let changed = self.tracked_changes(worktree)?;
        if !changed.is_empty() {
            return Ok(SyncOutcome::Dirty { paths: changed });
        }
        let merge = MergeRequest {
            target_tip: old.clone(),
            branch_tip: request.target.clone(),
            strategy: Strategy::Merge,
            message: request.message.clone(),
            when_unix_s: request.when_unix_s,
            identity: request.identity.clone(),
            keep_as: None,
        };
        let new = match self.merge(&merge)? {
            MergeOutcome::Merged { commit, .. } => commit,
            // An empty difference: the branch has the same changes already, and a merge would record nothing.
            MergeOutcome::NoChange {
                why: NoChangeReason::AlreadyMerged | NoChangeReason::EmptyDiff,
            } => return Ok(SyncOutcome::AlreadyIn),
            MergeOutcome::Conflict { paths, notes, .. } => {
                return Ok(SyncOutcome::Conflict { paths, notes });
            }
            MergeOutcome::Unrelated => return Ok(SyncOutcome::Unrelated),
        };
        let paths = self.overwritten(worktree, &old, &new)?;
        if !paths.is_empty() {
            return Ok(SyncOutcome::Dirty { paths });
        }
        let forward = FastForward { repo: self, worktree, admin, refname, old: &old, new: &new };
        match forward.run()? {
            Forwarded::Done => Ok(SyncOutcome::Merged { commit: new }),
            Forwarded::Refused { .. } => {
                Ok(SyncOutcome::Dirty { paths: self.tracked_changes(worktree)? })
            }
        }
    }
}
