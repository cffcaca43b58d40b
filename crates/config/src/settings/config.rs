//! The settings as they hold after all layers, each with the place that set it.

use std::collections::BTreeMap;

use tidegate_core::budget::Budgets;
use tidegate_core::evidence::Promises;
use tidegate_core::ids::{AgentName, GateName, RoleName};
use tidegate_core::integrity::Kind;
use tidegate_core::launcher::SelectionStyle;
use tidegate_core::limits;
use tidegate_core::manifest::Manifest;
use tidegate_core::plan::{
    CollisionPolicy, CommitRule, GateRun, IntegrityPolicy, OnFailure, PromptChannel, RemoteSync,
    ReviewPolicy, Strategy,
};
use tidegate_core::workplace::WorktreeSpec;

use crate::node::Node;
use crate::span::{Span, Spanned};

/// Where a setting stands: a layer by its index in [`super::Layered::sources`], and a span there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index of the layer's source.
    pub layer: usize,
    /// Where in its text.
    pub span: Span,
}

/// A setting and who set it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced<T> {
    /// The value that holds.
    pub value: T,
    /// Where it stands; `None` for a built-in default.
    pub place: Option<Place>,
}

impl<T> Sourced<T> {
    pub(crate) fn default_of(value: T) -> Self {
        Self { value, place: None }
    }

    pub(crate) fn at(value: T, layer: usize, span: Span) -> Self {
        Self { value, place: Some(Place { layer, span }) }
    }

    /// Takes over what a layer says, if it says anything.
    pub(crate) fn set(&mut self, upper: Option<Spanned<T>>, layer: usize) {
        if let Some(upper) = upper {
            *self = Self::at(upper.value, layer, upper.span);
        }
    }
}

/// The settings of a repository after all layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Full name of the target ref.
    pub target: Sourced<String>,
    /// Who commits an agent's changes.
    pub commit: Sourced<CommitRule>,
    /// What a failed feature means for later waves.
    pub on_failure: Sourced<OnFailure>,
    /// Who consents to a landing.
    pub review: Sourced<ReviewPolicy>,
    /// What is done with changes that weaken their checks.
    pub integrity: Sourced<IntegrityPolicy>,
    /// The same for changes of these kinds.
    pub integrity_by_kind: BTreeMap<Kind, Sourced<IntegrityPolicy>>,
    /// Failures of one tree for one reason, one after the other, that stop a feature; 0: none do.
    pub same_max: Sourced<u32>,
    /// The message of the landing commit.
    pub landing_message: Sourced<Option<String>>,
    /// Where a landing goes beside the local target.
    pub remote: Sourced<RemoteSync>,
    /// What is done with planned changes that meet.
    pub collisions: Sourced<CollisionPolicy>,
    /// Form of the landed change.
    pub strategy: Sourced<Strategy>,
    /// Gates of the merged tree.
    pub merge_gates: Sourced<Vec<Spanned<String>>>,
    /// Features of a run that may be active at once.
    pub active_features: Sourced<u32>,
    /// Iterations before a feature fails.
    pub max_iterations: Sourced<u32>,
    /// Attempts of one job within an iteration.
    pub max_attempts: Sourced<u32>,
    /// Wait before the second retry of a job, in milliseconds; it doubles from one to the next.
    pub backoff_ms: Sourced<u64>,
    /// The longest wait before a retry, in milliseconds.
    pub max_backoff_ms: Sourced<u64>,
    /// Silence of an agent or a launcher after which it is said, in milliseconds; 0: never.
    pub stall_after_ms: Sourced<u64>,
    /// How long commands and their answers are remembered, in milliseconds. Of the user's file alone: a home is no
    /// repository's.
    pub commands_kept_ms: Sourced<u64>,
    /// Worktrees that may stand in a home; `None`: any number. Of the user's file alone.
    pub worktrees_max: Sourced<Option<u32>>,
    /// Bytes that they may take together; `None`: any number. Of the user's file alone.
    pub worktrees_bytes_max: Sourced<Option<u64>>,
    /// Limit of an agent that names none, in milliseconds.
    pub agent_timeout_ms: Sourced<u64>,
    /// Limit of a gate that names none, in milliseconds.
    pub gate_timeout_ms: Sourced<u64>,
    /// Time between TERM and the end of the tree, in milliseconds.
    pub grace_ms: Sourced<u64>,
    /// Shortest time between two snapshots of a worktree in which an agent works, in milliseconds.
    pub snapshot_every_ms: Sourced<u64>,
    /// Variables of the client that agents and gates get; `NAME_*` takes all that start so.
    pub env_pass: Sourced<Vec<String>>,
    /// What agents may use.
    pub budgets: Budgets,
    /// What worktrees get.
    pub worktree: WorktreeSpec,
    /// The agents.
    pub agents: BTreeMap<AgentName, Sourced<AgentEntry>>,
    /// The roles.
    pub roles: BTreeMap<RoleName, Sourced<RoleEntry>>,
    /// The gates.
    pub gates: BTreeMap<GateName, Sourced<GateEntry>>,
    /// The profiles of gates, by name.
    pub profiles: BTreeMap<String, Sourced<ProfileEntry>>,
    /// The launchers, by name.
    pub launchers: BTreeMap<String, Sourced<LauncherEntry>>,
}

