//! The gates of one commit: which have passed, which run, which may begin, and how a round ends.
//!
//! Gates whose needs have passed run at the same time, one that is to run alone runs alone. A gate
//! that failed for good keeps the others from beginning; those that run come to their own ends, so
//! that the evidence of the round is whole, and then the iteration fails with the first failure.
//! It must not know what a gate executes, or who has slots.

use std::collections::BTreeMap;

use super::event::Event;
use super::feature::{FeatureState, LandStep};
use super::feedback::Feedback;
use super::input::Rejected;
use super::state::{JobState, Phase, Purpose, Run};
use super::step::Draft;
use crate::evidence::Evidence;
use crate::exit::Exit;
use crate::ids::{FeatureId, GateName, JobId, Oid};

/// How far the gates of one commit are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Round {
    /// Gates that passed, in the order of their ends.
    pub passed: Vec<GateName>,
    /// Gates that run, and their jobs.
    pub running: BTreeMap<GateName, JobId>,
    /// Failures of gates that were tried again on the same commit.
    pub retried: BTreeMap<GateName, u32>,
    /// Jobs of the gates that failed for good, in the order of their ends.
    pub failed: Vec<JobId>,
}

impl Round {
    /// A gate's job ended without a word on the commit.
    pub(super) fn lost(&mut self, job: &JobId) {
        self.running.retain(|_, running| running != job);
    }
}

impl FeatureState {
    /// The round of gates that it is in, and what the gates are about.
    pub fn round(&self) -> Option<(&Round, Phase)> {
        match self {
            Self::Verifying { round } => Some((round, Phase::Branch)),
            Self::Landing(LandStep::Gates { round, .. }) => Some((round, Phase::Merge)),
            Self::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | Self::Queued
            | Self::Working { .. }
            | Self::InReview
            | Self::Blocked(_)
            | Self::Landed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. }
            | Self::Skipped { .. } => None,
        }
    }

    pub(super) fn round_mut(&mut self) -> Option<(&mut Round, Phase)> {
        match self {
            Self::Verifying { round } => Some((round, Phase::Branch)),
            Self::Landing(LandStep::Gates { round, .. }) => Some((round, Phase::Merge)),
            Self::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | Self::Queued
            | Self::Working { .. }
            | Self::InReview
            | Self::Blocked(_)
            | Self::Landed { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. }
            | Self::Skipped { .. } => None,
        }
    }
}

impl Run {
    /// The gates that a feature's commit, or the merge of it, must pass: those that are named and
    /// all that they need, needs first.
    pub fn gates_of(&self, id: &FeatureId, phase: Phase) -> Vec<&GateName> {
        let Some((spec, plan)) = self.plan() else { return Vec::new() };
        let (Some(own), Some(feature)) = (spec.features.get(id), plan.features.get(id)) else {
            return Vec::new();
        };
        let named = match phase {
            Phase::Branch => feature.gates(own),
            Phase::Merge => spec.landing.merge_gates.iter().collect(),
        };
        spec.with_needs(&named)
    }

    /// The gates of a feature that may begin now, all at once.
    pub fn startable_gates(&self, id: &FeatureId) -> Vec<&GateName> {
        let Some((spec, plan)) = self.plan() else { return Vec::new() };
        let Some(feature) = plan.features.get(id) else { return Vec::new() };
        let Some((round, phase)) = feature.state.round() else { return Vec::new() };
        if !round.failed.is_empty() || feature.wait.is_some() {
            return Vec::new();
        }
        let alone = |gate: &GateName| spec.gates.get(gate).is_some_and(|gate| gate.alone);
        let ready = |gate: &GateName| {
            let needs = spec.gates.get(gate).map(|gate| gate.needs.as_slice()).unwrap_or_default();
            needs.iter().all(|need| round.passed.contains(need))
        };
        let mut running = !round.running.is_empty();
        let mut shut = round.running.keys().any(alone);
        let mut startable = Vec::new();
        for gate in self.gates_of(id, phase) {
            let open = !round.passed.contains(gate) && !round.running.contains_key(gate);
            if !open || !ready(gate) || self.lingers(id, gate, phase) {
                continue;
            }
            if !shut && (!running || !alone(gate)) {
                startable.push(gate);
                running = true;
                shut = alone(gate);
            }
        }
        startable
    }

    /// Whether a job of an earlier round of this gate may still be alive.
    fn lingers(&self, id: &FeatureId, gate: &GateName, phase: Phase) -> bool {
        self.jobs.values().filter(|job| job.state.is_live()).any(|job| match &job.purpose {
            Purpose::Gate { feature, gate: of, phase: at, .. } => {
                feature == id && of == gate && *at == phase
            }
            Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. }
            | Purpose::Agent { .. }
            | Purpose::Hook { .. } => false,
        })
    }

    /// Whether every gate of the round that the feature is in has passed.
    pub(super) fn round_is_passed(&self, id: &FeatureId) -> bool {
        let feature = self.plan().and_then(|(_, plan)| plan.features.get(id));
        let Some((round, phase)) = feature.and_then(|feature| feature.state.round()) else {
            return false;
        };
        round.failed.is_empty()
            && self.gates_of(id, phase).into_iter().all(|gate| round.passed.contains(gate))
    }

    /// A gate's job that runs on for a feature that no longer waits for it: it was given up, or
    /// blocked, by another one of its round.
    pub(super) fn orphaned_gate(&self) -> Option<&JobId> {
        let (_, plan) = self.plan()?;
        let orphan = |(id, job): &(&JobId, &super::state::Job)| {
            let Purpose::Gate { feature, .. } = &job.purpose else { return false };
            let going_on = match job.state {
                JobState::Launching | JobState::Running(_) => true,
                JobState::Stopping { .. }
                | JobState::Finished { .. }
                | JobState::Quarantined { .. } => false,
            };
            let feature = plan.features.get(feature);
            going_on && feature.is_none_or(|feature| !feature.jobs().contains(id))
        };
        self.jobs.iter().find(orphan).map(|(id, _)| id)
    }
}

