//! The row of a run.

use tidegate_core::ids::{BlobId, JobId, QueueKey, RunId};
use tidegate_core::launcher::{Launcher, LauncherSpec, Source};
use tidegate_core::pause::Pause;
use tidegate_core::plan::PlanSpec;
use tidegate_core::run::{JobState, Plan, Purpose, Run, Status, Work};
use tidegate_core::time::WallMs;

use super::words::{Disposition, Recovery, ResumeAction, RunStatus};

/// A run as readers see it. All of it is recorded; nothing here looks at a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// The order of its queue.
    pub seq: u64,
    /// Its queue.
    pub queue: QueueKey,
    /// Who submitted it.
    pub actor: String,
    /// The run whose job submitted it, or whose failed half it repeats.
    pub parent: Option<RunId>,
    /// The pinned environment.
    pub env: BlobId,
    /// When it was submitted, on the wall clock.
    pub submitted_at: WallMs,
    /// When it was claimed.
    pub claimed_at: Option<WallMs>,
    /// When its first job started: of a launcher run, its launcher.
    pub started_at: Option<WallMs>,
    /// When its newest event was recorded.
    pub updated_at: WallMs,
    /// When it ended.
    pub ended_at: Option<WallMs>,
    /// Where it stands.
    pub status: RunStatus,
    /// Its place among the runs of its queue: higher ones first.
    pub priority: i32,
    /// Set while a person keeps it from beginning anything.
    pub hold: Option<Pause>,
    /// The daemon that claimed it, or adopted it last.
    pub supervisor: Option<String>,
    /// Who asked for its end.
    pub cancel_actor: Option<String>,
    /// More for a person; cleared when its reason is gone.
    pub detail: Option<String>,
    /// The active wave, where it is known.
    pub active_wave: Option<u32>,
    /// The code that it ended with.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How it ended, or what it ends by.
    pub disposition: Disposition,
    /// How sound its supervision is.
    pub recovery: Recovery,
    /// What it waits for that is not as it should be.
    pub resume_action: Option<ResumeAction>,
    /// Times that the launcher was started again.
    pub resumes: u32,
    /// The latest attempt of the launcher.
    pub launcher_job: Option<JobId>,
    /// The process of that attempt, once it started.
    pub launcher_pid: Option<u32>,
    /// What it executes.
    pub work: WorkRow,
    /// Its newest event.
    pub last_seq: u64,
}

/// What a run executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkRow {
    /// A command that orchestrates by itself.
    Launcher(Box<LauncherRow>),
    /// A plan.
    Plan(PlanRow),
}

/// A launcher and how far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherRow {
    /// As submitted.
    pub spec: LauncherSpec,
    /// How far it is. Its agents stand in rows of their own: both maps are empty here.
    pub state: Launcher,
}

/// A plan and how far it is; its features stand in rows of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRow {
    /// Its title.
    pub title: String,
    /// Path of the plan file as given.
    pub path: String,
    /// Full name of the target ref.
    pub target: String,
    /// The pinned bytes of the plan file.
    pub source: BlobId,
    /// The pinned bytes of the config.
    pub config: Option<BlobId>,
    /// How many features it has.
    pub features_total: u32,
    /// How many of them have landed.
    pub features_landed: u32,
}

/// What the events of a run say beside its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) claimed_at: Option<WallMs>,
    pub(crate) updated_at: WallMs,
    pub(crate) last_seq: u64,
}

impl RunRow {
    /// The row that a run's state and the marks of its events give.
    pub(crate) fn of(run: &Run, marks: Marks) -> Self {
        let ending = Ending::of(run);
        let launcher = run.launcher().map(|(_, state)| state);
        let settled = launcher.and_then(|launcher| launcher.settled.as_ref());
        let launcher_job = launcher.and_then(|launcher| launcher.job.clone());
        let launcher_start = launcher_job
            .as_ref()
            .and_then(|id| run.jobs.get(id))
            .and_then(|job| job.state.started());
        Self {
            id: run.id.clone(),
            seq: run.seq,
            queue: run.queue.clone(),
            actor: run.actor.clone(),
            parent: run.parent.clone(),
            env: run.env.clone(),
            submitted_at: run.submitted_at,
            claimed_at: marks.claimed_at,
            started_at: first_start(run),
            updated_at: marks.updated_at,
            ended_at: ending.at,
            status: ending.status,
            priority: run.priority,
            hold: run.hold.clone(),
            supervisor: run.supervisor.clone(),
            cancel_actor: ending.cancel_actor,
            detail: ending.detail,
            active_wave: active_wave(run),
            exit_code: settled.and_then(|settled| settled.code),
            signal: settled.and_then(|settled| settled.signal),
            disposition: disposition(run, ending.status),
            recovery: recovery(run),
            resume_action: resume_action(run),
            resumes: launcher.map_or(0, |launcher| launcher.resumes),
            launcher_pid: launcher_start.map(|started| started.child.pid),
            launcher_job,
            work: work_row(run),
            last_seq: marks.last_seq,
        }
    }
}

/// What the status says.
struct Ending {
    status: RunStatus,
    at: Option<WallMs>,
    cancel_actor: Option<String>,
    detail: Option<String>,
}

