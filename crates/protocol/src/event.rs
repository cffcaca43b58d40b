//! One recorded fact, as the log shows it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Timestamp;

/// One event. What belongs to its type stands beside the common fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    /// Its number in the home; rises, may have gaps.
    pub seq: u64,
    /// Its number within its subject; no gaps, from 1.
    pub n: u64,
    /// Whose chain it belongs to: `home`, `run:ID`, `feature:ID/FEATURE`.
    pub subject: String,
    /// Its name.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its run; null for events of the home.
    pub run_id: Option<String>,
    /// Its feature, when it is about one.
    pub feature: Option<String>,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// What belongs to its type.
    #[serde(flatten)]
    pub body: Map<String, Value>,
}

/// A page of events in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The events.
    pub events: Vec<EventView>,
    /// `after` of the next page; null when this is the last one for now.
    pub next: Option<u64>,
}
