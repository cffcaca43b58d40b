//! Accounts that agents of several runs share: what one runs into is met once, and all of them go on
//! as soon as it has passed. With three accounts over fifteen hours of virtual time.

use std::collections::BTreeMap;

use tidegate_core::admission::{Caps, Worktrees, grants_within};
use tidegate_core::ids::{AgentName, FeatureId, JobId};
use tidegate_core::manifest::{Manifest, StreamForm};
use tidegate_core::plan::ReviewPolicy;
use tidegate_core::run::{
    Block, CaptureOutcome, CommitOutcome, Effect, Event, FeatureState, Grant, Ingested, Input,
    Report, Run, Tested, Wait, Work, WorkStep, WorktreeOutcome, step,
};
use tidegate_core::time::{BootMs, Now, WallMs};
use tidegate_core::told::{Class, Outcome, Told, Usage};
use tidegate_core::workplace::Furnished;

use crate::fixture::{Shape, captured, claim, exited, newest, oid, plan_run_of, started, waves};

const CAPS: Caps = Caps { features: 12, gates: 1 };
const ACCOUNTS: [&str; 3] = ["ann", "bo", "cy"];
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
/// What an account may use in a window, in time of agents at work.
const BUDGET: u64 = 1_000 * MINUTE;
const WINDOW: u64 = 5 * HOUR;
const WINDOWS: u64 = 3;
/// What a feature takes.
const TASK: u64 = 60 * MINUTE;

#[derive(Default)]
struct Account {
    used: u64,
    /// Until when every request is one too many.
    storm: u64,
    refused: bool,
}

struct World {
    now: u64,
    runs: Vec<Run>,
    accounts: BTreeMap<&'static str, Account>,
    /// Agents at work: their run, feature and account.
    jobs: BTreeMap<(usize, JobId), (FeatureId, &'static str)>,
    left: BTreeMap<(usize, FeatureId), u64>,
    alarms: Vec<Vec<(FeatureId, Wait)>>,
    /// When what a feature waits for has passed, by what its account says.
    passes: BTreeMap<(usize, FeatureId), u64>,
    worked: u64,
    /// How long after that each one went on.
    late: Vec<u64>,
    /// How many went on in each second.
    went_on: BTreeMap<u64, u32>,
    asked: u32,
    starts: u32,
}

fn account_of(feature: &FeatureId) -> &'static str {
    ACCOUNTS[feature.as_str()[1..].parse::<usize>().unwrap() % 3]
}

