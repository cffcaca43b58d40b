//! Supervises jobs: looks at a job's records, does what the verdict table says, and reports.
//!
//! A job is looked at whenever something about it may have changed; the hints (inotify, pidfds,
//! timers) only say when. Each look is serial per job, and starts from the records alone.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidegate_core::exit::{Identity, Started};
use tidegate_core::ids::{JobId, RunId};
use tidegate_core::run::{Ingested, Purpose};
use tidegate_core::verdict::Row;
use tidegate_process::{Changed, ShimProgram, Spawner, Watcher, What};

use super::context::Shared;
use super::conversing::Conversations;
use super::repos::Repos;
use super::silences::Silences;
use super::stalls;
use crate::engine::Target;

/// The supervisor of all jobs of one daemon.
#[derive(Debug)]
pub(super) struct Jobs {
    pub(super) ctx: Shared,
    pub(super) repos: Arc<Repos>,
    pub(super) spawner: Spawner,
    pub(super) watcher: Watcher,
    pub(super) silences: Arc<Silences>,
    pub(super) conversations: Arc<Conversations>,
    pub(super) stalls: stalls::Armed,
    entries: Mutex<HashMap<JobId, Entry>>,
}

/// What is remembered of a job between two looks. All of it could be found again.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Entry {
    pub(super) target: Target,
    pub(super) dir: PathBuf,
    pub(super) nonce: String,
    /// The row, as the engine knows it or as it was reported to the engine.
    pub(super) row: Row,
    /// Who asked for its end.
    pub(super) stop: Option<String>,
    /// Whether a shim was started by this daemon and has not ended.
    pub(super) spawned: bool,
    /// Whether its directory and shim are being watched.
    pub(super) watched: bool,
    /// Whether its shim accepted the stop.
    pub(super) stop_sent: bool,
    /// Its shim, once that was seen.
    pub(super) shim: Option<Identity>,
    /// What was last read of its launcher's files.
    pub(super) ingested: Option<Ingested>,
    /// Whether it is only watched for its agents: the launcher itself has ended.
    pub(super) agents_only: bool,
    /// Looks that ended without progress, for the next wait.
    pub(super) waits: u32,
    looking: bool,
    again: bool,
}

/// What a look leads to.
pub(super) enum After {
    /// Wait for the next hint.
    Wait,
    /// Look again after a while even without a hint.
    Again(Duration),
    /// The job is closed.
    Done,
}

