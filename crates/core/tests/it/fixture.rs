//! Small plans, launchers and records to test with, and a way to drive a run through inputs.

use std::collections::BTreeMap;

use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use tidegate_core::evidence::{Evidence, Promises};
use tidegate_core::exit::{Exit, Identity, Reason, Started};
use tidegate_core::ids::{
    AgentName, BlobId, FeatureId, GateName, JobId, LaneName, LockName, Oid, ProjectId, QueueKey,
    RoleName, RunId,
};
use tidegate_core::integrity::Kind;
use tidegate_core::launcher::{Launcher, LauncherSpec, Selection, SelectionStyle};
use tidegate_core::plan::{
    AgentSpec, CollisionPolicy, CommitRule, FeatureSpec, GateRun, GateSpec, IntegrityPolicy,
    LandingSpec, OnFailure, PlanSpec, PromptChannel, RemoteSync, ReviewPolicy, Role, RoleSpec,
    Strategy, WaveSpec,
};
use tidegate_core::run::{
    CaptureOutcome, Captured, Effect, EffectKey, Event, Input, Plan, Report, Run, Submitted, Work,
    step,
};
use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_core::workplace::{HookSpec, WorktreeSpec};

pub(crate) const NOW: Now = Now { wall: WallMs(1_000), boot: BootMs(10), entropy: 7 };

pub(crate) fn oid(n: u32) -> Oid {
    Oid::new(format!("{n:040x}")).unwrap()
}

pub(crate) fn blob() -> BlobId {
    BlobId::new("ab".repeat(32)).unwrap()
}

pub(crate) fn fid(id: &str) -> FeatureId {
    FeatureId::new(id).unwrap()
}

/// The shape of a plan, where it differs from the simplest one.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Waves of features, each with the features that it needs.
    pub(crate) waves: Vec<Vec<(String, Vec<String>)>>,
    pub(crate) gates: usize,
    pub(crate) merge_gates: usize,
    pub(crate) review: ReviewPolicy,
    pub(crate) integrity: IntegrityPolicy,
    pub(crate) kinds: BTreeMap<Kind, IntegrityPolicy>,
    pub(crate) same_max: u32,
    /// What its agents may use.
    pub(crate) budgets: tidegate_core::budget::Budgets,
    /// What each feature must have for itself.
    pub(crate) locks: Vec<&'static str>,
    pub(crate) collisions: CollisionPolicy,
    pub(crate) crew: Vec<Role>,
    pub(crate) on_failure: OnFailure,
    pub(crate) allow_no_change: bool,
    pub(crate) iterations_max: u32,
    pub(crate) attempts_max: u32,
    pub(crate) active_max: u32,
    /// Whether worktrees have a setup and a teardown.
    pub(crate) hooks: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            waves: waves(&[&["a"], &["b"]]),
            gates: 1,
            merge_gates: 1,
            review: ReviewPolicy::Auto,
            integrity: IntegrityPolicy::Off,
            kinds: BTreeMap::new(),
            same_max: 0,
            budgets: tidegate_core::budget::Budgets::default(),
            locks: Vec::new(),
            collisions: CollisionPolicy::Serialise,
            crew: Vec::new(),
            on_failure: OnFailure::Stop,
            allow_no_change: false,
            iterations_max: 2,
            attempts_max: 2,
            active_max: 5,
            hooks: false,
        }
    }
}

pub(crate) fn waves(names: &[&[&str]]) -> Vec<Vec<(String, Vec<String>)>> {
    let wave = |wave: &&[&str]| wave.iter().map(|f| ((*f).to_owned(), Vec::new())).collect();
    names.iter().map(wave).collect()
}

fn gate_names(kind: &str, count: usize) -> Vec<GateName> {
    (0..count).map(|n| named_gate(&format!("{kind}{n}"))).collect()
}

pub(crate) fn named_gate(name: &str) -> GateName {
    GateName::new(name).unwrap()
}

