//! Jobs of a run: how they are made, and what their starts and ends lead to.

use super::block::Block;
use super::event::Event;
use super::input::{Ingested, Rejected};
use super::state::{Job, JobState, Purpose, Run};
use super::step::Draft;
use crate::evidence::Evidence;
use crate::exit::{Exit, Started};
use crate::ids::{AgentId, JobId, RoleName};

impl Draft {
    /// Decides on the next job for `purpose`.
    pub(super) fn create_job(&mut self, purpose: Purpose) -> JobId {
        let job = self.run.next_job();
        let same = self.run.jobs.values().filter(|job| job.purpose.is_same_work(&purpose));
        let attempt = u32::try_from(same.count()).unwrap_or(u32::MAX).saturating_add(1);
        let nonce = format!("{:016x}{:08x}", self.now.entropy, job.number());
        let at = self.now.wall;
        self.emit(Event::JobCreated { job: job.clone(), purpose, attempt, nonce, at });
        job
    }

    pub(super) fn start_agent(
        &mut self,
        agent: &AgentId,
        role: Option<&RoleName>,
        argv: &[String],
        terminal: bool,
    ) -> Result<(), Rejected> {
        self.require_going_on()?;
        let (_, launcher) = self.run.launcher().ok_or(Rejected::Unknown("launcher"))?;
        if launcher.settled.is_some() {
            return Err(Rejected::NotWhile("its result is recorded already".to_owned()));
        }
        let taken = launcher.started.get(agent).and_then(|job| self.run.jobs.get(job));
        if taken.is_some_and(|job| !job.state.is_finished()) {
            return Err(Rejected::Already("started, and it runs"));
        }
        if launcher.registered.get(agent).is_some_and(|agent| agent.end.is_none()) {
            return Err(Rejected::Already("registered under this id"));
        }
        let (agent, role, argv) = (agent.clone(), role.cloned(), argv.to_vec());
        self.create_job(Purpose::LauncherAgent { agent, role, argv, terminal });
        Ok(())
    }

    pub(super) fn job_started(&mut self, id: &JobId, started: &Started) -> Result<(), Rejected> {
        let job = self.run.jobs.get(id).ok_or(Rejected::Unknown("job"))?;
        match &job.state {
            JobState::Launching | JobState::Stopping { started: None, .. } => {}
            JobState::Running(_) | JobState::Stopping { started: Some(_), .. } => {
                return Err(Rejected::Already("known to have started"));
            }
            JobState::Finished { .. } | JobState::Quarantined { .. } => {
                return Err(Rejected::Late("the job is closed"));
            }
        }
        self.record_start(id, started);
        Ok(())
    }

    fn record_start(&mut self, id: &JobId, started: &Started) {
        let Some(job) = self.run.jobs.get(id) else { return };
        let (job_id, start) = (id.clone(), started.clone());
        let event = match &job.purpose {
            Purpose::Launcher { resume_wave } => Event::LauncherStarted {
                job: job_id,
                started: start,
                resumed: resume_wave.is_some(),
            },
            Purpose::LauncherAgent { .. }
            | Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => Event::JobStarted { job: job_id, started: start },
        };
        self.emit(event);
        self.note_told(id);
    }

    pub(super) fn job_finished(
        &mut self,
        id: &JobId,
        started: Option<&Started>,
        exit: &Exit,
        (ingested, evidence): (&Ingested, Option<&Evidence>),
    ) -> Result<(), Rejected> {
        let job = self.run.jobs.get(id).ok_or(Rejected::Unknown("job"))?;
        match &job.state {
            JobState::Launching | JobState::Running(_) | JobState::Stopping { .. } => {}
            JobState::Finished { .. } | JobState::Quarantined { .. } => {
                return Err(Rejected::Late("the job is closed"));
            }
        }
        let purpose = job.purpose.clone();
        if let (None, Some(started)) = (job.state.started(), started) {
            self.record_start(id, started);
        }
        if let Some(told) = &ingested.told {
            self.record_told(id, told);
        }
        self.emit(Event::JobFinished { job: id.clone(), exit: exit.clone() });
        match &purpose {
            Purpose::Launcher { .. } => {
                self.ingest(ingested);
                self.decide_fate(&ingested.gone);
            }
            Purpose::LauncherAgent { .. } => self.decide_fate(&[]),
            // What it left is captured before anything follows.
            Purpose::Agent { .. } => {}
            Purpose::Gate { feature, gate, .. } => {
                self.evidence_read(feature, gate, (id, exit), evidence);
                self.gate_ended(feature, gate, id, exit);
            }
            Purpose::Hook { feature, hook, .. } => self.hook_ended(feature, *hook, id, exit),
        }
        Ok(())
    }

