//! What must hold when a run ends, and when a world does: nothing of it lives, and all that was
//! acknowledged is there.

use std::collections::BTreeSet;

use tidegate_core::ids::RunId;
use tidegate_core::run::{JobState, Run, Status};
use tidegate_daemon::engine::{Command, Launch, LaunchWay};
use tidegate_store::{ListFilter, Reader, StoreError, View, verify};

use super::super::course::World;
use super::super::host::Kind;
use crate::faults::Mutation;

impl World {
    /// The engine says that a run has ended.
    pub(in super::super) fn check_end_of_run(&mut self, run: &Run) {
        let place = match run.status {
            Status::Completed { .. } => 0,
            Status::Failed { .. } => 1,
            Status::Cancelled { .. } => 2,
            Status::Pending | Status::Running { .. } => {
                return self.fail(|| format!("{} ended, yet it has not", run.id));
            }
        };
        self.stats.runs[place] += 1;
        self.note(|| format!("{} ended: {}", run.id, run.status.word()));
        if let Some(alive) = self.survivor(run) {
            self.fail(|| format!("I4: {} has ended, {alive} lives", run.id));
        }
        if let Some(before) = self.ended.insert(run.id.clone(), run.clone())
            && before.status != run.status
        {
            self.fail(|| format!("the end of {} changed", run.id));
        }
    }

    /// A process of the run that is at work. What a person was asked about is the person's.
    fn survivor(&self, run: &Run) -> Option<String> {
        let quarantined = |job| {
            let row = run.jobs.get(job).map(|row| &row.state);
            matches!(row, Some(JobState::Quarantined { .. }))
        };
        self.host
            .workers_of(&run.id)
            .find(|(_, process)| !quarantined(&process.job))
            .map(|(pid, process)| format!("{pid} ({:?}) of {}", process.kind, process.job))
    }

    /// All has ended.
    pub(in super::super) fn check_end(&mut self) {
        let ended: Vec<Run> = self.ended.values().cloned().collect();
        for run in &ended {
            if let Some(alive) = self.survivor(run) {
                self.fail(|| format!("I4: long after the end of {}, {alive} lives", run.id));
            }
        }
        let shims = self.host.processes().find(|(_, process)| process.kind == Kind::Shim);
        if let Some((pid, shim)) = shims
            && !self.quarantined.contains(&shim.job)
        {
            let job = shim.job.clone();
            self.fail(|| format!("I4: long after all ended, shim {pid} of {job} lives"));
        }
        if let Some(daemon) = self.daemon.take()
            && let Err(error) = daemon.engine.close()
        {
            self.fail(|| format!("the store does not close: {error}"));
        }
        if self.mutation == Mutation::TamperWithLog {
            self.tamper();
        }
        self.check_store();
    }

    /// I2 while runs are under way: chains, rows and open effects.
    pub(in super::super) fn inspect(&mut self, percent: u64) {
        if !self.dice.percent(percent) {
            return;
        }
        self.meet("a store inspected under way");
        self.verify_store();
    }

    fn verify_store(&mut self) {
        match verify(self.home.path()) {
            Ok(report) => {
                self.stats.events = report.events;
                if let Some(broken) = report.broken.first() {
                    self.fail(|| format!("I2: {broken:?}"));
                }
            }
            Err(error) => self.fail(|| format!("I2: the store does not read: {error}")),
        }
    }

    fn check_store(&mut self) {
        self.verify_store();
        let mut reader = match Reader::open(self.home.path()) {
            Ok(reader) => reader,
            Err(error) => return self.fail(|| format!("the store does not open: {error}")),
        };
        match reader.read(|view| self.ends_not_told(&view)) {
            Ok(ends) => ends.iter().for_each(|run| self.check_end_of_run(run)),
            Err(error) => self.fail(|| format!("the store does not read: {error}")),
        }
        let found = reader.read(|view| {
            let mut broken = self.broken_promise(&view)?;
            if broken.is_none() {
                broken = self.broken_log(&view)?;
            }
            Ok(broken)
        });
        match found {
            Ok(None) => {}
            Ok(Some(why)) => self.fail(|| why),
            Err(error) => self.fail(|| format!("the store does not read: {error}")),
        }
    }

