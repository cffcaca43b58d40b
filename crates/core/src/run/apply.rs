//! How a run evolves by one fact. It never fails: a fact that fits no part of the state changes
//! nothing, and the replay of a log meets the same state as the run that wrote it.

use std::collections::BTreeMap;

use super::event::{Event, Submitted};
use super::feature::{Building, Feature, FeatureState, GateStep, LandStep};
use super::state::{Job, JobState, Phase, Purpose, Run, Status, Work};
use crate::exit::Started;
use crate::ids::{FeatureId, JobId};
use crate::launcher::{Degraded, Launcher, Settled};
use crate::time::WallMs;

impl Run {
    /// The run at its first fact.
    pub fn from_submitted(first: &Submitted) -> Self {
        Self {
            id: first.id.clone(),
            seq: first.seq,
            queue: first.queue.clone(),
            actor: first.actor.clone(),
            submitted_at: first.at,
            env: first.env.clone(),
            parent: first.parent.clone(),
            status: Status::Pending,
            work: first.work.clone(),
            jobs: BTreeMap::new(),
        }
    }

    /// The run that a log of facts tells of; `None` when it does not begin with the submit.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let Some(Event::Submitted(first)) = events.next() else { return None };
        let mut run = Self::from_submitted(first);
        events.for_each(|event| run.apply(event));
        Some(run)
    }

    /// Evolves by one fact.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Submitted(_) | Event::Adopted { .. } => {}
            Event::Claimed { at, .. } => {
                self.status = Status::Running { since: *at, cancel: None };
            }
            Event::CancelRequested { actor } => self.request_cancel(actor),
            Event::Completed { at } => self.status = Status::Completed { at: *at },
            Event::Failed { at, detail } => {
                self.status = Status::Failed { at: *at, detail: detail.clone() };
            }
            Event::Cancelled { at, actor } => {
                self.status = Status::Cancelled { at: *at, actor: actor.clone() };
            }
            Event::JobCreated { job, purpose, attempt, nonce, at } => {
                self.create_job(job, purpose, *attempt, nonce, *at);
            }
            Event::JobStarted { job, started } | Event::LauncherStarted { job, started, .. } => {
                self.start_job(job, started);
            }
            Event::JobStopping { job, actor } => self.with_job(job, |job| {
                let started = job.state.started().cloned();
                job.state = JobState::Stopping { started, actor: actor.clone() };
            }),
            Event::JobFinished { job, exit } => self.with_job(job, |job| {
                let started = job.state.started().cloned();
                job.state = JobState::Finished { started, exit: exit.clone() };
            }),
            Event::JobQuarantined { job, detail } => self.with_job(job, |job| {
                let started = job.state.started().cloned();
                job.state = JobState::Quarantined { started, detail: detail.clone() };
            }),
            Event::Progress { .. }
            | Event::AgentRegistered { .. }
            | Event::AgentExited { .. }
            | Event::AgentsAdopted { .. }
            | Event::Resuming { .. }
            | Event::StatusReconciled { .. }
            | Event::FailedBeforeStatus { .. }
            | Event::AgentsSwept { .. } => self.with_launcher(|launcher| launcher.apply(event)),
            Event::FeatureAdmitted { feature }
            | Event::WorktreeReady { feature, .. }
            | Event::AttemptFailed { feature, .. }
            | Event::BuilderFinished { feature, .. }
            | Event::SnapshotSkipped { feature, .. }
            | Event::Committed { feature, .. }
            | Event::IterationFailed { feature, .. }
            | Event::GatePassed { feature, .. }
            | Event::GateFailed { feature, .. }
            | Event::Verified { feature }
            | Event::Approved { feature, .. }
            | Event::LandingAdmitted { feature }
            | Event::MergePrepared { feature, .. }
            | Event::LandingIntended { feature, .. }
            | Event::TargetMoved { feature }
            | Event::Landed { feature, .. }
            | Event::Blocked { feature, .. }
            | Event::Unblocked { feature }
            | Event::FeatureFailed { feature, .. }
            | Event::FeatureSkipped { feature, .. }
            | Event::FeatureCancelled { feature, .. }
            | Event::FeatureRetried { feature, .. } => {
                self.with_feature(feature, |feature| feature.apply(event));
            }
        }
    }

    fn request_cancel(&mut self, actor: &str) {
        if let Status::Running { since, .. } = self.status {
            self.status = Status::Running { since, cancel: Some(actor.to_owned()) };
        }
    }

    fn create_job(&mut self, id: &JobId, purpose: &Purpose, n: u32, nonce: &str, at: WallMs) {
        let job = Job {
            purpose: purpose.clone(),
            attempt: n,
            nonce: nonce.to_owned(),
            created_at: at,
            state: JobState::Launching,
        };
        self.jobs.insert(id.clone(), job);
        match purpose {
            Purpose::Launcher { .. } => self.with_launcher(|l| l.job = Some(id.clone())),
            Purpose::LauncherAgent { agent, .. } => {
                self.with_launcher(|l| {
                    l.started.insert(agent.clone(), id.clone());
                });
            }
            Purpose::Agent { feature, .. } => self.with_feature(feature, |feature| {
                feature.state = FeatureState::Building(Building::Agent(id.clone()));
            }),
            Purpose::Gate { feature, phase, .. } => {
                self.with_feature(feature, |feature| feature.gate_started(*phase, id));
            }
        }
    }

    fn start_job(&mut self, id: &JobId, started: &Started) {
        self.with_job(id, |job| {
            job.state = match &job.state {
                JobState::Launching | JobState::Running(_) => JobState::Running(started.clone()),
                JobState::Stopping { actor, .. } => {
                    JobState::Stopping { started: Some(started.clone()), actor: actor.clone() }
                }
                JobState::Finished { exit, .. } => {
                    JobState::Finished { started: Some(started.clone()), exit: exit.clone() }
                }
                JobState::Quarantined { detail, .. } => {
                    JobState::Quarantined { started: Some(started.clone()), detail: detail.clone() }
                }
            };
        });
    }

    fn with_job(&mut self, id: &JobId, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.jobs.get_mut(id) {
            change(job);
        }
    }

    fn with_launcher(&mut self, change: impl FnOnce(&mut Launcher)) {
        if let Work::Launcher { state, .. } = &mut self.work {
            change(state);
        }
    }

    fn with_feature(&mut self, id: &FeatureId, change: impl FnOnce(&mut Feature)) {
        if let Work::Plan { state, .. } = &mut self.work
            && let Some(feature) = state.features.get_mut(id)
        {
            change(feature);
        }
    }
}

