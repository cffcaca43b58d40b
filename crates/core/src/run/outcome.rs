//! What came of the work that a run asked for.

use super::capture::Captured;
use super::feature::{Merged, Tested};
use super::inspection::Finding;
use super::planned::PlannedChange;
use crate::ids::Oid;
use crate::workplace::Furnished;

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
    /// The remote gives no answer.
    Unreachable {
        /// What git said.
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

/// What came of reading what an agent was to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultOutcome {
    /// A planner's.
    Planned(PlannedChange),
    /// A reviewer's.
    Verdict {
        /// Whether the change may land.
        approved: bool,
        /// What its builder is told if not.
        comments: String,
    },
    /// There is none, or it is malformed.
    Unusable {
        /// Why.
        detail: String,
    },
}

/// What came of looking at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InspectOutcome {
    /// What was found.
    Found(Vec<Finding>),
    /// git or the disk refused.
    Failed {
        /// What it said.
        detail: String,
    },
}

/// What came of laying a conflict out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictOutcome {
    /// The worktree holds the merge, with markers in these paths.
    Prepared {
        /// The paths.
        paths: Vec<String>,
    },
    /// There is no conflict by now: the target's changes merge.
    Clean,
    /// The target does not exist.
    TargetMissing,
    /// git or the disk refused.
    Failed {
        /// What it said.
        detail: String,
    },
}

/// What came of preparing a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeOutcome {
    /// It stands.
    Ready {
        /// Its path.
        path: String,
        /// The commit that its branch began at.
        base: Oid,
        /// What it has beside the files of its commit.
        furnished: Furnished,
    },
    /// There is not enough of something for it.
    NoRoom {
        /// Of what.
        detail: String,
    },
    /// The target's changes do not merge into the branch.
    SyncConflict {
        /// The paths in conflict.
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

/// What came of committing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The branch is beyond its base.
    Commit(Tested),
    /// The branch is at its base. The base and its tree.
    NoChange(Tested),
    /// The commit hook refused.
    HookRefused {
        /// What it said.
        output: String,
    },
    /// Conflicts are left.
    Unresolved {
        /// The paths.
        paths: Vec<String>,
    },
    /// The worktree is not on its branch.
    LeftBranch {
        /// Where it was found.
        found: String,
    },
    /// git or the disk refused.
    Failed {
        /// What it said.
        detail: String,
    },
}
