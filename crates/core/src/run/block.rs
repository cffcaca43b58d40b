//! Why a feature cannot go on by itself, and what unblocks it.

use crate::ids::{FeatureId, JobId};

/// Why a feature cannot go on by itself, and so what unblocks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// The merge conflicts. Unblocked by a person: resolve and retry.
    Conflict {
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// The target's checkout has work that the landing would touch. Goes on by itself once clean.
    TargetDirty {
        /// The paths in the way.
        paths: Vec<String>,
        /// What is the matter with the checkout.
        why: String,
    },
    /// The target does not exist. Unblocked by a person: make it and retry.
    TargetMissing,
    /// Another home serves the repository. Goes on by itself once it is given back.
    RepoHeld {
        /// Who holds it.
        by: String,
    },
    /// git or the disk refused. Unblocked by a person: mend it and retry.
    Git {
        /// What it said.
        detail: String,
    },
    /// Its planned change meets that of another feature under way.
    Collision {
        /// The other one.
        with: FeatureId,
        /// The paths of this one that meet it.
        paths: Vec<String>,
        /// Whether it goes on by itself once the other one has ended; else a person decides: retry.
        waits: bool,
    },
    /// Its reviewer gave no verdict. Unblocked by a person: approve, deny or retry.
    Review {
        /// Why there is none.
        detail: String,
    },
    /// A job's records contradict each other. Unblocked by a person: look, then retry or cancel.
    Quarantine {
        /// The job.
        job: JobId,
        /// What contradicts.
        detail: String,
    },
}

impl Block {
    /// Whether it ends without anybody here: nobody is asked for anything.
    pub fn ends_by_itself(&self) -> bool {
        match self {
            Self::RepoHeld { .. } => true,
            Self::Collision { waits, .. } => *waits,
            Self::Conflict { .. }
            | Self::TargetDirty { .. }
            | Self::TargetMissing
            | Self::Git { .. }
            | Self::Review { .. }
            | Self::Quarantine { .. } => false,
        }
    }

    /// Its word in the run document: the typed reason.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::TargetDirty { .. } => "target_dirty",
            Self::TargetMissing => "target_missing",
            Self::RepoHeld { .. } => "repo_held",
            Self::Git { .. } => "git",
            Self::Collision { .. } => "collision",
            Self::Review { .. } => "review",
            Self::Quarantine { .. } => "quarantine",
        }
    }
}
