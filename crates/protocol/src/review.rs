//! What a person looks at before a consent.

use serde::{Deserialize, Serialize};

use crate::{EvidenceDoc, Timestamp};

/// `GET /runs/{id}/review?feature=`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDoc {
    /// The run.
    pub run_id: String,
    /// The feature.
    pub feature: String,
    /// Where it stands.
    pub state: String,
    /// Whether a person's word is waited for.
    pub awaits_person: bool,
    /// The commit.
    pub commit: String,
    /// The commit that its branch began at.
    pub base: Option<String>,
    /// Full name of the target ref.
    pub target: String,
    /// The commit that the target is at now; null when there is none.
    pub target_commit: Option<String>,
    /// Whether they merge without a conflict; null when that cannot be told.
    pub merges_cleanly: Option<bool>,
    /// The paths in conflict.
    pub conflicts: Vec<String>,
    /// What the difference is to: `target`, or `base` when the commit does not merge.
    pub compared_with: String,
    /// Counts of it.
    pub stats: DiffStats,
    /// The files that differ.
    pub files: Vec<DiffFile>,
    /// The difference, as `git diff` says it.
    pub diff: String,
    /// Whether it was cut off, for its length.
    pub diff_cut: bool,
    /// What the gates said of the commit, or of the merge of it.
    pub evidence: Vec<EvidenceDoc>,
    /// What the commit did to the checks that judge it.
    pub findings: Vec<FindingDoc>,
    /// What a reviewer agent said of the commit.
    pub verdict: Option<VerdictDoc>,
    /// Why its landing is stopped, where it is.
    pub blocked: Option<String>,
    /// What consents to it, once; null while nobody is asked, inside a job, or without a secret.
    pub token: Option<String>,
}

/// Counts of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffStats {
    /// Files that differ.
    pub files: u64,
    /// Lines that came.
    pub added: u64,
    /// Lines that went.
    pub removed: u64,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffFile {
    /// Its path.
    pub path: String,
    /// Its path before, where it was renamed or copied.
    pub was: Option<String>,
    /// git's letter: `A`, `D`, `M`, `R`, `C`, `T`.
    pub status: String,
    /// Lines that came; null for a binary file.
    pub added: Option<u64>,
    /// Lines that went; null for a binary file.
    pub removed: Option<u64>,
}

/// One thing that a commit did to the checks that judge it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FindingDoc {
    /// What it is, in a word.
    pub kind: String,
    /// The file.
    pub path: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u32,
    /// The line's text, or what it is about.
    pub excerpt: String,
    /// Whether a landing waits for a person because of it.
    pub stops: bool,
}

/// What a reviewer agent said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictDoc {
    /// Whether the change may land.
    pub approved: bool,
    /// Its words.
    pub comments: String,
    /// Its job.
    pub job_id: String,
    /// When it was recorded.
    pub at: Timestamp,
}