/// The first of its kind is plain, the second one is tried twice, the third one needs the first
/// one, and the fourth one runs alone.
fn gate_spec(name: &GateName) -> GateSpec {
    let (kind, number) = name.as_str().split_at(name.as_str().len() - 1);
    let needs = if number == "2" { vec![named_gate(&format!("{kind}0"))] } else { Vec::new() };
    GateSpec {
        run: GateRun::Argv(vec!["true".to_owned()]),
        env: BTreeMap::new(),
        cache: Vec::new(),
        timeout_ms: 1_000,
        needs,
        retries: u32::from(number == "1"),
        alone: number == "3",
        promises: Promises::default(),
    }
}

fn role_spec(name: &str) -> RoleSpec {
    let agent = AgentName::new("scribe").unwrap();
    RoleSpec {
        name: RoleName::new(name).unwrap(),
        agent,
        fallback: Vec::new(),
        prompt: None,
        retry: None,
    }
}

fn worktree_spec(hooks: bool) -> WorktreeSpec {
    let hook = || HookSpec {
        run: GateRun::Argv(vec!["true".to_owned()]),
        env: BTreeMap::new(),
        timeout_ms: 1_000,
    };
    let hook = || hooks.then(hook);
    WorktreeSpec { setup: hook(), teardown: hook(), ..WorktreeSpec::default() }
}

pub(crate) fn plan_spec(shape: &Shape) -> PlanSpec {
    let feature = |needs: &Vec<String>| FeatureSpec {
        title: "a change".to_owned(),
        prompt: blob(),
        needs: needs.iter().map(|need| fid(need)).collect(),
        paths: Vec::new(),
        locks: shape.locks.iter().map(|lock| LockName::new(*lock).unwrap()).collect(),
        gates: gate_names("gate", shape.gates),
        agent: None,
        allow_no_change: shape.allow_no_change,
        iterations_max: shape.iterations_max,
        crew: shape.crew.iter().map(|role| (*role, role_spec(role.word()))).collect(),
        attempts_max: shape.attempts_max,
    };
    let all = shape.waves.iter().flatten();
    let wave = |(n, wave): (usize, &Vec<(String, Vec<String>)>)| WaveSpec {
        number: u32::try_from(n).unwrap() + 1,
        name: format!("wave {n}"),
        features: wave.iter().map(|(id, _)| fid(id)).collect(),
    };
    let merge_gates = gate_names("merged", shape.merge_gates);
    let named = gate_names("gate", shape.gates).into_iter().chain(merge_gates.clone());
    let scribe = AgentName::new("scribe").unwrap();
    let agent = AgentSpec {
        argv: vec!["scribe".to_owned()],
        prompt: PromptChannel::Stdin,
        env: BTreeMap::new(),
        timeout_ms: 1_000,
        grace_ms: 10,
        terminal: false,
        manifest: tidegate_core::manifest::Manifest::default(),
    };
    PlanSpec {
        title: "a plan".to_owned(),
        path: "plan.toml".to_owned(),
        source: blob(),
        config: None,
        target: "refs/heads/main".to_owned(),
        waves: shape.waves.iter().enumerate().map(wave).collect(),
        features: all.map(|(id, needs)| (fid(id), feature(needs))).collect(),
        agents: BTreeMap::from([(scribe.clone(), agent)]),
        builder: role_spec("builder"),
        gates: named.map(|name| (name.clone(), gate_spec(&name))).collect(),
        landing: LandingSpec {
            strategy: Strategy::Merge,
            merge_gates,
            message: None,
            remote: RemoteSync::Off,
        },
        review: shape.review,
        integrity: shape.integrity,
        integrity_by_kind: shape.kinds.clone(),
        same_max: shape.same_max,
        budgets: shape.budgets,
        collisions: shape.collisions,
        on_failure: shape.on_failure,
        commit: CommitRule::Auto,
        active_max: shape.active_max,
        user_config: None,
        snapshot_every_ms: None,
        retry: tidegate_core::run::Retry::default(),
        stall_after_ms: None,
        env_pass: Vec::new(),
        worktree: worktree_spec(shape.hooks),
    }
}

pub(crate) fn submitted(seq: u64, work: Work) -> Submitted {
    Submitted {
        priority: 0,
        id: RunId::from_parts(seq, 5),
        seq,
        queue: QueueKey {
            project: ProjectId::new("harbour").unwrap(),
            lane: LaneName::new("main").unwrap(),
            adhoc: None,
        },
        actor: "ann".to_owned(),
        at: WallMs(1),
        env: blob(),
        parent: None,
        work,
    }
}

