//! How a round of gates evolves by one fact.

use super::event::Event;
use super::feature::{Feature, FeatureState};
use super::round::Round;
use super::state::Phase;
use crate::ids::{GateName, JobId};

impl Feature {
    /// A gate's job was decided on.
    pub(super) fn gate_started(&mut self, of: Phase, gate: &GateName, job: &JobId) {
        if let Some((round, phase)) = self.state.round_mut()
            && phase == of
        {
            round.running.insert(gate.clone(), job.clone());
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of gates are handed here, by a match that lists them"
    )]
    pub(super) fn apply_of_round(&mut self, event: &Event) {
        match event {
            Event::Committed { tested, .. } => {
                self.failures = 0;
                self.approved = false;
                self.conflict = None;
                self.tested = Some(tested.clone());
                self.state = FeatureState::Verifying { round: Round::default() };
            }
            Event::GatePassed { gate, .. } => {
                self.failures = 0;
                self.gate_ended(gate, |round| round.passed.push(gate.clone()));
            }
            Event::GateFailed { gate, job, .. } => {
                self.gate_ended(gate, |round| round.failed.push(job.clone()));
            }
            Event::GateRetried { gate, .. } => {
                self.gate_ended(gate, |round| *round.retried.entry(gate.clone()).or_default() += 1);
            }
            Event::Verified { .. } => self.state = FeatureState::InReview,
            _ => {}
        }
    }

    fn gate_ended(&mut self, gate: &GateName, told: impl FnOnce(&mut Round)) {
        if let Some((round, _)) = self.state.round_mut() {
            round.running.remove(gate);
            told(round);
        }
    }
}
