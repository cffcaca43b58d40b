//! A plan as the engine executes it: waves of features, with the agents and gates that the pinned
//! config gives them. Parsed and checked elsewhere; here every name resolves.

use std::collections::{BTreeMap, BTreeSet};

use crate::budget::Budgets;
use crate::evidence::Promises;
use crate::ids::{AgentName, BlobId, FeatureId, GateName, LockName, RoleName};
use crate::integrity::Kind;
use crate::manifest::Manifest;
use crate::run::Retry;
use crate::workplace::WorktreeSpec;

/// Everything that a plan run was submitted with. Never changes after the submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSpec {
    /// The plan's title.
    pub title: String,
    /// Path of the plan file as given, relative to the repository root where it lies inside.
    pub path: String,
    /// The pinned bytes of the plan file.
    pub source: BlobId,
    /// The pinned bytes of `tidegate.toml`, when there is one.
    pub config: Option<BlobId>,
    /// The pinned bytes of the user's own config file, when there is one.
    pub user_config: Option<BlobId>,
    /// Full name of the target ref, such as `refs/heads/main`.
    pub target: String,
    /// Waves in their order. Every feature is in exactly one.
    pub waves: Vec<WaveSpec>,
    /// Features by id.
    pub features: BTreeMap<FeatureId, FeatureSpec>,
    /// Agents that the roles name.
    pub agents: BTreeMap<AgentName, AgentSpec>,
    /// The role that builds; its agent is in [`PlanSpec::agents`].
    pub builder: RoleSpec,
    /// Gates that features or the landing name.
    pub gates: BTreeMap<GateName, GateSpec>,
    /// How changes reach the target.
    pub landing: LandingSpec,
    /// Who consents to a landing.
    pub review: ReviewPolicy,
    /// What is done with changes that weaken their checks.
    pub integrity: IntegrityPolicy,
    /// The same for changes of these kinds.
    pub integrity_by_kind: BTreeMap<Kind, IntegrityPolicy>,
    /// What is done with planned changes that meet.
    pub collisions: CollisionPolicy,
    /// What a failed feature means for later waves.
    pub on_failure: OnFailure,
    /// Who commits an agent's changes.
    pub commit: CommitRule,
    /// Features of this run that may be active at once.
    pub active_max: u32,
    /// Shortest time between two snapshots of a worktree in which an agent works, in milliseconds.
    /// `None`: as built in.
    pub snapshot_every_ms: Option<u64>,
    /// Failures of one tree for one reason, one after the other, after which a feature waits for a
    /// person; 0: never.
    pub same_max: u32,
    /// What its agents may use.
    pub budgets: Budgets,
    /// How retries of gates, and of roles that say nothing else, are spread in time.
    pub retry: Retry,
    /// Silence of an agent after which it is said, in milliseconds; 0: never, `None`: the usual.
    pub stall_after_ms: Option<u64>,
    /// Names of variables of the pinned environment that agents and gates get beside the
    /// allow-list.
    pub env_pass: Vec<String>,
    /// What worktrees get.
    pub worktree: WorktreeSpec,
}

/// One wave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveSpec {
    /// Its number; rises within a plan.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its features, in the order of the plan.
    pub features: Vec<FeatureId>,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSpec {
    /// A line for people.
    pub title: String,
    /// What its builder is asked to do: pinned text of the prompt or the spec file.
    pub prompt: BlobId,
    /// Features that must have landed before it starts.
    pub needs: Vec<FeatureId>,
    /// Paths it declares to change, as globs. Empty: not declared.
    pub paths: Vec<String>,
    /// What it must have for itself from its start to its end, within the project.
    pub locks: Vec<LockName>,
    /// Gates that its commit must pass, in order.
    pub gates: Vec<GateName>,
    /// The agent that builds it, when it is not the role's.
    pub agent: Option<AgentName>,
    /// Who works on it beside the plan's builder; a builder of its own stands in for that one.
    pub crew: BTreeMap<Role, RoleSpec>,
    /// Whether an end without a change is a success.
    pub allow_no_change: bool,
    /// Iterations before it fails.
    pub iterations_max: u32,
    /// Attempts of one job within an iteration.
    pub attempts_max: u32,
}