/// A pending run of a plan of that shape.
pub(crate) fn plan_run(shape: &Shape) -> Run {
    plan_run_of(1, shape)
}

pub(crate) fn plan_run_of(number: u64, shape: &Shape) -> Run {
    let spec = plan_spec(shape);
    let state = Plan::new(&spec);
    Run::from_submitted(&submitted(number, Work::Plan { spec, state }))
}

pub(crate) fn launcher_spec() -> LauncherSpec {
    LauncherSpec {
        argv: vec!["orchestra".to_owned()],
        cwd: "/repo".to_owned(),
        selection: Selection { start_wave: Some(1), end_wave: Some(3), auto_next: false },
        style: SelectionStyle::EnvironmentOnly,
        resumes_max: 1,
        timeout_ms: None,
        terminal: false,
        stall_after_ms: None,
    }
}

/// A pending run of a launcher.
pub(crate) fn launcher_run(spec: LauncherSpec) -> Run {
    Run::from_submitted(&submitted(1, Work::Launcher { spec, state: Launcher::default() }))
}

pub(crate) fn identity(pid: u32) -> Identity {
    Identity { pid, start_ticks: 5, boot_id: "boot".to_owned(), pidfs_inode: 9 }
}

pub(crate) fn started(pid: u32) -> Started {
    Started { shim: identity(pid), child: identity(pid + 1), at: WallMs(20) }
}

/// An end with a reason, a code and nothing more.
pub(crate) fn exit(reason: Reason, code: Option<i32>) -> Exit {
    Exit { code, ran_ms: 5, ..Exit::lost(reason, WallMs(30)) }
}

pub(crate) fn exited(code: i32) -> Exit {
    exit(Reason::Exited, Some(code))
}

pub(crate) fn stopped() -> Exit {
    exit(Reason::Stopped { actor: "ann".to_owned() }, None)
}

pub(crate) fn claim() -> Input {
    Input::Claim { supervisor: "home-1".to_owned() }
}

pub(crate) fn cancel() -> Input {
    Input::Cancel { actor: "ann".to_owned() }
}

pub(crate) fn job(run: &Run, number: u32) -> JobId {
    JobId::new(run.id.clone(), number)
}

/// The newest job of the run.
pub(crate) fn newest(run: &Run) -> JobId {
    run.jobs.keys().next_back().cloned().unwrap_or_else(|| job(run, 1))
}

pub(crate) fn job_started(job: JobId) -> Input {
    Input::Report(Report::JobStarted { job, started: started(100) })
}

pub(crate) fn job_finished(job: JobId, exit: Exit) -> Input {
    job_left(job, exit, None)
}

/// A gate's end, with what it left.
pub(crate) fn job_left(job: JobId, exit: Exit, evidence: Option<Evidence>) -> Input {
    let ingested = tidegate_core::run::Ingested::default();
    let evidence = evidence.map(Box::new);
    Input::Report(Report::JobFinished { job, started: None, exit, ingested, evidence })
}

pub(crate) fn captured() -> Captured {
    Captured { number: 1, commit: oid(60), files: 3, left_out: 0, cost_ms: 2 }
}

/// Captures what the agents that have ended left, as an adapter would.
pub(crate) fn capture_all(run: &mut Run) -> Vec<Event> {
    let of = |(key, effect): (EffectKey, Effect)| {
        let Effect::Capture { feature, job, .. } = effect else { return None };
        let outcome = CaptureOutcome::Taken(captured());
        Some(Input::Answer { key, report: Report::Captured { feature, job, outcome } })
    };
    let answers: Vec<Input> = run.outstanding().into_iter().filter_map(of).collect();
    answers.iter().flat_map(|answer| take(run, answer)).collect()
}

/// Moves the run by an input that it must accept.
pub(crate) fn take(run: &mut Run, input: &Input) -> Vec<Event> {
    let next = step(run, input, NOW).unwrap_or_else(|refused| panic!("{input:?}: {refused}"));
    *run = next.run;
    next.events
}

/// The same stories at every run; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` tell others.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let seed = match asked.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    ProptestConfig { cases, rng_seed: seed, failure_persistence: None, ..asked }
}

/// The names of the facts, for short comparisons.
pub(crate) fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::kind).collect()
}
