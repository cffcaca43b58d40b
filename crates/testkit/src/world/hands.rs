//! What a daemon's adapters do with effects and jobs: looks by the table of verdicts, deeds in the
//! played world, reports. All that they remember dies with their daemon.

use std::collections::BTreeMap;

use tidegate_core::exit::{Exit, Reason, Started};
use tidegate_core::ids::JobId;
use tidegate_core::launcher::{AgentProcess, Registered};
use tidegate_core::limits::HEARTBEAT_FRESH_MS;
use tidegate_core::run::{Effect, EffectKey, Ingested, Purpose, Report};
use tidegate_core::verdict::{Row, Verdict, verdict};
use tidegate_daemon::engine::Target;

use super::course::World;
use super::schedule::{EffectName, Happening};
use super::telling;
use crate::faults::Mutation;

/// The memory of one daemon's adapters.
#[derive(Debug, Default)]
pub(super) struct Hands {
    pub(super) entries: BTreeMap<JobId, Entry>,
    pub(super) wanted: BTreeMap<EffectName, (Target, Effect)>,
    /// When the newest report about a job arrives: a job's reports keep their order.
    pub(super) told: BTreeMap<JobId, u64>,
}

/// What is remembered of a job between two looks.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "as in the adapter that it plays")]
pub(super) struct Entry {
    pub(super) target: Target,
    nonce: String,
    row: Row,
    stop: Option<String>,
    spawned: bool,
    pub(super) watched: bool,
    stop_sent: bool,
    ingested: Option<Ingested>,
    agents_only: bool,
}

impl World {
    /// An effect was handed on to the adapters of the living daemon.
    pub(super) fn open(&mut self, target: Target, key: EffectKey, effect: Effect) {
        self.note(|| format!("open {} {key}", target.run.id));
        match effect {
            Effect::SuperviseJob { job, row } => {
                self.tempt_to_cancel(&target.run.id);
                self.want(&target, &job, row, |_| {});
            }
            Effect::StopJob { job, actor } => {
                self.want(&target, &job, Row::Stopping, |entry| entry.stop = Some(actor));
            }
            Effect::WatchAgents { job } => {
                (0..4).for_each(|_| self.tempt_to_cancel(&target.run.id));
                self.want(&target, &job, Row::Finished, |entry| {
                    entry.agents_only = true;
                    entry.ingested = None;
                });
            }
            Effect::SweepAgents { .. }
            | Effect::PrepareWorktree { .. }
            | Effect::PrepareConflict { .. }
            | Effect::ReadResult { .. }
            | Effect::Inspect { .. }
            | Effect::Commit { .. }
            | Effect::Merge { .. }
            | Effect::UpdateTarget { .. }
            | Effect::AwaitClean { .. }
            | Effect::AwaitRetry { .. }
            | Effect::TypeMessage { .. }
            | Effect::Converse { .. }
            | Effect::AwaitRepo { .. }
            | Effect::AwaitRemote { .. }
            | Effect::WatchWorktree { .. }
            | Effect::Capture { .. }
            | Effect::Rollback { .. } => {
                let name = (target.run.id.clone(), key);
                let sweep = matches!(effect, Effect::SweepAgents { .. });
                let Some(daemon) = &mut self.daemon else { return };
                daemon.hands.wanted.insert(name.clone(), (target, effect));
                let number = daemon.number;
                let happening = if sweep {
                    Happening::Sweep(number, name)
                } else {
                    Happening::Git(number, name)
                };
                self.plan_in((1, 1_500), happening);
            }
        }
    }

    fn want(&mut self, target: &Target, job: &JobId, row: Row, note: impl FnOnce(&mut Entry)) {
        let Some(known) = target.run.jobs.get(job) else { return };
        let Some(daemon) = &mut self.daemon else { return };
        let entry = daemon.hands.entries.entry(job.clone()).or_insert_with(|| Entry {
            target: target.clone(),
            nonce: known.nonce.clone(),
            row,
            stop: None,
            spawned: false,
            watched: false,
            stop_sent: false,
            ingested: None,
            agents_only: false,
        });
        entry.target = target.clone();
        note(entry);
        let number = daemon.number;
        self.plan_in((0, 30), Happening::Look(number, job.clone()));
    }

    pub(super) fn close(&mut self, name: &EffectName) {
        let Some(daemon) = &mut self.daemon else { return };
        daemon.hands.wanted.remove(name);
        let watch = name.1.0.strip_prefix("agents:watch:").and_then(|rest| rest.split_once(':'));
        if let Some(number) = watch.and_then(|(number, _)| number.parse().ok()) {
            daemon.hands.entries.remove(&JobId::new(name.0.clone(), number));
        }
    }

