//! What the programs of jobs do: builders, gates, launchers and their agents, by scripts of acts.

use tidegate_core::evidence::{Evidence, Tests};
use tidegate_core::exit::Exit;
use tidegate_core::ids::{AgentId, FeatureId, JobId};
use tidegate_core::launcher::{
    AgentDisposition, AgentEnd, AgentProcess, Finalized, Journal, Registered,
};
use tidegate_core::run::{Purpose, Run};
use tidegate_daemon::engine::{Command, Target};

use super::course::World;
use super::host::{Kind, MainEnd};
use crate::faults::Mutation;

/// One thing that a program does.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Change files of the worktree; with `false` in a way that gates find.
    Edit { good: bool },
    /// Commit by itself.
    Commit,
    /// Be on the feature's branch, or on another one.
    Branch { own: bool },
    /// Leave a process behind.
    Fork,
    /// Look at the checkout, and end by what was found.
    Judge,
    /// Write the journal, and nudge the daemon.
    Journal { wave: Option<u32>, finalized: Option<Finalized> },
    /// Start an agent, and register it.
    Register { agent: AgentId, remote: bool, life: u64 },
    /// Report the end of an agent.
    Report { agent: AgentId, code: i32 },
    /// Ask the daemon for an agent.
    Ask { agent: AgentId },
    /// End with a code.
    Exit(i32),
    /// End by a signal of its own.
    Die(i32),
    /// Do nothing for ever.
    Hang,
}

type Script = Vec<(u64, Act)>;

impl World {
    /// What the program of a job is going to do.
    pub(super) fn script(&mut self, purpose: &Purpose, target: &Target) -> Script {
        match purpose {
            Purpose::Agent { .. } => self.builder(target),
            Purpose::Gate { .. } => match self.dice.below(40) {
                0 => vec![(self.dice.between(1, 3_000), Act::Die(9))],
                1 => vec![(1, Act::Hang)],
                _ => vec![(self.dice.between(1, 5_000), Act::Judge)],
            },
            Purpose::Hook { .. } => {
                let end = match self.dice.below(12) {
                    0 | 1 => Act::Exit(1),
                    2 => Act::Die(9),
                    3 => Act::Hang,
                    _ => Act::Exit(0),
                };
                vec![(self.dice.between(1, 5_000), end)]
            }
            Purpose::LauncherAgent { .. } => {
                let end = self.dice.between(100, 40_000);
                match self.dice.below(8) {
                    0 => vec![(end, Act::Die(11))],
                    1 => vec![(end, Act::Exit(3))],
                    _ => vec![(end, Act::Exit(0))],
                }
            }
            Purpose::Launcher { resume_wave } => self.launcher(&target.run, *resume_wave),
        }
    }

    fn builder(&mut self, target: &Target) -> Script {
        let mut script = vec![(self.dice.between(1, 200), Act::Branch { own: true })];
        let own_commits = target
            .run
            .plan()
            .is_some_and(|(spec, _)| spec.commit == tidegate_core::plan::CommitRule::Agent);
        if self.dice.percent(10) {
            script.push((self.dice.between(1, 500), Act::Fork));
        }
        let edits = if self.dice.percent(8) { 0 } else { self.dice.between(1, 3) };
        for _ in 0..edits {
            let good = self.dice.percent(80);
            script.push((self.dice.between(10, 8_000), Act::Edit { good }));
            if self.dice.percent(if own_commits { 90 } else { 25 }) {
                script.push((self.dice.between(1, 500), Act::Commit));
            }
        }
        if self.dice.percent(2) {
            script.push((10, Act::Branch { own: false }));
        }
        let end = match self.dice.below(24) {
            0 | 1 => Act::Exit(1),
            2 => Act::Die(11),
            3 => Act::Hang,
            _ => Act::Exit(0),
        };
        script.push((self.dice.between(1, 4_000), end));
        script
    }

