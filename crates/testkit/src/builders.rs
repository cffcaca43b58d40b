//! Values that tests need again and again: plans, launchers, and the requests that submit them.

use std::collections::BTreeMap;

use tidegate_core::evidence::Promises;
use tidegate_core::home::Place;
use tidegate_core::ids::{
    AdhocId, AgentName, BlobId, FeatureId, GateName, InvalidName, LaneName, RoleName,
};
use tidegate_core::launcher::{Launcher, LauncherSpec, Selection, SelectionStyle};
use tidegate_core::limits::{FEATURES_PER_RUN, GRACE_MS};
use tidegate_core::plan::{
    AgentSpec, CollisionPolicy, CommitRule, FeatureSpec, GateRun, GateSpec, IntegrityPolicy,
    LandingSpec, OnFailure, PlanSpec, PromptChannel, RemoteSync, ReviewPolicy, RoleSpec, Strategy,
    WaveSpec,
};
use tidegate_core::run::{Plan, Work};
use tidegate_daemon::engine::{Command, Submit};
use tidegate_store::blob_id;

/// How long an agent or a gate of a sample may run, in milliseconds.
pub const SAMPLE_TIMEOUT_MS: u64 = 60_000;

/// Pinned bytes beside the work that names them.
pub type Blobs = Vec<(BlobId, Vec<u8>)>;

/// A place whose folder is `folder`, below a root that no test ever touches.
pub fn place(folder: &str) -> Place {
    Place { root: format!("/nowhere/{folder}"), common_dir: format!("/nowhere/{folder}/.git") }
}

/// Makes a plan step by step.
#[derive(Debug, Clone)]
pub struct PlanBuilder {
    spec: PlanSpec,
    blobs: Blobs,
}

impl PlanBuilder {
    /// A plan without waves for `refs/heads/main`: one builder, the gate `test` on branch and
    /// merge, automatic review.
    ///
    /// # Errors
    /// Never: the names are constants that fit.
    pub fn new(title: &str) -> Result<Self, InvalidName> {
        let source = format!("title = {title:?}\n").into_bytes();
        let agent = AgentName::new("scribe")?;
        let gate = GateName::new("test")?;
        let spec = PlanSpec {
            title: title.to_owned(),
            path: "plan.toml".to_owned(),
            source: blob_id(&source),
            config: None,
            target: "refs/heads/main".to_owned(),
            waves: Vec::new(),
            features: BTreeMap::new(),
            agents: BTreeMap::from([(agent.clone(), sample_agent())]),
            builder: RoleSpec {
                name: RoleName::new("builder")?,
                agent,
                fallback: Vec::new(),
                prompt: None,
                retry: None,
            },
            gates: BTreeMap::from([(gate.clone(), sample_gate())]),
            landing: LandingSpec {
                strategy: Strategy::Merge,
                merge_gates: vec![gate],
                message: None,
                remote: RemoteSync::Off,
            },
            review: ReviewPolicy::Auto,
            integrity: IntegrityPolicy::Off,
            integrity_by_kind: BTreeMap::new(),
            same_max: 3,
            budgets: tidegate_core::budget::Budgets::default(),
            collisions: CollisionPolicy::default(),
            on_failure: OnFailure::Stop,
            commit: CommitRule::Auto,
            active_max: FEATURES_PER_RUN,
            user_config: None,
            snapshot_every_ms: None,
            retry: tidegate_core::run::Retry::default(),
            stall_after_ms: None,
            env_pass: Vec::new(),
            worktree: tidegate_core::workplace::WorktreeSpec::default(),
        };
        Ok(Self { blobs: vec![(spec.source.clone(), source)], spec })
    }

    /// Adds a wave of features, each with the gate `test`.
    ///
    /// # Errors
    /// [`InvalidName`] of a feature.
    pub fn wave(mut self, ids: &[&str]) -> Result<Self, InvalidName> {
        let number = u32::try_from(self.spec.waves.len() + 1).unwrap_or(u32::MAX);
        let mut features = Vec::new();
        for id in ids {
            let prompt = format!("Make {id}.").into_bytes();
            let feature = FeatureSpec {
                title: format!("Make {id}"),
                prompt: blob_id(&prompt),
                needs: Vec::new(),
                paths: Vec::new(),
                locks: Vec::new(),
                gates: vec![GateName::new("test")?],
                agent: None,
                crew: BTreeMap::new(),
                allow_no_change: false,
                iterations_max: tidegate_core::limits::ITERATIONS_MAX,
                attempts_max: tidegate_core::limits::ATTEMPTS_MAX,
            };
            let id = FeatureId::new(*id)?;
            self.blobs.push((feature.prompt.clone(), prompt));
            self.spec.features.insert(id.clone(), feature);
            features.push(id);
        }
        self.spec.waves.push(WaveSpec { number, name: format!("wave {number}"), features });
        Ok(self)
    }

    /// Lets `change` set whatever else the plan is to say.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut PlanSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// The work and its pinned bytes.
    pub fn build(self) -> (Work, Blobs) {
        let state = Plan::new(&self.spec);
        (Work::Plan { spec: self.spec, state }, self.blobs)
    }
}

fn sample_agent() -> AgentSpec {
    AgentSpec {
        argv: vec!["scribe".to_owned()],
        prompt: PromptChannel::Stdin,
        env: BTreeMap::new(),
        timeout_ms: SAMPLE_TIMEOUT_MS,
        grace_ms: GRACE_MS,
        terminal: false,
        manifest: tidegate_core::manifest::Manifest::default(),
    }
}

/// A gate that runs `true`.
pub fn sample_gate() -> GateSpec {
    GateSpec {
        run: GateRun::Argv(vec!["true".to_owned()]),
        env: BTreeMap::new(),
        cache: Vec::new(),
        timeout_ms: SAMPLE_TIMEOUT_MS,
        needs: Vec::new(),
        retries: 0,
        alone: false,
        promises: Promises::default(),
    }
}

/// A launcher run of `argv` for the waves of `selection`, which may be resumed `resumes_max` times.
pub fn launcher(argv: &[&str], selection: Selection, resumes_max: u32) -> Work {
    let spec = LauncherSpec {
        argv: argv.iter().map(|part| (*part).to_owned()).collect(),
        cwd: "/nowhere".to_owned(),
        selection,
        style: SelectionStyle::EnvironmentOnly,
        resumes_max,
        timeout_ms: None,
        terminal: false,
        stall_after_ms: None,
    };
    Work::Launcher { spec, state: Launcher::default() }
}

/// The request that submits `work` into `lane` of the repository at `place`.
pub fn submit(
    place: Place,
    (lane, adhoc): (LaneName, Option<AdhocId>),
    work: Work,
    blobs: Blobs,
) -> Command {
    Command::Submit(Box::new(Submit {
        priority: 0,
        place,
        project: None,
        lane,
        adhoc,
        actor: "tester".to_owned(),
        env: b"PATH=/bin\0".to_vec(),
        work,
        blobs,
        parent: None,
    }))
}
