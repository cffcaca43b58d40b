//! A feature of a plan run, as the run document shows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{SaidDoc, Timestamp, UsageDoc};

/// One feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeatureDoc {
    /// Its id.
    pub id: String,
    /// The number of its wave.
    pub wave: u32,
    /// A line for people.
    pub title: String,
    /// Where it stands: `queued`, `building`, `verifying`, `in_review`, `landing`, `landed`,
    /// `blocked`, `failed`, `cancelled`, `skipped`.
    pub state: String,
    /// The step within the state, such as `awaiting_slot`, or `gate:` and the names of those that run.
    pub step: Option<String>,
    /// Its iteration, from 1; 0 until it first starts.
    pub iteration: u32,
    /// Agent jobs that it had.
    pub attempts: u32,
    /// Why it cannot go on by itself.
    pub blocked: Option<BlockedDoc>,
    /// Its newest commit that Tidegate saw; the landed commit once it has landed.
    pub commit: Option<String>,
    /// Whether it has landed.
    pub landed: bool,
    /// The commit that its branch began at.
    pub base: Option<String>,
    /// Its worktree.
    pub worktree: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// Features that must land before it starts.
    pub needs: Vec<String>,
    /// Its named locks; empty when it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<LockDoc>,
    /// Why it failed, was skipped or cancelled.
    pub reason: Option<String>,
    /// The feature because of which it was skipped.
    pub cause: Option<String>,
    /// The job that it waits for now.
    pub job_id: Option<String>,
    /// The gates that ran on its newest commit, or on the merge of it, in the order in which they began.
    pub evidence: Vec<EvidenceDoc>,
    /// What it waits for, in one line; null when it does not wait.
    pub waits_for: Option<String>,
    /// What its agents used, by their own figures; absent when none told any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsageDoc>,
    /// What its agent said last of its own work, by its tools, while it has not ended: words, and no
    /// proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<SaidDoc>,
}

/// A named lock of a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockDoc {
    /// Its name within the project.
    pub name: String,
    /// `held`, `waiting` or, before its turn and after its end, `free`.
    pub state: String,
    /// Since when it is held or waited for.
    pub since: Option<Timestamp>,
    /// Because of whom it is waited for, as `RUN/FEATURE`; null when that is another lock of it.
    pub behind: Option<String>,
}

/// Why a feature cannot go on by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedDoc {
    /// The typed reason: `conflict`, `target_dirty`, `target_missing`, `repo_held`, `git`, `quarantine`.
    pub reason: String,
    /// The paths that it is about.
    pub paths: Vec<String>,
    /// More for a person.
    pub detail: Option<String>,
    /// What unblocks it.
    pub unblocks: String,
    /// Whether a person must act; false when it goes on by itself.
    pub requires_human: bool,
}

/// The record of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceDoc {
    /// The gate.
    pub gate: String,
    /// The exact commit that it ran on.
    pub commit: String,
    /// Whether it ran on the merged tree.
    pub merged: bool,
    /// Whether it passed; null while it runs.
    pub passed: Option<bool>,
    /// How often it ran on this commit.
    pub attempts: u32,
    /// How often it failed on this commit; attempts that were lost are not among them.
    pub failures: u32,
    /// Whether it passed on a commit on which it failed before.
    pub flaky: bool,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran, in milliseconds.
    pub ran_ms: Option<u64>,
    /// Its job.
    pub job_id: String,
    /// Its output.
    pub log_path: String,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What its test reports count together; null without reports.
    #[serde(default)]
    pub tests: Option<TestsDoc>,
    /// How much was reached by `lines`, `branches`, `functions` and `changed_lines`; empty without coverage.
    #[serde(default)]
    pub coverage: BTreeMap<String, ShareDoc>,
    /// Files of the commit that it changed in its checkout, the first of them.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Why it does not pass whatever its exit code says, a sentence each.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// Counts of test cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestsDoc {
    /// Passed, flaky ones included.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Broke before they could check.
    pub errored: u64,
    /// Did not run.
    pub skipped: u64,
    /// Among `passed`, those that failed first.
    pub flaky: u64,
}

/// A part of a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShareDoc {
    /// How many were reached.
    pub hit: u64,
    /// How many there are.
    pub found: u64,
    /// The share for people, rounded down.
    pub percent: String,
}

/// The features of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeatureList {
    /// The run.
    pub run_id: String,
    /// Its features in the order of the plan.
    pub features: Vec<FeatureDoc>,
}
