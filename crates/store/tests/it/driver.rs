//! Drives a run by inputs that chance picks among those that its state makes likely: answers to
//! its open effects, grants, commands, and now and then something late or foreign.

use tidegate_core::evidence::{Evidence, Tests};
use tidegate_core::exit::{Exit, Identity, Reason, Started};
use tidegate_core::ids::{AgentId, FeatureId, GateName, JobId, Oid, QuestionId};
use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, Finalized, Journal, Registered,
};
use tidegate_core::plan::Role;
use tidegate_core::run::{
    CaptureOutcome, Captured, CommitOutcome, ConflictOutcome, Conversed, Effect, EffectKey, Grant,
    Ingested, Input, InspectOutcome, LockAhead, LockWait, MergeOutcome, Merged, PlannedChange,
    Report, ResultOutcome, RollbackOutcome, Run, Tested, TypeOutcome, UpdateOutcome,
    WorktreeOutcome,
};
use tidegate_core::time::WallMs;

/// A small generator of numbers: one seed, one sequence.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn oid(&mut self) -> Oid {
        let digit = char::from(b"0123456789abcdef"[self.below(16)]);
        Oid::new(digit.to_string().repeat(40)).unwrap()
    }

    fn tested(&mut self) -> Tested {
        Tested { commit: self.oid(), tree: self.oid() }
    }

    fn number(&mut self) -> u32 {
        u32::try_from(self.below(90_000)).unwrap() + 2
    }
}

fn identity(chance: &mut Chance) -> Identity {
    Identity {
        pid: chance.number(),
        start_ticks: 5,
        boot_id: "boot".into(),
        pidfs_inode: u64::from(chance.number()),
    }
}

fn started(chance: &mut Chance) -> Started {
    Started {
        shim: identity(chance),
        child: identity(chance),
        at: WallMs(1000 + chance.below(99) as u64),
    }
}

fn exit(chance: &mut Chance) -> Exit {
    let at = WallMs(2000 + chance.below(99) as u64);
    let reason = match chance.below(20) {
        0 => Reason::Signalled,
        1 => Reason::Stopped { actor: "user".into() },
        2 => Reason::Timeout,
        3 => return Exit::lost(Reason::LostShim, at),
        4 => return Exit::lost(Reason::LostReboot, at),
        _ => Reason::Exited,
    };
    let code = (reason == Reason::Exited).then(|| i32::from(chance.one_in(4)));
    Exit { code, output_bytes: 12, ran_ms: 3, ..Exit::lost(reason, at) }
}

fn agent(chance: &mut Chance) -> AgentId {
    AgentId::new(format!("A{}", chance.below(3))).unwrap()
}

fn ingested(chance: &mut Chance) -> Ingested {
    let mut seen = Ingested::default();
    if chance.one_in(3) {
        let finalized =
            chance.one_in(5).then(|| Finalized { completed: chance.one_in(2), exit_code: Some(1) });
        let wave = chance.one_in(2).then(|| u32::try_from(chance.below(5)).unwrap());
        seen.journal = Some(Journal { wave, phase: None, finalized, at: WallMs(5) });
    }
    if chance.one_in(3) {
        let process = if chance.one_in(3) {
            AgentProcess::Remote
        } else {
            AgentProcess::Local(identity(chance))
        };
        let registered = Registered {
            process,
            log: Some("log".into()),
            session: None,
            at: WallMs(4),
            heartbeat_at: WallMs(4 + chance.below(9) as u64),
            end: None,
        };
        let id = agent(chance);
        if chance.one_in(3) {
            seen.gone.push((id.clone(), registered.clone()));
        }
        seen.registered.push((id, registered));
    }
    if chance.one_in(4) {
        let end =
            AgentEnd { code: Some(0), disposition: AgentDisposition::Completed, at: WallMs(6) };
        seen.ends.push((agent(chance), end));
    }
    seen
}

fn job_report(chance: &mut Chance, job: &JobId) -> Report {
    match chance.below(8) {
        0..=2 => Report::JobStarted { job: job.clone(), started: started(chance) },
        3 if chance.one_in(8) => {
            Report::JobQuarantined { job: job.clone(), detail: "contradiction".into() }
        }
        _ => Report::JobFinished {
            job: job.clone(),
            started: chance.one_in(2).then(|| started(chance)),
            exit: exit(chance),
            ingested: ingested(chance),
            evidence: chance.one_in(3).then(|| Box::new(evidence(chance))),
        },
    }
}

fn evidence(chance: &mut Chance) -> Evidence {
    let problems = if chance.one_in(2) { vec!["the report is missing".to_owned()] } else { vec![] };
    let tests = chance.one_in(2).then(|| Tests { passed: 3, ..Tests::default() });
    Evidence { tests, problems, ..Evidence::default() }
}

