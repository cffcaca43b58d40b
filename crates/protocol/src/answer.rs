//! What commands answer once they are recorded.

use serde::{Deserialize, Serialize};

use crate::RunStatus;

/// Answer to `POST /runs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubmitAnswer {
    /// The command's id in `GET /commands`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The new run.
    pub run_id: String,
    /// Its project.
    pub project: String,
    /// Its lane.
    pub lane: String,
    /// Its ad-hoc queue.
    pub adhoc_run: Option<String>,
    /// Null: it has no job yet.
    pub state_path: Option<String>,
    /// How often its launcher is started again without progress; null for plans.
    pub resume_limit: Option<u32>,
    /// Where it stands.
    pub status: RunStatus,
}

/// Answer to `POST /runs/{id}/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelAnswer {
    /// The command's id in `GET /commands`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The run.
    pub run_id: String,
    /// Where it stands now.
    pub status: RunStatus,
    /// Whether someone had asked before.
    pub already_asked: bool,
}

/// Answer to `POST /runs/{id}/retry`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryAnswer {
    /// The command's id in `GET /commands`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The run that does the work: the same, or a new one.
    pub run_id: String,
    /// The run that it repeats, when it is a new one.
    pub retry_of: Option<String>,
    /// The feature that was put back, when the run is the same.
    pub feature: Option<String>,
}

/// Answer to `POST /runs/{id}/agents`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StartAgentAnswer {
    /// The command's id in `GET /commands`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The run.
    pub run_id: String,
    /// The agent's id within it.
    pub agent_id: String,
    /// Its job.
    pub job_id: String,
}

/// Answer to commands that have nothing else to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// Always true.
    pub accepted: bool,
}
