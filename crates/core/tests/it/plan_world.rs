//! A model world for plan runs: it dispatches effects, answers them in any order, repeats, delays
//! and loses answers, restarts, and lets people and rivals meddle. It must not know the machine's
//! inside: it sees effects, and hands in inputs.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::admission::{Caps, grants};
use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::{FeatureId, JobId};
use tidegate_core::run::{
    Block, CommitOutcome, Effect, EffectKey, Event, FeatureState, Ingested, Input, Purpose,
    Rejected, Report, Run, awaits_person, step,
};

use crate::capturing::capturing;
use crate::fixture::{NOW, exit, exited, oid, started, stopped};
use crate::oracle::Oracle;
use crate::people::{answer, talk, typed};
use crate::plan_crew::told_by_crew;
use crate::plan_git::{Git, come, is_revert};
use crate::tape::Tape;

type Name = (usize, EffectKey);

#[derive(Debug, Clone)]
enum Process {
    Runs,
    Ended(Exit),
}

pub(crate) struct World {
    pub(crate) runs: Vec<Run>,
    pub(crate) caps: Caps,
    pub(crate) tape: Tape,
    oracle: Oracle,
    open: BTreeMap<Name, Effect>,
    /// Effects that were answered for good; a restart asks for them again.
    done: BTreeSet<Name>,
    answers: Vec<(Name, Report)>,
    delivered: Vec<(Name, Report)>,
    jobs: BTreeMap<JobId, Process>,
    git: Git,
}

impl World {
    pub(crate) fn new(runs: Vec<Run>, caps: Caps, tape: Tape) -> Self {
        let oracle = Oracle::new(&runs, caps);
        Self {
            runs,
            caps,
            tape,
            oracle,
            open: BTreeMap::new(),
            done: BTreeSet::new(),
            answers: Vec::new(),
            delivered: Vec::new(),
            jobs: BTreeMap::new(),
            git: Git::new(),
        }
    }

    /// Lets things happen until every run has ended.
    pub(crate) fn live(&mut self) {
        let mut calm = 0;
        while self.runs.iter().any(|run| !run.status.is_terminal()) {
            if self.tape.has_ended() {
                self.git.dirty = false;
                self.go_on();
                calm += 1;
                assert!(calm < 3_000, "no way forward: {:#?}", self.runs);
            } else {
                self.meddle();
            }
        }
        self.oracle.check_end(&self.runs, &self.git.target);
        for (at, run) in self.runs.clone().iter().enumerate() {
            let retry = Input::Claim { supervisor: "late".to_owned() };
            assert!(self.input(at, &retry).is_err(), "{} came back to life", run.id);
        }
    }

    /// One thing that happens, good or bad.
    fn meddle(&mut self) {
        match self.tape.below(16) {
            0..=4 => self.work(),
            5..=8 => self.deliver(),
            9 | 10 => self.grant(),
            11 => self.repeat_answer(),
            12 => self.repeat_job_report(),
            13 => self.person(),
            14 => self.restart(),
            _ => self.rival(),
        }
    }

    /// The next useful thing.
    fn go_on(&mut self) {
        if !self.answers.is_empty() {
            self.deliver();
        } else if self.workable().next().is_some() {
            self.work();
        } else if !self.grant_all() {
            self.help();
        }
    }

    fn input(&mut self, at: usize, input: &Input) -> Result<(), Rejected> {
        let before = &self.runs[at];
        let next = step(before, input, NOW)?;
        let held: BTreeMap<EffectKey, Effect> = before.outstanding();
        self.oracle.check_step(at, before, input, &next.events, &next.run);
        self.runs[at] = next.run;
        let wanted = self.runs[at].outstanding();
        for key in held.keys().filter(|key| !wanted.contains_key(key)) {
            self.open.remove(&(at, key.clone()));
        }
        for (key, effect) in wanted {
            self.open.insert((at, key), effect);
        }
        self.oracle.check_world(&self.runs);
        Ok(())
    }

    fn workable(&self) -> impl Iterator<Item = &Name> {
        let clean = !self.git.dirty;
        self.open
            .iter()
            .filter(move |(name, effect)| {
                let awaits = matches!(effect, Effect::AwaitClean { .. });
                !self.done.contains(name) && (clean || !awaits)
            })
            .map(|(name, _)| name)
    }