/// What an agent works for in the pipeline, whatever the config calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Says what is to be changed, before anything is.
    Planner,
    /// Makes the change.
    Builder,
    /// Looks at a change that passed its gates, and mends it.
    Qa,
    /// Judges a change that may land.
    Reviewer,
    /// Resolves a conflict with the target.
    Reconciler,
}

/// A role and who fills it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSpec {
    /// The role's name.
    pub name: RoleName,
    /// Its agent.
    pub agent: AgentName,
    /// Agents that stand in for it, in their order, while its account lets nobody work.
    pub fallback: Vec<AgentName>,
    /// Pinned text that its agent is told beside the task.
    pub prompt: Option<BlobId>,
    /// How its retries are spread in time, when it says so itself.
    pub retry: Option<Retry>,
}

/// How an agent is started. Data of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSpec {
    /// Argv template: `{prompt}`, `{prompt_file}`, `{feature}`, `{run}`, `{iteration}`, `{attempt}`.
    pub argv: Vec<String>,
    /// How the prompt reaches it.
    pub prompt: PromptChannel,
    /// Environment that the config adds.
    pub env: BTreeMap<String, String>,
    /// Limit of one attempt, in milliseconds on the monotonic clock.
    pub timeout_ms: u64,
    /// Time between TERM and the end of its tree, in milliseconds.
    pub grace_ms: u64,
    /// Whether it gets a terminal of its own, which people can attach to.
    pub terminal: bool,
    /// How its output and its end are understood.
    pub manifest: Manifest,
}

/// How a prompt reaches an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptChannel {
    /// On standard input, then end of file.
    Stdin,
    /// As an argument, where the template says `{prompt}`.
    Argv,
    /// As a file whose path stands where the template says `{prompt_file}`.
    File,
}

/// How a gate is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSpec {
    /// What is executed.
    pub run: GateRun,
    /// Environment that the config adds.
    pub env: BTreeMap<String, String>,
    /// Paths within the checkout that are kept from one run of a gate to the next.
    pub cache: Vec<String>,
    /// Limit, in milliseconds on the monotonic clock.
    pub timeout_ms: u64,
    /// Gates that must have passed on the same commit before it begins.
    pub needs: Vec<GateName>,
    /// Failures on one commit after which it is tried again.
    pub retries: u32,
    /// Whether no other gate of the feature runs beside it.
    pub alone: bool,
    /// What it is to leave beside its exit code.
    pub promises: Promises,
}

/// What a gate executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateRun {
    /// An argv, without a shell.
    Argv(Vec<String>),
    /// A text for `bash -eo pipefail -c`.
    Script(String),
}

/// How changes reach the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingSpec {
    /// Form of the landed change.
    pub strategy: Strategy,
    /// Gates that the merged tree must pass, in order.
    pub merge_gates: Vec<GateName>,
    /// The message of the landing commit, with `{feature}`, `{title}`, `{run}`, `{target}` and
    /// `{branch}`; `None`: what the strategy says.
    pub message: Option<String>,
    /// Where it goes beside the local target.
    pub remote: RemoteSync,
}

/// Form of the landed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// A merge commit with both parents.
    Merge,
    /// One commit on top of the target.
    Squash,
    /// The branch's commits on top of the target.
    Rebase,
}

/// Who consents to a landing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewPolicy {
    /// The gates decide.
    Auto,
    /// A person approves.
    Person,
    /// An agent in the role of the reviewer judges.
    Agent,
}

/// What is done with a change that weakens the checks that judge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntegrityPolicy {
    /// A person decides.
    #[default]
    Person,
    /// It is shown in the review.
    Note,
    /// Nobody looks.
    Off,
}

