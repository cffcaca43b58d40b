//! The one function that decides what follows from an input.

use super::event::Event;
use super::feature::FeatureState;
use super::grant::Grant;
use super::input::{Input, Rejected, Report};
use super::state::{JobState, Purpose, Run, Status, Work};
use crate::ids::{FeatureId, JobId};
use crate::time::Now;

/// What an input led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The run afterwards.
    pub run: Run,
    /// The facts that led there, in order.
    pub events: Vec<Event>,
}

/// Moves one run by one input. Pure: same arguments, same answer.
///
/// # Errors
/// [`Rejected`] when the input is not legal in the run's state; the run is unchanged.
pub fn step(run: &Run, input: &Input, now: Now) -> Result<Step, Rejected> {
    let mut draft = Draft { run: run.clone(), events: Vec::new(), now };
    draft.decide(input)?;
    draft.follow();
    Ok(Step { run: draft.run, events: draft.events })
}

/// A run in the course of one step.
pub(super) struct Draft {
    pub(super) run: Run,
    pub(super) events: Vec<Event>,
    pub(super) now: Now,
}

impl Draft {
    /// Records a fact and evolves by it.
    pub(super) fn emit(&mut self, event: Event) {
        self.run.apply(&event);
        self.events.push(event);
    }

    fn decide(&mut self, input: &Input) -> Result<(), Rejected> {
        match input {
            Input::Claim { supervisor } => self.claim(supervisor),
            Input::Adopt { supervisor } => {
                self.require_running()?;
                self.emit(Event::Adopted { supervisor: supervisor.clone() });
                Ok(())
            }
            Input::Cancel { actor } => self.cancel(actor),
            Input::Hold { actor, reason } => self.hold(actor, reason.as_deref()),
            Input::Release { actor } => self.release(actor),
            Input::Prioritise { priority, actor } => self.prioritise(*priority, actor),
            Input::RetryFeature { feature, actor } => self.retry_feature(feature, actor),
            Input::Approve { feature, commit, actor } => self.approve(feature, commit, actor),
            Input::Deny { feature, commit, actor, comments } => {
                self.deny(feature, commit, actor, comments)
            }
            Input::Ask { job, text, choices, waits } => self.ask(job, (text, *waits), choices),
            Input::Send { feature, text, interrupts, actor } => {
                self.send(feature, (text, *interrupts), actor)
            }
            Input::Receive { job, messages, acted } => self.receive(job, messages, *acted),
            Input::AnswerQuestion { question, text, choice, actor } => {
                self.answer_question(question, text, *choice, actor)
            }
            Input::StartAgent { agent, role, argv, terminal } => {
                self.start_agent(agent, role.as_ref(), argv, *terminal)
            }
            Input::AddFeatures { added, actor } => self.add_features(added, actor),
            Input::Rollback { feature, to, actor } => self.ask_rollback(feature, *to, actor),
            Input::Grant(grant) => self.grant(grant),
            Input::Report(report) => self.report(report),
            Input::Answer { key, report } => {
                if !self.run.outstanding().contains_key(key) {
                    return Err(Rejected::Late("the effect is closed"));
                }
                self.report(report)
            }
        }
    }

    fn claim(&mut self, supervisor: &str) -> Result<(), Rejected> {
        match self.run.status {
            Status::Pending if self.run.hold.is_some() => {
                return Err(Rejected::NotWhile("it is held".to_owned()));
            }
            Status::Pending => {}
            Status::Running { .. } => return Err(Rejected::Already("claimed")),
            Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled { .. } => {
                return Err(Rejected::NotWhile(self.run.status.word().to_owned()));
            }
        }
        let at = self.now.wall;
        self.emit(Event::Claimed { supervisor: supervisor.to_owned(), at });
        match self.run.work {
            Work::Launcher { .. } => {
                self.create_job(Purpose::Launcher { resume_wave: None });
            }
            Work::Plan { .. } => {}
        }
        Ok(())
    }

    fn cancel(&mut self, actor: &str) -> Result<(), Rejected> {
        match &self.run.status {
            Status::Pending => {
                let plan = self.run.plan().map(|(_, plan)| plan.features.keys().cloned().collect());
                let features: Vec<FeatureId> = plan.unwrap_or_default();
                for feature in features {
                    let actor = actor.to_owned();
                    self.emit(Event::FeatureCancelled { feature, actor });
                }
                let at = self.now.wall;
                self.emit(Event::Cancelled { at, actor: actor.to_owned() });
                return Ok(());
            }
            Status::Running { cancel: Some(_), .. } => {
                return Err(Rejected::Already("asked to end"));
            }
            Status::Running { cancel: None, .. } => {}
            Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled { .. } => {
                return Err(Rejected::NotWhile(self.run.status.word().to_owned()));
            }
        }
        if self.run.launcher().is_some_and(|(_, launcher)| launcher.settled.is_some()) {
            return Err(Rejected::NotWhile("its result is recorded already".to_owned()));
        }
        self.emit(Event::CancelRequested { actor: actor.to_owned() });
        // A teardown is what comes of a cancel, and ends by itself.
        let live = self.run.jobs.iter().filter(|(_, job)| job.state.is_live());
        let live = live.filter(|(_, job)| !job.purpose.is_teardown());
        // Who asked first for the end of a job stands.
        let live = live.filter(|(_, job)| !matches!(job.state, JobState::Stopping { .. }));
        let live: Vec<JobId> = live.map(|(id, _)| id.clone()).collect();
        for job in live {
            self.emit(Event::JobStopping { job, actor: actor.to_owned() });
        }
        Ok(())
    }

