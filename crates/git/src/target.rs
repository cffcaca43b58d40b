//! Moving the user's branch to a merged commit, by compare-and-swap, wherever it is checked out. It must not know how the
//! commit was made.

use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::{AdminDir, Operation};
use crate::error::{GitError, Result};
use crate::fast_forward::{FastForward, Forwarded};
use crate::forward_recovery::Locks;
use crate::repo::Repo;

/// The landing of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRequest {
    /// Full name of the target, `refs/heads/...`.
    pub target: String,
    /// The commit that the target must be at.
    pub old: Oid,
    /// The commit to move it to; a descendant of `old`.
    pub new: Oid,
}

/// How a landing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The target moved from `old` to `new`, by this call.
    Updated,
    /// The target is at `new`, or beyond it: an earlier call did it.
    AlreadyThere,
    /// The target is elsewhere; the merge must be made anew.
    Moved {
        /// Where it is.
        now: Oid,
    },
    /// The target is checked out, and moving it would touch what the user has not committed. Nothing was changed.
    Dirty(Dirty),
    /// There is no such branch.
    Missing,
}

/// Why a checked-out target cannot be moved now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirty {
    /// The worktree that is in the way.
    pub worktree: PathBuf,
    /// Why.
    pub why: DirtyReason,
    /// The paths concerned, relative to the worktree.
    pub paths: Vec<PathBuf>,
}

/// What is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirtyReason {
    /// Tracked files with staged or unstaged changes.
    TrackedChanges,
    /// Git has begun something there and not ended it.
    InProgress(Operation),
    /// The commit brings files where untracked or ignored ones lie.
    WouldOverwrite,
    /// Git is at work there, or was killed there: this lock file says so.
    Locked {
        /// The lock file.
        lock: PathBuf,
    },
    /// The branch is checked out in several worktrees; only one of them could follow.
    CheckedOutTwice,
    /// The worktree's directory is not there, and it is locked: perhaps its disk is not mounted.
    Unreachable,
    /// Git itself refused, for what it printed.
    GitRefused {
        /// The end of its words.
        stderr: String,
    },
}

/// Where the target is checked out.
enum Place {
    Nowhere,
    In(PathBuf, AdminDir),
    Blocked(Dirty),
}

impl Repo {
    /// Moves the target, if it is at `old`, and if that touches nothing of the user's.
    ///
    /// Not checked out: the ref alone is moved. Checked out: the worktree is fast-forwarded with it. It is probed first
    /// whether the target is there already, so that the call can be repeated after a crash; a fast-forward that was
    /// killed in the middle is undone first.
    ///
    /// # Errors
    /// [`GitError::Missing`] when `new` does not exist, [`GitError::Refused`] when it does not descend from `old`;
    /// [`GitError::LockBusy`], retryable, when the ref is locked by somebody.
    pub fn update_target(&self, request: &UpdateRequest) -> Result<UpdateOutcome> {
        let _landing = self.lock_landing();
        self.recover_target(&request.target)?;
        if let Some(outcome) = self.probe_target(request)? {
            return Ok(outcome);
        }
        if !self.is_ancestor(&request.old, &request.new)? {
            let stderr = format!("{} does not descend from {}", request.new, request.old);
            return Err(GitError::Refused { doing: "moving the target", stderr });
        }
        match self.place_of(&request.target)? {
            Place::Blocked(dirty) => Ok(UpdateOutcome::Dirty(dirty)),
            Place::Nowhere => self.swap_ref(request),
            Place::In(worktree, admin) => self.forward_target(request, &worktree, &admin),
        }
    }

    /// What would be in the way of [`Self::update_target`] now; `None` when nothing is. Writes nothing.
    ///
    /// # Errors
    /// What a call can give.
    pub fn target_obstacle(&self, request: &UpdateRequest) -> Result<Option<Dirty>> {
        match self.place_of(&request.target)? {
            Place::Nowhere => Ok(None),
            Place::Blocked(dirty) => Ok(Some(dirty)),
            // What looks like edits is our own doing, and is undone first.
            Place::In(_, admin) if self.is_recoverable(&admin, &request.target)? => Ok(None),
            Place::In(worktree, admin) => self.obstacle_in(request, &worktree, &admin),
        }
    }

    /// Undoes what was killed, in every worktree that had the target checked out.
    fn recover_target(&self, target: &str) -> Result<()> {
        for admin in AdminDir::all(self)? {
            let record = crate::forward_record::ForwardRecord::read(&admin)?;
            if record.is_some_and(|record| record.refname == target) {
                self.recover_forward(&admin, Locks::Reclaim)?;
            }
        }
        Ok(())
    }

    /// The outcome, if it is known without doing anything.
    pub(crate) fn probe_target(&self, request: &UpdateRequest) -> Result<Option<UpdateOutcome>> {
        let Some(now) = self.resolve(&request.target)? else {
            return Ok(Some(UpdateOutcome::Missing));
        };
        if self.resolve(request.new.as_str())?.is_none() {
            return Err(GitError::Missing { what: format!("the commit {}", request.new) });
        }
        if self.is_ancestor(&request.new, &now)? {
            return Ok(Some(UpdateOutcome::AlreadyThere));
        }
        Ok((now != request.old).then_some(UpdateOutcome::Moved { now }))
    }

