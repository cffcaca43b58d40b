//! Clean-up of ended runs: what is asked, what is removed by which proof, and what is kept and why.
//! It must not know how anything is proved or removed.

use crate::ids::{FeatureId, Oid, ProjectId, RunId};
use crate::time::WallMs;

/// What a clean-up is about: ended runs alone, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupScope {
    /// Of this project alone.
    pub project: Option<ProjectId>,
    /// Of this run alone.
    pub run: Option<RunId>,
    /// Of runs that ended before this moment, on the wall clock.
    pub ended_before: Option<WallMs>,
    /// Job directories of runs that ended before this moment, on the wall clock.
    pub jobs_before: WallMs,
    /// Whether the run is to go as a whole: its snapshots and all its job directories too.
    pub delete: bool,
}

/// A kind of thing that runs leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    /// The worktree of a feature.
    Worktree,
    /// The branch of a feature.
    Branch,
    /// A ref below `refs/tidegate/`.
    Ref,
    /// A pooled checkout of gates.
    Checkout,
    /// The directory of a job: its output and its records.
    Job,
    /// The snapshots of a feature.
    Snapshots,
}

/// Why nothing is lost when a thing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Its commit lies in the history of the target.
    Ancestor,
    /// Each of its commits is on the target as a patch.
    PatchId,
    /// The target has its content: a tree of the target's history is the same, or a merge of it
    /// would change nothing.
    Tree,
    /// Its commit stays on a branch that stays, and nothing in it is uncommitted.
    Branch,
    /// Tidegate made it from commits that stand elsewhere, and makes it again when it is needed.
    Derived,
    /// What happened is in the log, and it is old.
    Recorded,
    /// It is gone already; what git knows of it goes too.
    Gone,
}

/// A thing that is proved to be safe to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// What it is.
    pub what: Thing,
    /// Its path, its ref or its id.
    pub name: String,
    /// Of which project.
    pub project: ProjectId,
    /// Of which run; a pooled checkout is of none.
    pub run: Option<RunId>,
    /// Of which feature.
    pub feature: Option<FeatureId>,
    /// Why nothing is lost.
    pub proof: Proof,
    /// The commit that was looked at.
    pub commit: Option<Oid>,
    /// The snapshot that has its files.
    pub snapshot: Option<u32>,
}

/// A thing that stays, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is.
    pub what: Thing,
    /// Its path, its ref or its id.
    pub name: String,
    /// Of which project.
    pub project: ProjectId,
    /// Of which run.
    pub run: Option<RunId>,
    /// Why it stays, for people.
    pub why: String,
}

/// A clean-up that has been asked for and has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleanup {
    /// Names it: the number of the event that asked.
    pub number: u64,
    /// What it is about.
    pub scope: CleanupScope,
}

/// A snapshot that is to be put back into the worktree of an ended run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// Of which run.
    pub run: RunId,
    /// Of which feature.
    pub feature: FeatureId,
    /// Which snapshot.
    pub snapshot: u32,
}

/// How a clean-up ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupEnd {
    /// What stays, the first of it.
    pub kept: Vec<Kept>,
    /// How much more stays.
    pub kept_more: u64,
    /// The run that is deleted by it.
    pub deleted: Option<RunId>,
}

impl Thing {
    /// Its word, for documents and people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Worktree => "worktree",
            Self::Branch => "branch",
            Self::Ref => "ref",
            Self::Checkout => "checkout",
            Self::Job => "job",
            Self::Snapshots => "snapshots",
        }
    }
}

impl Proof {
    /// Its word, for documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ancestor => "ancestor",
            Self::PatchId => "patch_id",
            Self::Tree => "tree",
            Self::Branch => "branch",
            Self::Derived => "derived",
            Self::Recorded => "recorded",
            Self::Gone => "gone",
        }
    }
}
