//! Launcher runs in a world that does its worst: reports in any order, twice, late or never;
//! agents that come and go; restarts; a cancel at any moment.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tidegate_core::exit::{Exit, Identity, Reason};
use tidegate_core::ids::{AgentId, JobId};
use tidegate_core::launcher::{AgentProcess, LauncherSpec};
use tidegate_core::run::{
    Effect, EffectKey, Event, Ingested, Input, Job, JobState, Purpose, Rejected, Report, Run,
    Status, step,
};

use crate::fixture::{
    NOW, cancel, claim, config, exit, exited, identity, launcher_run, launcher_spec, started,
    stopped,
};
use crate::launcher_fixture::{agent, agent_end, final_word, journal, registered, start_agent};
use crate::tape::Tape;

struct World {
    run: Run,
    first: Run,
    log: Vec<Event>,
    tape: Tape,
    opened: BTreeSet<EffectKey>,
    processes: BTreeMap<JobId, Option<Exit>>,
    /// What the launcher's files say, and who lives.
    files: Ingested,
    pids: u32,
    told: Vec<Report>,
}

impl World {
    fn new(spec: LauncherSpec, tape: Tape) -> Self {
        let run = launcher_run(spec);
        Self {
            first: run.clone(),
            run,
            log: Vec::new(),
            tape,
            opened: BTreeSet::new(),
            processes: BTreeMap::new(),
            files: Ingested::default(),
            pids: 1_000,
            told: Vec::new(),
        }
    }

    fn live(&mut self) {
        let mut calm = 0;
        while !self.run.status.is_terminal() {
            if self.tape.has_ended() {
                calm += 1;
                assert!(calm < 500, "no way forward: {:#?}", self.run);
                self.go_on();
            } else {
                self.meddle();
            }
        }
        let mut told = self.first.clone();
        for event in &self.log {
            told.apply(event);
        }
        assert_eq!(told, self.run);
        self.check_end();
    }

    fn meddle(&mut self) {
        match self.tape.below(16) {
            0..=5 => self.work(),
            6 | 7 => self.write_files(),
            8 => self.agent_dies(),
            9 => {
                let _refused = self.input(&start_agent("helper"));
            }
            10 => {
                let told = Report::Ingested(self.files.clone());
                let _late = self.input(&Input::Report(told));
            }
            11 => self.repeat(),
            12 => {
                let _pending = self.input(&Input::Adopt { supervisor: "home-2".to_owned() });
            }
            13 if self.tape.below(6) == 0 => {
                let _refused = self.input(&cancel());
            }
            _ => {
                let _claimed = self.input(&claim());
            }
        }
    }

    /// The agents end, then whatever is open is worked on; a person ends what is quarantined.
    fn go_on(&mut self) {
        let _claimed = self.input(&claim());
        let known = self.run.launcher().map(|(_, launcher)| launcher.registered.clone());
        self.files.gone =
            known.into_iter().flatten().chain(self.files.registered.clone()).collect();
        if self.run.outstanding().is_empty() {
            let _ended = self.input(&cancel());
        }
        for (key, effect) in self.run.outstanding() {
            self.work_on(key, effect);
        }
    }

    fn input(&mut self, input: &Input) -> Result<(), Rejected> {
        let before = self.run.clone();
        let next = step(&before, input, NOW)?;
        let mut shadow = before.clone();
        for event in &next.events {
            shadow.apply(event);
        }
        assert_eq!(shadow, next.run, "the facts do not tell the state");
        if before.status.is_terminal() {
            assert_eq!(before.status, next.run.status, "terminal is final");
        }
        let old = before.outstanding();
        for key in next.run.outstanding().into_keys() {
            let fresh = old.contains_key(&key) || self.opened.insert(key.clone());
            assert!(fresh, "{key} opened twice");
        }
        self.run = next.run;
        self.log.extend(next.events);
        self.check();
        Ok(())
    }

    fn check(&self) {
        let launchers = self.run.jobs.values().filter(|job| job.state.is_live());
        let launchers = launchers.filter(|job| matches!(job.purpose, Purpose::Launcher { .. }));
        assert!(launchers.count() <= 1, "two launchers at once");
        for (id, job) in &self.run.jobs {
            for later in self.run.jobs.range(id..).skip(1).map(|(_, later)| later) {
                let same = job.purpose.is_same_work(&later.purpose);
                assert!(!same || (job.attempt < later.attempt && !job.state.is_live()));
            }
        }
        let (_, launcher) = self.run.launcher().unwrap();
        let odd = launcher.job.as_ref().map(|job| &self.run.jobs[job].state);
        let odd = matches!(odd, Some(JobState::Quarantined { .. }));
        let running = matches!(self.run.status, Status::Running { .. });
        let open = !self.run.outstanding().is_empty();
        assert!(!running || open || odd, "no way forward: {:#?}", self.run);
        if launcher.settled.is_some() {
            let idle = |job: &&Job| matches!(job.state, JobState::Launching | JobState::Running(_));
            let left = self.run.jobs.values().find(idle);
            assert_eq!(left, None, "an agent of a settled run is not asked to end");
        }
        if self.run.status.is_terminal() {
            assert!(!self.run.has_live_jobs(), "a terminal run has a living job");
        }
    }

