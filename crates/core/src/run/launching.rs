//! A launcher's run: acts on what [`crate::launcher::fate`] decides.

use super::event::Event;
use super::state::{JobState, Purpose};
use super::step::Draft;
use crate::exit::{Exit, Reason};
use crate::ids::AgentId;
use crate::launcher::{
    End, Fate, Finalized, Known, LauncherEnd, Registered, Settled, Source, fate, final_wave,
};
use crate::time::WallMs;

impl Draft {
    /// Whether the latest launcher may be alive or is about to start.
    pub(super) fn launcher_is_alive(&self) -> bool {
        let Some((_, launcher)) = self.run.launcher() else { return false };
        let job = launcher.job.as_ref().and_then(|id| self.run.jobs.get(id));
        job.is_some_and(|job| job.state.is_live())
    }

    /// All facts of the decision; `gone` are the agents seen to be gone just now.
    fn known(&self, gone: &[(AgentId, Registered)]) -> Option<Known> {
        let (spec, launcher) = self.run.launcher()?;
        let job = self.run.jobs.get(launcher.job.as_ref()?)?;
        let end = match &job.state {
            JobState::Launching | JobState::Running(_) | JobState::Stopping { .. } => {
                LauncherEnd::Alive
            }
            JobState::Finished { exit, .. } => LauncherEnd::Ended(exit.clone()),
            JobState::Quarantined { .. } => return None,
        };
        let journal = launcher.journal.as_ref();
        let wave = journal.and_then(|journal| journal.wave).or(launcher.active_wave);
        Some(Known {
            launcher: end,
            agents_alive: self.living_agents(gone),
            finalized: journal.and_then(|journal| journal.finalized),
            active_wave: wave.or(spec.selection.start_wave),
            selection: spec.selection.clone(),
            resumes_since_progress: launcher.resumes_since_progress,
            resumes_max: spec.resumes_max,
        })
    }