fn run(number: u64) -> Run {
    let ids: Vec<String> = (0..60).map(|n| format!("f{n:02}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let review = ReviewPolicy::Person;
    let shape =
        Shape { waves: waves(&[&ids]), gates: 0, review, active_max: 12, ..Shape::default() };
    let mut run = plan_run_of(number, &shape);
    let Work::Plan { spec, .. } = &mut run.work else { panic!("no plan") };
    let scribe = spec.agents.values().next().unwrap().clone();
    for name in ACCOUNTS {
        let account = Some(name.to_owned());
        let manifest = Manifest { stream: StreamForm::Jsonl, account, ..Manifest::default() };
        let agent = tidegate_core::plan::AgentSpec { manifest, ..scribe.clone() };
        spec.agents.insert(AgentName::new(name).unwrap(), agent);
    }
    for (id, feature) in &mut spec.features {
        feature.agent = AgentName::new(account_of(id)).ok();
    }
    run
}

impl World {
    fn new() -> Self {
        Self::of((1..=3).map(run).collect())
    }

    fn of(runs: Vec<Run>) -> Self {
        let accounts = ACCOUNTS.map(|name| (name, Account::default())).into();
        let mut world = Self {
            now: 0,
            alarms: vec![Vec::new(); runs.len()],
            runs,
            accounts,
            jobs: BTreeMap::new(),
            left: BTreeMap::new(),
            passes: BTreeMap::new(),
            worked: 0,
            late: Vec::new(),
            went_on: BTreeMap::new(),
            asked: 0,
            starts: 0,
        };
        (0..world.runs.len()).for_each(|at| world.take(at, &claim()));
        world.admit();
        world
    }

    fn clock(&self) -> Now {
        Now { wall: WallMs(1_000_000 + self.now), boot: BootMs(50 + self.now), entropy: self.now }
    }

    fn take(&mut self, at: usize, input: &Input) {
        let next = step(&self.runs[at], input, self.clock());
        let next = next.unwrap_or_else(|refused| panic!("{input:?}: {refused}"));
        for event in &next.events {
            let counts = matches!(
                event,
                Event::AttemptFailed { counted: true, .. } | Event::FeatureFailed { .. }
            );
            assert!(!counts, "an attempt was consumed: {event:?}");
            let asks = matches!(event, Event::Blocked { .. });
            self.asked += u32::from(asks);
        }
        self.runs[at] = next.run;
        let waits = self.runs[at].outstanding().into_values().filter_map(|effect| match effect {
            Effect::AwaitRetry { feature, wait } => Some((feature, wait)),
            _ => None,
        });
        self.alarms[at] = waits.collect();
    }

    fn admit(&mut self) {
        loop {
            let now = self.clock().wall;
            let given = grants_within(self.runs.iter(), CAPS, &Worktrees::default(), now);
            if given.is_empty() {
                return;
            }
            for (run, grant) in given {
                let at = self.runs.iter().position(|found| found.id == run).unwrap();
                self.take(at, &Input::Grant(grant.clone()));
                match grant {
                    Grant::Slot { feature } => self.begin(at, &feature),
                    Grant::Park { feature, .. } => {
                        let end = self.end_of(account_of(&feature));
                        self.passes.insert((at, feature), end);
                    }
                    Grant::Hold { .. } | Grant::StandIn { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    /// When the trouble of an account is over.
    fn end_of(&self, account: &str) -> u64 {
        let account = &self.accounts[account];
        if account.storm > self.now { account.storm } else { (self.now / WINDOW + 1) * WINDOW }
    }

    fn begin(&mut self, at: usize, feature: &FeatureId) {
        let (path, furnished) = ("/w".to_owned(), Furnished::default());
        let outcome = WorktreeOutcome::Ready { path, base: oid(1), furnished };
        let ready = Report::Worktree { feature: feature.clone(), outcome };
        self.take(at, &Input::Report(ready));
        let job = newest(&self.runs[at]);
        self.starts += 1;
        self.jobs.insert((at, job), (feature.clone(), account_of(feature)));
    }

    fn ends(&mut self, at: usize, job: &JobId, outcome: Outcome, reset: Option<u64>) {
        let (feature, _) = self.jobs.remove(&(at, job.clone())).unwrap();
        if let Some(reset) = reset {
            self.passes.insert((at, feature.clone()), reset);
        }
        // What a model says of limits is no limit.
        let detail = Some("usage limit reached, rate limited, 401".to_owned());
        let reset = reset.map(|reset| WallMs(1_000_000 + reset));
        let told = Told {
            session: Some("s".to_owned()),
            outcome,
            detail,
            reset,
            usage: Usage::default(),
            cumulative: false,
            gone: false,
        };
        let exit = exited(i32::from(outcome != Outcome::Completed));
        let ingested = Ingested { told: Some(told), ..Ingested::default() };
        let (job, started) = (job.clone(), Some(started(100)));
        let report =
            Report::JobFinished { job: job.clone(), started, exit, ingested, evidence: None };
        self.take(at, &Input::Report(report));
        let outcome = CaptureOutcome::Taken(captured());
        let report = Report::Captured { feature: feature.clone(), job: job.clone(), outcome };
        self.take(at, &Input::Report(report));
        if self.runs[at].plan().unwrap().1.features[&feature]
            .state
            .work_step()
            .is_some_and(|step| matches!(step, WorkStep::Committing(_)))
        {
            let outcome = CommitOutcome::Commit(Tested { commit: oid(9), tree: oid(2) });
            self.take(at, &Input::Report(Report::Commit { feature, job, outcome }));
        }
    }

    /// A second passes.
    fn tick(&mut self) {
        self.now += SECOND;
        if self.now.is_multiple_of(WINDOW) {
            self.accounts.values_mut().for_each(|account| account.used = 0);
        }
        let mut moved = self.ring();
        for ((at, job), (feature, name)) in self.jobs.clone() {
            let account = self.accounts.get_mut(name).unwrap();
            let over = |end| Some(end);
            let (outcome, reset) = if account.refused {
                (Outcome::Failed(Class::Auth), None)
            } else if account.storm > self.now {
                (Outcome::Failed(Class::RateLimit), over(account.storm))
            } else if account.used >= BUDGET {
                (Outcome::Failed(Class::UsageLimit), over((self.now / WINDOW + 1) * WINDOW))
            } else {
                account.used += SECOND;
                self.worked += SECOND;
                let left = self.left.entry((at, feature)).or_insert(TASK);
                *left -= SECOND;
                if *left > 0 {
                    continue;
                }
                (Outcome::Completed, None)
            };
            self.ends(at, &job, outcome, reset);
            moved = true;
        }
        if moved {
            self.admit();
        }
    }

    fn ring(&mut self) -> bool {
        let boot = self.clock().boot;
        let due = |(feature, wait): &(FeatureId, Wait)| {
            (wait.left_ms(boot) == 0).then(|| feature.clone())
        };
        let all: Vec<(usize, FeatureId)> = (0..3)
            .flat_map(|at| self.alarms[at].iter().filter_map(due).map(move |id| (at, id)))
            .collect();
        for (at, feature) in &all {
            let passed = self.passes[&(*at, feature.clone())];
            self.late.push(self.now.saturating_sub(passed));
            *self.went_on.entry(self.now).or_default() += 1;
            self.take(*at, &Input::Report(Report::RetryDue { feature: feature.clone() }));
        }
        !all.is_empty()
    }

    /// A person lets an account in again, and has those tried again that asked.
    fn lets_in(&mut self, name: &str) {
        self.accounts.get_mut(name).unwrap().refused = false;
        for at in 0..3 {
            let (_, plan) = self.runs[at].plan().unwrap();
            let asks =
                |state: &FeatureState| matches!(state, FeatureState::Blocked(Block::Auth { .. }));
            let asking = plan.features.iter().filter(|(_, feature)| asks(&feature.state));
            let asking: Vec<FeatureId> = asking.map(|(id, _)| id.clone()).collect();
            assert!(asking.len() <= 1, "each run asks once: {asking:?}");
            for feature in asking {
                self.take(at, &Input::RetryFeature { feature, actor: "ann".to_owned() });
            }
        }
        self.admit();
    }
}

#[test]
fn three_accounts_are_used_to_the_full_and_nobody_fails_by_what_they_run_into() {
    let mut world = World::new();
    let mut storms = 0;
    while world.now < WINDOWS * WINDOW - SECOND {
        world.tick();
        if world.now.is_multiple_of(47 * MINUTE) {
            let name = ACCOUNTS[storms % 3];
            storms += 1;
            world.accounts.get_mut(name).unwrap().storm = world.now + 40 * SECOND;
        }
        if world.now == 61 * MINUTE {
            world.accounts.get_mut("bo").unwrap().refused = true;
        }
        if world.now == 71 * MINUTE {
            world.lets_in("bo");
        }
    }
    let ideal = WINDOWS * 3 * BUDGET;
    assert!(world.worked * 100 >= ideal * 95, "{} of {ideal}", world.worked);
    assert!(world.late.len() > 60, "{}", world.late.len());
    eprintln!(
        "{} of {ideal}, {} late, {} starts {} asked, at once {:?}",
        world.worked,
        world.late.len(),
        world.starts,
        world.asked,
        world.went_on.values().max()
    );
    let latest = world.late.iter().max().unwrap();
    assert!(*latest <= MINUTE, "somebody went on {latest} ms after the limit had passed");
    let at_once = world.went_on.values().max().unwrap();
    assert!(*at_once < CAPS.features, "{at_once} of {} went on in one second", world.late.len());
    assert!(world.asked <= 3, "{} asked for one login", world.asked);
    // Each task, and each limit that was met: those who share an account do not knock in vain.
    assert!(world.starts < 420, "{} starts", world.starts);
}

/// One run whose builder's agent has `spare` to stand in for it.
fn with_a_spare() -> Run {
    let mut run = plan_run_of(1, &Shape { waves: waves(&[&["f00"]]), ..Shape::default() });
    let Work::Plan { spec, .. } = &mut run.work else { panic!("no plan") };
    let spare = AgentName::new("spare").unwrap();
    spec.builder.fallback = vec![spare.clone()];
    let mut agent = spec.agents.values().next().unwrap().clone();
    agent.manifest = Manifest { stream: StreamForm::Jsonl, ..Manifest::default() };
    agent.manifest.account = Some("spare".to_owned());
    spec.agents.insert(spare, agent.clone());
    agent.manifest.account = Some("own".to_owned());
    spec.agents.insert(AgentName::new("scribe").unwrap(), agent);
    run
}

#[test]
fn another_agent_stands_in_until_the_limit_of_the_own_account_has_passed() {
    let mut world = World::of(vec![with_a_spare()]);
    let limited = Outcome::Failed(Class::UsageLimit);
    let job = |world: &World| world.jobs.keys().next().map(|(_, job)| job.clone());
    let agent = |world: &World| {
        let job = job(world).unwrap();
        world.runs[0].stand_in_of(&job).map(|agent| agent.as_str().to_owned())
    };
    assert_eq!(agent(&world), None);
    let first = job(&world).unwrap();
    world.ends(0, &first, limited, Some(HOUR));
    world.admit();
    assert_eq!(agent(&world).as_deref(), Some("spare"), "at once");
    let second = job(&world).unwrap();
    world.ends(0, &second, limited, Some(2 * HOUR));
    world.admit();
    assert_eq!(job(&world), None, "both accounts are limited");
    world.now = HOUR + MINUTE;
    world.admit();
    assert_eq!(
        agent(&world),
        None,
        "its own agent works again, and it need not wait for the other"
    );
}
