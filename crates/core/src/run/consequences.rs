//! What follows from a state by itself: barriers, skips, consent by policy, and the end of a run.

use super::barrier::Barrier;
use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState, LandStep, WorkStep};
use super::review::awaits_person;
use super::state::{Purpose, Run, Work};
use super::step::Draft;
use crate::ids::{FeatureId, JobId};
use crate::plan::{PlanSpec, ReviewPolicy, Role};

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
            Next::Job(purpose) => {
                self.create_job(purpose);
            }
        }
    }

    fn next_of_plan(&self) -> Option<Next> {
        let (spec, plan) = self.run.plan()?;
        let cancel = self.run.status.cancel();
        if let Some(job) = self.run.orphaned_gate() {
            let (job, actor) = (job.clone(), "tidegate".to_owned());
            return Some(Next::Fact(Event::JobStopping { job, actor }));
        }
        let barrier = Barrier::of(spec, plan);
        spec.in_order().find_map(|(wave, id)| {
            let feature = plan.features.get(id)?;
            if let Some(event) = self.run.undeliverable(id, feature) {
                return Some(Next::Fact(event));
            }
            if let Some(purpose) = self.run.teardown_due(id, feature) {
                return Some(Next::Job(purpose));
            }
            match cancel {
                Some(actor) => self.cancelled(id, feature, actor).map(Next::Fact),
                None => self.next_of_feature(&barrier, (wave, id), feature),
            }
        })
    }

    fn next_of_feature(
        &self,
        barrier: &Barrier<'_>,
        (wave, id): (u32, &FeatureId),
        feature: &Feature,
    ) -> Option<Next> {
        let (spec, plan) = self.run.plan()?;
        let fact = |event| Some(Next::Fact(event));
        let hand_over = |role| fact(Event::HandedOver { feature: id.clone(), role });
        match &feature.state {
            FeatureState::Queued => {
                let cause = barrier.skip_cause(wave, id)?;
                fact(Event::FeatureSkipped { feature: id.clone(), cause })
            }
            FeatureState::Verifying { .. } => {
                let of_spec = spec.features.get(id)?;
                if !self.run.round_is_passed(id) || self.run.look_due(id).is_some() {
                    None
                } else if of_spec.crew.contains_key(&Role::Qa) && !self.run.is_checked(id) {
                    hand_over(Role::Qa)
                } else {
                    fact(Event::Verified { feature: id.clone() })
                }
            }
            FeatureState::InReview => next_of_review(spec, id, feature),
            FeatureState::Landing(LandStep::Gates { merged, .. }) => {
                let (feature, merged) = (id.clone(), merged.clone());
                let passed = self.run.round_is_passed(id);
                passed.then_some(Next::Fact(Event::LandingIntended { feature, merged }))
            }
            FeatureState::Blocked(Block::Collision { with, waits: true, .. }) => {
                let over = plan.features.get(with).is_none_or(Feature::is_terminal);
                over.then(|| Next::Fact(Event::Unblocked { feature: id.clone() }))
            }
            FeatureState::Blocked(Block::Budget { .. }) => self.budget_back(id).map(Next::Fact),
            FeatureState::Blocked(Block::Input { .. }) => self.answered(id).map(Next::Fact),
            FeatureState::Blocked(
                Block::Conflict { .. }
                | Block::TargetDirty { .. }
                | Block::TargetMissing
                | Block::RepoHeld { .. }
                | Block::Resources { .. }
                | Block::Git { .. }
                | Block::Collision { waits: false, .. }
                | Block::Auth { .. }
                | Block::Review { .. }
                | Block::NoProgress { .. }
                | Block::SilentRevert { .. }
                | Block::PushRefused { .. }
                | Block::RemoteUnreachable { .. }
                | Block::Diverged { .. }
                | Block::LocalBehind { .. }
                | Block::Quarantine { .. },
            )
            | FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | FeatureState::Working { .. }
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => None,
        }
    }

    /// A feature of a cancelled run ends once nothing of it is under way.
    fn cancelled(&self, id: &FeatureId, feature: &Feature, actor: &str) -> Option<Event> {
        let lives = |job: &&JobId| self.run.jobs.get(*job).is_some_and(|job| job.state.is_live());
        if feature.is_terminal()
            || feature.awaits_git()
            || feature.state.work_step().is_some_and(|step| matches!(step, WorkStep::Agent(_)))
            || feature.jobs().iter().any(lives)
        {
            return None;
        }
        if let FeatureState::Blocked(Block::LocalBehind { merged, .. }) = &feature.state {
            // It is at the remote, whoever wants what now.
            return Some(Event::Landed {
                feature: id.clone(),
                commit: Some(merged.commit.clone()),
            });
        }
        Some(Event::FeatureCancelled { feature: id.clone(), actor: actor.to_owned() })
    }

    /// Ends a feature whose git work was answered after its run was cancelled. True if it did.
    pub(super) fn end_if_cancelled(&mut self, id: &FeatureId) -> bool {
        let Some(actor) = self.run.status.cancel() else { return false };
        let (feature, actor) = (id.clone(), actor.to_owned());
        self.emit(Event::FeatureCancelled { feature, actor });
        true
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

/// Who consents, or looks first.
fn next_of_review(spec: &PlanSpec, id: &FeatureId, feature: &Feature) -> Option<Next> {
    let unseen = spec.inspects() && feature.uninspected().is_some();
    if unseen || awaits_person(spec, feature) {
        return None;
    }
    match spec.review {
        ReviewPolicy::Auto => Some(Next::Consent(id.clone())),
        ReviewPolicy::Person => None,
        ReviewPolicy::Agent => {
            let role = Role::Reviewer;
            Some(Next::Fact(Event::HandedOver { feature: id.clone(), role }))
        }
    }
}

enum Next {
    Fact(Event),
    Consent(FeatureId),
    Job(Purpose),
}

fn first_failure(run: &Run) -> Option<String> {
    let (spec, plan) = run.plan()?;
    let failed = spec.in_order().find_map(|(_, id)| match &plan.features.get(id)?.state {
        FeatureState::Failed { reason } => Some(format!("{id}: {reason}")),
        FeatureState::Queued
        | FeatureState::Working { .. }
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
