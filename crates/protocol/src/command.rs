//! Commands of operators as they are remembered, and what the runtime is at.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Text, Timestamp};

/// One command of an operator, from `GET /commands`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandDoc {
    /// Its id.
    pub request_id: String,
    /// Its name, such as `run.cancel`.
    pub command: String,
    /// The feature that it is about.
    pub feature_id: Option<String>,
    /// The run that it is about, or that it made.
    pub run_id: Option<String>,
    /// What was asked, without files, environment and secrets.
    pub args: Value,
    /// `pending`, `processing`, `completed` or `failed`.
    pub status: String,
    /// What its end hangs on, while it is `processing`.
    pub waits_for: Option<String>,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When it ended.
    pub processed_at: Option<Timestamp>,
    /// The envelope of its end.
    pub result: Option<Value>,
    /// Who gave it.
    pub actor: String,
    /// Its key: the same key of the same actor is the same command.
    pub idempotency_key: String,
    /// The epoch of the daemon that claimed it last.
    pub epoch: u64,
    /// How often it was begun.
    pub attempts: u32,
    /// The work that it started in the background of its lane: `running`, `completed`, `failed`.
    pub background: Option<String>,
}

/// A page of commands, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandPage {
    /// The commands.
    pub commands: Vec<CommandDoc>,
    /// Where the next page begins, when there is one.
    pub next: Option<String>,
}

/// A command in progress, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveCommand {
    /// Its id.
    pub request_id: String,
    /// Its name.
    pub command: String,
    /// The feature that it is about.
    pub feature_id: Option<String>,
    /// The run that it is about.
    pub run_id: Option<String>,
    /// When it was asked for.
    pub requested_at: Timestamp,
}

/// How work in the background ended badly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundError {
    /// The command that started it.
    pub command: String,
    /// The feature that it was about.
    pub feature_id: Option<String>,
    /// Its run.
    pub run_id: Option<String>,
    /// The code of the failure.
    pub code: String,
    /// One line for a person.
    pub message: String,
    /// When it ended.
    pub at: Timestamp,
}

/// What the runtime of a home is at, from `GET /runtime` and `tidegate daemon status`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RuntimeDoc {
    /// The home's id. Two checkouts of one repository are two projects of it.
    pub instance_id: Option<String>,
    /// When its newest daemon took over.
    pub started_at: Option<Timestamp>,
    /// The newest proof of life of that daemon: now, while it holds its lock; else its newest record.
    pub last_heartbeat_at: Option<Timestamp>,
    /// Its process id, while it runs.
    pub pid: Option<u32>,
    /// `running` or `stopped`.
    pub status: String,
    /// The oldest command in progress.
    pub current_command: Option<ActiveCommand>,
    /// All commands in progress, the oldest first.
    pub commands_in_progress: Vec<ActiveCommand>,
    /// The oldest work that goes on in the background of a lane.
    pub active_background_command: Option<ActiveCommand>,
    /// All work that goes on in the background, one per lane, the oldest first.
    pub active_background_commands: Vec<ActiveCommand>,
    /// How work in the background ended badly last.
    pub last_background_error: Option<BackgroundError>,
}

/// `POST /launches`: features that are to be built.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchRequest {
    /// The client's working directory, absolute: the repository.
    pub cwd: Text,
    /// The lane; `main` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// The features. Of several with one id the last counts.
    #[serde(default)]
    pub features: Vec<LaunchItem>,
    /// The client's environment, for a run of their own.
    #[serde(default)]
    pub env: Vec<(Text, Text)>,
    /// Text of the user's own config file, for a run of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_config: Option<String>,
    /// Name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// The environment may hold secrets: it is not shown.
impl std::fmt::Debug for LaunchRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchRequest")
            .field("cwd", &self.cwd)
            .field("lane", &self.lane)
            .field("features", &self.features)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

/// One feature that is to be built.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchItem {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_id: Option<String>,
    /// Its spec: a path from the root of the repository. What is in it now counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_path: Option<String>,
    /// The text of the spec, where the client has read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
}

/// `POST /features/{id}/resume`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResumeFeatureRequest {
    /// The client's working directory, absolute: the repository.
    pub cwd: Text,
    /// The lane of a run of its own; `main` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Name of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

/// `POST /commands`: a command by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveRequest {
    /// Its name, such as `run.cancel`.
    pub command: String,
    /// The run that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The feature that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_id: Option<String>,
    /// What else it says: the body of its own route.
    #[serde(default)]
    pub args: serde_json::Map<String, Value>,
}
