//! Samples of every fact.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use tidegate_core::evidence::{Evidence, Measure, Share, Tests};
use tidegate_core::exit::Reason;
use tidegate_core::home::{HomeEvent, Place};
use tidegate_core::ids::{AdhocId, AgentName, LaneName, ProjectId, QueueKey};
use tidegate_core::launcher::{AgentDisposition, Journal};
use tidegate_core::pause::{Pause, Scope};
use tidegate_core::plan::Role;
use tidegate_core::run::{
    Captured, Conversation, Event, Feedback, Limit, Submitted, Telling, Wait,
};
use tidegate_core::time::{BootMs, WallMs};
use tidegate_core::told::{Class, Outcome, Told, Usage};

use super::parts::{
    agent, agent_end, blocks, exit, exits, feature, feedbacks, furnished, gate, in_line,
    inspection, job, journal, lock, merged, oid, paths, planned, purposes, registrations, run_id,
    settlements, started, tested,
};
use super::works::{classes, works};

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
            priority: i32::from(place == 1) * -7,
            work,
        }))
    };
    works().into_iter().enumerate().map(submitted).collect()
}

fn pause(reason: Option<&str>) -> Pause {
    Pause { by: "user".into(), at: WallMs(3), reason: reason.map(str::to_owned) }
}

