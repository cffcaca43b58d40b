//! Clean-up after ended runs.

use serde::{Deserialize, Serialize};

/// `POST /cleanups`; the dry run asks the same of the home alone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CleanupRequest {
    /// After this run alone, by its id or the beginning of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// After runs of this project alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// After runs that ended at least so long ago, in milliseconds; job directories too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than_ms: Option<u64>,
    /// The run goes as a whole, if nothing of it has to stay: its snapshots and job directories too.
    #[serde(default)]
    pub delete: bool,
    /// Name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// `POST /runs/{id}/restore`: the worktree of an ended run goes back to a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreRequest {
    /// The feature.
    pub feature: String,
    /// The snapshot's number; absent: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u32>,
    /// Name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// A worktree that is put back; it goes on whatever dies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestorationDoc {
    /// Names it.
    pub restore: u64,
    /// The run.
    pub run_id: String,
    /// The feature.
    pub feature: String,
    /// The snapshot's number.
    pub snapshot: u32,
    /// Whether it has ended.
    #[serde(default)]
    pub done: bool,
    /// Why it could not be.
    #[serde(default)]
    pub failure: Option<String>,
}

/// The answer to `POST /cleanups`: it goes on whatever dies; `GET /cleanups/{number}` tells how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanupAsked {
    /// Names it.
    pub cleanup: u64,
}

/// A thing that is removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemovalDoc {
    /// `worktree`, `branch`, `ref`, `checkout`, `job` or `snapshots`.
    pub what: String,
    /// Its path, its ref or its id.
    pub name: String,
    /// Of which project.
    pub project: String,
    /// Of which run; null for a pooled checkout.
    pub run_id: Option<String>,
    /// Of which feature.
    pub feature: Option<String>,
    /// Why nothing is lost: `ancestor`, `patch_id`, `tree`, `branch`, `derived`, `recorded` or `gone`.
    pub proof: String,
    /// The commit that was looked at.
    pub commit: Option<String>,
    /// The snapshot that has its files.
    pub snapshot: Option<u32>,
}

/// A thing that stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptDoc {
    /// As of a removal.
    pub what: String,
    /// Its path, its ref or its id.
    pub name: String,
    /// Of which project.
    pub project: String,
    /// Of which run.
    pub run_id: Option<String>,
    /// Why it stays.
    pub why: String,
}

/// A clean-up: what it would do, does or did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanupDoc {
    /// Names it; null for a dry run.
    pub cleanup: Option<u64>,
    /// Whether nothing was done.
    pub dry_run: bool,
    /// Whether it has ended.
    pub done: bool,
    /// What is removed, or would be.
    pub removals: Vec<RemovalDoc>,
    /// What stays; told once it has ended.
    pub kept: Vec<KeptDoc>,
    /// How much more stays.
    pub kept_more: u64,
    /// The run that is deleted as a whole.
    pub deleted: Option<String>,
}