    /// A running job gave no sign of life. Nothing is done about it here: it is said.
    pub(super) fn job_silent(&mut self, id: &JobId, silent_ms: u64) -> Result<(), Rejected> {
        let job = self.run.jobs.get(id).ok_or(Rejected::Unknown("job"))?;
        match &job.state {
            JobState::Running(_) => {}
            JobState::Launching
            | JobState::Stopping { .. }
            | JobState::Finished { .. }
            | JobState::Quarantined { .. } => return Err(Rejected::Late("the job does not run")),
        }
        if job.stalled.is_some() {
            return Err(Rejected::Already("said to be silent"));
        }
        if self.run.asks_permission(id) {
            return Err(Rejected::NotWhile("it waits for a person".to_owned()));
        }
        self.emit(Event::JobStalled { job: id.clone(), silent_ms, at: self.now.wall });
        Ok(())
    }

    /// It goes on.
    pub(super) fn job_active(&mut self, id: &JobId) -> Result<(), Rejected> {
        let job = self.run.jobs.get(id).ok_or(Rejected::Unknown("job"))?;
        if job.stalled.is_none() {
            return Err(Rejected::Already("known to go on"));
        }
        self.emit(Event::JobWentOn { job: id.clone() });
        Ok(())
    }

    pub(super) fn job_quarantined(&mut self, id: &JobId, detail: &str) -> Result<(), Rejected> {
        let job = self.run.jobs.get(id).ok_or(Rejected::Unknown("job"))?;
        if !job.state.is_live() {
            return Err(Rejected::Late("the job is closed"));
        }
        let purpose = job.purpose.clone();
        let detail = detail.to_owned();
        self.emit(Event::JobQuarantined { job: id.clone(), detail: detail.clone() });
        match purpose {
            Purpose::Launcher { .. } => {}
            Purpose::LauncherAgent { .. } => self.decide_fate(&[]),
            Purpose::Agent { feature, .. }
            | Purpose::Gate { feature, .. }
            | Purpose::Hook { feature, .. } => {
                if self.feature(&feature).is_none_or(|(_, feature)| !feature.jobs().contains(&id)) {
                    return Ok(());
                }
                let block = Block::Quarantine { job: id.clone(), detail };
                self.emit(Event::Blocked { feature, block });
            }
        }
        Ok(())
    }
}

impl Job {
    /// Whether it is an agent that a launcher asked for.
    pub(super) fn is_launcher_agent(&self) -> bool {
        match self.purpose {
            Purpose::LauncherAgent { .. } => true,
            Purpose::Launcher { .. }
            | Purpose::Agent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => false,
        }
    }
}

impl Run {
    /// Whether a job for `purpose` gets a terminal of its own.
    pub fn has_terminal(&self, purpose: &Purpose) -> bool {
        match purpose {
            Purpose::Launcher { .. } => self.launcher().is_some_and(|(spec, _)| spec.terminal),
            Purpose::LauncherAgent { terminal, .. } => *terminal,
            Purpose::Agent { feature, role, .. } => self.plan().is_some_and(|(spec, _)| {
                let own = spec.features.get(feature);
                let named = own.and_then(|own| spec.role_named(own, role));
                let agent = named.and_then(|(_, agent)| spec.agents.get(agent));
                agent.is_some_and(|agent| agent.terminal)
            }),
            Purpose::Gate { .. } | Purpose::Hook { .. } => false,
        }
    }
}

impl Purpose {
    /// Whether a job for `other` would be a further attempt at this one's work.
    pub fn is_same_work(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Launcher { .. }, Self::Launcher { .. }) => true,
            (Self::LauncherAgent { agent: a, .. }, Self::LauncherAgent { agent: b, .. }) => a == b,
            (
                Self::Agent { feature: a, role: ra, .. },
                Self::Agent { feature: b, role: rb, .. },
            ) => a == b && ra == rb,
            (
                Self::Gate { feature: a, gate: ga, phase: pa, .. },
                Self::Gate { feature: b, gate: gb, phase: pb, .. },
            ) => a == b && ga == gb && pa == pb,
            (Self::Hook { feature: a, hook: ha, .. }, Self::Hook { feature: b, hook: hb, .. }) => {
                a == b && ha == hb
            }
            (
                Self::Launcher { .. }
                | Self::LauncherAgent { .. }
                | Self::Agent { .. }
                | Self::Gate { .. }
                | Self::Hook { .. },
                _,
            ) => false,
        }
    }

    /// Its words in the run document and the log: what the job is for.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Launcher { .. } => "launcher",
            Self::LauncherAgent { .. } => "launcher_agent",
            Self::Agent { .. } => "agent",
            Self::Gate { .. } => "gate",
            Self::Hook { .. } => "hook",
        }
    }
}