    /// An adapter does one open effect, or a part of it.
    fn work(&mut self) {
        let names: Vec<Name> = self.workable().cloned().collect();
        if names.is_empty() {
            return;
        }
        let name = names[self.tape.below(names.len())].clone();
        let effect = self.open[&name].clone();
        let at = name.0;
        let report = match effect {
            Effect::SuperviseJob { job, .. } => return self.supervise(name, job),
            Effect::StopJob { job, .. } => {
                let ended = Process::Ended(stopped());
                match self.jobs.entry(job.clone()).or_insert(ended.clone()) {
                    Process::Ended(_) => {}
                    running @ Process::Runs => *running = ended,
                }
                self.finished(&job)
            }
            Effect::WatchAgents { .. } | Effect::SweepAgents { .. } => {
                unreachable!("a plan has no agents of a launcher")
            }
            Effect::WatchWorktree { .. } | Effect::Capture { .. } | Effect::Rollback { .. } => {
                capturing(&mut self.tape, effect).unwrap()
            }
            // Another home may have the repository, for any work but the move of the target.
            Effect::PrepareWorktree { feature, .. }
            | Effect::PrepareConflict { feature }
            | Effect::Commit { feature, .. }
            | Effect::Merge { feature, .. }
                if self.tape.below(12) == 11 =>
            {
                Report::RepoHeld { feature, by: "another home".to_owned() }
            }
            Effect::TypeMessage { .. } | Effect::Converse { .. } => typed(&mut self.tape, &effect),
            Effect::AwaitRetry { .. } | Effect::AwaitRepo { .. } | Effect::AwaitRemote { .. } => {
                come(effect)
            }
            Effect::PrepareWorktree { feature, base, sync, discard } => {
                self.git.discard(&(at, feature.clone()), discard.as_deref());
                let outcome =
                    self.git.prepare(&mut self.tape, (at, feature.clone()), base, sync.is_some());
                Report::Worktree { feature, outcome }
            }
            Effect::PrepareConflict { feature } => {
                Report::Conflict { outcome: Git::lay_out(&mut self.tape), feature }
            }
            Effect::Inspect { .. } | Effect::ReadResult { .. } => {
                told_by_crew(&mut self.tape, effect).unwrap()
            }
            Effect::Commit { feature, job, conflict: Some(paths), .. }
                if self.tape.below(4) == 3 =>
            {
                Report::Commit { feature, job, outcome: CommitOutcome::Unresolved { paths } }
            }
            Effect::Commit { feature, job, .. } => {
                let outcome = self.git.commit(&mut self.tape, &(at, feature.clone()));
                Report::Commit { feature, job, outcome }
            }
            Effect::Merge { feature, commit, .. } => {
                Report::Merge { feature, outcome: self.git.merge(&mut self.tape, &commit) }
            }
            Effect::UpdateTarget { feature, merged } => {
                let outcome = self.git.update(&mut self.tape, &merged);
                Report::Update { feature, commit: merged.commit, outcome }
            }
            Effect::AwaitClean { feature } => Report::TargetClean { feature },
        };
        self.done.insert(name.clone());
        self.answers.push((name, report));
    }

    fn supervise(&mut self, name: Name, job: JobId) {
        let report = match self.jobs.get(&job) {
            None if self.tape.below(12) == 11 => {
                self.jobs.insert(job.clone(), Process::Ended(exit(Reason::ExecFailed, None)));
                return;
            }
            None => {
                self.jobs.insert(job.clone(), Process::Runs);
                Report::JobStarted { job, started: started(50) }
            }
            Some(Process::Runs) => {
                let end = match self.tape.below(10) {
                    0..=4 => exited(0),
                    5 => exited(1),
                    6 => exit(Reason::LostShim, None),
                    7 => exit(Reason::LostReboot, None),
                    8 => exit(Reason::Timeout, None),
                    _ => {
                        self.done.insert(name.clone());
                        let detail = "another nonce".to_owned();
                        self.answers.push((name, Report::JobQuarantined { job, detail }));
                        return;
                    }
                };
                if end.is_success() {
                    self.write_change(name.0, &job);
                }
                self.jobs.insert(job, Process::Ended(end));
                return;
            }
            Some(Process::Ended(_)) => {
                self.done.insert(name.clone());
                self.finished(&job)
            }
        };
        self.answers.push((name, report));
    }

    fn write_change(&mut self, at: usize, job: &JobId) {
        let purpose = self.runs[at].jobs.get(job).map(|job| job.purpose.clone());
        if let Some(Purpose::Agent { feature, .. }) = purpose {
            self.git.write_perhaps(&mut self.tape, (at, feature), &self.runs[at]);
        }
    }

    fn finished(&self, job: &JobId) -> Report {
        let Some(Process::Ended(end)) = self.jobs.get(job) else { panic!("{job} has not ended") };
        let started = Some(started(50));
        let (job, exit, ingested) = (job.clone(), end.clone(), Ingested::default());
        Report::JobFinished { job, started, exit, ingested, evidence: None }
    }

    fn deliver(&mut self) {
        if self.answers.is_empty() {
            return;
        }
        let chosen = self.tape.below(self.answers.len());
        let ((at, key), report) = self.answers.remove(chosen);
        let _refused = self.input(at, &Input::Answer { key: key.clone(), report: report.clone() });
        self.delivered.push(((at, key), report));
    }

