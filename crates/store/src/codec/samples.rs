//! One sample, or more, of every fact: what the codec must carry both ways.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use tidegate_core::exit::{Exit, Identity, Reason, Started};
use tidegate_core::home::{HomeEvent, Place};
use tidegate_core::ids::{
    AdhocId, AgentId, AgentName, FeatureId, GateName, JobId, LaneName, Oid, ProjectId, QueueKey,
    RoleName, RunId,
};
use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, Degraded, End, Finalized, Journal, Launcher,
    LauncherSpec, Registered, Selection, SelectionStyle, Settled, Source,
};
use tidegate_core::plan::{
    AgentSpec, CommitRule, FeatureSpec, GateRun, GateSpec, LandingSpec, OnFailure, PlanSpec,
    PromptChannel, ReviewPolicy, RoleSpec, Strategy, WaveSpec,
};
use tidegate_core::run::{
    Block, Building, Event, Feature, FeatureState, Feedback, GateStep, LandStep, Merged, Phase,
    Plan, Purpose, Submitted, Tested, Work,
};
use tidegate_core::time::WallMs;

fn run_id() -> RunId {
    RunId::from_parts(77, 0x1234)
}

fn job(number: u32) -> JobId {
    JobId::new(run_id(), number)
}

fn feature(id: &str) -> FeatureId {
    FeatureId::new(id).unwrap()
}

fn gate() -> GateName {
    GateName::new("test").unwrap()
}

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

fn identity(pid: u32) -> Identity {
    let pidfs_inode = u64::MAX;
    Identity { pid, start_ticks: 1 << 60, boot_id: "a b\"c\u{1}".into(), pidfs_inode }
}

fn started() -> Started {
    Started { shim: identity(10), child: identity(11), at: WallMs(1) }
}

fn exit(reason: Reason) -> Exit {
    Exit {
        reason,
        code: Some(-3),
        signal: Some(15),
        at: WallMs(9),
        ran_ms: 8,
        output_bytes: 7,
        detail: Some("caf\u{e9} \u{1f300}".into()),
        requires_human: true,
    }
}

fn exits() -> Vec<Exit> {
    let mut exits: Vec<Exit> = [
        Reason::Exited,
        Reason::Signalled,
        Reason::Stopped { actor: "user".into() },
        Reason::Timeout,
        Reason::Limit,
        Reason::Oom,
        Reason::ExecFailed,
        Reason::Storage,
    ]
    .into_iter()
    .map(exit)
    .collect();
    exits.push(Exit::lost(Reason::LostShim, WallMs(3)));
    exits.push(Exit::lost(Reason::LostReboot, WallMs(3)));
    exits
}

fn tested() -> Tested {
    Tested { commit: oid('a'), tree: oid('b') }
}

fn merged() -> Merged {
    Merged { onto: oid('c'), commit: oid('d'), tree: oid('e') }
}

fn paths() -> Vec<String> {
    vec!["src/a.rs".into(), String::new()]
}

fn blocks() -> Vec<Block> {
    let detail = || "said so".to_owned();
    vec![
        Block::Conflict { paths: paths() },
        Block::TargetDirty { paths: paths(), why: "rebase".into() },
        Block::TargetMissing,
        Block::Git { detail: detail() },
        Block::Quarantine { job: job(4), detail: detail() },
    ]
}

fn feedbacks() -> Vec<Feedback> {
    vec![
        Feedback::Gate {
            gate: gate(),
            commit: oid('a'),
            job: job(3),
            exit: exit(Reason::Exited),
            merged: true,
        },
        Feedback::NoChange,
        Feedback::HookRefused { output: "no".into() },
        Feedback::LeftBranch { found: "main".into() },
        Feedback::SyncConflict { paths: paths() },
    ]
}