    /// Runs whose end was recorded by a daemon that was killed before it could tell.
    fn ends_not_told(&self, view: &View<'_>) -> Result<Vec<Run>, StoreError> {
        let listed = view.list(&ListFilter { limit: 1_000, ..ListFilter::default() })?;
        let mut ends = Vec::new();
        for row in listed.runs {
            let id = row.map_err(StoreError::from)?.id;
            if self.ended.contains_key(&id) {
                continue;
            }
            ends.extend(view.rebuild(&id)?.filter(|run| run.status.is_terminal()));
        }
        Ok(ends)
    }

    /// I3: a request that was acknowledged without effect, or an effect that nobody asked for.
    fn broken_promise(&self, view: &View<'_>) -> Result<Option<String>, StoreError> {
        let listed = view.list(&ListFilter { limit: 1_000, ..ListFilter::default() })?;
        let mut rows = BTreeSet::new();
        for row in listed.runs {
            rows.insert(row.map_err(StoreError::from)?.id);
        }
        let mut made = BTreeSet::new();
        for (no, command, answer) in self.clients.granted() {
            let id = answer["runId"].as_str().and_then(|id| RunId::new(id).ok());
            match command {
                Command::Submit(_) | Command::RetryRun { .. } => {
                    let Some(id) = id else { return Ok(Some(format!("I3: {no:?}: no run id"))) };
                    if !rows.contains(&id) {
                        return Ok(Some(format!("I3: {id} was acknowledged and is not there")));
                    }
                    if !made.insert(id) {
                        return Ok(Some(format!("I3: two requests got one run: {no:?}")));
                    }
                }
                Command::Cancel { run, .. } => {
                    if self.ended.get(run).is_none_or(|run| !run.status.is_terminal()) {
                        return Ok(Some(format!("I3: {run} was to be cancelled, and goes on")));
                    }
                }
                Command::Launch(launch) => {
                    if let Some(why) = self.not_joined(launch) {
                        return Ok(Some(why));
                    }
                }
                Command::ResumeFeature { .. }
                | Command::RetryFeature { .. }
                | Command::Approve { .. }
                | Command::Deny { .. }
                | Command::Ask { .. }
                | Command::AnswerQuestion { .. }
                | Command::Send { .. }
                | Command::Receive { .. }
                | Command::Hold { .. }
                | Command::Prioritise { .. }
                | Command::CleanUp { .. }
                | Command::RecordRemoval { .. }
                | Command::EndCleanup { .. }
                | Command::Restore { .. }
                | Command::EndRestore { .. }
                | Command::PauseLanes { .. }
                | Command::ResumeLanes { .. }
                | Command::Rollback { .. }
                | Command::StartAgent { .. }
                | Command::Nudge { .. }
                | Command::RegisterProject { .. }
                | Command::RemoveProject { .. }
                | Command::MoveProject { .. } => {}
            }
        }
        if made != rows {
            let nobodys: Vec<_> = rows.difference(&made).collect();
            return Ok(Some(format!("I3: runs that nobody asked for: {nobodys:?}")));
        }
        if let Some(open) = rows.iter().find(|id| !self.ended.contains_key(id)) {
            return Ok(Some(format!("I6: {open} has not ended")));
        }
        if let Some(open) = view.open_commands()?.first() {
            return Ok(Some(format!("I6: command {} ({}) has not ended", open.id, open.verb)));
        }
        Ok(None)
    }

    /// I3: features that were to join a run and are no part of it.
    fn not_joined(&self, launch: &Launch) -> Option<String> {
        let LaunchWay::Join { run, .. } = &launch.way else { return None };
        let (spec, plan) = self.ended.get(run)?.plan()?;
        let lost = launch.features.iter().find(|id| {
            spec.wave_of(id).is_none() || plan.features.get(*id).is_none_or(|f| !f.is_terminal())
        });
        lost.map(|id| format!("I3: {id} was to join {run}, and is no part of it"))
    }

    /// Writes another word of the same length over one in the store's file.
    fn tamper(&mut self) {
        const WORDS: [(&[u8], &[u8]); 2] =
            [(b"daemon-claimed", b"daemon-adopted"), (b"job-created", b"job-started")];
        let path = self.home.path().join("store.db");
        let Ok(mut bytes) = std::fs::read(&path) else { return };
        for (from, to) in WORDS {
            let found = bytes.windows(from.len()).rposition(|window| window == from);
            if let Some(at) = found {
                bytes[at..at + to.len()].copy_from_slice(to);
            }
        }
        // A file that cannot be written leaves the world as it was, and the test says so.
        let _ = std::fs::write(&path, bytes);
    }
}