impl Ending {
    fn of(run: &Run) -> Self {
        let (status, at, cancel_actor, detail) = match &run.status {
            Status::Pending => (RunStatus::Pending, None, None, None),
            Status::Running { cancel, .. } => {
                (RunStatus::Running, None, cancel.clone(), contradiction(run))
            }
            Status::Completed { at } => (RunStatus::Completed, Some(*at), None, None),
            Status::Failed { at, detail } => (RunStatus::Failed, Some(*at), None, detail.clone()),
            Status::Cancelled { at, actor } => {
                (RunStatus::Cancelled, Some(*at), Some(actor.clone()), None)
            }
        };
        Self { status, at, cancel_actor, detail }
    }
}

/// What a person must look at before the run can go on.
fn contradiction(run: &Run) -> Option<String> {
    run.jobs.values().find_map(|job| match &job.state {
        JobState::Quarantined { detail, .. } => Some(detail.clone()),
        JobState::Launching
        | JobState::Running(_)
        | JobState::Stopping { .. }
        | JobState::Finished { .. } => None,
    })
}

fn first_start(run: &Run) -> Option<WallMs> {
    let counts = |purpose: &Purpose| match (&run.work, purpose) {
        (Work::Plan { .. }, _) | (Work::Launcher { .. }, Purpose::Launcher { .. }) => true,
        (
            Work::Launcher { .. },
            Purpose::LauncherAgent { .. }
            | Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. },
        ) => false,
    };
    run.jobs
        .values()
        .filter(|job| counts(&job.purpose))
        .filter_map(|job| job.state.started())
        .map(|started| started.at)
        .min()
}

fn disposition(run: &Run, status: RunStatus) -> Disposition {
    let launcher = run.launcher().map(|(_, state)| state);
    let lost = launcher
        .and_then(|launcher| launcher.settled.as_ref())
        .is_some_and(|settled| settled.source == Source::Nothing);
    match status {
        RunStatus::Pending => Disposition::Pending,
        RunStatus::Running if launcher.is_some_and(|launcher| launcher.degraded.is_some()) => {
            Disposition::LauncherLostAgentsRunning
        }
        RunStatus::Running => Disposition::Running,
        RunStatus::Completed => Disposition::Completed,
        RunStatus::Failed if lost => Disposition::LauncherLostBeforeStatus,
        RunStatus::Failed => Disposition::Failed,
        RunStatus::Cancelled => Disposition::Cancelled,
    }
}

fn recovery(run: &Run) -> Recovery {
    if run.status == Status::Pending {
        return Recovery::Pending;
    }
    let Some((_, launcher)) = run.launcher() else { return Recovery::Healthy };
    match launcher.settled.as_ref().map(|settled| settled.source) {
        Some(Source::ProgressJournal) => Recovery::RecoveredFromProgress,
        Some(Source::Nothing) => Recovery::Failed,
        None if launcher.degraded.is_some() => Recovery::Degraded,
        None if is_resuming(run) => Recovery::Resuming,
        Some(Source::ExitRecord) | None => Recovery::Healthy,
    }
}

fn resume_action(run: &Run) -> Option<ResumeAction> {
    match recovery(run) {
        Recovery::Degraded => Some(ResumeAction::WaitForLiveAgents),
        Recovery::Resuming => Some(ResumeAction::ResumeCurrentWave),
        Recovery::Pending
        | Recovery::Healthy
        | Recovery::RecoveredFromProgress
        | Recovery::Failed => None,
    }
}

/// Whether the launcher is to be started again and is not known to run yet.
fn is_resuming(run: &Run) -> bool {
    let latest = run.launcher().and_then(|(_, launcher)| launcher.job.as_ref());
    latest.and_then(|id| run.jobs.get(id)).is_some_and(|job| {
        matches!(job.purpose, Purpose::Launcher { resume_wave: Some(_) })
            && job.state == JobState::Launching
    })
}

fn active_wave(run: &Run) -> Option<u32> {
    match &run.work {
        Work::Launcher { spec, state } => match &state.settled {
            Some(settled) => settled.wave,
            None => state
                .journal
                .as_ref()
                .and_then(|journal| journal.wave)
                .or(state.active_wave)
                .or(spec.selection.start_wave),
        },
        Work::Plan { spec, state } => wave_reached(spec, state),
    }
}

/// The first wave with a feature that is not at its end; the last one when there is none.
fn wave_reached(spec: &PlanSpec, plan: &Plan) -> Option<u32> {
    let is_open = |wave: &&tidegate_core::plan::WaveSpec| {
        wave.features
            .iter()
            .any(|id| plan.features.get(id).is_some_and(|feature| !feature.is_terminal()))
    };
    spec.waves.iter().find(is_open).or(spec.waves.last()).map(|wave| wave.number)
}

fn work_row(run: &Run) -> WorkRow {
    match &run.work {
        Work::Launcher { spec, state } => {
            let state = Launcher {
                job: state.job.clone(),
                resumes: state.resumes,
                resumes_since_progress: state.resumes_since_progress,
                resumed_wave: state.resumed_wave,
                journal: state.journal.clone(),
                active_wave: state.active_wave,
                registered: std::collections::BTreeMap::new(),
                started: std::collections::BTreeMap::new(),
                degraded: state.degraded.clone(),
                settled: state.settled.clone(),
                swept: state.swept,
            };
            WorkRow::Launcher(Box::new(LauncherRow { spec: spec.clone(), state }))
        }
        Work::Plan { spec, state } => {
            let landed = spec.features.keys().filter(|id| state.is_landed(id)).count();
            WorkRow::Plan(PlanRow {
                title: spec.title.clone(),
                path: spec.path.clone(),
                target: spec.target.clone(),
                source: spec.source.clone(),
                config: spec.config.clone(),
                features_total: count(spec.features.len()),
                features_landed: count(landed),
            })
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
