//! What the runs of these tests execute.

use std::collections::BTreeMap;

use tidegate_core::ids::{AgentName, FeatureId, GateName, RoleName};
use tidegate_core::launcher::{Launcher, LauncherSpec, Selection, SelectionStyle};
use tidegate_core::plan::{
    AgentSpec, CollisionPolicy, CommitRule, FeatureSpec, GateRun, GateSpec, IntegrityPolicy,
    LandingSpec, OnFailure, PlanSpec, PromptChannel, RemoteSync, ReviewPolicy, RoleSpec, Strategy,
    WaveSpec,
};
use tidegate_core::run::{Plan, Work};
use tidegate_store::blob_id;

/// A launcher with these waves to run.
pub(crate) fn launcher(start: Option<u32>, end: Option<u32>, resumes_max: u32) -> Work {
    let spec = LauncherSpec {
        argv: vec!["sh".into(), "job.sh".into()],
        cwd: "/nowhere/harbour".into(),
        selection: Selection { start_wave: start, end_wave: end, auto_next: false },
        style: SelectionStyle::EnvironmentOnly,
        resumes_max,
        timeout_ms: None,
        terminal: false,
        stall_after_ms: None,
    };
    Work::Launcher { spec, state: Launcher::default() }
}

pub(crate) fn feature_id(text: &str) -> FeatureId {
    FeatureId::new(text).unwrap()
}

fn landing() -> LandingSpec {
    let merge_gates = Vec::new();
    LandingSpec { strategy: Strategy::Merge, merge_gates, message: None, remote: RemoteSync::Off }
}

/// `berths` and `quays` in wave 1, then `board`, which needs `berths`; one slot.
pub(crate) fn plan(review: ReviewPolicy) -> Work {
    let feature = |needs: &[&str]| FeatureSpec {
        title: "a feature".into(),
        prompt: blob_id(b"pinned"),
        needs: needs.iter().map(|id| feature_id(id)).collect(),
        paths: Vec::new(),
        locks: Vec::new(),
        gates: vec![GateName::new("test").unwrap()],
        agent: None,
        crew: BTreeMap::new(),
        allow_no_change: false,
        iterations_max: 2,
        attempts_max: 2,
    };
    let agent = AgentSpec {
        argv: vec!["./write.sh".into()],
        prompt: PromptChannel::Stdin,
        env: BTreeMap::new(),
        timeout_ms: 1000,
        grace_ms: 100,
        terminal: false,
        manifest: tidegate_core::manifest::Manifest::default(),
    };
    let gate = gate();
    let wave = |number, features: &[&str]| WaveSpec {
        number,
        name: format!("wave {number}"),
        features: features.iter().map(|id| feature_id(id)).collect(),
    };
    let spec = PlanSpec {
        title: "Harbour board".into(),
        path: "plan.toml".into(),
        source: blob_id(b"pinned"),
        config: None,
        target: "refs/heads/main".into(),
        waves: vec![wave(1, &["berths", "quays"]), wave(2, &["board"])],
        features: BTreeMap::from([
            (feature_id("berths"), feature(&[])),
            (feature_id("quays"), feature(&[])),
            (feature_id("board"), feature(&["berths"])),
        ]),
        agents: BTreeMap::from([(AgentName::new("scribe").unwrap(), agent)]),
        builder: RoleSpec {
            retry: None,
            name: RoleName::new("builder").unwrap(),
            agent: AgentName::new("scribe").unwrap(),
            fallback: Vec::new(),
            prompt: None,
        },
        gates: BTreeMap::from([(GateName::new("test").unwrap(), gate)]),
        landing: landing(),
        review,
        integrity: IntegrityPolicy::Off,
        integrity_by_kind: BTreeMap::new(),
        same_max: 3,
        budgets: tidegate_core::budget::Budgets::default(),
        collisions: CollisionPolicy::default(),
        on_failure: OnFailure::Stop,
        commit: CommitRule::Auto,
        active_max: 1,
        user_config: None,
        snapshot_every_ms: None,
        retry: tidegate_core::run::Retry::default(),
        stall_after_ms: None,
        env_pass: Vec::new(),
        worktree: tidegate_core::workplace::WorktreeSpec::default(),
    };
    let state = Plan::new(&spec);
    Work::Plan { spec, state }
}

/// A gate that runs `true`.
fn gate() -> GateSpec {
    GateSpec {
        run: GateRun::Argv(vec!["true".into()]),
        env: BTreeMap::new(),
        cache: Vec::new(),
        timeout_ms: 1000,
        needs: Vec::new(),
        retries: 0,
        alone: false,
        promises: tidegate_core::evidence::Promises::default(),
    }
}
