//! How a run evolves by one fact. It never fails: a fact that fits no part of the state changes
//! nothing, and the replay of a log meets the same state as the run that wrote it.

use std::collections::BTreeMap;

use super::event::{Event, Subject, Submitted};
use super::feature::Feature;
use super::state::{Job, JobState, Purpose, Run, Stall, Status, Work};
use crate::evidence::Evidence;
use crate::exit::Started;
use crate::ids::{FeatureId, JobId};
use crate::launcher::Launcher;
use crate::time::WallMs;
use crate::workplace::Hook;

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
            supervisor: None,
            status: Status::Pending,
            priority: first.priority,
            hold: None,
            work: first.work.clone(),
            jobs: BTreeMap::new(),
            questions: BTreeMap::new(),
            messages: BTreeMap::new(),
            trails: BTreeMap::new(),
            stand_ins: BTreeMap::new(),
            limits: BTreeMap::new(),
            registrations: 0,
            queued_up: 0,
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
        self.apply_to_questions(event);
        self.apply_to_limits(event);
        self.apply_to_messages(event);
        match event.subject() {
            Subject::Feature(feature) => self.apply_to_feature(feature, event),
            Subject::Run => self.apply_to_run(event),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of the run's own chain are handed here, by a match that lists all"
    )]
    fn apply_to_run(&mut self, event: &Event) {
        match event {
            Event::Adopted { supervisor } => self.supervisor = Some(supervisor.clone()),
            Event::Claimed { supervisor, at } => {
                self.supervisor = Some(supervisor.clone());
                self.status = Status::Running { since: *at, cancel: None };
            }
            Event::CancelRequested { actor } => self.request_cancel(actor),
            Event::Held { .. } | Event::Released { .. } | Event::PriorityChanged { .. } => {
                self.apply_order(event);
            }
            Event::FeaturesAdded { wave, added, .. } => self.apply_added(*wave, added),
            Event::Completed { at } => self.status = Status::Completed { at: *at },
            Event::Failed { at, detail } => {
                self.status = Status::Failed { at: *at, detail: detail.clone() };
            }
            Event::Cancelled { at, actor } => {
                self.status = Status::Cancelled { at: *at, actor: actor.clone() };
            }
            Event::JobCreated { job, purpose, attempt, nonce, at } => {
                self.note_stand_in(job, purpose);
                self.create_job(job, purpose, *attempt, nonce, *at);
            }
            Event::Telling(fact) => {
                if let Some(job) = fact.job() {
                    self.with_job(job, |job| job.apply_of_telling(fact));
                }
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
                job.stalled = None;
                job.state = JobState::Finished { started, exit: exit.clone() };
            }),
            Event::JobQuarantined { job, detail } => self.with_job(job, |job| {
                let started = job.state.started().cloned();
                job.state = JobState::Quarantined { started, detail: detail.clone() };
            }),
            Event::JobStalled { job, silent_ms, at } => self.with_job(job, |job| {
                job.stalled = Some(Stall { since: WallMs(at.0.saturating_sub(*silent_ms)) });
            }),
            Event::JobWentOn { job } => self.with_job(job, |job| job.stalled = None),
            Event::AgentRegistered { .. } => {
                self.registrations += 1;
                self.with_launcher(|launcher| launcher.apply(event));
            }
            Event::Progress { .. }
            | Event::AgentExited { .. }
            | Event::AgentsAdopted { .. }
            | Event::Resuming { .. }
            | Event::StatusReconciled { .. }
            | Event::FailedBeforeStatus { .. }
            | Event::AgentsSwept { .. } => self.with_launcher(|launcher| launcher.apply(event)),
            _ => {}
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
            stalled: None,
            session: None,
            told: None,
            evidence: None,
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
            Purpose::Agent { feature, .. } => {
                let trail = self.trails.entry(feature.clone()).or_default();
                trail.worked_in.clone_from(&trail.set_up);
                self.with_feature(feature, |feature| feature.agent_created(id));
            }
            Purpose::Hook { feature, hook, making } => {
                self.trails.entry(feature.clone()).or_default().hook_begins(*hook, making);
                match hook {
                    Hook::Setup => self.with_feature(feature, |feature| feature.setup_created(id)),
                    Hook::Teardown => {}
                }
            }
            Purpose::Gate { feature, gate, phase, .. } => {
                self.with_feature(feature, |feature| feature.gate_started(*phase, gate, id));
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

    fn apply_to_feature(&mut self, id: &FeatureId, event: &Event) {
        if let Event::EvidenceRead { job, evidence, .. } = event {
            return self.with_job(job, |job| job.evidence = Some(Evidence::clone(evidence)));
        }
        if let Work::Plan { state, .. } = &mut self.work
            && let Some(feature) = state.features.get_mut(id)
        {
            let trail = self.trails.entry(id.clone()).or_default();
            let before = feature.state.clone();
            feature.apply(event, trail);
            let is_new = feature.state != before;
            trail.turns += u32::from(is_new);
            if is_new && feature.state.awaits_target() {
                self.queued_up += 1;
                trail.place = self.queued_up;
            }
            feature.reviews += u32::from(is_new && feature.state.asks_for_consent());
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
