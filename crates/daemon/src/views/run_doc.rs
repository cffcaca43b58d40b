//! The run document: assembled from a run's recorded state, what is derived of it, and what is seen.

use tidegate_core::ids::JobId;
use tidegate_core::launcher::{Launcher, LauncherSpec};
use tidegate_core::run::{Job, Run, Status, Work};
use tidegate_core::time::WallMs;
use tidegate_protocol::{Ages, DaemonDoc, PauseDoc, RunDoc, RunKind, Text};

use super::agents::{agents, backend};
use super::attention::attention;
use super::derive::Derived;
use super::feature_doc::features;
use super::job_doc::{identity, log_path};
use super::load::lanes_pause;
use super::moment::{age, stamp};
use super::place::{HomePaths, text};
use super::sight::Sight;
use super::usage::usage;
use super::waiting::{QueuePlace, lack, run_waits_for};
use super::words::Words;

/// The lease that a held lock stands for, in milliseconds: it is renewed by every look.
const LEASE_MS: u64 = 30_000;

/// A run as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its state.
    pub run: Run,
    /// When its last event was recorded.
    pub updated_at: WallMs,
    /// The number of that event.
    pub last_seq: u64,
    /// Whether what it left was deleted.
    pub deleted: bool,
}

/// All that a document is made of.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The run as the store has it.
    pub recorded: &'a Recorded,
    /// The run as it stands now.
    pub derived: &'a Derived,
    /// What was seen.
    pub sight: &'a Sight,
    /// The daemon of the home.
    pub daemon: &'a DaemonDoc,
    /// The home's paths.
    pub paths: &'a HomePaths,
    /// Its place in the queue, for pending runs.
    pub queue: Option<&'a QueuePlace>,
}

/// What the run as a whole waits for.
pub(super) fn waits_for(facts: &Facts<'_>) -> Option<String> {
    let run = &facts.derived.run;
    let lack = lack(run, facts.paths);
    run_waits_for(run, facts.queue, facts.daemon.running, lack.as_deref())
}

/// The document of one run.
pub fn run_document(facts: &Facts<'_>) -> RunDoc {
    let run = &facts.derived.run;
    let words = Words::of(facts.derived);
    let launcher = LauncherPart::of(run, facts);
    let times = Times::of(run, facts);
    let active = matches!(run.status, Status::Running { .. });
    let (kind, title) = kind_and_title(run);
    let lease = (active && facts.daemon.running)
        .then(|| stamp(WallMs(facts.sight.at.0.saturating_add(LEASE_MS))));
    RunDoc {
        run_id: run.id.to_string(),
        project: run.queue.project.to_string(),
        lane: run.queue.lane.to_string(),
        adhoc_run_id: run.queue.adhoc.as_ref().map(ToString::to_string),
        kind,
        title,
        status: words.status,
        submitted_at: stamp(run.submitted_at),
        started_at: times.started.map(stamp),
        updated_at: stamp(facts.recorded.updated_at),
        completed_at: times.completed.map(stamp),
        launcher_args: launcher.args,
        launcher_pid: launcher.pid,
        launcher_status_path: launcher.status_path,
        launcher_log_path: launcher.log_path,
        state_path: state_path(run, facts.paths),
        exit_code: launcher.exit_code,
        signal: launcher.signal,
        active_wave: active_wave(run),
        terminal_disposition: words.disposition,
        recovery_state: words.recovery,
        resume_action: words.action,
        resume_attempts: launcher.resumes,
        resume_limit: launcher.resume_limit,
        session_backend: backend(run.launcher().is_some_and(|(spec, _)| spec.terminal)),
        supervisor_id: run.supervisor.clone(),
        lease_expires_at: lease,
        detail: words.detail,
        agent_runtime_summary: agents(&facts.recorded.run, facts.derived, facts.sight, facts.paths),
        attention: attention(facts.derived),
        recorded: facts.derived.recorded,
        deleted: facts.recorded.deleted,
        supervised: facts.daemon.running,
        launcher_identity: launcher.identity,
        shim_identity: launcher.shim,
        epoch: facts.daemon.epoch,
        ages: times.ages(facts),
        features: features(run, facts.paths),
        plan_path: run.plan().map(|(spec, _)| spec.path.clone()),
        target: run.plan().map(|(spec, _)| spec.target.clone()),
        actor: run.actor.clone(),
        parent_run_id: run.parent.as_ref().map(ToString::to_string),
        cancel_requested_by: cancelled_by(&run.status),
        priority: run.priority,
        held: run.hold.as_ref().filter(|_| !run.status.is_terminal()).map(|hold| PauseDoc {
            scope: format!("run {}", run.id),
            project: None,
            lane: None,
            by: hold.by.clone(),
            since: stamp(hold.at),
            reason: hold.reason.clone(),
        }),
        paused: facts
            .queue
            .and_then(|place| place.paused.as_ref())
            .map(|(scope, pause)| lanes_pause(scope, pause)),
        usage: usage(run, None),
        waits_for: waits_for(facts),
    }
}