    /// An answer comes once more.
    fn repeat_answer(&mut self) {
        if self.delivered.is_empty() {
            return;
        }
        let chosen = self.tape.below(self.delivered.len());
        let ((at, key), report) = self.delivered[chosen].clone();
        let open = self.open.contains_key(&(at, key.clone()));
        let taken = self.input(at, &Input::Answer { key, report }).is_ok();
        assert!(!taken || open, "an answer to a closed effect counted");
    }

    /// What a job reported is told once more, by nobody in particular.
    fn repeat_job_report(&mut self) {
        let of_jobs = |(_, report): &&(Name, Report)| {
            matches!(report, Report::JobStarted { .. } | Report::JobFinished { .. })
        };
        let told: Vec<(Name, Report)> = self.delivered.iter().filter(of_jobs).cloned().collect();
        if told.is_empty() {
            return;
        }
        let ((at, _), report) = told[self.tape.below(told.len())].clone();
        let taken = self.input(at, &Input::Report(report.clone()));
        assert!(taken.is_err(), "{report:?} counted twice");
    }

    /// The daemon is replaced: what was on its way is lost, what is open is asked for again.
    fn restart(&mut self) {
        self.answers.clear();
        self.done.clear();
        for at in 0..self.runs.len() {
            let supervisor = "home-2".to_owned();
            let _pending = self.input(at, &Input::Adopt { supervisor });
        }
    }

    fn rival(&mut self) {
        if self.tape.below(2) == 0 {
            self.git.dirty = !self.git.dirty;
        } else {
            self.git.move_target();
        }
    }

    /// A person does something that may make no sense.
    fn person(&mut self) {
        let at = self.tape.below(self.runs.len());
        let Some((_, plan)) = self.runs[at].plan() else { return };
        let ids: Vec<FeatureId> = plan.features.keys().cloned().collect();
        let feature = ids[self.tape.below(ids.len())].clone();
        let actor = "ann".to_owned();
        let input = match self.tape.below(12) {
            8.. => talk(&mut self.tape, &self.runs[at], feature),
            0 => Input::Cancel { actor },
            1..=3 => Input::RetryFeature { feature, actor },
            4 => Input::Rollback { feature, to: 1, actor },
            5 if ids.len() < 8 => {
                let id = format!("j{}", ids.len());
                crate::joining::added(&self.runs[at], &[&id])
            }
            _ => {
                let tested = plan.features[&feature].tested.clone();
                let commit = tested.map_or_else(|| oid(3), |tested| tested.commit);
                Input::Approve { feature, commit, actor }
            }
        };
        let _refused = self.input(at, &input);
    }

    /// One grant, perhaps.
    fn grant(&mut self) {
        self.claim();
        let given = grants(self.runs.iter(), self.caps);
        if given.is_empty() {
            return;
        }
        let (run, grant) = given[self.tape.below(given.len())].clone();
        let at = self.runs.iter().position(|found| found.id == run).unwrap();
        self.input(at, &Input::Grant(grant)).unwrap();
    }

    fn claim(&mut self) {
        for at in 0..self.runs.len() {
            let _claimed = self.input(at, &Input::Claim { supervisor: "home-1".to_owned() });
        }
    }

    fn grant_all(&mut self) -> bool {
        self.claim();
        let given = grants(self.runs.iter(), self.caps);
        for (run, grant) in &given {
            let at = self.runs.iter().position(|found| found.id == *run).unwrap();
            self.input(at, &Input::Grant(grant.clone())).unwrap();
        }
        !given.is_empty()
    }

    /// A person does what the runs wait for.
    fn help(&mut self) {
        for at in 0..self.runs.len() {
            let Some((spec, plan)) = self.runs[at].plan() else { continue };
            let spec = spec.clone();
            for (feature, found) in plan.features.clone() {
                let actor = "ann".to_owned();
                let input = match &found.state {
                    state if awaits_person(&spec, &found) || is_revert(state) => {
                        let commit = found.tested.map(|tested| tested.commit).unwrap();
                        Input::Approve { feature, commit, actor }
                    }
                    FeatureState::Blocked(
                        Block::TargetDirty { .. } | Block::LocalBehind { .. },
                    ) => {
                        continue;
                    }
                    FeatureState::Blocked(block) if block.ends_by_itself() => continue,
                    FeatureState::Blocked(Block::Input { .. }) => {
                        let open = self.runs[at].open_questions_of(&feature)[0].clone();
                        answer(open, "so")
                    }
                    FeatureState::Blocked(_) => Input::RetryFeature { feature, actor },
                    _ => continue,
                };
                let given = matches!(found.state, FeatureState::Blocked(Block::Budget { .. }));
                assert!(self.input(at, &input).is_ok() || given, "{input:?}");
            }
        }
    }

    pub(crate) fn log(&self, at: usize) -> &[Event] {
        self.oracle.log(at)
    }
}
