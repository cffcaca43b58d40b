//! What a run has come to by now, from its recorded state and what is seen: the same step that the
//! daemon would record, applied in memory only.

use tidegate_core::exit::{Exit, Reason};
use tidegate_core::ids::JobId;
use tidegate_core::launcher::AgentProcess;
use tidegate_core::run::{Event, Ingested, Input, JobState, Purpose, Report, Run, Status, step};
use tidegate_core::time::WallMs;
use tidegate_core::verdict::{Row, Verdict, verdict};
use tidegate_process::stalled::Stalled;

use super::moment::{self, stamp};
use super::sight::Sight;
use crate::agents_seen::is_alive;

/// A run as it stands when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// Its state.
    pub run: Run,
    /// Whether the store says all of it.
    pub recorded: bool,
    /// Row 5 is due and nobody recorded it: the wave that the launcher is to resume.
    pub resume_due: Option<u32>,
    /// Jobs whose records fit no row of the table, and why.
    pub odd: Vec<(JobId, String)>,
    /// Jobs that cannot be ended, and what of them lives on.
    pub stuck: Vec<(JobId, String)>,
    /// Jobs whose directories could not be looked at, and why: of these nothing is concluded.
    pub unseen: Vec<(JobId, String)>,
    /// Shims that live and do not act: their jobs go on, and cannot be ended.
    pub stalled: Vec<(JobId, Stall)>,
}

/// A shim that does not act, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// Its pid.
    pub pid: u32,
    /// Since when, and what is known of it.
    pub words: String,
}

impl Stall {
    fn of(stalled: &Stalled, at: WallMs) -> Self {
        let pid = stalled.pid;
        let since = stamp(stalled.since.unwrap_or(at));
        let how = if stalled.stopped { "is stopped" } else { "does not answer" };
        Self { pid, words: format!("shim unresponsive since {since}: process {pid} {how}") }
    }
}

/// Draws what follows from `sight`. A run that waits or has ended stays as it is.
pub fn derive(recorded: &Run, sight: &Sight) -> Derived {
    let mut derived = Derived {
        run: recorded.clone(),
        recorded: true,
        resume_due: None,
        odd: Vec::new(),
        stuck: sight.stuck.iter().map(|(job, why)| (job.clone(), why.clone())).collect(),
        unseen: Vec::new(),
        stalled: Vec::new(),
    };
    if !matches!(recorded.status, Status::Running { .. }) {
        return derived;
    }
    for (job, seen) in &sight.jobs {
        let row = recorded.jobs.get(job).and_then(|job| row_of(&job.state));
        match (row, seen) {
            (Some(row), Ok(seen)) => derived.follow(job, verdict(row, seen.clone()), sight),
            (Some(_), Err(why)) => derived.unseen.push((job.clone(), why.clone())),
            (None, _) => {}
        }
    }
    if derived.run.launcher().is_some() && sight.ingested != Ingested::default() {
        derived.draw(Report::Ingested(sight.ingested.clone()), sight);
    }
    derived.look_at_sweep(sight);
    let stalled = sight.stalled.iter().map(|(job, seen)| (job.clone(), Stall::of(seen, sight.at)));
    derived.stalled = stalled.collect();
    derived
}

fn is_gate(purpose: &Purpose) -> bool {
    match purpose {
        Purpose::Gate { .. } => true,
        Purpose::Launcher { .. }
        | Purpose::LauncherAgent { .. }
        | Purpose::Agent { .. }
        | Purpose::Hook { .. } => false,
    }
}

/// The row that the verdict table knows; `None` for jobs that are closed.
fn row_of(state: &JobState) -> Option<Row> {
    match state {
        JobState::Launching => Some(Row::Launching),
        JobState::Running(_) => Some(Row::Running),
        JobState::Stopping { .. } => Some(Row::Stopping),
        JobState::Finished { .. } | JobState::Quarantined { .. } => None,
    }
}

impl Derived {
    fn follow(&mut self, job: &JobId, verdict: Verdict, sight: &Sight) {
        let lost = |reason| Exit::lost(reason, sight.at);
        let (started, exit) = match verdict {
            // A withdrawal is a deed: until the daemon has done it, a late shim may start.
            Verdict::Spawn | Verdict::Wait | Verdict::Withdraw | Verdict::Closed => return,
            Verdict::Quarantine { detail } => {
                self.odd.push((job.clone(), detail));
                return;
            }
            Verdict::Contradiction(_) => {
                self.odd.push((job.clone(), "recorded as finished, yet alive".to_owned()));
                return;
            }
            Verdict::Adopt(started) => {
                let known = self.run.jobs.get(job).and_then(|job| job.state.started());
                if known.is_none() {
                    self.draw(Report::JobStarted { job: job.clone(), started }, sight);
                }
                return;
            }
            Verdict::Withdrawn => {
                let actor = match self.run.jobs.get(job).map(|job| &job.state) {
                    Some(JobState::Stopping { actor, .. }) => actor.clone(),
                    Some(
                        JobState::Launching
                        | JobState::Running(_)
                        | JobState::Finished { .. }
                        | JobState::Quarantined { .. },
                    )
                    | None => String::new(),
                };
                (None, lost(Reason::Stopped { actor }))
            }
            Verdict::Finished { started, exit } => (started, exit),
            Verdict::Lost(started) => (Some(started), lost(Reason::LostShim)),
            Verdict::LostReboot(started) => (Some(started), lost(Reason::LostReboot)),
        };
        if exit.is_success() && self.run.jobs.get(job).is_some_and(|job| is_gate(&job.purpose)) {
            // Whether it passed is known once what it left was read, which a daemon does.
            let why = "it ended well, and what it left was not read yet".to_owned();
            self.unseen.push((job.clone(), why));
            return;
        }
        let ingested = sight.ingested.clone();
        let report =
            Report::JobFinished { job: job.clone(), started, exit, ingested, evidence: None };
        self.draw(report, sight);
    }

    /// Applies what a report would lead to, up to a resume, which only a daemon can do.
    fn draw(&mut self, report: Report, sight: &Sight) {
        if self.resume_due.is_some() {
            return;
        }
        // A report that changes nothing is refused; the state stands.
        let Ok(next) = step(&self.run, &Input::Report(report), moment::derived(sight.at)) else {
            return;
        };
        for event in &next.events {
            if let Event::Resuming { wave } = event {
                self.resume_due = Some(*wave);
                self.recorded = false;
                return;
            }
            self.run.apply(event);
            self.recorded = false;
        }
    }

    /// A settled run ends once its registered agents are gone. None of them alive: it has ended.
    fn look_at_sweep(&mut self, sight: &Sight) {
        let Some((_, launcher)) = self.run.launcher() else { return };
        let settled = launcher.settled.is_some() && !launcher.swept;
        let local = launcher.registered.values().filter(|agent| match agent.process {
            AgentProcess::Local(_) => agent.end.is_none(),
            AgentProcess::Remote => false,
        });
        let any_alive = local.clone().any(|agent| is_alive(agent, sight.at));
        if settled && local.count() > 0 && !any_alive && !self.run.has_live_jobs() {
            self.draw(Report::AgentsSwept { remaining: Vec::new() }, sight);
        }
    }
}
