//! Landing on a target that has a remote: look at the local side, push, then let the local branch follow. It must not know
//! how the commit was made.

use crate::error::Result;
use crate::push::{PushOutcome, PushRequest};
use crate::repo::Repo;
use crate::target::{Dirty, UpdateOutcome, UpdateRequest};

/// The landing of one commit here and at the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishRequest {
    /// The local target; its `new` is what is pushed.
    pub update: UpdateRequest,
    /// The push.
    pub push: PushRequest,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishOutcome {
    /// The local target is elsewhere, and nothing was pushed: the merge must be made anew.
    LocalMoved(UpdateOutcome),
    /// The local target cannot be moved now, and nothing was pushed.
    LocalDirty(Dirty),
    /// The remote did not take it, and the local target was not moved.
    NotPushed(PushOutcome),
    /// It is at the remote: the feature has landed, whatever became of the local target.
    Landed {
        /// By this call or an earlier one.
        pushed: PushOutcome,
        /// What became of the local target. `Updated` and `AlreadyThere` are the end of it; `Dirty` means that it is
        /// behind and follows later, by the same call; `Moved` that the user has committed there meanwhile.
        local: UpdateOutcome,
    },
}

impl Repo {
    /// Pushes and lets the local target follow. What is done already is seen, so that the call can be repeated after a
    /// crash, and to let a target follow that was dirty.
    ///
    /// # Errors
    /// As [`Repo::push_target`] and [`Repo::update_target`].
    pub fn publish(&self, request: &PublishRequest) -> Result<PublishOutcome> {
        let pushed = match self.probe_remote(&request.push)? {
            Some(PushOutcome::AlreadyThere) => PushOutcome::AlreadyThere,
            Some(other) => return Ok(PublishOutcome::NotPushed(other)),
            None => {
                match self.probe_target(&request.update)? {
                    None | Some(UpdateOutcome::AlreadyThere) => {}
                    Some(elsewhere) => return Ok(PublishOutcome::LocalMoved(elsewhere)),
                }
                if let Some(dirty) = self.target_obstacle(&request.update)? {
                    return Ok(PublishOutcome::LocalDirty(dirty));
                }
                self.push_target(&request.push)?
            }
        };
        match pushed {
            PushOutcome::Pushed | PushOutcome::AlreadyThere => {
                fail::fail_point!("git.publish.before_follow");
                let local = self.update_target(&request.update)?;
                fail::fail_point!("git.publish.after_follow");
                Ok(PublishOutcome::Landed { pushed, local })
            }
            PushOutcome::Rejected { .. }
            | PushOutcome::Diverged { .. }
            | PushOutcome::Refused { .. }
            | PushOutcome::Failed(_) => Ok(PublishOutcome::NotPushed(pushed)),
        }
    }
}
