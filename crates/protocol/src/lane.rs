//! Queues of runs, and what a person keeps from beginning.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A pause: nothing more begins, what runs goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseDoc {
    /// What it is about, for people: a run, or lanes.
    pub scope: String,
    /// The project whose lanes it covers; null: of every one. Null too for a run.
    pub project: Option<String>,
    /// The lane that it covers; null: every one. Null too for a run.
    pub lane: Option<String>,
    /// Who paused it.
    pub by: String,
    /// Since when.
    pub since: Timestamp,
    /// Why.
    pub reason: Option<String>,
}

/// One queue with a run that waits or runs, or a lane of a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneDoc {
    /// Its project.
    pub project: String,
    /// Its lane.
    pub lane: String,
    /// Set for a queue of its own.
    pub adhoc_run_id: Option<String>,
    /// Whether it claims nothing more, and by whom, since when and why.
    pub paused: Option<PauseDoc>,
    /// The run that is active.
    pub active: Option<String>,
    /// The run whose turn is next.
    pub next: Option<String>,
    /// Runs that wait for their turn, held ones included.
    pub pending: u64,
    /// Those of them that are held.
    pub held: u64,
}

/// All queues, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneList {
    /// The queues.
    pub lanes: Vec<LaneDoc>,
    /// The pauses that hold, whether a queue has runs or not.
    pub pauses: Vec<PauseDoc>,
}