impl Draft {
    /// Admission gave a gate its slot.
    pub(super) fn start_gate(
        &mut self,
        id: &FeatureId,
        gate: &GateName,
        slot: u32,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.wait.is_some() {
            return Err(Rejected::NotWhile("its next attempt waits for its time".to_owned()));
        }
        let found = self.run.startable_gates(id).contains(&gate);
        let on = feature.state.round().and_then(|(_, phase)| Some((phase, self.commit_of(id)?)));
        let Some((phase, commit)) = on.filter(|_| found) else {
            return Err(Rejected::NotWhile("the feature does not wait for this gate".to_owned()));
        };
        let (feature, gate) = (id.clone(), gate.clone());
        self.create_job(Purpose::Gate { feature, gate, commit, phase, slot });
        Ok(())
    }

    /// The commit that the gates of its round are about.
    fn commit_of(&self, id: &FeatureId) -> Option<Oid> {
        let (_, feature) = self.feature(id)?;
        if let FeatureState::Landing(LandStep::Gates { merged, .. }) = &feature.state {
            return Some(merged.commit.clone());
        }
        Some(feature.tested.as_ref()?.commit.clone())
    }

    /// Records what a gate left. Of one that promised something and of which nothing was read it
    /// cannot be said that it passed.
    pub(super) fn evidence_read(
        &mut self,
        id: &FeatureId,
        gate: &GateName,
        (job, exit): (&JobId, &Exit),
        found: Option<&Evidence>,
    ) {
        let spec = self.run.plan().and_then(|(spec, _)| spec.gates.get(gate));
        let asks = spec.is_some_and(|spec| spec.promises.asks() && exit.is_success());
        let unread = || Evidence {
            problems: vec!["what it left was not read".to_owned()],
            ..Evidence::default()
        };
        let Some(found) = found.cloned().or_else(|| asks.then(unread)) else { return };
        let (feature, gate, job) = (id.clone(), gate.clone(), job.clone());
        self.emit(Event::EvidenceRead { feature, gate, job, evidence: Box::new(found) });
    }

    pub(super) fn gate_ended(&mut self, id: &FeatureId, gate: &GateName, job: &JobId, exit: &Exit) {
        let Some((spec, _)) = self.run.plan() else { return };
        let bound = spec.gates.get(gate).map_or(0, |gate| gate.retries);
        let Some((_, feature)) = self.feature(id) else { return };
        let Some((round, _)) = feature.state.round() else { return };
        if round.running.get(gate) != Some(job) || self.run.status.cancel().is_some() {
            return;
        }
        let over = !round.failed.is_empty();
        let tried = round.retried.get(gate).copied().unwrap_or(0);
        let Some(ended) = self.run.jobs.get(job) else { return };
        let (passed, says_no) = (ended.passed() == Some(true), ended.says_no());
        let (feature, gate, job) = (id.clone(), gate.clone(), job.clone());
        if passed {
            self.emit(Event::GatePassed { feature, gate, job });
        } else if !says_no && over {
            // It would not be tried again: the commit has failed already.
            self.emit(Event::AttemptFailed { feature, job, counted: false, wait: None });
        } else if !says_no {
            self.attempt_failed(id, &job, exit, &format!("gate {gate}"));
        } else if tried < bound && !over {
            self.emit(Event::GateRetried { feature, gate, job });
        } else {
            self.emit(Event::GateFailed { feature, gate, job });
        }
        self.conclude_round(id);
    }

    /// Fails the iteration once a gate has failed and none runs any more.
    fn conclude_round(&mut self, id: &FeatureId) {
        let Some((_, feature)) = self.feature(id) else { return };
        let Some((round, _)) = feature.state.round() else { return };
        let Some(first) = round.failed.first().filter(|_| round.running.is_empty()) else { return };
        let Some(job) = self.run.jobs.get(first) else { return };
        let (Purpose::Gate { gate, commit, phase, .. }, JobState::Finished { exit, .. }) =
            (&job.purpose, &job.state)
        else {
            return;
        };
        let feedback = Feedback::Gate {
            gate: gate.clone(),
            commit: commit.clone(),
            job: first.clone(),
            exit: exit.clone(),
            merged: *phase == Phase::Merge,
            problems: job.evidence.as_ref().map(|left| left.problems.clone()).unwrap_or_default(),
        };
        let onto = match &feature.state {
            FeatureState::Landing(LandStep::Gates { merged, .. }) => Some(merged.onto.clone()),
            FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | FeatureState::Verifying { .. }
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => None,
        };
        self.next_iteration(id, feedback, onto);
    }
}
