//! Snapshots of worktrees, for `tidegate restore`.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotDoc {
    /// The feature.
    pub feature: String,
    /// Its number among those of the feature.
    pub number: u32,
    /// When it was taken.
    pub taken_at: Timestamp,
    /// Why.
    pub reason: String,
    /// Its commit, in the repository of snapshots.
    pub commit: String,
}

/// The snapshots of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotList {
    /// The run.
    pub run_id: String,
    /// The repository that they stand in.
    pub repository: String,
    /// The oldest of each feature first.
    pub snapshots: Vec<SnapshotDoc>,
}

/// A file or folder that a snapshot does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutDoc {
    /// Relative to the root of the worktree.
    pub path: String,
    /// `ignored`, `too_large`, `nested_records`, `special` or `unreadable`.
    pub why: String,
}

/// What was restored to a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoredDoc {
    /// The run.
    pub run_id: String,
    /// The feature.
    pub feature: String,
    /// The snapshot's number.
    pub number: u32,
    /// The folder.
    pub to: String,
    /// The commit that was checked out in the worktree.
    pub head: Option<String>,
    /// The branch that was checked out; null when the head was detached.
    pub branch: Option<String>,
    /// What is not in it.
    pub not_captured: Vec<LeftOutDoc>,
    /// How many more are not in it.
    pub not_captured_more: u64,
}