fn cancelled_by(status: &Status) -> Option<String> {
    match status {
        Status::Running { cancel, .. } => cancel.clone(),
        Status::Cancelled { actor, .. } => Some(actor.clone()),
        Status::Pending | Status::Completed { .. } | Status::Failed { .. } => None,
    }
}

fn kind_and_title(run: &Run) -> (RunKind, String) {
    match &run.work {
        Work::Launcher { spec, .. } => (RunKind::Launcher, spec.argv.join(" ")),
        Work::Plan { spec, .. } => (RunKind::Plan, spec.title.clone()),
    }
}

/// The job directory of the latest attempt: the launcher's, or the newest job of a plan.
fn state_path(run: &Run, paths: &HomePaths) -> Option<String> {
    let job = match run.launcher() {
        Some((_, launcher)) => launcher.job.clone(),
        None => run.jobs.keys().next_back().cloned(),
    };
    job.map(|job| text(&paths.job(&job)))
}

/// The wave that a run is at: a launcher's own word first; for a plan the first that is not over.
pub(super) fn active_wave(run: &Run) -> Option<u32> {
    match &run.work {
        Work::Launcher { spec, state } => launcher_wave(spec, state),
        Work::Plan { spec, state } => {
            let open = spec.waves.iter().find(|wave| {
                wave.features
                    .iter()
                    .any(|id| state.features.get(id).is_some_and(|feature| !feature.is_terminal()))
            });
            open.or(spec.waves.last()).map(|wave| wave.number)
        }
    }
}

fn launcher_wave(spec: &LauncherSpec, launcher: &Launcher) -> Option<u32> {
    if let Some(settled) = &launcher.settled {
        return settled.wave;
    }
    let journal = launcher.journal.as_ref().and_then(|journal| journal.wave);
    journal.or(launcher.active_wave).or(spec.selection.start_wave)
}

struct Times {
    started: Option<WallMs>,
    completed: Option<WallMs>,
}

impl Times {
    fn of(run: &Run, facts: &Facts<'_>) -> Self {
        let started = run.jobs.values().find_map(|job| job.state.started()).map(|s| s.at);
        let ended = match &run.status {
            Status::Pending | Status::Running { .. } => None,
            Status::Completed { at } | Status::Failed { at, .. } | Status::Cancelled { at, .. } => {
                Some(*at)
            }
        };
        // Where nobody recorded the end and nothing tells its time, there is none to show.
        let concluded_now = !facts.derived.recorded && ended == Some(facts.sight.at);
        Self { started, completed: ended.filter(|_| !concluded_now) }
    }

    fn ages(&self, facts: &Facts<'_>) -> Ages {
        let since = |at: WallMs| age(facts.sight.at, at);
        Ages {
            submitted_ms: since(facts.recorded.run.submitted_at),
            started_ms: self.started.map(since),
            updated_ms: since(facts.recorded.updated_at),
            completed_ms: self.completed.map(since),
        }
    }
}

/// The fields that only launcher runs have.
#[derive(Default)]
struct LauncherPart {
    args: Vec<Text>,
    pid: Option<u32>,
    identity: Option<tidegate_protocol::IdentityDoc>,
    shim: Option<tidegate_protocol::IdentityDoc>,
    status_path: Option<String>,
    log_path: Option<String>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    resumes: u32,
    resume_limit: Option<u32>,
}

impl LauncherPart {
    fn of(run: &Run, facts: &Facts<'_>) -> Self {
        let Some((spec, launcher)) = run.launcher() else { return Self::default() };
        let mut part = Self {
            args: spec.argv.iter().map(|arg| Text::from(arg.as_str())).collect(),
            resumes: launcher.resumes,
            resume_limit: Some(spec.resumes_max),
            ..Self::default()
        };
        if let Some(settled) = &launcher.settled {
            part.exit_code = settled.code;
            part.signal = settled.signal;
        } else if let Some(degraded) = &launcher.degraded {
            part.signal = degraded.end.signal;
        }
        if let Some(id) = &launcher.job {
            part.of_attempt(id, run.jobs.get(id), facts);
        }
        part
    }

    fn of_attempt(&mut self, id: &JobId, job: Option<&Job>, facts: &Facts<'_>) {
        let dir = facts.paths.job(id);
        self.status_path = Some(text(&dir.join("exit")));
        self.log_path = log_path(&dir);
        // A start counts from the moment that its record exists.
        let recorded = job.and_then(|job| job.state.started());
        let Some(started) = recorded.or_else(|| facts.sight.started(id)) else { return };
        self.pid = Some(started.child.pid);
        self.identity = Some(identity(&started.child));
        self.shim = Some(identity(&started.shim));
    }
}
