//! Samples of what facts are made of.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use tidegate_core::budget::{BudgetScope, Overrun, Resource};
use tidegate_core::exit::{Exit, Identity, Reason, Started};
use tidegate_core::ids::{AgentId, FeatureId, GateName, JobId, LockName, Oid, RoleName, RunId};
use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, End, Finalized, Journal, Registered, Settled, Source,
};
use tidegate_core::plan::Role;
use tidegate_core::run::{
    Block, FeatureState, Feedback, Finding, InLine, Inspection, LandStep, LockAhead, LockWait,
    Merged, Phase, PlannedChange, Purpose, Round, Tested, WorkStep,
};
use tidegate_core::time::WallMs;
use tidegate_core::workplace::{Furnished, Hook, NotCopied};

pub(super) fn run_id() -> RunId {
    RunId::from_parts(77, 0x1234)
}

pub(super) fn job(number: u32) -> JobId {
    JobId::new(run_id(), number)
}

pub(super) fn feature(id: &str) -> FeatureId {
    FeatureId::new(id).unwrap()
}

pub(super) fn gate() -> GateName {
    GateName::new("test").unwrap()
}

pub(super) fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

pub(super) fn identity(pid: u32) -> Identity {
    let pidfs_inode = u64::MAX;
    Identity { pid, start_ticks: 1 << 60, boot_id: "a b\"c\u{1}".into(), pidfs_inode }
}

pub(super) fn started() -> Started {
    Started { shim: identity(10), child: identity(11), at: WallMs(1) }
}