fn feature_states() -> Vec<FeatureState> {
    let running = || GateStep::Running(job(2));
    let mut states = vec![
        FeatureState::Queued,
        FeatureState::Building(Building::AwaitingSlot),
        FeatureState::Building(Building::Preparing),
        FeatureState::Building(Building::Agent(job(2))),
        FeatureState::Building(Building::Committing(job(2))),
        FeatureState::Verifying { gate: 1, step: GateStep::AwaitingSlot },
        FeatureState::Verifying { gate: 0, step: running() },
        FeatureState::InReview,
        FeatureState::Landing(LandStep::AwaitingTarget),
        FeatureState::Landing(LandStep::Merging),
        FeatureState::Landing(LandStep::Gates { merged: merged(), gate: 0, step: running() }),
        FeatureState::Landing(LandStep::Updating { merged: merged() }),
        FeatureState::Landed { commit: Some(oid('f')) },
        FeatureState::Landed { commit: None },
        FeatureState::Failed { reason: "tried".into() },
        FeatureState::Cancelled { actor: "user".into() },
        FeatureState::Skipped { cause: feature("berths") },
    ];
    states.extend(blocks().into_iter().map(FeatureState::Blocked));
    states
}

fn purposes() -> Vec<Purpose> {
    let role = || RoleName::new("builder").unwrap();
    let gate_of = |phase| Purpose::Gate {
        feature: feature("berths"),
        gate: gate(),
        commit: oid('a'),
        phase,
        slot: 2,
    };
    vec![
        Purpose::Launcher { resume_wave: None },
        Purpose::Launcher { resume_wave: Some(2) },
        Purpose::LauncherAgent { agent: agent(), role: Some(role()), argv: paths() },
        Purpose::LauncherAgent { agent: agent(), role: None, argv: vec![] },
        Purpose::Agent { feature: feature("berths"), role: role(), iteration: 2 },
        gate_of(Phase::Branch),
        gate_of(Phase::Merge),
    ]
}

fn agent() -> AgentId {
    AgentId::new("A1").unwrap()
}

fn agent_end(disposition: AgentDisposition) -> AgentEnd {
    AgentEnd { code: Some(1), disposition, at: WallMs(5) }
}

fn registrations() -> Vec<Registered> {
    let blank = Registered {
        process: AgentProcess::Local(identity(12)),
        log: Some("/l".into()),
        session: Some("s".into()),
        at: WallMs(1),
        heartbeat_at: WallMs(2),
        end: None,
    };
    let remote = Registered {
        process: AgentProcess::Remote,
        log: None,
        session: None,
        end: Some(agent_end(AgentDisposition::Terminated)),
        ..blank.clone()
    };
    vec![blank, remote]
}

fn journal() -> Journal {
    let finalized = Some(Finalized { completed: true, exit_code: Some(0) });
    Journal { wave: Some(2), phase: Some("p".into()), finalized, at: WallMs(4) }
}

fn settlements() -> Vec<Settled> {
    let settled = |end, source| Settled {
        end,
        source,
        code: Some(3),
        signal: None,
        at: WallMs(6),
        wave: Some(2),
        detail: Some("d".into()),
    };
    vec![
        settled(End::Completed, Source::ExitRecord),
        settled(End::Failed, Source::ProgressJournal),
        settled(End::Cancelled { actor: "user".into() }, Source::Nothing),
    ]
}

fn launcher_spec(style: SelectionStyle) -> LauncherSpec {
    LauncherSpec {
        argv: vec!["sh".into()],
        cwd: "/".into(),
        selection: Selection { start_wave: Some(0), end_wave: None, auto_next: true },
        style,
        resumes_max: 1,
        timeout_ms: None,
    }
}