/// A likely answer to an effect.
fn answer(chance: &mut Chance, effect: &Effect) -> Report {
    let paths = || vec!["src/lib.rs".to_owned()];
    let detail = || "git said no".to_owned();
    match effect {
        Effect::SuperviseJob { job, .. } | Effect::StopJob { job, .. } => job_report(chance, job),
        Effect::WatchAgents { .. } => Report::Ingested(ingested(chance)),
        Effect::SweepAgents { agents } => {
            let stays = agents.iter().filter(|_| chance.one_in(4));
            Report::AgentsSwept { remaining: stays.map(|(id, _)| id.clone()).collect() }
        }
        Effect::PrepareWorktree { feature, .. } if chance.one_in(12) => {
            Report::RepoHeld { feature: feature.clone(), by: "another home".into() }
        }
        Effect::PrepareWorktree { feature, .. } => Report::Worktree {
            feature: feature.clone(),
            outcome: match chance.below(12) {
                0 => WorktreeOutcome::SyncConflict { paths: paths() },
                1 => WorktreeOutcome::TargetMissing,
                2 => WorktreeOutcome::Failed { detail: detail() },
                _ => {
                    let furnished = tidegate_core::workplace::Furnished::default();
                    WorktreeOutcome::Ready { path: "/w".into(), base: chance.oid(), furnished }
                }
            },
        },
        Effect::Commit { feature, job, .. } => Report::Commit {
            feature: feature.clone(),
            job: job.clone(),
            outcome: match chance.below(10) {
                0 => CommitOutcome::NoChange(chance.tested()),
                1 => CommitOutcome::HookRefused { output: "no".into() },
                2 => CommitOutcome::LeftBranch { found: "main".into() },
                3 => CommitOutcome::Failed { detail: detail() },
                4 => CommitOutcome::Unresolved { paths: paths() },
                _ => CommitOutcome::Commit(chance.tested()),
            },
        },
        Effect::PrepareConflict { .. }
        | Effect::ReadResult { .. }
        | Effect::Inspect { .. }
        | Effect::TypeMessage { .. }
        | Effect::Converse { .. }
        | Effect::WatchWorktree { .. }
        | Effect::Capture { .. }
        | Effect::Rollback { .. } => crew_answer(chance, effect).unwrap(),
        Effect::Merge { feature, .. } => Report::Merge {
            feature: feature.clone(),
            outcome: match chance.below(10) {
                0 => MergeOutcome::AlreadyThere { commit: chance.oid() },
                1 => MergeOutcome::Conflict { paths: paths() },
                2 => MergeOutcome::Failed { detail: detail() },
                _ => MergeOutcome::Merged(Merged {
                    onto: chance.oid(),
                    commit: chance.oid(),
                    tree: chance.oid(),
                }),
            },
        },
        Effect::UpdateTarget { feature, merged } => Report::Update {
            feature: feature.clone(),
            commit: merged.commit.clone(),
            outcome: update(chance),
        },
        Effect::AwaitRetry { feature, .. } => Report::RetryDue { feature: feature.clone() },
        Effect::AwaitRepo { feature } => Report::RepoFree { feature: feature.clone() },
        Effect::AwaitRemote { feature } => Report::RemoteBack { feature: feature.clone() },
        Effect::AwaitClean { feature } => Report::TargetClean { feature: feature.clone() },
    }
}

fn update(chance: &mut Chance) -> UpdateOutcome {
    let paths = vec!["src/lib.rs".to_owned()];
    match chance.below(8) {
        0 => UpdateOutcome::Moved,
        1 => UpdateOutcome::Dirty { paths, why: "dirty".into() },
        2 => UpdateOutcome::Failed { detail: "git said no".into() },
        _ => UpdateOutcome::Landed,
    }
}

/// A likely answer to an effect of a role beside the builder's, or about snapshots.
fn crew_answer(chance: &mut Chance, effect: &Effect) -> Option<Report> {
    let paths = || vec!["src/lib.rs".to_owned()];
    Some(match effect {
        Effect::PrepareConflict { feature } => Report::Conflict {
            feature: feature.clone(),
            outcome: match chance.below(5) {
                0 => ConflictOutcome::Clean,
                1 => ConflictOutcome::Failed { detail: "git said no".into() },
                _ => ConflictOutcome::Prepared { paths: paths() },
            },
        },
        Effect::TypeMessage { feature, job, message, .. } => Report::MessageTyped {
            feature: feature.clone(),
            message: *message,
            job: job.clone(),
            outcome: if chance.one_in(4) { TypeOutcome::Refused } else { TypeOutcome::Written },
        },
        Effect::Converse { job, to_say, .. } => Report::Conversed {
            job: job.clone(),
            fact: match to_say.messages.last() {
                Some(last) if chance.one_in(2) => Conversed::Accepted(last.message),
                Some(last) => Conversed::Written(last.message),
                None => Conversed::Asked { request: "1".into(), text: "may it?".into() },
            },
        },
        Effect::Inspect { feature, commit, .. } => Report::Inspected {
            feature: feature.clone(),
            commit: commit.clone(),
            outcome: InspectOutcome::Found(Vec::new()),
        },
        Effect::ReadResult { feature, role, job } => Report::Result {
            feature: feature.clone(),
            job: job.clone(),
            outcome: match (chance.below(5), role) {
                (0, _) => ResultOutcome::Unusable { detail: "torn".into() },
                (chosen, Role::Reviewer) => {
                    ResultOutcome::Verdict { approved: chosen > 1, comments: "so".into() }
                }
                _ => ResultOutcome::Planned(PlannedChange {
                    modify: paths(),
                    ..PlannedChange::default()
                }),
            },
        },
        Effect::WatchWorktree { feature, job, .. } | Effect::Capture { feature, job, .. } => {
            Report::Captured {
                feature: feature.clone(),
                job: job.clone(),
                outcome: match chance.below(3) {
                    0 => CaptureOutcome::Skipped { why: "no space".to_owned() },
                    _ => CaptureOutcome::Taken(captured(chance)),
                },
            }
        }
        Effect::Rollback { feature, to, .. } => Report::RolledBack {
            feature: feature.clone(),
            to: *to,
            outcome: match chance.below(3) {
                0 => RollbackOutcome::Failed { detail: "no space".to_owned() },
                _ => RollbackOutcome::Done { captured: Some(captured(chance)) },
            },
        },
        _ => return None,
    })
}

