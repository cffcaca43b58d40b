//! Why something runs, waits, failed or was killed.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The answer to `explain`: a sentence, and the recorded facts behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplainDoc {
    /// The run.
    pub run_id: String,
    /// The feature, when it was asked about one.
    pub feature: Option<String>,
    /// Where it stands.
    pub status: String,
    /// Why, in one sentence.
    pub because: String,
    /// What would change it; null when it goes on by itself or has ended.
    pub next: Option<String>,
    /// Whether a person must act.
    pub requires_human: bool,
    /// The facts, in the order that they bear on the answer.
    pub facts: Vec<Fact>,
    /// Whether a daemon supervises the run now.
    pub supervised: bool,
    /// Whether all of it is recorded; false when a reader derived it.
    pub recorded: bool,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is about: an event's name, or `queue`, `slots`, `wave`, `needs`, `gate`, `job`.
    pub about: String,
    /// The fact in one line.
    pub text: String,
    /// When it was recorded.
    pub at: Option<Timestamp>,
    /// The event that recorded it.
    pub seq: Option<u64>,
}