fn launcher_state() -> Launcher {
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

fn plan_spec() -> PlanSpec {
    let blob = crate::chain::blob_id(b"x");
    let scribe = AgentName::new("scribe").unwrap();
    let spec = FeatureSpec {
        title: "t".into(),
        prompt: blob.clone(),
        needs: vec![feature("berths")],
        paths: paths(),
        gates: vec![gate()],
        agent: Some(scribe.clone()),
        allow_no_change: true,
        iterations_max: 6,
        attempts_max: 3,
    };
    let env = || BTreeMap::from([("K".to_owned(), "v".to_owned())]);
    let agent_spec =
        |prompt| AgentSpec { argv: paths(), prompt, env: env(), timeout_ms: u64::MAX, grace_ms: 0 };
    let gate_spec = |run| GateSpec { run, env: env(), cache: vec!["target".into()], timeout_ms: 5 };
    PlanSpec {
        title: "T".into(),
        path: "p.toml".into(),
        source: blob.clone(),
        config: Some(blob),
        target: "refs/heads/main".into(),
        waves: vec![WaveSpec { number: 1, name: "w".into(), features: vec![feature("berths")] }],
        features: BTreeMap::from([(feature("berths"), spec)]),
        agents: BTreeMap::from([
            (scribe.clone(), agent_spec(PromptChannel::Stdin)),
            (AgentName::new("b").unwrap(), agent_spec(PromptChannel::Argv)),
            (AgentName::new("c").unwrap(), agent_spec(PromptChannel::File)),
        ]),
        builder: RoleSpec { name: RoleName::new("builder").unwrap(), agent: scribe },
        gates: BTreeMap::from([
            (gate(), gate_spec(GateRun::Argv(paths()))),
            (GateName::new("lint").unwrap(), gate_spec(GateRun::Script("x | y".into()))),
        ]),
        landing: LandingSpec { strategy: Strategy::Squash, merge_gates: vec![gate()] },
        review: ReviewPolicy::Person,
        on_failure: OnFailure::Stop,
        commit: CommitRule::Agent,
        active_max: 5,
        env_pass: vec!["LANG".into()],
    }
}

fn works() -> Vec<Work> {
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
    (spec.on_failure, spec.commit) = (OnFailure::Continue, CommitRule::Auto);
    let features = feature_states().into_iter().enumerate().map(|(place, state)| {
        let id = feature(&format!("f{place}"));
        let feedback = feedbacks().get(place % 6).cloned();
        (id, Feature { state, feedback, tested: Some(tested()), ..Feature::default() })
    });
    works.push(Work::Plan { spec, state: Plan { features: features.collect() } });
    works
}

fn submissions() -> Vec<Event> {
    let queue = |adhoc| QueueKey {
        project: ProjectId::new("harbour").unwrap(),
        lane: LaneName::new("main").unwrap(),
        adhoc,
    };
    let submitted = |(place, work)| {
        let adhoc = (place == 0).then(|| AdhocId::new("x").unwrap());
        Event::Submitted(Box::new(Submitted {
            id: run_id(),
            seq: 77,
            queue: queue(adhoc),
            actor: "user".into(),
            at: WallMs(1),
            env: crate::chain::blob_id(b"x"),
            parent: (place == 1).then(run_id),
            work,
        }))
    };
    works().into_iter().enumerate().map(submitted).collect()
}

fn run_events() -> Vec<Event> {
    let (actor, detail) = (|| "user".to_owned(), || "d".to_owned());
    let (at, supervisor) = (WallMs(2), || "s".to_owned());
    let mut events = submissions();
    events.extend([
        Event::Claimed { supervisor: supervisor(), at },
        Event::Adopted { supervisor: supervisor() },
        Event::CancelRequested { actor: actor() },
        Event::Completed { at },
        Event::Failed { at, detail: Some(detail()) },
        Event::Failed { at, detail: None },
        Event::Cancelled { at, actor: actor() },
        Event::JobStarted { job: job(2), started: started() },
        Event::LauncherStarted { job: job(1), started: started(), resumed: true },
        Event::JobStopping { job: job(1), actor: actor() },
        Event::JobQuarantined { job: job(1), detail: detail() },
        Event::Progress { journal: journal() },
        Event::Progress { journal: Journal::default() },
        Event::AgentsAdopted { end: exit(Reason::Signalled), agents: vec![agent()] },
        Event::Resuming { wave: 2 },
        Event::AgentsSwept { remaining: vec![agent()] },
    ]);
    events.extend(purposes().into_iter().map(|purpose| Event::JobCreated {
        job: job(3),
        purpose,
        attempt: 2,
        nonce: "n".into(),
        at,
    }));
    events.extend(exits().into_iter().map(|exit| Event::JobFinished { job: job(3), exit }));
    events.extend(
        registrations()
            .into_iter()
            .map(|r| Event::AgentRegistered { agent: agent(), registered: r }),
    );
    let dispositions = [
        AgentDisposition::Launching,
        AgentDisposition::Running,
        AgentDisposition::Completed,
        AgentDisposition::Failed,
        AgentDisposition::Terminated,
    ];
    events.extend(
        dispositions.map(|word| Event::AgentExited { agent: agent(), end: agent_end(word) }),
    );
    for settled in settlements() {
        events.push(Event::StatusReconciled { settled: settled.clone() });
        events.push(Event::FailedBeforeStatus { settled, launcher_pid: Some(11) });
    }
    events
}

fn feature_events() -> Vec<Event> {
    let f = || feature("berths");
    let mut events = vec![
        Event::FeatureAdmitted { feature: f() },
        Event::WorktreeReady { feature: f(), path: "/w".into(), base: oid('a') },
        Event::AttemptFailed { feature: f(), job: job(2), counted: true },
        Event::BuilderFinished { feature: f(), job: job(2) },
        Event::SnapshotSkipped { feature: f(), job: job(2), why: "later".into() },
        Event::Committed { feature: f(), tested: tested() },
        Event::GatePassed { feature: f(), gate: gate(), job: job(2) },
        Event::GateFailed { feature: f(), gate: gate(), job: job(2) },
        Event::Verified { feature: f() },
        Event::Approved { feature: f(), commit: Some(oid('a')), by: "user".into() },
        Event::LandingAdmitted { feature: f() },
        Event::MergePrepared { feature: f(), merged: merged() },
        Event::LandingIntended { feature: f(), merged: merged() },
        Event::TargetMoved { feature: f() },
        Event::Landed { feature: f(), commit: None },
        Event::Landed { feature: f(), commit: Some(oid('a')) },
        Event::Unblocked { feature: f() },
        Event::FeatureFailed { feature: f(), reason: "r".into() },
        Event::FeatureSkipped { feature: f(), cause: f() },
        Event::FeatureCancelled { feature: f(), actor: "user".into() },
        Event::FeatureRetried { feature: f(), actor: "user".into() },
    ];
    events.extend(blocks().into_iter().map(|block| Event::Blocked { feature: f(), block }));
    events.extend(feedbacks().into_iter().map(|feedback| {
        let sync = (feedback == Feedback::NoChange).then(|| oid('c'));
        Event::IterationFailed { feature: f(), feedback, sync }
    }));
    events
}

/// Samples of every fact of a run.
pub(super) fn events() -> Vec<Event> {
    let mut events = run_events();
    events.extend(feature_events());
    events
}

/// Samples of every fact of the home.
pub(super) fn home_events() -> Vec<HomeEvent> {
    let project = || ProjectId::new("harbour").unwrap();
    let place = Place { root: "/srv/h".into(), common_dir: "/srv/h/.git".into() };
    vec![
        HomeEvent::DaemonStarted {
            epoch: 3,
            generation: 2,
            pid: 1,
            version: "0.1.0".into(),
            at: WallMs(1),
        },
        HomeEvent::DaemonStopped { epoch: 3, at: WallMs(2) },
        HomeEvent::ProjectRegistered { project: project(), place },
        HomeEvent::ProjectRemoved { project: project() },
    ]
}
