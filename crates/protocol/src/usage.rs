//! What agents used and told, by their own figures.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Figures of one job, a feature or a run, as the agents tell them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageDoc {
    /// Tokens in.
    pub input: u64,
    /// Tokens in that came from a cache.
    pub cached: u64,
    /// Tokens out.
    pub output: u64,
    /// Cost in dollars; null when no agent told one.
    pub cost_usd: Option<f64>,
}

/// What an agent told by its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToldDoc {
    /// How its turn ended: `completed`, `interrupted`, `limit`, `unknown`, or the kind of its error:
    /// `rate_limit`, `usage_limit`, `auth`, `bad_model`, `bad_request`, `too_long`, `server`,
    /// `network`, `permission`, `other`.
    pub outcome: String,
    /// What it said about that.
    pub detail: Option<String>,
    /// When a limit ends, as far as it told.
    pub reset: Option<Timestamp>,
}

/// What the features of a run used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CostsDoc {
    /// The runs, newest first.
    pub runs: Vec<RunCostsDoc>,
    /// All of them together.
    pub total: UsageDoc,
}

/// What one run used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCostsDoc {
    /// The run.
    pub run_id: String,
    /// Its title.
    pub title: String,
    /// All of it.
    pub usage: UsageDoc,
    /// Its features that used something.
    pub features: Vec<FeatureCostsDoc>,
}

/// What one feature used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeatureCostsDoc {
    /// The feature.
    pub feature: String,
    /// Its agent jobs.
    pub attempts: u32,
    /// All of them together.
    pub usage: UsageDoc,
}
