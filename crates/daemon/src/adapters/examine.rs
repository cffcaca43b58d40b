//! One look at one job: observation, verdict, deed, report.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::exit::{Exit, Identity, Reason, Started};
use tidegate_core::ids::JobId;
use tidegate_core::limits::GRACE_MS;
use tidegate_core::manifest::Protocol;
use tidegate_core::run::{Ingested, Purpose, Report};
use tidegate_core::verdict::{Row, Verdict, verdict};
use tidegate_process::observe::observe;
use tidegate_process::{ControlClient, ControlError, JobDir, OutputHints, Sweep};

use super::jobs::{After, Entry, Jobs, is_launcher};
use super::launch::{self, Refused};
use super::what::{TRIES_OF_A_REFUSAL, may_pass};
use super::{promised, room, stalls, told};
use crate::agents_seen::{AgentsSeen, living_processes, next_staleness};
use crate::clock;

/// How long a shim may take to answer.
const CONTROL_PATIENCE: Duration = Duration::from_secs(2);
/// How long survivors of a lost shim are hunted before a person is asked.
const SWEEP_PATIENCE: Duration = Duration::from_secs(10);
/// First wait after a look without progress, in milliseconds; doubles up to the last.
const WAIT_MS: u64 = 50;
const WAIT_MS_MAX: u64 = 5_000;

impl Jobs {
    pub(super) fn examine(self: &Arc<Self>, id: &JobId, entry: &mut Entry) -> After {
        if entry.agents_only {
            return self.examine_agents(id, entry);
        }
        let seen = match observe(&entry.dir, &entry.nonce) {
            Ok(seen) => seen,
            Err(error) => {
                tracing::warn!(job = %id, %error, "a job directory cannot be read");
                return entry.again_later();
            }
        };
        let row = match entry.stop {
            Some(_) => Row::Stopping,
            None => entry.row,
        };
        match verdict(row, seen) {
            Verdict::Spawn => self.spawn(id, entry),
            Verdict::Wait => entry.again_later(),
            Verdict::Withdraw => self.withdraw(id, entry),
            Verdict::Withdrawn => {
                let actor = entry.stop.clone().unwrap_or_default();
                self.finished(id, entry, None, Exit::lost(Reason::Stopped { actor }, clock::wall()))
            }
            Verdict::Adopt(started) => self.adopt(id, entry, &started),
            Verdict::Finished { started, exit } => self.finished(id, entry, started, exit),
            Verdict::Lost(started) => self.lost(id, entry, started),
            Verdict::LostReboot(started) => {
                let exit = Exit::lost(Reason::LostReboot, clock::wall());
                self.finished(id, entry, Some(started), exit)
            }
            Verdict::Contradiction(_) | Verdict::Closed => After::Done,
            Verdict::Quarantine { detail } => {
                tracing::error!(job = %id, detail, "quarantined");
                self.ctx.report(id.run(), Report::JobQuarantined { job: id.clone(), detail });
                After::Done
            }
        }
    }

    fn spawn(self: &Arc<Self>, id: &JobId, entry: &mut Entry) -> After {
        if entry.spawned {
            // Its shim has not taken the lock yet; its end would be told.
            return After::Wait;
        }
        match self.launch(id, entry) {
            Ok(()) => After::Wait,
            Err(Refused::Later(why)) => {
                tracing::warn!(job = %id, why, "not started yet");
                entry.again_later()
            }
            Err(Refused::Never(why)) => {
                let mut exit = Exit::lost(Reason::Storage, clock::wall());
                exit.detail = Some(why);
                // No shim may start it any more: it is recorded as ended.
                if let Err(error) = withdraw(self, id, entry) {
                    tracing::warn!(job = %id, %error, "cannot withdraw");
                    return entry.again_later();
                }
                self.finished(id, entry, None, exit)
            }
        }
    }

    fn launch(self: &Arc<Self>, id: &JobId, entry: &mut Entry) -> Result<(), Refused> {
        let later = |error: &dyn std::fmt::Display| Refused::Later(error.to_string());
        let dir = JobDir::create(&self.ctx.jobs(), &id.to_string()).map_err(|e| later(&e))?;
        let cwd = self.checkout(id, entry)?;
        // A spec that an earlier daemon wrote is composed again: its token and epoch are older.
        let spec = launch::compose(&self.ctx, &entry.target, id, &dir, cwd.as_deref())?;
        dir.write_spec(&spec).map_err(|e| later(&e))?;
        self.watch(id, entry).map_err(|e| later(&e))?;
        let spawned = self.spawner.spawn(dir.path()).map_err(|e| later(&e))?;
        entry.spawned = true;
        entry.waits = 0;
        if let Some(shim) = spawned.identity {
            self.watcher.watch_process(&id.to_string(), &shim).map_err(|e| later(&e))?;
            return Ok(());
        }
        entry.spawned = false;
        Err(Refused::Later("its shim ended at once".to_owned()))
    }