fn run_events() -> Vec<Event> {
    let (actor, detail) = (|| "user".to_owned(), || "d".to_owned());
    let (at, supervisor) = (WallMs(2), || "s".to_owned());
    let mut events = submissions();
    events.extend([
        Event::Claimed { supervisor: supervisor(), at },
        Event::Adopted { supervisor: supervisor() },
        Event::CancelRequested { actor: actor() },
        Event::Held { pause: pause(None) },
        Event::Held { pause: pause(Some("low tide")) },
        Event::Released { actor: actor(), at },
        Event::PriorityChanged { priority: -3, actor: actor() },
        Event::FeaturesAdded { wave: 2, added: Box::new(super::works::added()), actor: actor() },
        Event::Completed { at },
        Event::Failed { at, detail: Some(detail()) },
        Event::Failed { at, detail: None },
        Event::Cancelled { at, actor: actor() },
        Event::JobStarted { job: job(2), started: started() },
        Event::LauncherStarted { job: job(1), started: started(), resumed: true },
        Event::JobStopping { job: job(1), actor: actor() },
        Event::JobQuarantined { job: job(1), detail: detail() },
        Event::Telling(Telling::SessionBegun { job: job(2), conversation: conversation(None) }),
        Event::Telling(Telling::SessionBegun {
            job: job(2),
            conversation: conversation(Some("gone".into())),
        }),
        Event::JobStalled { job: job(1), silent_ms: 600_000, at },
        Event::JobWentOn { job: job(1) },
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
    let outcomes = [Outcome::Completed, Outcome::Interrupted, Outcome::Limit, Outcome::Unknown]
        .into_iter()
        .chain(classes().map(Outcome::Failed));
    events.extend(outcomes.map(|outcome| {
        let told = Box::new(told(outcome));
        Event::Telling(Telling::Told { job: job(3), told })
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

fn conversation(superseded: Option<String>) -> Conversation {
    Conversation { id: Some("id-1".into()), resumed: superseded.is_none(), superseded }
}

fn told(outcome: Outcome) -> Told {
    Told {
        session: Some("id-1".into()),
        outcome,
        detail: Some("429".into()),
        reset: Some(WallMs(12_000)),
        usage: Usage { input: 1, cached: 2, output: 3, cost_micros: Some(4) },
        cumulative: true,
        gone: false,
    }
}

fn limit() -> Limit {
    Limit {
        class: Class::UsageLimit,
        until: WallMs(11_000),
        told: true,
        detail: Some("429".into()),
        times: 2,
        ms: 2_000,
        again: true,
        shared: false,
        account: Some("tide".into()),
    }
}

fn captured() -> Captured {
    Captured { number: 3, commit: oid('e'), files: 7, left_out: 1, cost_ms: 12 }
}

fn evidence() -> Evidence {
    Evidence {
        tests: Some(Tests { passed: 5, failed: 1, errored: 2, skipped: 3, flaky: 4 }),
        coverage: BTreeMap::from([(Measure::Lines, Share { hit: 2, found: 3 })]),
        changed: vec!["Cargo.lock".into()],
        problems: vec!["lines: 66.66 % (2/3), at least 80.00 % are asked".into()],
        digest: Some("ab12".into()),
    }
}

/// What agents and admission say of limits and logins.
fn account_events() -> Vec<Event> {
    let f = || feature("berths");
    let wait = Wait { until: BootMs(9_000), ms: 2_000, about: WallMs(11_000) };
    vec![
        Event::Telling(Telling::Limited { feature: f(), job: Some(job(2)), limit: limit(), wait }),
        Event::Telling(Telling::Limited { feature: f(), job: None, limit: limit(), wait }),
        Event::Telling(Telling::Parked {
            feature: f(),
            limit: Limit { shared: true, again: false, ..limit() },
            wait,
        }),
        Event::Telling(Telling::AccountHeld {
            feature: f(),
            job: Some(job(2)),
            by: Some("r1/a".into()),
        }),
        Event::Telling(Telling::AccountHeld { feature: f(), job: None, by: None }),
        Event::Telling(Telling::StandsIn { feature: f(), agent: AgentName::new("scribe").ok() }),
        Event::Telling(Telling::StandsIn { feature: f(), agent: None }),
    ]
}

fn feature_events() -> Vec<Event> {
    let f = || feature("berths");
    let wait = Wait { until: BootMs(9_000), ms: 2_000, about: WallMs(11_000) };
    let mut events = vec![
        Event::FeatureAdmitted { feature: f() },
        Event::LocksAwaited { feature: f(), wait: in_line() },
        Event::LocksTaken { feature: f(), locks: vec![lock()], at: WallMs(5) },
        Event::WorktreeReady { feature: f(), path: "/w".into(), base: oid('a') },
        Event::WorktreeFurnished { feature: f(), furnished: furnished() },
        Event::WorktreeSetUp { feature: f(), job: job(2) },
        Event::AttemptFailed { feature: f(), job: job(2), counted: true, wait: Some(wait) },
        Event::AttemptFailed { feature: f(), job: job(2), counted: false, wait: None },
        Event::RetryDue { feature: f() },
        Event::BuilderFinished { feature: f(), job: job(2) },
        Event::RoleFinished { feature: f(), role: Role::Qa, job: job(2) },
        Event::ResultRefused {
            feature: f(),
            job: job(2),
            feedback: Feedback::Unusable { detail: "torn".into() },
        },
        Event::HandedOver { feature: f(), role: Role::Planner },
        Event::Planned { feature: f(), job: job(2), planned: planned() },
        Event::Checked { feature: f(), job: job(2) },
        Event::Reviewed { feature: f(), job: job(2), approved: true, comments: "well".into() },
        Event::Inspected { feature: f(), inspection: inspection() },
        Event::RevertAccepted { feature: f(), commit: oid('a'), by: "user".into() },
        Event::ConflictFound { feature: f(), paths: paths() },
        Event::SnapshotTaken { feature: f(), job: job(2), captured: captured() },
        Event::RollbackRequested { feature: f(), to: 2, actor: "user".into() },
        Event::RolledBack { feature: f(), to: 2, captured: None },
        Event::RolledBack { feature: f(), to: 2, captured: Some(captured()) },
        Event::SnapshotSkipped { feature: f(), job: job(2), why: "later".into() },
        Event::Committed { feature: f(), tested: tested() },
        Event::EvidenceRead {
            feature: f(),
            gate: gate(),
            job: job(2),
            evidence: Box::new(evidence()),
        },
        Event::EvidenceRead { feature: f(), gate: gate(), job: job(2), evidence: Box::default() },
        Event::GatePassed { feature: f(), gate: gate(), job: job(2) },
        Event::GateFailed { feature: f(), gate: gate(), job: job(2) },
        Event::GateRetried { feature: f(), gate: gate(), job: job(2) },
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
    events.extend(account_events());
    events.extend(blocks().into_iter().map(|block| Event::Blocked { feature: f(), block }));
    events.extend(feedbacks().into_iter().map(|feedback| {
        let sync = (feedback == Feedback::NoChange).then(|| oid('c'));
        let mark = sync.is_some().then(|| "no_change".to_owned());
        Event::IterationFailed { feature: f(), feedback, sync, mark }
    }));
    events
}

/// Samples of every fact of a run.
pub(crate) fn events() -> Vec<Event> {
    let mut events = run_events();
    events.extend(super::people::events());
    events.extend(feature_events());
    events
}

/// Samples of every fact of the home.
pub(crate) fn home_events() -> Vec<HomeEvent> {
    let project = || ProjectId::new("harbour").unwrap();
    let place = Place { root: "/srv/h".into(), common_dir: "/srv/h/.git".into() };
    let scope = Scope { project: Some(project()), lane: LaneName::new("main").ok() };
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
        HomeEvent::LanePaused { scope: scope.clone(), pause: pause(Some("low tide")) },
        HomeEvent::LanePaused { scope: Scope::default(), pause: pause(None) },
        HomeEvent::LaneResumed { scope, actor: "user".into(), at: WallMs(4) },
    ]
    .into_iter()
    .chain(super::cleanups::home_events())
    .chain(super::commands::home_events())
    .collect()
}