    /// Decides what becomes of the run, and records it where it is new.
    pub(super) fn decide_fate(&mut self, gone: &[(AgentId, Registered)]) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        if launcher.settled.is_some() {
            return;
        }
        let degraded = launcher.degraded.is_some();
        let Some(known) = self.known(gone) else { return };
        let cancel = self.run.status.cancel().map(str::to_owned);
        match (fate(&known), cancel) {
            (Fate::Running, _) => {}
            (Fate::Completed(exit), _) => self.reconcile_exit(&exit, End::Completed),
            (Fate::Failed(exit), _) => self.reconcile_exit(&exit, End::Failed),
            (Fate::Cancelled(exit), cancel) => {
                let by_record = match &exit.reason {
                    Reason::Stopped { actor } => actor.clone(),
                    Reason::Exited
                    | Reason::Signalled
                    | Reason::Timeout
                    | Reason::Limit
                    | Reason::Oom
                    | Reason::LostShim
                    | Reason::LostReboot
                    | Reason::ExecFailed
                    | Reason::Storage => String::new(),
                };
                let actor = cancel.unwrap_or(by_record);
                self.reconcile_exit(&exit, End::Cancelled { actor });
            }
            (
                Fate::AgentsRunning { end, .. }
                | Fate::Recovered { end, .. }
                | Fate::Resume { end, .. }
                | Fate::LostBeforeStatus(end),
                Some(actor),
            ) => self.reconcile_exit(&end, End::Cancelled { actor }),
            (Fate::AgentsRunning { end, agents }, None) => {
                if !degraded {
                    self.emit(Event::AgentsAdopted { end, agents });
                }
            }
            (Fate::Recovered { word, .. }, None) => self.reconcile_journal(word),
            (Fate::Resume { wave, .. }, None) => {
                self.emit(Event::Resuming { wave });
                self.create_job(Purpose::Launcher { resume_wave: Some(wave) });
            }
            (Fate::LostBeforeStatus(end), None) => self.lost_before_status(&end),
        }
    }

    fn reconcile_exit(&mut self, exit: &Exit, end: End) {
        let wave = self.settled_wave(&end);
        let settled = Settled {
            end,
            source: Source::ExitRecord,
            code: exit.code,
            signal: exit.signal,
            at: exit.at,
            wave,
            detail: detail_of(exit),
        };
        self.emit(Event::StatusReconciled { settled });
    }

    fn reconcile_journal(&mut self, word: Finalized) {
        let journal = self.run.launcher().and_then(|(_, launcher)| launcher.journal.clone());
        let end = if word.completed { End::Completed } else { End::Failed };
        let settled = Settled {
            wave: self.settled_wave(&end),
            end,
            source: Source::ProgressJournal,
            code: word.exit_code.or(if word.completed { Some(0) } else { None }),
            signal: None,
            at: journal.map_or(self.now.wall, |journal| journal.at),
            detail: None,
        };
        self.emit(Event::StatusReconciled { settled });
    }

    fn lost_before_status(&mut self, exit: &Exit) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        let job = launcher.job.as_ref().and_then(|job| self.run.jobs.get(job));
        let launcher_pid = job.and_then(|job| job.state.started()).map(|s| s.child.pid);
        let settled = Settled {
            wave: self.settled_wave(&End::Failed),
            end: End::Failed,
            source: Source::Nothing,
            code: None,
            signal: exit.signal,
            at: WallMs(self.now.wall.0),
            detail: detail_of(exit),
        };
        self.emit(Event::FailedBeforeStatus { settled, launcher_pid });
    }

    fn settled_wave(&self, end: &End) -> Option<u32> {
        let (spec, launcher) = self.run.launcher()?;
        let journal = launcher.journal.as_ref();
        match end {
            End::Completed => final_wave(journal, &spec.selection, launcher.active_wave),
            End::Failed | End::Cancelled { .. } => journal
                .and_then(|journal| journal.wave)
                .or(launcher.active_wave)
                .or(spec.selection.start_wave),
        }
    }

    /// Ends a settled run once nothing of it lives, and settles one that is to be cancelled.
    pub(super) fn follow_launcher(&mut self) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        if launcher.settled.is_none() {
            self.cancel_the_lost();
        }
        let Some((_, launcher)) = self.run.launcher() else { return };
        let Some(settled) = launcher.settled.clone() else { return };
        self.stop_started_agents();
        if self.run.has_live_jobs() || !self.run.sweepable_agents().is_empty() {
            return;
        }
        self.emit(match settled.end {
            End::Completed => Event::Completed { at: settled.at },
            End::Failed => Event::Failed { at: settled.at, detail: settled.detail },
            End::Cancelled { actor } => Event::Cancelled { at: settled.at, actor },
        });
    }

    /// A cancelled run whose launcher left no record that could decide.
    fn cancel_the_lost(&mut self) {
        let Some(actor) = self.run.status.cancel().map(str::to_owned) else { return };
        if self.launcher_is_alive() {
            return;
        }
        let end = self.known(&[]).map(|known| known.launcher);
        let exit = match end {
            Some(LauncherEnd::Ended(exit)) => exit,
            Some(LauncherEnd::Alive) | None => {
                let mut lost = Exit::lost(Reason::LostShim, self.now.wall);
                lost.detail = Some("its records contradict each other".to_owned());
                lost
            }
        };
        self.reconcile_exit(&exit, End::Cancelled { actor });
    }

    fn stop_started_agents(&mut self) {
        let running = self.run.jobs.iter().filter(|(_, job)| match &job.state {
            JobState::Launching | JobState::Running(_) => true,
            JobState::Stopping { .. }
            | JobState::Finished { .. }
            | JobState::Quarantined { .. } => false,
        });
        let running: Vec<_> = running.map(|(id, _)| id.clone()).collect();
        for job in running {
            self.emit(Event::JobStopping { job, actor: "tidegate".to_owned() });
        }
    }
}

/// A line for people about an end that is more than a code.
fn detail_of(exit: &Exit) -> Option<String> {
    let reason = match &exit.reason {
        Reason::Exited => None,
        Reason::Stopped { actor } => Some(format!("stopped by {actor}")),
        Reason::Signalled => exit.signal.map(|signal| format!("ended by signal {signal}")),
        Reason::Timeout => Some("timeout".to_owned()),
        Reason::Limit => Some("limit".to_owned()),
        Reason::Oom => Some("oom".to_owned()),
        Reason::LostShim => Some("lost_shim".to_owned()),
        Reason::LostReboot => Some("lost_reboot".to_owned()),
        Reason::ExecFailed => Some("exec_failed".to_owned()),
        Reason::Storage => Some("storage".to_owned()),
    };
    match (reason, &exit.detail) {
        (Some(reason), Some(detail)) => Some(format!("{reason}: {detail}")),
        (Some(reason), None) => Some(reason),
        (None, detail) => detail.clone(),
    }
}