/// `[agent.NAME]`.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentEntry {
    /// Argv template.
    pub argv: Vec<String>,
    /// How the prompt reaches it.
    pub prompt: PromptChannel,
    /// Environment that is added.
    pub env: BTreeMap<String, String>,
    /// Limit of one attempt, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Time between TERM and the end of the tree, in milliseconds.
    pub grace_ms: Option<u64>,
    /// Whether it gets a terminal of its own.
    pub terminal: bool,
    /// How its output and its end are understood.
    pub manifest: Manifest,
    /// Keys of the manifest that this version accepts and does not use.
    pub unused: Vec<(String, Node)>,
}

/// `[role.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleEntry {
    /// Its agent, and where that is said.
    pub agent: Spanned<AgentName>,
    /// Agents that stand in for it, in their order.
    pub fallback: Vec<Spanned<AgentName>>,
    /// What its agent is told beside the task.
    pub prompt: Option<String>,
    /// Attempts of one job of it.
    pub max_attempts: Option<u32>,
    /// Wait before its second retry, in milliseconds.
    pub backoff_ms: Option<u64>,
    /// The longest wait before a retry of it, in milliseconds.
    pub max_backoff_ms: Option<u64>,
}

/// `[gate.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateEntry {
    /// What is executed.
    pub run: GateRun,
    /// Environment that is added.
    pub env: BTreeMap<String, String>,
    /// Paths in the checkout that are kept.
    pub cache: Vec<String>,
    /// Limit, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Gates that must have passed before it begins.
    pub needs: Vec<Spanned<String>>,
    /// Failures on one commit after which it is tried again.
    pub retries: u32,
    /// Whether other gates may run beside it.
    pub parallel: bool,
    /// What it is to leave beside its exit code.
    pub promises: Promises,
}

/// `[profile.NAME]`: gates under one name, which is written `@NAME` where a gate's stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileEntry {
    /// Its gates.
    pub gates: Vec<Spanned<String>>,
}

/// `[launcher.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherEntry {
    /// The first words of the argv that it is for; `None`: the launcher is chosen by name.
    pub argv: Option<Vec<String>>,
    /// How it learns the selection, beside its environment.
    pub selection: LauncherSelection,
    /// The argv of a resume, as a template.
    pub resume_argv: Option<Vec<String>>,
}

/// How a launcher learns the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LauncherSelection {
    /// In its environment only.
    Env,
    /// As flags at the end of its argv, too.
    Append,
}

impl LauncherEntry {
    /// How core starts and resumes it. A template for the resume leaves the first start as it is.
    pub fn style(&self) -> SelectionStyle {
        match (&self.resume_argv, self.selection) {
            (Some(template), _) => SelectionStyle::ResumeArgv(template.clone()),
            (None, LauncherSelection::Append) => SelectionStyle::Append,
            (None, LauncherSelection::Env) => SelectionStyle::EnvironmentOnly,
        }
    }
}

impl Config {
    /// The launcher entry for a submitted argv: the one whose own argv is the longest beginning
    /// of it.
    pub fn launcher_for(&self, argv: &[String]) -> Option<(&str, &LauncherEntry)> {
        let fitting = self.launchers.iter().filter_map(|(name, entry)| {
            let own = entry.value.argv.as_ref().filter(|own| argv.starts_with(own))?;
            Some((own.len(), name.as_str(), &entry.value))
        });
        fitting.max_by_key(|(words, ..)| *words).map(|(_, name, entry)| (name, entry))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target: Sourced::default_of("refs/heads/main".to_owned()),
            commit: Sourced::default_of(CommitRule::Auto),
            on_failure: Sourced::default_of(OnFailure::Stop),
            review: Sourced::default_of(ReviewPolicy::Auto),
            integrity: Sourced::default_of(IntegrityPolicy::default()),
            integrity_by_kind: BTreeMap::new(),
            same_max: Sourced::default_of(limits::SAME_FAILURES_MAX),
            landing_message: Sourced::default_of(None),
            remote: Sourced::default_of(RemoteSync::default()),
            collisions: Sourced::default_of(CollisionPolicy::default()),
            strategy: Sourced::default_of(Strategy::Merge),
            merge_gates: Sourced::default_of(Vec::new()),
            active_features: Sourced::default_of(limits::FEATURES_PER_RUN),
            max_iterations: Sourced::default_of(limits::ITERATIONS_MAX),
            max_attempts: Sourced::default_of(limits::ATTEMPTS_MAX),
            backoff_ms: Sourced::default_of(limits::BACKOFF_MS),
            max_backoff_ms: Sourced::default_of(limits::BACKOFF_MS_MAX),
            commands_kept_ms: Sourced::default_of(limits::COMMANDS_KEPT_MS),
            worktrees_max: Sourced::default_of(None),
            worktrees_bytes_max: Sourced::default_of(None),
            stall_after_ms: Sourced::default_of(limits::STALL_AFTER_MS),
            agent_timeout_ms: Sourced::default_of(limits::AGENT_TIMEOUT_MS),
            gate_timeout_ms: Sourced::default_of(limits::GATE_TIMEOUT_MS),
            grace_ms: Sourced::default_of(limits::GRACE_MS),
            snapshot_every_ms: Sourced::default_of(limits::SNAPSHOT_EVERY_MS),
            env_pass: Sourced::default_of(Vec::new()),
            budgets: Budgets::default(),
            worktree: WorktreeSpec::default(),
            agents: BTreeMap::new(),
            roles: BTreeMap::new(),
            gates: BTreeMap::new(),
            profiles: BTreeMap::new(),
            launchers: BTreeMap::new(),
        }
    }
}