fn captured(chance: &mut Chance) -> Captured {
    Captured { number: 3, commit: chance.oid(), files: 2, left_out: 0, cost_ms: 5 }
}

fn grant(chance: &mut Chance, run: &Run, feature: FeatureId) -> Grant {
    match chance.below(4) {
        3 => {
            let lock = tidegate_core::ids::LockName::new("db").unwrap();
            let (run, held) = (run.id.clone(), chance.one_in(2).then_some(WallMs(4)));
            let ticket = u64::try_from(chance.below(3)).unwrap();
            let ahead = Some(LockAhead { lock, run, feature: feature.clone(), held });
            let wait = LockWait { ticket, ahead };
            if chance.one_in(4) {
                let by = chance.one_in(2).then(|| "r1/a".to_owned());
                return Grant::Hold { feature, by };
            }
            Grant::Line { feature, wait }
        }
        0 => Grant::Slot { feature },
        1 => {
            let gate = run.startable_gates(&feature).first().map(|gate| (*gate).clone());
            let gate = gate.unwrap_or_else(|| GateName::new("test").unwrap());
            Grant::Gate { feature, gate, slot: u32::try_from(chance.below(3)).unwrap() }
        }
        _ => Grant::Target { feature },
    }
}

/// What passes between agents and people.
fn people(chance: &mut Chance, run: &Run, features: Vec<FeatureId>) -> Input {
    let number = u32::try_from(chance.below(4)).unwrap() + 1;
    let job = run.jobs.keys().next_back().cloned().unwrap_or(JobId::new(run.id.clone(), 1));
    let (text, actor) = ("mind the tide".to_owned(), "user".to_owned());
    match (chance.below(4), features.into_iter().next()) {
        (0, _) => Input::Ask { job, text, choices: vec!["left".into()], waits: chance.one_in(2) },
        (1, _) => {
            let question = QuestionId::new(run.id.clone(), number);
            let choice = chance.one_in(2).then_some(1);
            Input::AnswerQuestion { question, text, choice, actor }
        }
        (2, _) => Input::Receive { job, messages: vec![number], acted: chance.one_in(2) },
        (_, Some(feature)) => Input::Send { feature, text, interrupts: chance.one_in(2), actor },
        (_, None) => Input::Claim { supervisor: "s".into() },
    }
}

/// An input that may fit the run.
pub(crate) fn input(chance: &mut Chance, run: &Run) -> Input {
    let open: Vec<(EffectKey, Effect)> = run.outstanding().into_iter().collect();
    let features: Vec<FeatureId> =
        run.plan().map(|(_, plan)| plan.features.keys().cloned().collect()).unwrap_or_default();
    match chance.below(20) {
        0 => Input::Adopt { supervisor: format!("s{}", chance.below(3)) },
        1 if chance.one_in(20) => Input::Cancel { actor: "user".into() },
        2 | 3 => Input::Claim { supervisor: "s".into() },
        4 => Input::Report(Report::Ingested(ingested(chance))),
        5 if chance.one_in(3) => Input::StartAgent {
            agent: agent(chance),
            role: None,
            argv: vec!["agent".into()],
            terminal: chance.one_in(2),
        },
        6..=10 if !features.is_empty() => {
            let feature = features[chance.below(features.len())].clone();
            if chance.one_in(8) {
                return Input::RetryFeature { feature, actor: "user".into() };
            }
            let tested = run.plan().and_then(|(_, plan)| plan.features[&feature].tested.clone());
            match tested {
                Some(tested) if chance.one_in(4) => {
                    Input::Approve { feature, commit: tested.commit, actor: "user".into() }
                }
                Some(_) | None => Input::Grant(grant(chance, run, feature)),
            }
        }
        11 => people(chance, run, features),
        _ if open.is_empty() => Input::Claim { supervisor: "s".into() },
        _ => {
            let (key, effect) = open[chance.below(open.len())].clone();
            let report = answer(chance, &effect);
            if chance.one_in(5) { Input::Report(report) } else { Input::Answer { key, report } }
        }
    }
}