impl Launcher {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of launchers are handed here, by a match that lists them all"
    )]
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Progress { journal } => {
                let later = match (journal.wave, self.resumed_wave) {
                    (Some(wave), Some(resumed)) => wave > resumed,
                    (Some(_) | None, Some(_) | None) => false,
                };
                if later {
                    self.resumes_since_progress = 0;
                }
                self.journal = Some(journal.clone());
            }
            Event::AgentRegistered { agent, registered } => {
                self.registered.insert(agent.clone(), registered.clone());
            }
            Event::AgentExited { agent, end } => {
                if let Some(registered) = self.registered.get_mut(agent) {
                    registered.end = Some(end.clone());
                }
            }
            Event::AgentsAdopted { end, agents } => {
                self.degraded = Some(Degraded { end: end.clone(), agents: agents.clone() });
            }
            Event::Resuming { wave } => {
                self.resumes += 1;
                self.resumes_since_progress += 1;
                self.resumed_wave = Some(*wave);
                self.active_wave = Some(*wave);
                self.degraded = None;
            }
            Event::StatusReconciled { settled } | Event::FailedBeforeStatus { settled, .. } => {
                self.settle(settled);
            }
            Event::AgentsSwept { remaining } => {
                self.swept = true;
                for (id, agent) in &mut self.registered {
                    if agent.end.is_none() && !remaining.contains(id) {
                        agent.end = Some(crate::launcher::AgentEnd {
                            code: None,
                            disposition: crate::launcher::AgentDisposition::Terminated,
                            at: WallMs(0),
                        });
                    }
                }
            }
            _ => {}
        }
    }

    fn settle(&mut self, settled: &Settled) {
        self.active_wave = settled.wave;
        self.degraded = None;
        self.settled = Some(settled.clone());
    }
}

