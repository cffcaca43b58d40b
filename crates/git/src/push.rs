//! Pushing a landed commit, with a lease on the exact commit that it replaces. It must not know the local target.

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::exec::Done;
use crate::invocation::{Invocation, tail};
use crate::network::{NetworkFailure, network_failure};
use crate::remote::{FetchOutcome, RemoteBranch, RemoteTip};
use crate::repo::Repo;

/// The push of one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRequest {
    /// The branch to move.
    pub branch: RemoteBranch,
    /// The commit that it must be at; `None` when it must not exist yet.
    pub old: Option<Oid>,
    /// The commit to move it to; a descendant of `old`.
    pub new: Oid,
    /// A ref below `refs/tidegate/` to fetch what is there instead into.
    pub into: String,
}

/// How a push ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch moved from `old` to `new`, by this call.
    Pushed,
    /// The branch is at `new`, or beyond it: an earlier call did it.
    AlreadyThere,
    /// Somebody was faster. What they pushed is here, and builds on `old`: the merge must be made anew.
    Rejected {
        /// Where the branch is.
        now: Oid,
    },
    /// The branch does not contain `old`: it was rewritten or removed, or the local target was never pushed. A person
    /// must say which one counts.
    Diverged {
        /// The commit that it was taken to be at.
        local: Option<Oid>,
        /// Where it is; `None` when there is no such branch.
        remote: Option<Oid>,
    },
    /// A hook or a protection rule said no. Nothing was changed.
    Refused {
        /// Whose.
        by: RefusedBy,
        /// The end of what was printed.
        output: String,
    },
    /// The remote gave no answer.
    Failed(NetworkFailure),
}

/// Who refuses a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBy {
    /// The user's own `pre-push` hook.
    LocalHook,
    /// A hook or rule of the remote.
    Remote,
}

impl Repo {
    /// Pushes, if the branch is at `old`. It is probed first whether it is there already, and again when the outcome is
    /// not known, so that the call can be repeated after a crash.
    ///
    /// # Errors
    /// [`GitError::Missing`] when `new` does not exist here, [`GitError::Refused`] when it does not descend from `old`;
    /// [`GitError::Timeout`] and [`GitError::Killed`], retryable, when the push ended early and is not seen there (yet).
    pub fn push_target(&self, request: &PushRequest) -> Result<PushOutcome> {
        self.require_commits(&[&request.new])?;
        if let Some(old) = &request.old
            && !self.is_ancestor(old, &request.new)?
        {
            let stderr = format!("{} does not descend from {old}", request.new);
            return Err(GitError::Refused { doing: "pushing", stderr });
        }
        match self.probe_remote(request)? {
            Some(outcome) => Ok(outcome),
            None => self.push(request),
        }
    }

    /// The outcome, if it is known without pushing.
    ///
    /// # Errors
    /// What a call can give.
    pub(crate) fn probe_remote(&self, request: &PushRequest) -> Result<Option<PushOutcome>> {
        let PushRequest { branch, old, new, into } = request;
        let diverged = |remote| PushOutcome::Diverged { local: old.clone(), remote };
        match (self.remote_tip(branch)?, old) {
            (RemoteTip::Unknown(failure), _) => return Ok(Some(PushOutcome::Failed(failure))),
            (RemoteTip::Absent, None) => return Ok(None),
            (RemoteTip::Absent, Some(_)) => return Ok(Some(diverged(None))),
            (RemoteTip::At(now), _) if now == *new => return Ok(Some(PushOutcome::AlreadyThere)),
            (RemoteTip::At(now), Some(old)) if now == *old => return Ok(None),
            (RemoteTip::At(_), _) => {}
        }
        let now = match self.fetch_branch(branch, into)? {
            FetchOutcome::Fetched { tip } => tip,
            FetchOutcome::Absent => return Ok(Some(diverged(None))),
            FetchOutcome::Failed(failure) => return Ok(Some(PushOutcome::Failed(failure))),
        };
        if self.is_ancestor(new, &now)? {
            return Ok(Some(PushOutcome::AlreadyThere));
        }
        let builds_on_old = match old {
            Some(old) => self.is_ancestor(old, &now)?,
            None => false,
        };
        Ok(Some(if builds_on_old { PushOutcome::Rejected { now } } else { diverged(Some(now)) }))
    }

    fn push(&self, request: &PushRequest) -> Result<PushOutcome> {
        let place = self.main_worktree()?;
        let call = match &place {
            // Where the user's own push would run its hook.
            Some(worktree) => self.write_in(worktree, "pushing"),
            None => self.write("pushing"),
        };
        let call = pushing(self.on_network(call.with_hooks(), self.git().limits().hooks)?, request);
        fail::fail_point!("git.remote.before_push");
        let outcome = call.done();
        fail::fail_point!("git.remote.after_push");
        let done = match outcome {
            Ok(done) => done,
            Err(error @ (GitError::Timeout { .. } | GitError::Killed { .. })) => {
                return match self.probe_remote(request)? {
                    Some(PushOutcome::AlreadyThere) => Ok(PushOutcome::Pushed),
                    None => Err(error),
                    Some(other) => Ok(other),
                };
            }
            Err(error) => return Err(error),
        };
        if done.success() {
            return Ok(PushOutcome::Pushed);
        }
        if done.code() == Some(1) {
            return self.refused_push(request, &done);
        }
        network_failure(&call, &done).map(PushOutcome::Failed)
    }

    /// Tells a lease that did not hold from a refusal: by where the branch is, not by words.
    fn refused_push(&self, request: &PushRequest, done: &Done) -> Result<PushOutcome> {
        if let Some(outcome) = self.probe_remote(request)? {
            return Ok(outcome);
        }
        let was_sent = done.stdout.split(|b| *b == b'\n').any(|line| line.starts_with(b"!\t"));
        let by = if was_sent { RefusedBy::Remote } else { RefusedBy::LocalHook };
        let mut output = done.stdout.clone();
        output.extend_from_slice(&done.stderr);
        Ok(PushOutcome::Refused { by, output: tail(&output) })
    }

    fn main_worktree(&self) -> Result<Option<std::path::PathBuf>> {
        let main = self.worktrees()?.into_iter().next().filter(|listed| !listed.bare);
        Ok(main.map(|listed| listed.path).filter(|path| path.join(".git").exists()))
    }
}

fn pushing<'a>(call: Invocation<'a>, request: &PushRequest) -> Invocation<'a> {
    let PushRequest { branch, old, new, .. } = request;
    let lease = old.as_ref().map_or("", Oid::as_str);
    call.args(["push", "--porcelain", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"])
        .arg(format!("--force-with-lease={}:{lease}", branch.refname))
        .args(["--", &branch.remote])
        .arg(format!("{new}:{}", branch.refname))
}