    /// Does a piece of git's work that is still wanted.
    pub(super) fn git_step(&mut self, number: u32, name: &EffectName) {
        let Some(daemon) = self.daemon.as_mut().filter(|daemon| daemon.number == number) else {
            return;
        };
        let Some((target, effect)) = daemon.hands.wanted.get(name).cloned() else { return };
        if let Some(report) = self.git_work(&target, &effect) {
            self.answer(&name.0, &name.1, report);
            if matches!(effect, Effect::WatchWorktree { .. }) {
                // A series of reports, for as long as the agent works.
                self.plan_in((20_000, 60_000), Happening::Git(number, name.clone()));
            }
            return;
        }
        let left = if let Effect::AwaitRetry { wait, .. } = effect {
            wait.left_ms(self.clock.boot())
        } else {
            0
        };
        self.plan_in((900 + left, 1_100 + left), Happening::Git(number, name.clone()));
    }

    pub(super) fn sweep_step(&mut self, number: u32, name: &EffectName) {
        let Some(daemon) = self.daemon.as_mut().filter(|daemon| daemon.number == number) else {
            return;
        };
        let Some((_, Effect::SweepAgents { agents })) = daemon.hands.wanted.get(name) else {
            return;
        };
        for (_, identity) in agents.clone() {
            if self.host.is_alive(&identity) && self.mutation != Mutation::SweepNothing {
                self.host.end(identity.pid);
            }
        }
        self.meet("a sweep of agents");
        let report = Report::AgentsSwept { remaining: Vec::new() };
        self.answer(&name.0, &name.1, report);
    }

    /// One look at one job: observation, verdict, deed, report.
    pub(super) fn look(&mut self, number: u32, job: &JobId) {
        let Some(daemon) = self.daemon.as_mut().filter(|daemon| daemon.number == number) else {
            return;
        };
        let Some(mut entry) = daemon.hands.entries.get(job).cloned() else { return };
        let go_on = if entry.agents_only {
            self.look_at_agents(number, job, &mut entry)
        } else {
            self.look_at_job(number, job, &mut entry)
        };
        let Some(daemon) = &mut self.daemon else { return };
        if go_on {
            daemon.hands.entries.insert(job.clone(), entry);
        } else {
            daemon.hands.entries.remove(job);
        }
    }

    /// Gives whether the job is to be looked at again.
    fn look_at_job(&mut self, number: u32, job: &JobId, entry: &mut Entry) -> bool {
        let row = if entry.stop.is_some() { Row::Stopping } else { entry.row };
        let wall = self.clock.wall();
        match verdict(row, self.host.observe(job, &entry.nonce)) {
            Verdict::Spawn => self.spawn(job, entry),
            Verdict::Wait => self.look_again(number, job),
            Verdict::Withdraw => {
                if let Some(dir) = self.host.make_dir(job, &entry.target)
                    && dir.started.is_none()
                {
                    dir.tombstone = true;
                }
                self.look_again(number, job);
            }
            Verdict::Withdrawn => {
                self.meet("a withdrawn job");
                let actor = entry.stop.clone().unwrap_or_default();
                return self.finished(
                    job,
                    entry,
                    None,
                    Exit::lost(Reason::Stopped { actor }, wall),
                );
            }
            Verdict::Adopt(started) => self.adopt(number, job, entry, &started),
            Verdict::Finished { started, exit } => return self.finished(job, entry, started, exit),
            Verdict::Lost(started) => {
                self.meet("a lost shim");
                if self.mutation != Mutation::SweepNothing {
                    let launcher = matches!(self.purpose(job), Some(Purpose::Launcher { .. }));
                    self.host.sweep(job, launcher && entry.stop.is_none());
                }
                let exit = Exit::lost(Reason::LostShim, wall);
                return self.finished(job, entry, Some(started), exit);
            }
            Verdict::LostReboot(started) => {
                self.meet("a job lost by a reboot");
                let exit = Exit::lost(Reason::LostReboot, wall);
                return self.finished(job, entry, Some(started), exit);
            }
            Verdict::Contradiction(_) | Verdict::Closed => return false,
            Verdict::Quarantine { detail } => {
                self.meet("a quarantined job");
                self.quarantined.insert(job.clone());
                let report = Report::JobQuarantined { job: job.clone(), detail };
                self.tell(job, report);
                return false;
            }
        }
        true
    }

    fn look_again(&mut self, number: u32, job: &JobId) {
        self.plan_in((1, 400), Happening::Look(number, job.clone()));
    }

    fn spawn(&mut self, job: &JobId, entry: &mut Entry) {
        let living = self.host.processes().any(|(_, process)| process.job == *job);
        if entry.spawned && living {
            return;
        }
        if self.host.make_dir(job, &entry.target).is_some() {
            entry.spawned = true;
            entry.watched = true;
            self.start_shim(job);
        }
    }

    fn adopt(&mut self, number: u32, job: &JobId, entry: &mut Entry, started: &Started) {
        entry.watched = true;
        if entry.row == Row::Launching {
            entry.row = Row::Running;
            let report = Report::JobStarted { job: job.clone(), started: started.clone() };
            self.tell(job, report);
        }
        self.tell_what_is_new(job, entry);
        if let Some(actor) = entry.stop.clone().filter(|_| !entry.stop_sent) {
            entry.stop_sent = self.stop_by_shim(job, &actor);
            if !entry.stop_sent {
                self.look_again(number, job);
            }
        }
    }

