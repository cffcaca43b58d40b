//! What came of preparing a merge, of moving a target, and of capturing a worktree and putting it back.

use super::feature::{Captured, Merged};
use crate::ids::Oid;

/// What came of moving the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// It moved, or it had moved already: the commit is on it.
    Landed,
    /// It is elsewhere than the merge was made for.
    Moved,
    /// Its checkout has work in the way.
    Dirty {
        /// The paths.
        paths: Vec<String>,
        /// What is the matter with the checkout.
        why: String,
    },
    /// It was pushed; the local target cannot follow.
    Behind {
        /// The paths in the way.
        paths: Vec<String>,
        /// What is the matter with the checkout.
        why: String,
    },
    /// The remote refused.
    PushRefused {
        /// What it said.
        detail: String,
    },
    /// The target and its remote have parted.
    Diverged {
        /// How.
        detail: String,
    },
    /// It does not exist.
    Missing,
    /// git or the disk refused.
    Failed {
        /// What it said.
        detail: String,
    },
}

/// What came of capturing a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureOutcome {
    /// A new snapshot.
    Taken(Captured),
    /// There is none, or the last one says it all.
    Skipped {
        /// Why.
        why: String,
    },
}

/// What came of putting a worktree back to a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackOutcome {
    /// It is as the snapshot has it.
    Done {
        /// What was captured before, if anything had changed.
        captured: Option<Captured>,
    },
    /// There is no such snapshot, or git or the disk refused.
    Failed {
        /// What it said.
        detail: String,
    },
}

/// What came of preparing a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The merged commit exists.
    Merged(Merged),
    /// The target has it all already: at this commit.
    AlreadyThere {
        /// The target's commit.
        commit: Oid,
    },
    /// It would take back what others landed since the base.
    SilentRevert {
        /// What, a line each.
        losses: Vec<String>,
    },
    /// The merge conflicts.
    Conflict {
        /// The paths.
        paths: Vec<String>,
    },
    /// The target does not exist.
    TargetMissing,
    /// git or the disk refused.
    Failed {
        /// What it said.
        detail: String,
    },
}