    fn check_end(&self) {
        let (spec, launcher) = self.run.launcher().unwrap();
        let count = |kind: &str| self.log.iter().filter(|event| event.kind() == kind).count();
        let ends = count("run-completed") + count("run-failed") + count("run-cancelled");
        assert_eq!(ends, 1, "a run ends once");
        let reconciled = count("launcher-status-reconciled") + count("failed-before-status");
        assert!(reconciled <= 1, "a result is recorded once");
        assert_eq!(reconciled == 1, launcher.settled.is_some());
        assert_eq!(count("launcher-resuming"), launcher.resumes as usize);
        assert!(launcher.resumes_since_progress <= spec.resumes_max);
    }

    /// An adapter does some of one open effect.
    fn work(&mut self) {
        let open: Vec<(EffectKey, Effect)> = self.run.outstanding().into_iter().collect();
        if open.is_empty() {
            return;
        }
        let (key, effect) = open[self.tape.below(open.len())].clone();
        self.work_on(key, effect);
    }

    fn work_on(&mut self, key: EffectKey, effect: Effect) {
        let report = match effect {
            Effect::SuperviseJob { job, .. } => self.supervise(&job),
            Effect::StopJob { job, .. } => {
                self.processes.entry(job.clone()).or_insert(None).get_or_insert_with(stopped);
                Some(self.finished(&job))
            }
            Effect::WatchAgents { .. } => Some(Report::Ingested(self.files.clone())),
            Effect::SweepAgents { agents } => {
                let swept = |id: &AgentId| agents.iter().any(|(other, _)| other == id);
                let told = self.files.registered.iter().filter(|(id, _)| swept(id));
                self.files.gone.extend(told.cloned());
                let stubborn = self.tape.below(8) == 7;
                let remaining = agents.iter().map(|(id, _)| id.clone());
                let remaining = remaining.filter(|_| stubborn).collect();
                Some(Report::AgentsSwept { remaining })
            }
            Effect::PrepareWorktree { .. }
            | Effect::PrepareConflict { .. }
            | Effect::ReadResult { .. }
            | Effect::Inspect { .. }
            | Effect::Commit { .. }
            | Effect::Merge { .. }
            | Effect::UpdateTarget { .. }
            | Effect::AwaitRetry { .. }
            | Effect::AwaitRepo { .. }
            | Effect::AwaitRemote { .. }
            | Effect::WatchWorktree { .. }
            | Effect::Capture { .. }
            | Effect::Rollback { .. }
            | Effect::TypeMessage { .. }
            | Effect::Converse { .. }
            | Effect::AwaitClean { .. } => unreachable!("a launcher has no features"),
        };
        if let Some(report) = report {
            self.told.push(report.clone());
            let _refused = self.input(&Input::Answer { key, report });
        }
    }

    fn supervise(&mut self, job: &JobId) -> Option<Report> {
        match self.processes.get(job) {
            None => {
                self.processes.insert(job.clone(), None);
                Some(Report::JobStarted { job: job.clone(), started: started(50) })
            }
            Some(None) => {
                let end = match self.tape.below(12) {
                    0..=1 => exited(0),
                    2 => exited(3),
                    3..=5 => exit(Reason::LostShim, None),
                    6 => exit(Reason::LostReboot, None),
                    7 | 8 => exit(Reason::Signalled, None),
                    9 => exit(Reason::Timeout, None),
                    10 => stopped(),
                    _ => {
                        let detail = "another nonce".to_owned();
                        return Some(Report::JobQuarantined { job: job.clone(), detail });
                    }
                };
                self.processes.insert(job.clone(), Some(end));
                None
            }
            Some(Some(_)) => Some(self.finished(job)),
        }
    }

    fn finished(&self, job: &JobId) -> Report {
        let exit = self.processes[job].clone().unwrap();
        let (job, started, ingested) = (job.clone(), Some(started(50)), self.files.clone());
        Report::JobFinished { job, started, exit, ingested, evidence: None }
    }

    /// The launcher or one of its agents writes a file.
    fn write_files(&mut self) {
        let names = ["local", "other", "remote"];
        let name = names[self.tape.below(names.len())];
        match self.tape.below(6) {
            0 => self.files.journal = Some(journal(u32::try_from(self.tape.below(5)).unwrap())),
            1 => {
                let word = final_word(self.tape.below(2) == 0, None);
                self.files.journal = Some(word);
            }
            2 => self.files.ends.push(agent_end(name)),
            _ => {
                self.pids += 1;
                let own = Identity { start_ticks: 6, ..identity(self.pids) };
                let process =
                    if name == "remote" { AgentProcess::Remote } else { AgentProcess::Local(own) };
                self.files.registered.retain(|(id, _)| id.as_str() != name);
                self.files.registered.push((agent(name), registered(process)));
                self.files.ends.retain(|(id, _)| id.as_str() != name);
                self.files.gone.retain(|(id, _)| id.as_str() != name);
            }
        }
    }

    fn agent_dies(&mut self) {
        if !self.files.registered.is_empty() {
            let chosen = self.tape.below(self.files.registered.len());
            self.files.gone.push(self.files.registered[chosen].clone());
        }
    }

    /// A report comes once more, by nobody in particular.
    fn repeat(&mut self) {
        if self.told.is_empty() {
            return;
        }
        let report = self.told[self.tape.below(self.told.len())].clone();
        let of_job = matches!(report, Report::JobStarted { .. } | Report::JobFinished { .. });
        let taken = self.input(&Input::Report(report)).is_ok();
        assert!(!taken || !of_job, "a job's report counted twice");
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn launcher_runs_in_a_bad_world_keep_their_promises(
        resumes_max in 0..3_u32,
        tape in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let spec = LauncherSpec { resumes_max, ..launcher_spec() };
        World::new(spec, Tape::new(tape)).live();
    }
}
