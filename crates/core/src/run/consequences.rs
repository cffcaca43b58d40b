//! What follows from a state by itself: barriers, skips, consent by policy, and the end of a run.

use super::event::Event;
use super::feature::{Feature, FeatureState, GateStep, LandStep};
use super::state::{Plan, Run, Work};
use super::step::Draft;
use crate::ids::FeatureId;
use crate::plan::{OnFailure, PlanSpec, ReviewPolicy};

impl Draft {
    /// Draws every consequence, until there is none left.
    pub(super) fn follow(&mut self) {
        if self.require_running().is_err() {
            return;
        }
        match self.run.work {
            Work::Launcher { .. } => self.follow_launcher(),
            Work::Plan { .. } => {
                while let Some(event) = self.next_of_plan() {
                    self.emit_or_consent(event);
                }
                self.end_plan();
            }
        }
    }

    fn emit_or_consent(&mut self, next: Next) {
        match next {
            Next::Fact(event) => self.emit(event),
            Next::Consent(feature) => self.consent(&feature, "policy"),
        }
    }

    fn next_of_plan(&self) -> Option<Next> {
        let (spec, plan) = self.run.plan()?;
        let cancel = self.run.status.cancel();
        spec.in_order().find_map(|(_, id)| {
            let feature = plan.features.get(id)?;
            match cancel {
                Some(actor) => self.cancelled(id, feature, actor).map(Next::Fact),
                None => next_of_feature(spec, plan, id, feature),
            }
        })
    }

    /// A feature of a cancelled run ends once nothing of it is under way.
    fn cancelled(&self, id: &FeatureId, feature: &Feature, actor: &str) -> Option<Event> {
        let job = feature.job().and_then(|job| self.run.jobs.get(job));
        let moving = matches!(feature.state, FeatureState::Landing(LandStep::Updating { .. }));
        if feature.is_terminal() || moving || job.is_some_and(|job| job.state.is_live()) {
            return None;
        }
        Some(Event::FeatureCancelled { feature: id.clone(), actor: actor.to_owned() })
    }

    fn end_plan(&mut self) {
        let Some((_, plan)) = self.run.plan() else { return };
        let open = plan.features.values().any(|feature| !feature.is_terminal());
        if open || self.run.has_live_jobs() {
            return;
        }
        let at = self.now.wall;
        let all_landed = plan.features.keys().all(|id| plan.is_landed(id));
        let detail = first_failure(&self.run);
        let event = match self.run.status.cancel() {
            // What was on its way when the cancel came may have been the last.
            Some(_) | None if all_landed => Event::Completed { at },
            Some(actor) => Event::Cancelled { at, actor: actor.to_owned() },
            None => Event::Failed { at, detail },
        };
        self.emit(event);
    }
}

#[expect(clippy::large_enum_variant, reason = "one at a time, and at once taken apart")]
enum Next {
    Fact(Event),
    Consent(FeatureId),
}

fn next_of_feature(
    spec: &PlanSpec,
    plan: &Plan,
    id: &FeatureId,
    feature: &Feature,
) -> Option<Next> {
    match &feature.state {
        FeatureState::Queued => skip_cause(spec, plan, id)
            .map(|cause| Next::Fact(Event::FeatureSkipped { feature: id.clone(), cause })),
        FeatureState::Verifying { gate, step: GateStep::AwaitingSlot } => {
            let gates = spec.features.get(id).map_or(0, |feature| feature.gates.len());
            (*gate >= gates).then(|| Next::Fact(Event::Verified { feature: id.clone() }))
        }
        FeatureState::InReview => match spec.review {
            ReviewPolicy::Auto => Some(Next::Consent(id.clone())),
            ReviewPolicy::Person => None,
        },
        FeatureState::Landing(LandStep::Gates { merged, gate, step: GateStep::AwaitingSlot }) => {
            (*gate >= spec.landing.merge_gates.len()).then(|| {
                let (feature, merged) = (id.clone(), merged.clone());
                Next::Fact(Event::LandingIntended { feature, merged })
            })
        }
        FeatureState::Verifying { step: GateStep::Running(_), .. }
        | FeatureState::Landing(
            LandStep::AwaitingTarget
            | LandStep::Merging
            | LandStep::Updating { .. }
            | LandStep::Gates { step: GateStep::Running(_), .. },
        )
        | FeatureState::Building(_)
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    }
}

/// The feature because of which a queued one will never start.
fn skip_cause(spec: &PlanSpec, plan: &Plan, id: &FeatureId) -> Option<FeatureId> {
    let given_up = |id: &&FeatureId| {
        plan.features.get(*id).is_some_and(Feature::is_terminal) && !plan.is_landed(id)
    };
    let needs = &spec.features.get(id)?.needs;
    if let Some(cause) = needs.iter().find(given_up) {
        return Some(cause.clone());
    }
    let own = spec.wave_of(id)?;
    if spec.on_failure == OnFailure::Continue {
        return None;
    }
    let earlier = spec.waves.iter().filter(|wave| wave.number < own);
    let over = |feature: &FeatureId| plan.features.get(feature).is_some_and(Feature::is_terminal);
    earlier
        .filter(|wave| wave.features.iter().all(over))
        .find_map(|wave| wave.features.iter().find(given_up).cloned())
}

/// Whether a queued feature may start: its wave has come and its needs have landed.
pub(crate) fn is_ready(spec: &PlanSpec, plan: &Plan, id: &FeatureId) -> bool {
    let Some(feature) = spec.features.get(id) else { return false };
    let Some(own) = spec.wave_of(id) else { return false };
    let over = |feature: &FeatureId| plan.features.get(feature).is_some_and(Feature::is_terminal);
    let earlier = spec.waves.iter().filter(|wave| wave.number < own);
    let barrier = earlier.flat_map(|wave| &wave.features).all(|feature| match spec.on_failure {
        OnFailure::Stop => plan.is_landed(feature),
        OnFailure::Continue => over(feature),
    });
    // A need outside the selection was checked at submit.
    let landed = |need: &FeatureId| plan.is_landed(need) || !spec.features.contains_key(need);
    barrier && feature.needs.iter().all(landed)
}

fn first_failure(run: &Run) -> Option<String> {
    let (spec, plan) = run.plan()?;
    let failed = spec.in_order().find_map(|(_, id)| match &plan.features.get(id)?.state {
        FeatureState::Failed { reason } => Some(format!("{id}: {reason}")),
        FeatureState::Queued
        | FeatureState::Building(_)
        | FeatureState::Verifying { .. }
        | FeatureState::InReview
        | FeatureState::Landing(_)
        | FeatureState::Blocked(_)
        | FeatureState::Landed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => None,
    });
    failed.or_else(|| Some("features were skipped".to_owned()))
}