impl Feature {
    fn gate_started(&mut self, of: Phase, job: &JobId) {
        let running = GateStep::Running(job.clone());
        match (&mut self.state, of) {
            (FeatureState::Verifying { step, .. }, Phase::Branch)
            | (FeatureState::Landing(LandStep::Gates { step, .. }), Phase::Merge) => {
                *step = running;
            }
            (
                FeatureState::Verifying { .. }
                | FeatureState::Landing(_)
                | FeatureState::Queued
                | FeatureState::Building(_)
                | FeatureState::InReview
                | FeatureState::Blocked(_)
                | FeatureState::Landed { .. }
                | FeatureState::Failed { .. }
                | FeatureState::Cancelled { .. }
                | FeatureState::Skipped { .. },
                Phase::Branch | Phase::Merge,
            ) => {}
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of features are handed here, by a match that lists them all"
    )]
    fn apply(&mut self, event: &Event) {
        match event {
            Event::FeatureAdmitted { .. } => {
                self.iteration = self.iteration.max(1);
                self.state = FeatureState::Building(Building::Preparing);
            }
            Event::WorktreeReady { path, base, .. } => {
                self.worktree = Some(path.clone());
                self.base = Some(base.clone());
                self.sync = None;
            }
            Event::AttemptFailed { counted, .. } => {
                self.failures += u32::from(*counted);
                self.rewind_step();
            }
            Event::BuilderFinished { job, .. } => {
                self.failures = 0;
                self.state = FeatureState::Building(Building::Committing(job.clone()));
            }
            Event::Committed { tested, .. } => {
                self.failures = 0;
                self.approved = false;
                self.tested = Some(tested.clone());
                self.state = FeatureState::Verifying { gate: 0, step: GateStep::AwaitingSlot };
            }
            Event::IterationFailed { feedback, sync, .. } => {
                self.iteration += 1;
                self.failures = 0;
                self.approved = false;
                self.feedback = Some(feedback.clone());
                self.sync.clone_from(sync);
                self.state = FeatureState::Building(Building::AwaitingSlot);
            }
            Event::GatePassed { .. } => self.next_gate(),
            Event::Verified { .. } => self.state = FeatureState::InReview,
            Event::Approved { .. } => {
                self.approved = true;
                self.state = FeatureState::Landing(LandStep::AwaitingTarget);
            }
            Event::LandingAdmitted { .. } => {
                self.state = FeatureState::Landing(LandStep::Merging);
            }
            Event::MergePrepared { merged, .. } => {
                self.failures = 0;
                let merged = merged.clone();
                let step = GateStep::AwaitingSlot;
                self.state = FeatureState::Landing(LandStep::Gates { merged, gate: 0, step });
            }
            Event::LandingIntended { merged, .. } => {
                let merged = merged.clone();
                self.state = FeatureState::Landing(LandStep::Updating { merged });
            }
            Event::TargetMoved { .. } => self.state = FeatureState::Landing(LandStep::Merging),
            Event::Landed { commit, .. } => {
                self.state = FeatureState::Landed { commit: commit.clone() };
            }
            Event::Blocked { block, .. } => self.state = FeatureState::Blocked(block.clone()),
            Event::Unblocked { .. } => {
                self.state = FeatureState::Landing(LandStep::AwaitingTarget);
            }
            Event::FeatureFailed { reason, .. } => {
                self.state = FeatureState::Failed { reason: reason.clone() };
            }
            Event::FeatureSkipped { cause, .. } => {
                self.state = FeatureState::Skipped { cause: cause.clone() };
            }
            Event::FeatureCancelled { actor, .. } => {
                self.state = FeatureState::Cancelled { actor: actor.clone() };
            }
            Event::FeatureRetried { .. } => self.retry(),
            _ => {}
        }
    }

    /// After a failed attempt the same step waits for its next one.
    fn rewind_step(&mut self) {
        match &mut self.state {
            FeatureState::Building(step) => *step = Building::Preparing,
            FeatureState::Verifying { step, .. }
            | FeatureState::Landing(LandStep::Gates { step, .. }) => *step = GateStep::AwaitingSlot,
            FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | FeatureState::Queued
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {}
        }
    }

    fn next_gate(&mut self) {
        self.failures = 0;
        match &mut self.state {
            FeatureState::Verifying { gate, step }
            | FeatureState::Landing(LandStep::Gates { gate, step, .. }) => {
                *gate += 1;
                *step = GateStep::AwaitingSlot;
            }
            FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | FeatureState::Queued
            | FeatureState::Building(_)
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {}
        }
    }

    /// A conflict or an obstacle is tried again from the landing; all else from the builder.
    fn retry(&mut self) {
        if matches!(self.state, FeatureState::Blocked(_)) && self.approved {
            self.state = FeatureState::Landing(LandStep::AwaitingTarget);
        } else {
            self.iteration = 0;
            self.failures = 0;
            self.state = FeatureState::Queued;
        }
    }
}
