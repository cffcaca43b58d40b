//! Runs, moments and stores for tests.

use std::collections::BTreeMap;
use std::path::Path;

use tidegate_core::ids::{
    AdhocId, AgentName, FeatureId, GateName, LaneName, ProjectId, QueueKey, RoleName, RunId,
};
use tidegate_core::launcher::{Launcher, LauncherSpec, Selection, SelectionStyle};
use tidegate_core::manifest::Manifest;
use tidegate_core::plan::{
    AgentSpec, CollisionPolicy, CommitRule, FeatureSpec, GateRun, GateSpec, IntegrityPolicy,
    LandingSpec, OnFailure, PlanSpec, PromptChannel, RemoteSync, ReviewPolicy, RoleSpec, Strategy,
    WaveSpec,
};
use tidegate_core::run::{Event, Plan, Run, Submitted, Work};
use tidegate_core::time::WallMs;
use tidegate_store::{Began, Options, Savepoint, Store, StoreError, blob_id};

/// The moment at which tests begin.
pub(crate) const AT: WallMs = WallMs(1_700_000_000_000);

/// The bytes that every test run pins.
pub(crate) const PINNED: &[u8] = b"PATH=/usr/bin:/bin";

/// Opens a store without ballast.
pub(crate) fn open(home: &Path) -> Store {
    Store::open_with(home, Options { ballast_bytes: 0 }).unwrap()
}

/// Opens a store and takes an epoch.
pub(crate) fn begin(home: &Path) -> (Store, Began) {
    let mut store = open(home);
    let began = store.begin_epoch(4711, "0.1.0", AT).unwrap();
    (store, began)
}

/// The queue `lane` of the project `harbour`.
pub(crate) fn queue(lane: &str) -> QueueKey {
    QueueKey {
        project: ProjectId::new("harbour").unwrap(),
        lane: LaneName::new(lane).unwrap(),
        adhoc: None,
    }
}

/// A launcher that has waves 1 to 3 to run.
pub(crate) fn launcher_work() -> Work {
    let spec = LauncherSpec {
        argv: vec!["sh".into(), "-c".into(), "exit 3".into()],
        cwd: "/srv/harbour".into(),
        selection: Selection { start_wave: Some(1), end_wave: Some(3), auto_next: false },
        style: SelectionStyle::Append,
        resumes_max: 1,
        timeout_ms: Some(60_000),
        terminal: false,
        stall_after_ms: None,
    };
    Work::Launcher { spec, state: Launcher::default() }
}

fn builder() -> RoleSpec {
    let (name, agent) = (RoleName::new("builder").unwrap(), AgentName::new("scribe").unwrap());
    RoleSpec { name, agent, fallback: Vec::new(), prompt: None, retry: None }
}

fn landing() -> LandingSpec {
    let merge_gates = vec![GateName::new("test").unwrap()];
    LandingSpec { strategy: Strategy::Merge, merge_gates, message: None, remote: RemoteSync::Off }
}

fn agent() -> AgentSpec {
    AgentSpec {
        argv: vec!["./write.sh".into()],
        prompt: PromptChannel::Stdin,
        env: BTreeMap::from([("A".to_owned(), "b=c\n".to_owned())]),
        timeout_ms: 1000,
        grace_ms: 100,
        terminal: false,
        manifest: Manifest::default(),
    }
}

fn gate() -> GateSpec {
    GateSpec {
        run: GateRun::Argv(vec!["cargo".into(), "test".into()]),
        env: BTreeMap::new(),
        cache: vec!["target".into()],
        timeout_ms: 1000,
        needs: Vec::new(),
        retries: 1,
        alone: false,
        promises: tidegate_core::evidence::Promises::default(),
    }
}

/// A plan of two waves: `berths` and `quays`, then `board`, which needs `berths`.
pub(crate) fn plan_work(review: ReviewPolicy) -> Work {
    let prompt = blob_id(PINNED);
    let feature = |needs: &[&str]| FeatureSpec {
        title: "a feature".into(),
        prompt: prompt.clone(),
        needs: needs.iter().map(|id| FeatureId::new(*id).unwrap()).collect(),
        paths: vec!["src/**".into()],
        locks: vec![tidegate_core::ids::LockName::new("db").unwrap()],
        gates: vec![GateName::new("test").unwrap()],
        agent: None,
        crew: BTreeMap::new(),
        allow_no_change: false,
        iterations_max: 3,
        attempts_max: 2,
    };
    let id = |text: &str| FeatureId::new(text).unwrap();
    let gate = gate();
    let spec = PlanSpec {
        title: "Harbour board".into(),
        path: "plans/harbour.toml".into(),
        source: prompt.clone(),
        config: None,
        target: "refs/heads/main".into(),
        waves: vec![
            WaveSpec {
                number: 1,
                name: "foundations".into(),
                features: vec![id("berths"), id("quays")],
            },
            WaveSpec { number: 2, name: "surface".into(), features: vec![id("board")] },
        ],
        features: BTreeMap::from([
            (id("berths"), feature(&[])),
            (id("quays"), feature(&[])),
            (id("board"), feature(&["berths"])),
        ]),
        agents: BTreeMap::from([(AgentName::new("scribe").unwrap(), agent())]),
        builder: builder(),
        gates: BTreeMap::from([(GateName::new("test").unwrap(), gate)]),
        landing: landing(),
        review,
        integrity: IntegrityPolicy::Off,
        integrity_by_kind: BTreeMap::new(),
        same_max: 3,
        budgets: tidegate_core::budget::Budgets::default(),
        collisions: CollisionPolicy::default(),
        on_failure: OnFailure::Continue,
        commit: CommitRule::Auto,
        active_max: 2,
        user_config: None,
        snapshot_every_ms: None,
        retry: tidegate_core::run::Retry::default(),
        stall_after_ms: None,
        env_pass: vec!["LANG".into()],
        worktree: tidegate_core::workplace::WorktreeSpec::default(),
    };
    let state = Plan::new(&spec);
    Work::Plan { spec, state }
}

/// Submits a run within a turn, as the engine does.
pub(crate) fn submit(
    savepoint: &mut Savepoint<'_>,
    lane: &str,
    adhoc: Option<&str>,
    work: Work,
    entropy: u64,
) -> Result<Run, StoreError> {
    let env = blob_id(PINNED);
    savepoint.put_blob(&env, PINNED)?;
    let seq = savepoint.next_seq();
    let mut queue = queue(lane);
    queue.adhoc = adhoc.map(|id| AdhocId::new(id).unwrap());
    let submitted = Submitted {
        priority: 0,
        id: RunId::from_parts(seq, entropy),
        seq,
        queue,
        actor: "user".into(),
        at: AT,
        env,
        parent: None,
        work,
    };
    let run = Run::from_submitted(&submitted);
    savepoint.save(None, &run, &[Event::Submitted(Box::new(submitted))], AT)?;
    Ok(run)
}

/// Submits a launcher run in a turn of its own.
pub(crate) fn submit_one(store: &mut Store, lane: &str) -> Run {
    let work = launcher_work();
    store.turn(|turn| turn.input(|s| submit(s, lane, None, work, 7))).unwrap().unwrap()
}
