//! Registered repositories.

use serde::{Deserialize, Serialize};

/// One registered repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectDoc {
    /// Its id.
    pub id: String,
    /// Root of the user's worktree.
    pub root: String,
    /// The common git directory: its key.
    pub common_dir: String,
}

/// All registered repositories, by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectList {
    /// The repositories.
    pub projects: Vec<ProjectDoc>,
}
