//! Moving a checked-out branch, its index and its files to a descendant. It must not know whose worktree it is, nor
//! whether moving it is wise.

use std::path::Path;

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::forward_record::ForwardRecord;
use crate::forward_recovery::Locks;
use crate::invocation::tail;
use crate::repo::Repo;

/// One fast-forward in one worktree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FastForward<'a> {
    pub(crate) repo: &'a Repo,
    pub(crate) worktree: &'a Path,
    pub(crate) admin: &'a AdminDir,
    /// The branch that is checked out there, by its full name.
    pub(crate) refname: &'a str,
    pub(crate) old: &'a Oid,
    pub(crate) new: &'a Oid,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Forwarded {
    Done,
    /// Git saw something that it would have had to overwrite, or the branch had moved. Nothing is changed.
    Refused {
        stderr: String,
    },
}

/// Settings of the user that would turn a fast-forward into something else.
const OVERRIDES: [&str; 5] = [
    "merge.autoStash=false",
    "merge.verifySignatures=false",
    "submodule.recurse=false",
    // One file after the other, so that a kill leaves at most one of them half written.
    "checkout.workers=1",
    "advice.mergeConflict=false",
];

impl FastForward<'_> {
    /// Does it. After a kill in the middle, [`Repo::recover_forward`] puts the worktree back.
    pub(crate) fn run(&self) -> Result<Forwarded> {
        let record = ForwardRecord {
            refname: self.refname.to_owned(),
            old: self.old.clone(),
            new: self.new.clone(),
            orig_head: ForwardRecord::orig_head(self.admin),
            worktree: self.worktree.to_owned(),
        };
        record.write(self.admin)?;
        let mut call = self.repo.write_in(self.worktree, "fast-forwarding a worktree");
        for setting in OVERRIDES {
            call = call.global("-c").global(setting);
        }
        fail::fail_point!("git.forward.before_merge");
        let outcome = call
            .env("GIT_REFLOG_ACTION", "tidegate")
            .args(["merge", "--ff-only", "--no-autostash", "--no-squash", "--no-stat", "--quiet"])
            .args(["--no-overwrite-ignore", "--no-verify-signatures", self.new.as_str()])
            .done();
        fail::fail_point!("git.forward.after_merge");
        let done = match outcome {
            Ok(done) => done,
            Err(error) => {
                // A lock in the way means that nothing was begun; anything else is for the recovery.
                if matches!(error, GitError::LockBusy { .. }) {
                    self.repo.recover_forward(self.admin, Locks::Leave)?;
                }
                return Err(error);
            }
        };
        if !done.success() {
            self.repo.recover_forward(self.admin, Locks::Leave)?;
            return Ok(Forwarded::Refused { stderr: tail(&done.stderr) });
        }
        record.close(self.admin)?;
        Ok(Forwarded::Done)
    }
}
