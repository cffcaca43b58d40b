//! The summary of a wave: its most relevant run.

use serde::{Deserialize, Serialize};

use crate::{
    AgentDoc, Disposition, RecoveryState, ResumeAction, RunDoc, RunStatus, SessionBackend,
    Timestamp,
};

/// The most relevant run of a wave, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaveDoc {
    /// The run.
    pub run_id: String,
    /// Where it stands.
    pub status: RunStatus,
    /// How it ended, or what it is about to be.
    pub terminal_disposition: Disposition,
    /// The launcher's own process id.
    pub launcher_pid: Option<u32>,
    /// The exit code, where one is known.
    pub exit_code: Option<i32>,
    /// Why it is as it is.
    pub detail: Option<String>,
    /// When the last fact about it was recorded.
    pub updated_at: Timestamp,
    /// Derived from the held lock when read.
    pub lease_expires_at: Option<Timestamp>,
    /// The daemon that supervises it.
    pub supervisor_id: Option<String>,
    /// What its jobs' standard streams are.
    pub session_backend: SessionBackend,
    /// How sound its supervision is.
    pub recovery_state: RecoveryState,
    /// What happens next without its launcher.
    pub resume_action: Option<ResumeAction>,
    /// Agents of the run, or the one that was asked for.
    pub agent_runtime_summary: Vec<AgentDoc>,
}

impl From<RunDoc> for WaveDoc {
    fn from(run: RunDoc) -> Self {
        Self {
            run_id: run.run_id,
            status: run.status,
            terminal_disposition: run.terminal_disposition,
            launcher_pid: run.launcher_pid,
            exit_code: run.exit_code,
            detail: run.detail,
            updated_at: run.updated_at,
            lease_expires_at: run.lease_expires_at,
            supervisor_id: run.supervisor_id,
            session_backend: run.session_backend,
            recovery_state: run.recovery_state,
            resume_action: run.resume_action,
            agent_runtime_summary: run.agent_runtime_summary,
        }
    }
}
