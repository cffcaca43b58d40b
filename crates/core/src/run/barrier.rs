//! How far the waves of a plan have come: what may start, and what never will.
//!
//! Looked at once for all features of a plan: plans may have thousands.

use super::feature::{Feature, FeatureState};
use super::state::Plan;
use crate::ids::FeatureId;
use crate::plan::{OnFailure, PlanSpec};

/// What the waves let through now.
pub(crate) struct Barrier<'a> {
    spec: &'a PlanSpec,
    plan: &'a Plan,
    /// The first wave that is not done: no later one starts. `None`: all are done.
    open: Option<u32>,
    /// A wave that is over, and the feature because of which no later one starts.
    stop: Option<(u32, &'a FeatureId)>,
}

impl<'a> Barrier<'a> {
    pub(crate) fn of(spec: &'a PlanSpec, plan: &'a Plan) -> Self {
        let over = |id: &FeatureId| plan.features.get(id).is_some_and(Feature::is_terminal);
        let given_up = |id: &&FeatureId| over(id) && !plan.is_landed(id);
        let done = |id: &FeatureId| match spec.on_failure {
            OnFailure::Stop => plan.is_landed(id),
            OnFailure::Continue => over(id),
        };
        let first_open = spec.waves.iter().find(|wave| !wave.features.iter().all(done));
        let stop = match spec.on_failure {
            OnFailure::Continue => None,
            OnFailure::Stop => spec
                .waves
                .iter()
                .filter(|wave| wave.features.iter().all(over))
                .find_map(|wave| Some((wave.number, wave.features.iter().find(given_up)?))),
        };
        Self { spec, plan, open: first_open.map(|wave| wave.number), stop }
    }

    /// The number of the first wave that is not done.
    pub(super) fn open(&self) -> Option<u32> {
        self.open
    }

    /// Whether the feature `id` of `wave` is queued and may start: its wave has come and its needs
    /// have landed.
    pub(crate) fn is_ready(&self, wave: u32, id: &FeatureId) -> bool {
        let Some(feature) = self.spec.features.get(id) else { return false };
        let queued = self.plan.features.get(id).is_some_and(|f| f.state == FeatureState::Queued);
        // A need outside the selection was checked at submit.
        let landed =
            |need: &FeatureId| self.plan.is_landed(need) || !self.spec.features.contains_key(need);
        queued && self.open.is_none_or(|open| wave <= open) && feature.needs.iter().all(landed)
    }

    /// The feature because of which the queued `id` of `wave` will never start.
    pub(super) fn skip_cause(&self, wave: u32, id: &FeatureId) -> Option<FeatureId> {
        let given_up = |id: &&FeatureId| {
            self.plan.features.get(*id).is_some_and(Feature::is_terminal)
                && !self.plan.is_landed(id)
        };
        let needs = &self.spec.features.get(id)?.needs;
        if let Some(cause) = needs.iter().find(given_up) {
            return Some(cause.clone());
        }
        self.stop.filter(|(over, _)| *over < wave).map(|(_, cause)| cause.clone())
    }
}