    fn retry_feature(&mut self, id: &FeatureId, actor: &str) -> Result<(), Rejected> {
        self.require_going_on()?;
        let (_, plan) = self.run.plan().ok_or(Rejected::Unknown("plan"))?;
        let feature = plan.features.get(id).ok_or(Rejected::Unknown("feature"))?;
        if self.run.living_teardown(id).is_some() {
            return Err(Rejected::NotWhile("its worktree is being torn down".to_owned()));
        }
        if feature.wait.is_some() {
            return self.retry_due(id);
        }
        match &feature.state {
            FeatureState::Blocked(_) | FeatureState::Failed { .. } => {}
            FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Landed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {
                return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
            }
        }
        self.emit(Event::FeatureRetried { feature: id.clone(), actor: actor.to_owned() });
        while let Some(skipped) = self.skipped_for_nothing() {
            self.emit(Event::FeatureRetried { feature: skipped, actor: actor.to_owned() });
        }
        Ok(())
    }

    /// A feature skipped because of one that is no longer given up.
    fn skipped_for_nothing(&self) -> Option<FeatureId> {
        let (_, plan) = self.run.plan()?;
        plan.features.iter().find_map(|(id, feature)| match &feature.state {
            FeatureState::Skipped { cause } => {
                let alive = plan.features.get(cause).is_some_and(|cause| !cause.is_terminal());
                alive.then(|| id.clone())
            }
            FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. } => None,
        })
    }

    fn grant(&mut self, grant: &Grant) -> Result<(), Rejected> {
        self.require_going_on()?;
        if self.run.hold.is_some() {
            return Err(Rejected::NotWhile("it is held".to_owned()));
        }
        match grant {
            Grant::Slot { feature } => self.admit(feature),
            Grant::Park { feature, parked } => self.park_with(feature, parked),
            Grant::StandIn { feature, agent } => self.stand_in(feature, agent.as_ref()),
            Grant::Hold { feature, by } => self.hold_account(feature, by.as_deref()),
            Grant::Line { feature, wait } => self.await_locks(feature, wait),
            Grant::Gate { feature, gate, slot } => self.start_gate(feature, gate, *slot),
            Grant::Target { feature } => self.admit_landing(feature),
        }
    }

    fn report(&mut self, report: &Report) -> Result<(), Rejected> {
        // What agents leave behind is told of terminal runs too.
        if !matches!(report, Report::Ingested(_)) {
            self.require_running()?;
        }
        match report {
            Report::JobStarted { job, started } => self.job_started(job, started),
            Report::JobFinished { job, started, exit, ingested, evidence } => {
                let left = (ingested, evidence.as_deref());
                self.job_finished(job, started.as_ref(), exit, left)
            }
            Report::JobQuarantined { job, detail } => self.job_quarantined(job, detail),
            Report::Ingested(ingested) => self.ingested(ingested),
            Report::AgentsSwept { remaining } => self.agents_swept(remaining),
            Report::Worktree { feature, outcome } => self.worktree(feature, outcome),
            Report::Captured { feature, job, outcome } => self.captured(feature, job, outcome),
            Report::RolledBack { feature, to, outcome } => self.rolled_back(feature, *to, outcome),
            Report::Commit { feature, job, outcome } => self.committed(feature, job, outcome),
            Report::Result { feature, job, outcome } => self.result(feature, job, outcome),
            Report::Conflict { feature, outcome } => self.conflict_laid_out(feature, outcome),
            Report::Inspected { feature, commit, outcome } => {
                self.inspected(feature, commit, outcome)
            }
            Report::Merge { feature, outcome } => self.merged(feature, outcome),
            Report::Update { feature, commit, outcome } => self.updated(feature, commit, outcome),
            Report::TargetDirty { feature, paths, why } => self.target_dirty(feature, paths, why),
            Report::TargetClean { feature } => self.target_clean(feature),
            Report::RepoHeld { feature, by } => self.repo_held(feature, by),
            Report::RepoFree { feature } => self.repo_free(feature),
            Report::RemoteBack { feature } => self.remote_back(feature),
            Report::RetryDue { feature } => self.alarm_rang(feature),
            Report::JobSilent { job, silent_ms } => self.job_silent(job, *silent_ms),
            Report::MessageTyped { feature, message, job, outcome } => {
                self.message_typed(feature, *message, job, *outcome)
            }
            Report::JobActive { job } => self.job_active(job),
            Report::Conversed { job, fact } => self.conversed(job, fact),
        }
    }

    pub(super) fn require_running(&self) -> Result<(), Rejected> {
        match &self.run.status {
            Status::Running { .. } => Ok(()),
            Status::Pending
            | Status::Completed { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => {
                Err(Rejected::NotWhile(self.run.status.word().to_owned()))
            }
        }
    }

    /// Running, and nobody asked for its end.
    pub(super) fn require_going_on(&self) -> Result<(), Rejected> {
        self.require_running()?;
        match self.run.status.cancel() {
            None => Ok(()),
            Some(_) => Err(Rejected::NotWhile("it is being cancelled".to_owned())),
        }
    }
}