    fn finished(
        &mut self,
        job: &JobId,
        entry: &Entry,
        started: Option<Started>,
        mut exit: Exit,
    ) -> bool {
        let mut ingested = Ingested::default();
        let evidence = self.left_by(job, &exit);
        match self.purpose(job) {
            Some(Purpose::Launcher { .. }) => ingested = self.ingest(job, &entry.target),
            Some(Purpose::Gate { .. }) if self.mutation == Mutation::GatesLie => {
                exit.reason = Reason::Exited;
                exit.code = Some(0);
            }
            Some(Purpose::Agent { .. }) => {
                ingested.told = telling::told(&entry.target.run, job, &exit);
            }
            Some(Purpose::Gate { .. } | Purpose::LauncherAgent { .. } | Purpose::Hook { .. })
            | None => {}
        }
        let report = Report::JobFinished { job: job.clone(), started, exit, ingested, evidence };
        self.tell(job, report);
        false
    }

    pub(super) fn purpose(&self, job: &JobId) -> Option<Purpose> {
        self.host.dir(job).map(|dir| dir.purpose.clone())
    }

    fn tell_what_is_new(&mut self, job: &JobId, entry: &mut Entry) {
        if !matches!(self.purpose(job), Some(Purpose::Launcher { .. })) {
            return;
        }
        let ingested = self.ingest(job, &entry.target);
        let news = ingested.journal.is_some() || !ingested.registered.is_empty();
        if news && entry.ingested.as_ref() != Some(&ingested) {
            entry.ingested = Some(ingested.clone());
            self.tell(job, Report::Ingested(ingested));
        }
    }

    fn look_at_agents(&mut self, number: u32, job: &JobId, entry: &mut Entry) -> bool {
        self.meet("a look at agents of a lost launcher");
        entry.watched = true;
        let ingested = self.ingest(job, &entry.target);
        if entry.ingested.as_ref() != Some(&ingested) {
            entry.ingested = Some(ingested.clone());
            self.tell(job, Report::Ingested(ingested));
        }
        let remote = self.host.dir(job).is_some_and(|dir| {
            dir.agents.values().any(|a| a.process == AgentProcess::Remote && self.lives(a))
        });
        if remote {
            self.plan_in((1_000, 5_000), Happening::Look(number, job.clone()));
        }
        true
    }

    /// What a launcher's files and agents say now.
    fn ingest(&self, job: &JobId, target: &Target) -> Ingested {
        let mut ingested = Ingested::default();
        let Some(dir) = self.host.dir(job) else { return ingested };
        ingested.journal.clone_from(&dir.journal);
        for (id, registered) in &dir.agents {
            if let Some(end) = &registered.end {
                ingested.ends.push((id.clone(), end.clone()));
            } else if !self.lives(registered) {
                ingested.gone.push((id.clone(), registered.clone()));
            }
            ingested.registered.push((id.clone(), Registered { end: None, ..registered.clone() }));
        }
        let known = target.run.launcher().into_iter().flat_map(|(_, state)| &state.registered);
        for (id, registered) in known {
            let told = dir.agents.contains_key(id);
            if !told && registered.end.is_none() && !self.lives(registered) {
                ingested.gone.push((id.clone(), registered.clone()));
            }
        }
        ingested
    }

    fn lives(&self, registered: &Registered) -> bool {
        match &registered.process {
            AgentProcess::Local(identity) => self.host.is_alive(identity),
            AgentProcess::Remote => {
                let age = self.clock.wall().0.abs_diff(registered.heartbeat_at.0);
                registered.end.is_none() && age < HEARTBEAT_FRESH_MS
            }
        }
    }

    /// Tells the living daemon of what changed on the host, where it watches.
    pub(super) fn hand_hints_on(&mut self) {
        let hints = self.host.take_hints();
        let Some(daemon) = &self.daemon else { return };
        let number = daemon.number;
        for job in hints {
            let entries = &daemon.hands.entries;
            // Registered agents of earlier attempts are watched with the newest one.
            let watching = |(id, entry): &(&JobId, &Entry)| {
                entry.watched && (**id == job || (entry.agents_only && id.run() == job.run()))
            };
            let watching = entries.iter().filter(watching).map(|(id, _)| id.clone());
            for id in watching {
                let moment = self.clock.now() + self.dice.below(20);
                self.schedule.at(moment, Happening::Look(number, id));
            }
        }
    }

    pub(super) fn nudge_looks(&mut self, run: &tidegate_core::ids::RunId) {
        let Some(daemon) = &self.daemon else { return };
        let number = daemon.number;
        let jobs = daemon.hands.entries.keys().filter(|job| job.run() == run);
        let launchers = jobs.filter(|job| {
            self.host.dir(job).is_some_and(|d| matches!(d.purpose, Purpose::Launcher { .. }))
        });
        for job in launchers.cloned().collect::<Vec<_>>() {
            self.plan_in((0, 20), Happening::Look(number, job));
        }
    }
}