pub(super) fn exit(reason: Reason) -> Exit {
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

pub(crate) fn exits() -> Vec<Exit> {
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

pub(super) fn tested() -> Tested {
    Tested { commit: oid('a'), tree: oid('b') }
}

pub(super) fn inspection() -> Inspection {
    let finding = Finding {
        kind: "deleted_test".into(),
        path: "tests/a.rs".into(),
        line: 3,
        excerpt: "fn a()".into(),
        stops: true,
    };
    Inspection { commit: oid('a'), findings: vec![finding] }
}

pub(super) fn planned() -> PlannedChange {
    PlannedChange {
        summary: "Adds berths".into(),
        allowed: vec!["src/**".into()],
        create: vec!["src/berths.rs".into()],
        criteria: vec!["berths are listed".into()],
        gates: vec![gate()],
        ..PlannedChange::default()
    }
}

pub(super) fn merged() -> Merged {
    Merged { onto: oid('c'), commit: oid('d'), tree: oid('e') }
}

pub(super) fn paths() -> Vec<String> {
    vec!["src/a.rs".into(), String::new()]
}

pub(super) fn blocks() -> Vec<Block> {
    let detail = || "said so".to_owned();
    vec![
        Block::Conflict { paths: paths() },
        Block::TargetDirty { paths: paths(), why: "rebase".into() },
        Block::TargetMissing,
        Block::RepoHeld { by: "home h2".into() },
        Block::Resources { detail: detail() },
        Block::Git { detail: detail() },
        Block::Collision { with: feature("berths"), paths: paths(), waits: true },
        Block::Input { role: Role::Qa },
        Block::Auth { agent: "scribe".into(), detail: detail(), account: Some("tide".into()) },
        Block::Review { detail: detail() },
        Block::NoProgress { times: 3, reason: detail() },
        Block::Budget { overrun: overrun() },
        Block::SilentRevert { losses: paths() },
        Block::PushRefused { detail: detail() },
        Block::RemoteUnreachable { detail: detail() },
        Block::Diverged { detail: detail() },
        Block::LocalBehind { merged: merged(), paths: paths(), why: "staged".into() },
        Block::Quarantine { job: job(4), detail: detail() },
    ]
}

pub(super) fn feedbacks() -> Vec<Feedback> {
    vec![
        Feedback::Gate {
            gate: gate(),
            commit: oid('a'),
            job: job(3),
            exit: exit(Reason::Exited),
            merged: true,
            problems: vec!["the report is missing".into()],
        },
        Feedback::NoChange,
        Feedback::HookRefused { output: "no".into() },
        Feedback::LeftBranch { found: "main".into() },
        Feedback::SyncConflict { paths: paths() },
        Feedback::Review { by: "user".into(), comments: "no".into() },
        Feedback::Unusable { detail: "torn".into() },
        Feedback::Unresolved { paths: paths() },
    ]
}

pub(crate) fn feature_states() -> Vec<FeatureState> {
    let running = || Round {
        passed: vec![gate()],
        running: BTreeMap::from([(gate(), job(2))]),
        retried: BTreeMap::from([(gate(), 1)]),
        failed: vec![job(1)],
    };
    let mut states = vec![
        FeatureState::Queued,
        FeatureState::Working { role: Role::Builder, step: WorkStep::AwaitingSlot },
        FeatureState::Working { role: Role::Builder, step: WorkStep::Preparing },
        FeatureState::Working { role: Role::Builder, step: WorkStep::SettingUp(job(2)) },
        FeatureState::Working { role: Role::Builder, step: WorkStep::Agent(job(2)) },
        FeatureState::Working { role: Role::Builder, step: WorkStep::Committing(job(2)) },
        FeatureState::Working { role: Role::Reviewer, step: WorkStep::Reading(job(2)) },
        FeatureState::Working { role: Role::Builder, step: WorkStep::RollingBack(4) },
        FeatureState::Verifying { round: Round::default() },
        FeatureState::Verifying { round: running() },
        FeatureState::InReview,
        FeatureState::Landing(LandStep::AwaitingTarget),
        FeatureState::Landing(LandStep::Merging),
        FeatureState::Landing(LandStep::Gates { merged: merged(), round: running() }),
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

pub(crate) fn purposes() -> Vec<Purpose> {
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
        Purpose::LauncherAgent {
            agent: agent(),
            role: Some(role()),
            argv: paths(),
            terminal: true,
        },
        Purpose::LauncherAgent { agent: agent(), role: None, argv: vec![], terminal: false },
        Purpose::Agent { feature: feature("berths"), role: role(), iteration: 2 },
        Purpose::Hook { feature: feature("berths"), hook: Hook::Setup, making: "m".into() },
        Purpose::Hook { feature: feature("berths"), hook: Hook::Teardown, making: "m".into() },
        gate_of(Phase::Branch),
        gate_of(Phase::Merge),
    ]
}

pub(super) fn furnished() -> Furnished {
    Furnished {
        making: "m-1".into(),
        ports: vec![20_000, 20_001],
        included: paths(),
        left_out: vec![NotCopied { path: "b".into(), why: "so".into() }],
        submodules: paths(),
        empty_submodules: paths(),
        pointers: paths(),
        sparse: true,
    }
}

pub(super) fn agent() -> AgentId {
    AgentId::new("A1").unwrap()
}

pub(super) fn agent_end(disposition: AgentDisposition) -> AgentEnd {
    AgentEnd { code: Some(1), disposition, at: WallMs(5) }
}

pub(super) fn registrations() -> Vec<Registered> {
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

pub(super) fn journal() -> Journal {
    let finalized = Some(Finalized { completed: true, exit_code: Some(0) });
    Journal { wave: Some(2), phase: Some("p".into()), finalized, at: WallMs(4) }
}

pub(super) fn settlements() -> Vec<Settled> {
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

pub(super) fn in_line() -> InLine {
    let ahead = LockAhead {
        lock: lock(),
        run: job(1).run().clone(),
        feature: feature("board"),
        held: Some(WallMs(6)),
    };
    let wait = LockWait { ticket: 7, ahead: Some(ahead) };
    InLine { wait, since: WallMs(9) }
}

pub(super) fn lock() -> LockName {
    LockName::new("db").unwrap()
}

fn overrun() -> Overrun {
    Overrun { scope: BudgetScope::Run, resource: Resource::Cost, spent: 51, cap: 50 }
}
