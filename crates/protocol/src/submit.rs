//! `POST /runs`: all that is pinned of a run before it exists.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Text;

/// A new run.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubmitRequest {
    /// The project, when it is not the repository of `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The client's working directory, absolute.
    pub cwd: Text,
    /// The lane; `main` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// Asks for a queue of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adhoc_run: Option<String>,
    /// Its place among the runs of its queue: higher ones first.
    #[serde(default)]
    pub priority: i32,
    /// Name of the user.
    pub actor: String,
    /// The client's environment, all of it, in order.
    pub env: Vec<(Text, Text)>,
    /// What is to be executed.
    pub work: WorkRequest,
}

/// The environment may hold secrets: it is not shown.
impl std::fmt::Debug for SubmitRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubmitRequest")
            .field("project", &self.project)
            .field("cwd", &self.cwd)
            .field("lane", &self.lane)
            .field("adhoc_run", &self.adhoc_run)
            .field("actor", &self.actor)
            .field("work", &self.work)
            .finish_non_exhaustive()
    }
}

/// What is to be executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkRequest {
    /// A command that orchestrates by itself.
    Launcher(LauncherWork),
    /// A plan.
    Plan(PlanWork),
}

/// A launcher and the waves that it is asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LauncherWork {
    /// The argv; may be empty when a launcher is named that has one.
    pub argv: Vec<Text>,
    /// The launcher's name in the settings: its argv comes before that of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    /// `--start-wave`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_wave: Option<u32>,
    /// `--end-wave`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_wave: Option<u32>,
    /// `--auto-next`.
    #[serde(default)]
    pub auto_next: bool,
    /// Resumes without progress; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_limit: Option<u32>,
    /// Whether the launcher gets a terminal of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// Text of the repository's `tidegate.toml`, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Path of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_path: Option<String>,
}

/// A plan with everything that it names, and what of it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanWork {
    /// The files.
    pub bundle: Bundle,
    /// The part of the plan; all of it when empty.
    #[serde(default)]
    pub selection: PlanSelection,
}

/// The files of a plan as the client read them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    /// Path of the plan as the user gave it.
    pub plan_path: String,
    /// Text of the plan.
    pub plan: String,
    /// Text of `tidegate.toml`, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Path of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_path: Option<String>,
    /// Text of the user's own config file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_config: Option<String>,
    /// Path of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_config_path: Option<String>,
    /// Texts of the spec files, by the path that the plan names them with.
    #[serde(default)]
    pub specs: BTreeMap<String, String>,
}

/// The part of a plan that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanSelection {
    /// First wave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_wave: Option<u32>,
    /// Last wave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_wave: Option<u32>,
    /// Only these features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}
