//! Samples of what runs execute.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use tidegate_core::budget::{Budget, Budgets};
use tidegate_core::evidence::{CoverageRule, Measure, Promises};
use tidegate_core::exit::Reason;
use tidegate_core::ids::{AgentName, GateName, RoleName};
use tidegate_core::integrity::Kind;
use tidegate_core::launcher::{Degraded, Launcher, LauncherSpec, Selection, SelectionStyle};
use tidegate_core::manifest::{
    ClassRule, Emit, EventRule, Manifest, Match, Permissions, Protocol, Scalar, SessionRule,
    StreamForm, UsageRule, UsageScope,
};
use tidegate_core::plan::{
    AgentSpec, CollisionPolicy, CommitRule, FeatureSpec, GateRun, GateSpec, IntegrityPolicy,
    LandingSpec, OnFailure, PlanSpec, PromptChannel, RemoteSync, ReviewPolicy, RoleSpec, Strategy,
    WaveSpec,
};
use tidegate_core::run::{Added, Feature, Plan, Work};
use tidegate_core::time::WallMs;
use tidegate_core::told::Class;
use tidegate_core::workplace::{HookSpec, LfsPolicy, SubmodulePolicy, WorktreeSpec};

use super::parts::{
    agent, exit, feature, feature_states, feedbacks, furnished, gate, in_line, job, journal, lock,
    paths, registrations, settlements, tested,
};

pub(super) fn launcher_spec(style: SelectionStyle) -> LauncherSpec {
    LauncherSpec {
        argv: vec!["sh".into()],
        cwd: "/".into(),
        selection: Selection { start_wave: Some(0), end_wave: None, auto_next: true },
        style,
        resumes_max: 1,
        timeout_ms: None,
        terminal: true,
        stall_after_ms: None,
    }
}

pub(super) fn launcher_state() -> Launcher {
    Launcher {
        job: Some(job(1)),
        resumes: 2,
        resumes_since_progress: 1,
        resumed_wave: Some(1),
        journal: Some(journal()),
        active_wave: Some(1),
        registered: BTreeMap::from([(agent(), registrations().remove(0))]),
        started: BTreeMap::from([(agent(), job(2))]),
        degraded: Some(Degraded { end: exit(Reason::Signalled), agents: vec![agent()] }),
        settled: Some(settlements().remove(0)),
        swept: true,
    }
}

fn hook_spec(run: GateRun) -> HookSpec {
    let env = BTreeMap::from([("K".to_owned(), "v".to_owned())]);
    HookSpec { run, env, timeout_ms: 7 }
}

fn worktree_spec() -> WorktreeSpec {
    WorktreeSpec {
        setup: Some(hook_spec(GateRun::Argv(paths()))),
        teardown: Some(hook_spec(GateRun::Script("x | y".into()))),
        setup_gates: true,
        include: false,
        submodules: SubmodulePolicy::Off,
        lfs: LfsPolicy::Pull,
        ports: 2,
        port_first: 1024,
        port_last: 65535,
    }
}

/// A manifest that says all there is to say.
fn manifest() -> Manifest {
    let text = || Some("a.0.b".to_owned());
    let usage = UsageRule {
        input: text(),
        cached: text(),
        output: text(),
        cost: text(),
        scope: UsageScope::Step,
    };
    let rule = |(n, emit)| EventRule {
        when: [Scalar::Text("x".into()), Scalar::Number(-7), Scalar::Flag(true)]
            .map(|is| Match { path: "type".into(), is })
            .into(),
        emit,
        text: text(),
        status: text(),
        delay_ms: text(),
        until: text(),
        name: text(),
        id: text(),
        class: classes().get(n).copied(),
        usage: Some(usage.clone()),
    };
    let emits = [
        Emit::Text,
        Emit::ToolStart,
        Emit::ToolEnd,
        Emit::Waiting,
        Emit::Usage,
        Emit::Error,
        Emit::Completed,
        Emit::Failed,
        Emit::Interrupted,
        Emit::Limit,
    ];
    Manifest {
        provider: Some("tide".into()),
        stream: StreamForm::Jsonl,
        session: SessionRule { given: true, when: Vec::new(), key: text() },
        resume: paths(),
        events: emits.into_iter().enumerate().map(rule).collect(),
        classes: vec![ClassRule { pattern: ".".into(), class: Class::Other }],
        errors: paths(),
        gone: text(),
        exit: vec![0, 3],
        protocol: Protocol::ClaudeStream,
        permissions: Permissions::Asked,
        account: text(),
    }
}

/// Every kind of error.
pub(super) fn classes() -> [Class; 10] {
    [
        Class::RateLimit,
        Class::UsageLimit,
        Class::Auth,
        Class::BadModel,
        Class::BadRequest,
        Class::TooLong,
        Class::Server,
        Class::Network,
        Class::Permission,
        Class::Other,
    ]
}

fn feature_spec() -> FeatureSpec {
    FeatureSpec {
        title: "t".into(),
        prompt: crate::chain::blob_id(b"x"),
        needs: vec![feature("berths")],
        paths: paths(),
        locks: vec![lock()],
        gates: vec![gate()],
        agent: AgentName::new("scribe").ok(),
        crew: BTreeMap::new(),
        allow_no_change: true,
        iterations_max: 6,
        attempts_max: 3,
    }
}