    fn launcher(&mut self, run: &Run, resume_wave: Option<u32>) -> Script {
        let start = resume_wave.or(run.launcher().and_then(|(s, _)| s.selection.start_wave));
        let mut script = Vec::new();
        let mut agents = Vec::new();
        for wave in 0..self.dice.between(0, 3) {
            if self.dice.percent(70) {
                let wave = start.unwrap_or(1) + u32::try_from(wave).unwrap_or(0);
                let act = Act::Journal { wave: Some(wave), finalized: None };
                script.push((self.dice.between(1, 3_000), act));
            }
            let number = self.dice.below(4);
            let Ok(agent) = AgentId::new(format!("agent-{number}")) else { continue };
            match self.dice.below(5) {
                0 | 1 => {
                    let (remote, life) = (self.dice.percent(25), self.dice.between(100, 60_000));
                    let act = Act::Register { agent: agent.clone(), remote, life };
                    script.push((self.dice.between(1, 3_000), act));
                    agents.push(agent);
                }
                2 => script.push((self.dice.between(1, 2_000), Act::Ask { agent })),
                3 if !agents.is_empty() => {
                    let agent = agents[self.dice.index(agents.len())].clone();
                    let code = i32::try_from(self.dice.below(2)).unwrap_or(0);
                    script.push((self.dice.between(1, 3_000), Act::Report { agent, code }));
                }
                _ => {}
            }
        }
        if self.dice.percent(10) {
            script.push((10, Act::Fork));
        }
        if self.dice.percent(35) {
            let completed = self.dice.percent(70);
            let finalized = Some(Finalized { completed, exit_code: Some(i32::from(!completed)) });
            script.push((self.dice.between(1, 500), Act::Journal { wave: None, finalized }));
        }
        let end = match self.dice.below(10) {
            0 | 1 => Act::Exit(3),
            2 | 3 => Act::Die(9),
            4 if self.dice.percent(30) => Act::Hang,
            _ => Act::Exit(0),
        };
        script.push((self.dice.between(1, 20_000), end));
        script
    }

    pub(super) fn act(&mut self, pid: u32, job: &JobId, act: Act) {
        match act {
            Act::Edit { good } => self.edit(job, good),
            Act::Commit => self.on_branch(job, super::repo::Repo::commit_leftovers),
            Act::Branch { own } => {
                self.on_branch(job, |repo, name| repo.switch(name, own));
            }
            Act::Fork => {
                self.host.spawn(job, Kind::Grandchild);
            }
            Act::Judge => {
                let good = self.gate_is_met(job);
                self.main_ended(pid, MainEnd::Code(i32::from(!good)));
            }
            Act::Journal { wave, finalized } => self.write_journal(job, wave, finalized),
            Act::Register { agent, remote, life } => self.register(job, &agent, remote, life),
            Act::Report { agent, code } => self.report_agent(job, &agent, code),
            Act::Ask { agent } => {
                let (run, argv) = (job.run().clone(), vec!["agent".to_owned()]);
                self.order(
                    "launcher",
                    Command::StartAgent { run, agent, role: None, argv, terminal: false },
                );
            }
            Act::Exit(code) => self.program_ended(pid, MainEnd::Code(code)),
            Act::Die(signal) => self.program_ended(pid, MainEnd::Signal(signal)),
            Act::Hang => {}
        }
    }

    /// A main process ends under its shim; a registered agent may have its end reported.
    fn program_ended(&mut self, pid: u32, how: MainEnd) {
        let Some(process) = self.host.process(pid) else { return };
        let (job, kind) = (process.job.clone(), process.kind.clone());
        self.main_ended(pid, how);
        if let Kind::Registered(agent) = kind
            && self.host.main_of(&job).is_some()
            && self.dice.percent(70)
        {
            self.report_agent(&job, &agent, 0);
        }
    }

    fn edit(&mut self, job: &JobId, good: bool) {
        let word = if good { "good" } else { "bad" };
        let shared = self.dice.percent(12);
        let number = self.dice.below(1_000_000);
        self.on_branch(job, |repo, name| {
            let path = if shared { "shared".to_owned() } else { format!("src/{}", name.1) };
            repo.write(name, &path, &format!("{word} {number}"));
        });
    }

    fn write_journal(&mut self, job: &JobId, wave: Option<u32>, finalized: Option<Finalized>) {
        let at = self.clock.wall();
        let Some(dir) = self.host.dir_mut(job) else { return };
        let before = dir.journal.as_ref().and_then(|journal| journal.wave);
        let wave = wave.or(before);
        dir.journal = Some(Journal { wave, phase: None, finalized, at });
        self.told(job);
    }