    fn place_of(&self, target: &str) -> Result<Place> {
        for admin in AdminDir::all(self)? {
            if let Some((_, operation)) = admin.branch_held().filter(|(held, _)| held == target) {
                return Ok(Place::Blocked(Dirty {
                    worktree: admin.worktree(),
                    why: DirtyReason::InProgress(operation),
                    paths: Vec::new(),
                }));
            }
        }
        let mut found = Vec::new();
        for listed in self.worktrees()? {
            if listed.bare || listed.branch.as_deref() != Some(target) {
                continue;
            }
            if listed.path.join(".git").exists() {
                found.push(listed.path);
            } else if listed.locked {
                return Ok(blocked(listed.path, DirtyReason::Unreachable));
            }
        }
        match <[PathBuf; 1]>::try_from(found) {
            Ok([worktree]) => {
                let admin = AdminDir::of(self, &worktree)?;
                Ok(Place::In(worktree, admin))
            }
            Err(found) => Ok(match found.into_iter().nth(1) {
                Some(second) => blocked(second, DirtyReason::CheckedOutTwice),
                None => Place::Nowhere,
            }),
        }
    }

    fn obstacle_in(
        &self,
        request: &UpdateRequest,
        worktree: &Path,
        admin: &AdminDir,
    ) -> Result<Option<Dirty>> {
        let dirty = |why, paths| Some(Dirty { worktree: worktree.to_owned(), why, paths });
        if let Some(operation) = admin.operation() {
            return Ok(dirty(DirtyReason::InProgress(operation), Vec::new()));
        }
        let changed = self.tracked_changes(worktree)?;
        if !changed.is_empty() {
            return Ok(dirty(DirtyReason::TrackedChanges, changed));
        }
        let overwritten = self.overwritten(worktree, &request.old, &request.new)?;
        if !overwritten.is_empty() {
            return Ok(dirty(DirtyReason::WouldOverwrite, overwritten));
        }
        let lock = admin.join("index.lock");
        Ok(if lock.exists() { dirty(DirtyReason::Locked { lock }, Vec::new()) } else { None })
    }

    fn forward_target(
        &self,
        request: &UpdateRequest,
        worktree: &Path,
        admin: &AdminDir,
    ) -> Result<UpdateOutcome> {
        let dirty =
            |why, paths| UpdateOutcome::Dirty(Dirty { worktree: worktree.to_owned(), why, paths });
        let obstacle = self.obstacle_in(request, worktree, admin)?;
        // A lock may be gone in a moment: git waits for it below.
        if let Some(found) = obstacle.filter(|o| !matches!(o.why, DirtyReason::Locked { .. })) {
            return Ok(UpdateOutcome::Dirty(found));
        }
        let UpdateRequest { target, old, new } = request;
        let forward = FastForward { repo: self, worktree, admin, refname: target, old, new };
        let forwarded = match forward.run() {
            Err(GitError::LockBusy { .. }) if self.reclaim_target_lock(target, new)? => {
                forward.run()
            }
            other => other,
        };
        let stderr = match forwarded {
            Ok(Forwarded::Done) => String::new(),
            Ok(Forwarded::Refused { stderr }) => stderr,
            Err(GitError::LockBusy { path }) => {
                return Ok(dirty(DirtyReason::Locked { lock: path }, Vec::new()));
            }
            Err(error) => return Err(error),
        };
        match self.probe_target(request)? {
            Some(UpdateOutcome::AlreadyThere) => Ok(UpdateOutcome::Updated),
            Some(other) => Ok(other),
            None => match self.obstacle_in(request, worktree, admin)? {
                Some(found) => Ok(UpdateOutcome::Dirty(found)),
                None => Ok(dirty(DirtyReason::GitRefused { stderr }, Vec::new())),
            },
        }
    }

    /// Moves the ref alone.
    fn swap_ref(&self, request: &UpdateRequest) -> Result<UpdateOutcome> {
        let UpdateRequest { target, old, new } = request;
        let swap = || {
            self.write("moving the target")
                .args(["update-ref", "-m", "tidegate: land", target, new.as_str(), old.as_str()])
                .bytes()
        };
        let _metadata = self.lock_metadata();
        fail::fail_point!("git.target.before_swap");
        let outcome = match swap() {
            Err(GitError::LockBusy { .. }) if self.reclaim_target_lock(target, new)? => swap(),
            other => other,
        };
        fail::fail_point!("git.target.after_swap");
        if outcome.is_ok() {
            self.follow_swap(request)?;
        }
        match (outcome, self.probe_target(request)?) {
            (Ok(_), Some(UpdateOutcome::AlreadyThere)) => Ok(UpdateOutcome::Updated),
            (_, Some(other)) => Ok(other),
            (Err(error), None) => Err(error),
            (Ok(_), None) => Err(GitError::Unparsable { doing: "moving the target" }),
        }
    }
}

impl Repo {
    /// Lets a worktree follow whose user switched to the target in the moment between the look and the swap: its files
    /// are those of `old`, and the branch says `new`. Git refuses by itself where the user has edited since.
    fn follow_swap(&self, request: &UpdateRequest) -> Result<()> {
        let UpdateRequest { target, old, new } = request;
        let Place::In(worktree, _) = self.place_of(target)? else { return Ok(()) };
        if self.index_is(&worktree, old)? && !self.index_is(&worktree, new)? {
            // The landing itself is done; a refusal here leaves what any moved branch leaves.
            self.write_in(&worktree, "following the target")
                .args(["read-tree", "-m", "-u", old.as_str(), new.as_str()])
                .done()?;
        }
        Ok(())
    }
}

fn blocked(worktree: PathBuf, why: DirtyReason) -> Place {
    Place::Blocked(Dirty { worktree, why, paths: Vec::new() })
}
