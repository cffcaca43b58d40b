//! What the next agent is told about the last failure.

use crate::exit::Exit;
use crate::ids::{GateName, JobId, Oid};

/// What the next builder is told about the last failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feedback {
    /// A gate failed.
    Gate {
        /// The gate.
        gate: GateName,
        /// The commit that it ran on.
        commit: Oid,
        /// Its job, whose output is the evidence.
        job: JobId,
        /// Its end.
        exit: Exit,
        /// Whether it ran on the merged tree.
        merged: bool,
        /// Why it does not pass beside its end: what it left, or did not leave.
        problems: Vec<String>,
    },
    /// The builder ended without a change.
    NoChange,
    /// The repository's commit hook refused.
    HookRefused {
        /// What it said.
        output: String,
    },
    /// The builder left its branch.
    LeftBranch {
        /// Where it was found.
        found: String,
    },
    /// The target's changes do not merge into the branch.
    SyncConflict {
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// A reviewer or a person wants it otherwise.
    Review {
        /// Who.
        by: String,
        /// What they said.
        comments: String,
    },
    /// What the agent was to say cannot be used.
    Unusable {
        /// Why.
        detail: String,
    },
    /// Conflicts are left in what the reconciler made.
    Unresolved {
        /// The paths.
        paths: Vec<String>,
    },
}

impl Feedback {
    /// One line about it, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Gate { gate, exit, merged, problems, .. } => {
                let on = if *merged { " on the merged tree" } else { "" };
                // An end that is fine by itself says nothing of why the gate failed.
                let why = match problems.first() {
                    Some(first) if exit.is_success() => first.clone(),
                    Some(_) | None => exit.describe(),
                };
                format!("gate {gate} failed{on}: {why}")
            }
            Self::NoChange => "no_change: the builder left no commit".to_owned(),
            Self::Review { by, .. } => format!("{by} wants it otherwise"),
            Self::Unusable { detail } => format!("its answer cannot be used: {detail}"),
            Self::Unresolved { paths } => format!("still in conflict: {}", paths.join(", ")),
            Self::HookRefused { .. } => "the commit was refused".to_owned(),
            Self::LeftBranch { found } => format!("the builder left its branch for {found}"),
            Self::SyncConflict { paths } => format!("conflict in {}", paths.join(", ")),
        }
    }
}