pub(super) fn plan_spec() -> PlanSpec {
    let blob = crate::chain::blob_id(b"x");
    let scribe = AgentName::new("scribe").unwrap();
    let env = || BTreeMap::from([("K".to_owned(), "v".to_owned())]);
    let agent_spec = |prompt| AgentSpec {
        argv: paths(),
        prompt,
        env: env(),
        timeout_ms: u64::MAX,
        grace_ms: 0,
        terminal: true,
        manifest: if prompt == PromptChannel::Stdin { Manifest::default() } else { manifest() },
    };
    PlanSpec {
        title: "T".into(),
        path: "p.toml".into(),
        source: blob.clone(),
        config: Some(blob),
        target: "refs/heads/main".into(),
        waves: vec![WaveSpec { number: 1, name: "w".into(), features: vec![feature("berths")] }],
        features: BTreeMap::from([(feature("berths"), feature_spec())]),
        agents: BTreeMap::from([
            (scribe.clone(), agent_spec(PromptChannel::Stdin)),
            (AgentName::new("b").unwrap(), agent_spec(PromptChannel::Argv)),
            (AgentName::new("c").unwrap(), agent_spec(PromptChannel::File)),
        ]),
        builder: RoleSpec {
            name: RoleName::new("builder").unwrap(),
            agent: scribe,
            fallback: vec![AgentName::new("scribe").unwrap()],
            prompt: None,
            retry: None,
        },
        gates: BTreeMap::from([
            (gate(), gate_spec(GateRun::Argv(paths()))),
            (GateName::new("lint").unwrap(), gate_spec(GateRun::Script("x | y".into()))),
        ]),
        landing: LandingSpec {
            strategy: Strategy::Squash,
            merge_gates: vec![gate()],
            message: None,
            remote: RemoteSync::Off,
        },
        review: ReviewPolicy::Person,
        integrity: IntegrityPolicy::Off,
        integrity_by_kind: policies(),
        same_max: 3,
        budgets: Budgets {
            run: Budget { attempts: Some(9), time_ms: Some(8), cost_micros: Some(7) },
            ..Budgets::default()
        },
        collisions: CollisionPolicy::default(),
        on_failure: OnFailure::Stop,
        commit: CommitRule::Agent,
        active_max: 5,
        user_config: Some(crate::chain::blob_id(b"u")),
        snapshot_every_ms: Some(30_000),
        retry: tidegate_core::run::Retry { backoff_ms: 5, backoff_ms_max: 6 },
        stall_after_ms: Some(7),
        env_pass: vec!["LANG".into()],
        worktree: worktree_spec(),
    }
}

/// Features that join a run, with all that they bring.
pub(super) fn added() -> Added {
    let PlanSpec { features, agents, gates, .. } = plan_spec();
    Added { features, agents, gates }
}

pub(super) fn works() -> Vec<Work> {
    let mut works: Vec<Work> = [
        SelectionStyle::EnvironmentOnly,
        SelectionStyle::Append,
        SelectionStyle::ResumeArgv(paths()),
    ]
    .into_iter()
    .map(|style| Work::Launcher { spec: launcher_spec(style), state: Launcher::default() })
    .collect();
    let spec = launcher_spec(SelectionStyle::Append);
    works.push(Work::Launcher { spec, state: launcher_state() });
    let spec = plan_spec();
    let state = Plan::new(&spec);
    works.push(Work::Plan { spec, state });
    let mut spec = plan_spec();
    (spec.landing.strategy, spec.review) = (Strategy::Merge, ReviewPolicy::Auto);
    spec.worktree = WorktreeSpec::default();
    (spec.on_failure, spec.commit) = (OnFailure::Continue, CommitRule::Auto);
    let features = feature_states().into_iter().enumerate().map(|(place, state)| {
        let id = feature(&format!("f{place}"));
        let feedback = feedbacks().get(place % 6).cloned();
        (
            id,
            Feature {
                state,
                feedback,
                tested: Some(tested()),
                furnished: furnished(),
                raised: 1,
                run_raised: 2,
                locked: Some(WallMs(3)),
                held_by: Some("r1/a".into()),
                in_line: Some(in_line()),
                ..Feature::default()
            },
        )
    });
    works.push(Work::Plan { spec, state: Plan { features: features.collect() } });
    works
}

fn gate_spec(run: GateRun) -> GateSpec {
    GateSpec {
        run,
        env: BTreeMap::from([("K".to_owned(), "v".to_owned())]),
        cache: vec!["target".into()],
        timeout_ms: 5,
        needs: vec![gate()],
        retries: 2,
        alone: true,
        promises: promises(),
    }
}

fn promises() -> Promises {
    let least = Measure::ALL.into_iter().zip([8_000, 5_000, 1, 10_000]).collect();
    let files = BTreeMap::from([("src/**".to_owned(), 9_050)]);
    let coverage = Some(CoverageRule { file: "lcov.info".into(), least, files });
    Promises { reports: vec!["target/*.xml".into()], coverage, may_change: true }
}

fn policies() -> BTreeMap<Kind, IntegrityPolicy> {
    Kind::ALL.into_iter().map(|kind| (kind, IntegrityPolicy::Note)).collect()
}