impl Jobs {
    /// Starts the spawner and the watcher.
    pub(super) fn start(
        ctx: &Shared,
        repos: &Arc<Repos>,
        shim: ShimProgram,
    ) -> std::io::Result<Arc<Self>> {
        let (ended, shims) = channel();
        let (hints, changes) = channel();
        let jobs = Arc::new(Self {
            ctx: Arc::clone(ctx),
            repos: Arc::clone(repos),
            spawner: Spawner::start(shim, ended)?,
            watcher: Watcher::start(hints)?,
            silences: Silences::new(ctx),
            conversations: Conversations::new(ctx),
            stalls: stalls::Armed::default(),
            entries: Mutex::default(),
        });
        let listener = Arc::downgrade(&jobs);
        std::thread::Builder::new().name("job-hints".into()).spawn(move || {
            listen(&changes, &listener);
        })?;
        std::thread::Builder::new().name("shim-ends".into()).spawn(move || {
            for end in shims {
                tracing::debug!(dir = %end.job_dir.display(), code = end.code, "a shim ended");
            }
        })?;
        Ok(jobs)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<JobId, Entry>> {
        // An entry is replaced as a whole, so a panic leaves none half changed.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins or goes on to supervise a job whose row is `row`.
    pub(super) fn supervise(self: &Arc<Self>, target: &Target, id: &JobId, row: Row) {
        self.want(target, id, row, |_| {});
    }

    /// Asks for the end of a job. A look that begins after this starts it no more.
    pub(super) fn stop(self: &Arc<Self>, target: &Target, id: &JobId, actor: &str) {
        self.want(target, id, Row::Stopping, |entry| {
            entry.stop = Some(actor.to_owned());
            entry.waits = 0;
        });
    }

    /// Watches the agents of a launcher that has ended.
    pub(super) fn watch_agents(self: &Arc<Self>, target: &Target, id: &JobId) {
        self.want(target, id, Row::Finished, |entry| {
            entry.agents_only = true;
            entry.ingested = None;
        });
    }

    /// Notes what is wanted of a job, and has it looked at.
    fn want(
        self: &Arc<Self>,
        target: &Target,
        id: &JobId,
        row: Row,
        note: impl FnOnce(&mut Entry),
    ) {
        let Some(job) = target.run.jobs.get(id) else { return };
        {
            let mut entries = self.entries();
            let entry = entries.entry(id.clone()).or_insert_with(|| Entry {
                target: target.clone(),
                dir: self.ctx.job_dir(id),
                nonce: job.nonce.clone(),
                row,
                stop: None,
                spawned: false,
                watched: false,
                stop_sent: false,
                shim: None,
                ingested: None,
                agents_only: false,
                waits: 0,
                looking: false,
                again: false,
            });
            entry.target = target.clone();
            note(entry);
        }
        stalls::watch(self);
        self.look(id);
    }

    /// Reads a launcher's files again.
    pub(super) fn nudge(self: &Arc<Self>, run: &RunId) {
        let entries = self.entries();
        let of_run = entries.iter().filter(|(id, entry)| id.run() == run && is_launcher(entry, id));
        let ids: Vec<JobId> = of_run.map(|(id, _)| id.clone()).collect();
        drop(entries);
        for id in &ids {
            self.look(id);
        }
    }

    /// Forgets a job: nothing more is wanted of it.
    pub(super) fn forget(&self, id: &JobId) {
        self.silences.end(id);
        self.conversations.end(id);
        self.watcher.forget(&id.to_string());
        self.entries().remove(id);
    }

    /// Has the job looked at by a worker; looks of one job never overlap.
    pub(super) fn look(self: &Arc<Self>, id: &JobId) {
        {
            let mut entries = self.entries();
            let Some(entry) = entries.get_mut(id) else { return };
            if entry.looking {
                entry.again = true;
                return;
            }
            entry.looking = true;
        }
        let (jobs, id) = (Arc::clone(self), id.clone());
        self.ctx.workers.now(move || jobs.look_now(&id));
    }

    fn look_now(self: &Arc<Self>, id: &JobId) {
        loop {
            let Some(mut entry) = self.entries().get(id).cloned() else { return };
            let was_for_agents = entry.agents_only;
            let after = self.examine(id, &mut entry);
            let mut entries = self.entries();
            let Some(kept) = entries.get_mut(id) else { return };
            kept.take_over(entry);
            match after {
                // The engine was faster: it wants the agents of the ended launcher watched.
                After::Done if kept.agents_only && !was_for_agents => {}
                After::Done => {
                    entries.remove(id);
                    self.silences.end(id);
                    self.conversations.end(id);
                    drop(entries);
                    self.watcher.forget(&id.to_string());
                    return;
                }
                After::Wait if !kept.again => {
                    kept.looking = false;
                    return;
                }
                After::Again(wait) if !kept.again => {
                    kept.looking = false;
                    drop(entries);
                    let (jobs, id) = (Arc::clone(self), id.clone());
                    self.ctx.workers.after(wait, move || jobs.look(&id));
                    return;
                }
                After::Wait | After::Again(_) => kept.again = false,
            }
        }
    }

    /// Notes that the job's main process exists.
    pub(super) fn note_start(&self, id: &JobId, started: &Started) {
        let report =
            tidegate_core::run::Report::JobStarted { job: id.clone(), started: started.clone() };
        self.ctx.report(id.run(), report);
    }

    /// Whether no job is supervised.
    pub(super) fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// The jobs whose shim is known, as they are now.
    pub(super) fn with_shims(&self) -> Vec<(JobId, Entry)> {
        let entries = self.entries();
        let known = entries.iter().filter(|(_, entry)| entry.shim.is_some() && !entry.agents_only);
        known.map(|(id, entry)| (id.clone(), entry.clone())).collect()
    }

    /// Looks at a job whose shim acts again, without the pause of earlier looks.
    pub(super) fn act_again(self: &Arc<Self>, id: &JobId) {
        if let Some(entry) = self.entries().get_mut(id) {
            entry.waits = 0;
        }
        self.look(id);
    }

    fn process_ended(self: &Arc<Self>, id: &JobId) {
        if let Some(entry) = self.entries().get_mut(id) {
            entry.spawned = false;
            entry.waits = 0;
        }
        self.look(id);
    }
}

impl Entry {
    /// Takes what a look changed; requests that came meanwhile stay.
    fn take_over(&mut self, looked: Self) {
        self.row = looked.row;
        self.watched = looked.watched;
        self.stop_sent = looked.stop_sent;
        self.shim = looked.shim;
        self.ingested = looked.ingested;
        self.waits = looked.waits;
        // An end that was told meanwhile stands.
        self.spawned = looked.spawned && (self.spawned || !self.again);
    }
}

pub(super) fn is_launcher(entry: &Entry, id: &JobId) -> bool {
    let job = entry.target.run.jobs.get(id);
    job.is_some_and(|job| matches!(job.purpose, Purpose::Launcher { .. }))
}

fn listen(changes: &Receiver<Changed>, jobs: &std::sync::Weak<Jobs>) {
    for change in changes {
        let Some(jobs) = jobs.upgrade() else { return };
        let Ok(id) = JobId::parse(&change.key) else { continue };
        match change.what {
            What::ProcessEnded { .. } => jobs.process_ended(&id),
            What::Output => jobs.conversations.poke(&id),
            What::Records | What::Agents | What::File(_) | What::Lock | What::Anything => {
                jobs.look(&id);
            }
        }
    }
}
