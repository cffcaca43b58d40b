//! The closed words of the run document, from a run's state.

use tidegate_core::launcher::{End, Launcher, LauncherSpec, Source};
use tidegate_core::run::{JobState, Purpose, Run, Status};
use tidegate_protocol::{Disposition, RecoveryState, ResumeAction, RunStatus};

use super::derive::Derived;

/// What a run's state amounts to, in the words of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) status: RunStatus,
    pub(super) disposition: Disposition,
    pub(super) recovery: RecoveryState,
    pub(super) action: Option<ResumeAction>,
    pub(super) detail: Option<String>,
}

/// The word of a status.
pub(super) fn status(status: &Status) -> RunStatus {
    match status {
        Status::Pending => RunStatus::Pending,
        Status::Running { .. } => RunStatus::Running,
        Status::Completed { .. } => RunStatus::Completed,
        Status::Failed { .. } => RunStatus::Failed,
        Status::Cancelled { .. } => RunStatus::Cancelled,
    }
}

impl Words {
    pub(super) fn of(derived: &Derived) -> Self {
        let run = &derived.run;
        let mut words = Self {
            status: status(&run.status),
            disposition: disposition(run),
            recovery: RecoveryState::Healthy,
            action: None,
            detail: detail(run),
        };
        if run.status == Status::Pending {
            words.recovery = RecoveryState::Pending;
        }
        if let Some((spec, launcher)) = run.launcher() {
            words.of_launcher(derived, spec, launcher);
        }
        if let Some((_, stall)) = derived.stalled.first() {
            words.detail = Some(match words.detail.take() {
                Some(detail) => format!("{detail}; {}", stall.words),
                None => stall.words.clone(),
            });
        }
        words
    }

    fn of_launcher(&mut self, derived: &Derived, spec: &LauncherSpec, launcher: &Launcher) {
        if let Some(settled) = &launcher.settled {
            self.recovery = match settled.source {
                Source::ExitRecord => RecoveryState::Healthy,
                Source::ProgressJournal => RecoveryState::RecoveredFromProgress,
                Source::Nothing => RecoveryState::Failed,
            };
        } else if self.status.is_terminal() {
            // Cancelled before it was claimed, or before its end was known.
        } else if let Some(wave) = derived.resume_due {
            let limit = spec.resumes_max;
            let so_far = launcher.resumes_since_progress;
            self.resuming(wave, &format!("{so_far} of {limit} resumes used"));
        } else if launcher.degraded.is_some() {
            self.recovery = RecoveryState::Degraded;
            self.action = Some(ResumeAction::WaitForLiveAgents);
            let ids = living_agents(&derived.run, launcher);
            let ids = if ids.is_empty() { "agents".to_owned() } else { ids.join(", ") };
            self.detail = Some(format!("the launcher is gone, {ids} live on"));
        } else if let Some(wave) = resume_under_way(&derived.run, launcher) {
            self.resuming(wave, &format!("resume {}", launcher.resumes));
        }
    }

    fn resuming(&mut self, wave: u32, count: &str) {
        self.recovery = RecoveryState::Resuming;
        self.action = Some(ResumeAction::ResumeCurrentWave);
        self.detail = Some(format!("the launcher is gone and goes on at wave {wave}: {count}"));
    }
}

/// The agents of a launcher that have no end: registered ones, and jobs of ours.
pub(super) fn living_agents<'r>(run: &'r Run, launcher: &'r Launcher) -> Vec<&'r str> {
    let registered = launcher.registered.iter().filter(|(_, agent)| agent.end.is_none());
    let mut living: Vec<&str> = registered.map(|(id, _)| id.as_str()).collect();
    for job in run.jobs.values().filter(|job| job.state.is_live()) {
        match &job.purpose {
            Purpose::LauncherAgent { agent, .. } => living.push(agent.as_str()),
            Purpose::Launcher { .. }
            | Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => {}
        }
    }
    living
}

/// The wave of a resume that is recorded and whose launcher has not started yet.
fn resume_under_way(run: &Run, launcher: &Launcher) -> Option<u32> {
    let job = run.jobs.get(launcher.job.as_ref()?)?;
    match (&job.purpose, &job.state) {
        (Purpose::Launcher { resume_wave }, JobState::Launching) => *resume_wave,
        (
            Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. }
            | Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. },
            _,
        ) => None,
    }
}

fn disposition(run: &Run) -> Disposition {
    let launcher = run.launcher().map(|(_, launcher)| launcher);
    let settled = launcher.and_then(|launcher| launcher.settled.as_ref());
    let lost = settled.is_some_and(|settled| settled.source == Source::Nothing);
    match &run.status {
        Status::Pending => Disposition::Pending,
        Status::Completed { .. } => Disposition::Completed,
        Status::Cancelled { .. } => Disposition::Cancelled,
        Status::Failed { .. } if lost => Disposition::LauncherLostBeforeStatus,
        Status::Failed { .. } => Disposition::Failed,
        Status::Running { .. } => match settled.map(|settled| &settled.end) {
            Some(End::Completed) => Disposition::Completed,
            Some(End::Failed) if lost => Disposition::LauncherLostBeforeStatus,
            Some(End::Failed) => Disposition::Failed,
            Some(End::Cancelled { .. }) => Disposition::Cancelled,
            None if launcher.is_some_and(|launcher| launcher.degraded.is_some()) => {
                Disposition::LauncherLostAgentsRunning
            }
            None => Disposition::Running,
        },
    }
}

fn detail(run: &Run) -> Option<String> {
    let settled = run.launcher().and_then(|(_, launcher)| launcher.settled.as_ref());
    match &run.status {
        Status::Failed { detail, .. } => {
            detail.clone().or_else(|| settled.and_then(|settled| settled.detail.clone()))
        }
        Status::Cancelled { actor, .. } => Some(format!("cancelled by {actor}")),
        Status::Running { cancel: Some(actor), .. } => Some(format!("being cancelled by {actor}")),
        Status::Running { cancel: None, .. } => {
            settled.map(|_| "its result is known; what is left of it is being ended".to_owned())
        }
        Status::Pending | Status::Completed { .. } => None,
    }
}
