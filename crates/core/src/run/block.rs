//! Why a feature cannot go on by itself, and what unblocks it.

use super::feature::Merged;
use crate::budget::Overrun;
use crate::ids::{FeatureId, JobId};
use crate::plan::Role;

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
    /// There is not enough of something for its worktree, such as ports. Unblocked by a person: make
    /// room and retry.
    Resources {
        /// Of what.
        detail: String,
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
    /// The landing would take back what others landed since its base. Unblocked by a person: approve
    /// it all the same, deny or retry.
    SilentRevert {
        /// What it would take back, a line each: path, and the first of the lines.
        losses: Vec<String>,
    },
    /// The remote does not take the landing. Unblocked by a person: mend it and retry.
    PushRefused {
        /// What it said.
        detail: String,
    },
    /// The remote of the target gives no answer. Goes on by itself once it does.
    RemoteUnreachable {
        /// What git said.
        detail: String,
    },
    /// The target and its remote have parted. Unblocked by a person: bring them together and retry.
    Diverged {
        /// How.
        detail: String,
    },
    /// It has landed at the remote, and the local target cannot follow. Goes on by itself once its
    /// checkout is clean.
    LocalBehind {
        /// What was pushed.
        merged: Merged,
        /// The paths in the way.
        paths: Vec<String>,
        /// What is the matter with the checkout.
        why: String,
    },
    /// Its agent ended and waits for answers. Unblocked by a person: answer, or retry without.
    Input {
        /// What the agent worked for.
        role: Role,
    },
    /// Its agent is not let in. Unblocked by a person: log in or give it a key, then retry.
    Auth {
        /// Which, for people.
        agent: String,
        /// What it said.
        detail: String,
        /// Its account, where others may have the same.
        account: Option<String>,
    },
    /// Its reviewer gave no verdict. Unblocked by a person: approve, deny or retry.
    Review {
        /// Why there is none.
        detail: String,
    },
    /// It failed with the same tree for the same reason again and again. Unblocked by a person: change
    /// what it is asked for or what it is judged by, and retry.
    NoProgress {
        /// How often in a row.
        times: u32,
        /// The reason.
        reason: String,
    },
    /// A budget is used up. Unblocked by a person, who gives it once more: retry.
    Budget {
        /// Which, and how far.
        overrun: Overrun,
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
    /// What stands in the target's checkout, and what is the matter with it, while a landing waits
    /// for that to be gone.
    pub fn obstacle(&self) -> Option<(&[String], &str)> {
        match self {
            Self::TargetDirty { paths, why } | Self::LocalBehind { paths, why, .. } => {
                Some((paths, why))
            }
            Self::Conflict { .. }
            | Self::TargetMissing
            | Self::Resources { .. }
            | Self::RepoHeld { .. }
            | Self::Git { .. }
            | Self::Collision { .. }
            | Self::SilentRevert { .. }
            | Self::PushRefused { .. }
            | Self::RemoteUnreachable { .. }
            | Self::Diverged { .. }
            | Self::Input { .. }
            | Self::Auth { .. }
            | Self::Review { .. }
            | Self::NoProgress { .. }
            | Self::Budget { .. }
            | Self::Quarantine { .. } => None,
        }
    }

    /// Whether it ends without anybody here: nobody is asked for anything.
    pub fn ends_by_itself(&self) -> bool {
        match self {
            Self::RepoHeld { .. } | Self::RemoteUnreachable { .. } => true,
            Self::Collision { waits, .. } => *waits,
            Self::SilentRevert { .. }
            | Self::PushRefused { .. }
            | Self::Diverged { .. }
            | Self::LocalBehind { .. }
            | Self::Conflict { .. }
            | Self::TargetDirty { .. }
            | Self::TargetMissing
            | Self::Resources { .. }
            | Self::Git { .. }
            | Self::Input { .. }
            | Self::Auth { .. }
            | Self::Review { .. }
            | Self::NoProgress { .. }
            | Self::Budget { .. }
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
            Self::Resources { .. } => "resources",
            Self::Git { .. } => "git",
            Self::Collision { .. } => "collision",
            Self::SilentRevert { .. } => "silent_revert",
            Self::PushRefused { .. } => "push_refused",
            Self::RemoteUnreachable { .. } => "remote_unreachable",
            Self::Diverged { .. } => "diverged",
            Self::LocalBehind { .. } => "local_behind",
            Self::Input { .. } => "input",
            Self::Auth { .. } => "auth",
            Self::Review { .. } => "review",
            Self::NoProgress { .. } => "no_progress",
            Self::Budget { .. } => "budget",
            Self::Quarantine { .. } => "quarantine",
        }
    }
}