    fn checkout(&self, id: &JobId, entry: &Entry) -> Result<Option<std::path::PathBuf>, Refused> {
        let Some(job) = entry.target.run.jobs.get(id) else { return Ok(None) };
        match &job.purpose {
            Purpose::Gate { gate, commit, phase, slot, .. } => {
                let place = self.repos.checkout(&entry.target, gate, commit, *phase, *slot);
                if let (Ok(root), Some((spec, _))) = (&place, entry.target.run.plan())
                    && let Some(spec) = spec.gates.get(gate)
                {
                    let cleared = promised::clear(root, &spec.promises);
                    cleared.map_err(|error| Refused::Later(error.to_string()))?;
                }
                place.map(Some).map_err(|error| {
                    let passes = may_pass(&error) && entry.waits < TRIES_OF_A_REFUSAL;
                    if error.is_retryable() || passes {
                        Refused::Later(error.to_string())
                    } else {
                        Refused::Never(error.to_string())
                    }
                })
            }
            Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. }
            | Purpose::Agent { .. }
            | Purpose::Hook { .. } => Ok(None),
        }
    }

    fn watch(&self, id: &JobId, entry: &mut Entry) -> std::io::Result<()> {
        if !entry.watched {
            let manifest = entry.target.run.manifest_of(id);
            let talks = manifest.is_some_and(|one| one.protocol != Protocol::None);
            let output = if talks { OutputHints::On } else { OutputHints::Off };
            self.watcher.watch_dir(&id.to_string(), &entry.dir, output)?;
            entry.watched = true;
        }
        Ok(())
    }

    fn withdraw(self: &Arc<Self>, id: &JobId, entry: &mut Entry) -> After {
        match withdraw(self, id, entry) {
            // The next look finds the tombstone, or that a shim was faster.
            Ok(()) => After::Again(Duration::ZERO),
            Err(error) => {
                tracing::warn!(job = %id, %error, "cannot withdraw");
                entry.again_later()
            }
        }
    }

    fn adopt(self: &Arc<Self>, id: &JobId, entry: &mut Entry, started: &Started) -> After {
        // After a restart both are new to this daemon.
        let first = entry.row != Row::Running && entry.row != Row::Stopping;
        if first || !entry.watched {
            let watched = self
                .watch(id, entry)
                .and_then(|()| self.watcher.watch_process(&id.to_string(), &started.shim));
            if let Err(error) = watched {
                tracing::warn!(job = %id, %error, "cannot watch");
                return entry.again_later();
            }
        }
        entry.shim = Some(started.shim.clone());
        if entry.row == Row::Launching {
            self.note_start(id, started);
            entry.row = Row::Running;
        }
        self.silences.begin(&entry.target.run, id, started);
        self.tell_what_is_new(id, entry);
        match entry.stop.clone() {
            Some(actor) if !entry.stop_sent => self.send_stop(id, entry, &actor),
            Some(_) | None => After::Wait,
        }
    }

    fn send_stop(&self, id: &JobId, entry: &mut Entry, actor: &str) -> After {
        let outcome = JobDir::open(&entry.dir)
            .map_err(|error| error.to_string())
            .and_then(|dir| self.ask_to_stop(&dir, entry, actor));
        match outcome {
            Ok(()) => {
                entry.stop_sent = true;
                stalls::clear(id, entry);
                After::Wait
            }
            Err(error) => {
                tracing::warn!(job = %id, error, "its shim did not take the stop");
                stalls::note(id, entry);
                entry.again_later()
            }
        }
    }

    fn ask_to_stop(&self, dir: &JobDir, entry: &Entry, actor: &str) -> Result<(), String> {
        let connected = ControlClient::connect(dir, &entry.nonce, self.ctx.token, CONTROL_PATIENCE);
        let (mut client, _) = connected.map_err(|error| error.to_string())?;
        match client.stop(actor, grace_ms(entry, dir)) {
            // Its main process was faster: the record follows.
            Ok(_) | Err(ControlError::Refused { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn lost(self: &Arc<Self>, id: &JobId, entry: &mut Entry, started: Started) -> After {
        let sweep = Sweep::lost_shim(&started, &self.ctx.run_tag(id));
        let with_cgroup = JobDir::open(&entry.dir)
            .map_err(|error| error.to_string())
            .and_then(|dir| sweep.with_cgroup_of(&dir).map_err(|error| error.to_string()));
        let mut sweep = match with_cgroup {
            Ok(sweep) => sweep,
            Err(error) => {
                tracing::warn!(job = %id, error, "cannot sweep");
                return entry.again_later();
            }
        };
        if is_launcher(entry, id) && entry.stop.is_none() {
            sweep = sweep.sparing(self.living_processes(entry));
        }
        let mut exit = Exit::lost(Reason::LostShim, clock::wall());
        match sweep.run(SWEEP_PATIENCE) {
            Ok(swept) if swept.is_empty() => {}
            Ok(swept) => {
                exit.requires_human = true;
                exit.detail = Some(format!("still alive: {}", swept.survivors.join(", ")));
                tracing::error!(job = %id, detail = exit.detail, "cannot be ended");
                return entry.again_later();
            }
            Err(error) => {
                tracing::warn!(job = %id, %error, "cannot sweep");
                return entry.again_later();
            }
        }
        self.finished(id, entry, Some(started), exit)
    }

    fn finished(
        &self,
        id: &JobId,
        entry: &mut Entry,
        started: Option<Started>,
        exit: Exit,
    ) -> After {
        let run = &entry.target.run;
        let ingested = if is_launcher(entry, id) {
            self.ingest(entry)
        } else {
            let told = told::read(run, id, &entry.dir, &exit);
            Ingested { told, ..Ingested::default() }
        };
        let exit = room::explained(run, id, exit);
        // The checkout is the job's own until its end is recorded.
        let evidence = match self.evidence(id, entry, &exit) {
            Ok(evidence) => evidence,
            Err(error) => {
                tracing::warn!(job = %id, %error, "what a gate left is read again");
                return entry.again_later();
            }
        };
        let report = Report::JobFinished { job: id.clone(), started, exit, ingested, evidence };
        self.ctx.report(id.run(), report);
        After::Done
    }

    /// Reports what a living launcher's files say, when it is new.
    fn tell_what_is_new(&self, id: &JobId, entry: &mut Entry) {
        if !is_launcher(entry, id) {
            return;
        }
        let ingested = self.ingest(entry);
        let says_something = ingested.journal.is_some() || !ingested.registered.is_empty();
        if says_something && entry.ingested.as_ref() != Some(&ingested) {
            entry.ingested = Some(ingested.clone());
            self.ctx.report(id.run(), Report::Ingested(ingested));
        }
    }

    /// Looks at the agents of a launcher that has ended.
    fn examine_agents(self: &Arc<Self>, id: &JobId, entry: &mut Entry) -> After {
        if !entry.watched {
            let processes = self.living_processes(entry);
            let watched = self.watch(id, entry).and_then(|()| {
                let key = id.to_string();
                processes.iter().try_for_each(|p| self.watcher.watch_process(&key, p))
            });
            if let Err(error) = watched {
                tracing::warn!(job = %id, %error, "cannot watch its agents");
                return entry.again_later();
            }
        }
        let ingested = self.ingest(entry);
        let living = self.living_processes(entry);
        if living.is_empty()
            && let Err(why) = self.end_the_rest(entry)
        {
            // Until that is empty, nothing may follow on the agents.
            tracing::error!(job = %id, why, "what its agents left cannot be ended");
            return entry.again_later();
        }
        if entry.ingested.as_ref() != Some(&ingested) {
            entry.ingested = Some(ingested.clone());
            self.ctx.report(id.run(), Report::Ingested(ingested));
        }
        match next_staleness(&entry.dir, clock::wall()) {
            Some(ms) => After::Again(Duration::from_millis(ms)),
            None => After::Wait,
        }
    }
}

impl Jobs {
    /// What a launcher's files and agents say now.
    fn ingest(&self, entry: &Entry) -> Ingested {
        let (run, at) = (&entry.target.run, clock::wall());
        let seen = AgentsSeen::of(run, &entry.dir, &self.ctx.home_id, at);
        for what in &seen.damaged {
            tracing::warn!(run = %run.id, what, "of a launcher's files");
        }
        seen.ingested
    }

    fn living_processes(&self, entry: &Entry) -> Vec<Identity> {
        living_processes(&entry.target.run, &entry.dir, &self.ctx.home_id)
    }

    /// Ends what the agents of an ended launcher left, once none of them lives: their children in
    /// other sessions, and those that only said that they had ended.
    fn end_the_rest(&self, entry: &Entry) -> Result<(), String> {
        let tags = self.ctx.launcher_tags(&entry.target.run);
        let swept = Sweep::tagged(tags).run(SWEEP_PATIENCE).map_err(|error| error.to_string())?;
        if swept.is_empty() { Ok(()) } else { Err(swept.survivors.join(", ")) }
    }
}

impl Entry {
    fn again_later(&mut self) -> After {
        let ms = WAIT_MS << self.waits.min(10);
        self.waits += 1;
        After::Again(Duration::from_millis(ms.min(WAIT_MS_MAX)))
    }
}

fn withdraw(jobs: &Jobs, id: &JobId, entry: &Entry) -> Result<(), tidegate_process::JobDirError> {
    let dir = JobDir::create(&jobs.ctx.jobs(), &id.to_string())?;
    dir.withdraw(&id.to_string(), &entry.nonce).map(|_| ())
}

fn grace_ms(entry: &Entry, dir: &JobDir) -> u64 {
    let _ = entry;
    dir.read_spec().map_or(GRACE_MS, |spec| spec.limits.grace_ms)
}