/// Where a landing goes beside the local target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemoteSync {
    /// To the branch that the target follows, where it follows one.
    #[default]
    Auto,
    /// Nowhere.
    Off,
}

/// What is done with a feature whose planned change meets that of another one under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CollisionPolicy {
    /// A person decides.
    Reject,
    /// The later one waits until the other one has ended.
    #[default]
    Serialise,
    /// Both go on.
    Allow,
}

/// What a failed feature means for later waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// No later wave starts.
    Stop,
    /// Only its dependants are skipped.
    Continue,
}

/// Who commits an agent's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitRule {
    /// Tidegate commits what an agent left over.
    Auto,
    /// Only the agent's own commits count.
    Agent,
}

impl Role {
    /// All of them, in the order of the pipeline.
    pub const ALL: [Self; 5] =
        [Self::Planner, Self::Builder, Self::Qa, Self::Reviewer, Self::Reconciler];

    /// Its word, which is the name of its table in the config unless a feature says otherwise.
    pub fn word(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Builder => "builder",
            Self::Qa => "qa",
            Self::Reviewer => "reviewer",
            Self::Reconciler => "reconciler",
        }
    }

    /// The word of a feature's state while an agent of this role works on it.
    pub fn state_word(self) -> &'static str {
        match self {
            Self::Planner => "planning",
            Self::Builder => "building",
            Self::Qa => "verifying",
            Self::Reviewer => "in_review",
            Self::Reconciler => "reconciling",
        }
    }
}

impl PlanSpec {
    /// The number of the wave that `feature` is in.
    pub fn wave_of(&self, feature: &FeatureId) -> Option<u32> {
        self.waves.iter().find(|w| w.features.contains(feature)).map(|w| w.number)
    }

    /// Who works on `feature` in `role`: the name of the role and the agent. `None` when nobody does.
    pub fn worker<'a>(
        &'a self,
        feature: &'a FeatureSpec,
        role: Role,
    ) -> Option<(&'a RoleName, &'a AgentName)> {
        let worker = self.role_spec(feature, role)?;
        let own = feature.agent.as_ref().filter(|_| role == Role::Builder);
        Some((&worker.name, own.unwrap_or(&worker.agent)))
    }

    /// How `role` is filled in `feature`, when it is.
    pub fn role_spec<'a>(&'a self, feature: &'a FeatureSpec, role: Role) -> Option<&'a RoleSpec> {
        let plans = (role == Role::Builder).then_some(&self.builder);
        feature.crew.get(&role).or(plans)
    }

    /// The role and the agent that a job's role name stands for in `feature`.
    pub fn role_named<'a>(
        &'a self,
        feature: &'a FeatureSpec,
        name: &RoleName,
    ) -> Option<(Role, &'a AgentName)> {
        Role::ALL.into_iter().find_map(|role| {
            let (found, agent) = self.worker(feature, role)?;
            (found == name).then_some((role, agent))
        })
    }

    /// Those gates and all that they need, each once, in an order in which needs come first.
    pub fn with_needs<'a>(&'a self, named: &[&'a GateName]) -> Vec<&'a GateName> {
        let mut all: Vec<&GateName> = Vec::new();
        // A circle cannot be walked for ever: a gate is opened once.
        let mut opened: BTreeSet<&GateName> = BTreeSet::new();
        let mut stack: Vec<(&GateName, bool)> =
            named.iter().rev().map(|gate| (*gate, false)).collect();
        while let Some((gate, done)) = stack.pop() {
            if done {
                all.push(gate);
            } else if opened.insert(gate) {
                stack.push((gate, true));
                let needs = self.gates.get(gate).map(|gate| gate.needs.as_slice());
                stack.extend(needs.unwrap_or_default().iter().rev().map(|need| (need, false)));
            }
        }
        all
    }

    /// The features in the order of waves and of the plan within them.
    pub fn in_order(&self) -> impl Iterator<Item = (u32, &FeatureId)> {
        self.waves.iter().flat_map(|w| w.features.iter().map(move |f| (w.number, f)))
    }
}