    fn register(&mut self, job: &JobId, agent: &AgentId, remote: bool, life: u64) {
        let at = self.clock.wall();
        let process = if remote {
            AgentProcess::Remote
        } else {
            let pid = self.host.spawn(job, Kind::Registered(agent.clone()));
            if let Some(process) = self.host.process_mut(pid) {
                process.script = vec![(life, Act::Exit(0))].into();
            }
            self.plan_next_act(pid);
            AgentProcess::Local(self.host.identity(pid))
        };
        self.note(|| format!("host: {job} registers {agent} as {process:?}"));
        let Some(dir) = self.host.dir_mut(job) else { return };
        let before = dir.agents.get(agent).filter(|before| before.end.is_none());
        if let Some(AgentProcess::Local(before)) = before.map(|before| before.process.clone()) {
            // The launcher starts an agent under an id that it gave away: it ends the old one.
            self.host.end(before.pid);
        }
        let registered =
            Registered { process, log: None, session: None, at, heartbeat_at: at, end: None };
        if let Some(dir) = self.host.dir_mut(job) {
            dir.agents.insert(agent.clone(), registered);
        }
        self.told(job);
    }

    fn report_agent(&mut self, job: &JobId, agent: &AgentId, code: i32) {
        let at = self.clock.wall();
        let Some(dir) = self.host.dir_mut(job) else { return };
        let Some(registered) = dir.agents.get_mut(agent) else { return };
        let disposition =
            if code == 0 { AgentDisposition::Completed } else { AgentDisposition::Failed };
        registered.end.get_or_insert(AgentEnd { code: Some(code), disposition, at });
        if let AgentProcess::Local(identity) = registered.process.clone() {
            // A launcher reports the end of an agent that it has waited for.
            self.host.end(identity.pid);
        }
        self.told(job);
    }

    /// The launcher's files changed: a watcher sees it, and most verbs nudge the daemon.
    fn told(&mut self, job: &JobId) {
        self.host.hint(job);
        if self.dice.percent(50) {
            self.nudge(job.run());
        }
    }

    /// The gate's checkout is exactly the commit that the job names.
    fn gate_is_met(&self, job: &JobId) -> bool {
        let Some(dir) = self.host.dir(job) else { return false };
        let Purpose::Gate { commit, .. } = &dir.purpose else { return false };
        self.repos.get(&dir.target.place.common_dir).is_some_and(|repo| repo.is_good(commit))
    }

    /// What a gate left beside its exit code: the same whoever reads it, and however often.
    pub(super) fn left_by(&self, job: &JobId, exit: &Exit) -> Option<Box<Evidence>> {
        let Some(Purpose::Gate { gate, .. }) = self.purpose(job) else { return None };
        let run = &self.host.dir(job)?.target.run;
        let spec = run.plan().and_then(|(spec, _)| spec.gates.get(&gate))?;
        if !spec.promises.asks() || !(exit.is_success() || exit.says_no()) {
            return None;
        }
        let broken = job.number() % 7 == 3 && self.mutation != Mutation::GatesLie;
        let problems =
            if broken { vec!["lcov.info: the report is missing".to_owned()] } else { vec![] };
        let tests = Some(Tests { passed: u64::from(job.number()), ..Tests::default() });
        // Some failures look like others.
        let digest = (!exit.is_success() || broken).then(|| (job.number() % 2).to_string());
        Some(Box::new(Evidence { tests, problems, digest, ..Evidence::default() }))
    }

    /// Lets a builder work in the worktree of its feature.
    fn on_branch(
        &mut self,
        job: &JobId,
        work: impl FnOnce(&mut super::repo::Repo, &(tidegate_core::ids::RunId, FeatureId)),
    ) {
        let Some(dir) = self.host.dir(job) else { return };
        let Purpose::Agent { feature, .. } = &dir.purpose else { return };
        let name = (job.run().clone(), feature.clone());
        if let Some(repo) = self.repos.get_mut(&dir.target.place.common_dir) {
            work(repo, &name);
        }
    }
}
