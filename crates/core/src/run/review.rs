//! Consent to a landing: by policy, by a person, or by a reviewer.

use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState};
use super::feedback::Feedback;
use super::input::Rejected;
use super::inspection::Inspection;
use super::outcome::InspectOutcome;
use super::step::Draft;
use crate::ids::{FeatureId, Oid};
use crate::plan::{PlanSpec, ReviewPolicy, Role};

impl Draft {
    pub(super) fn approve(
        &mut self,
        id: &FeatureId,
        commit: &Oid,
        actor: &str,
    ) -> Result<(), Rejected> {
        self.require_in_review(id, commit)?;
        let state = self.feature(id).map(|(_, feature)| &feature.state);
        if matches!(state, Some(FeatureState::Blocked(Block::SilentRevert { .. }))) {
            let (feature, commit, by) = (id.clone(), commit.clone(), actor.to_owned());
            self.emit(Event::RevertAccepted { feature, commit, by });
        }
        self.consent(id, actor);
        Ok(())
    }

    pub(super) fn deny(
        &mut self,
        id: &FeatureId,
        commit: &Oid,
        actor: &str,
        comments: &str,
    ) -> Result<(), Rejected> {
        self.require_in_review(id, commit)?;
        let (by, comments) = (actor.to_owned(), comments.to_owned());
        self.next_iteration(id, Feedback::Review { by, comments }, None);
        Ok(())
    }

    /// A person is asked about this very commit of the feature.
    fn require_in_review(&self, id: &FeatureId, commit: &Oid) -> Result<(), Rejected> {
        self.require_going_on()?;
        let (spec, plan) = self.run.plan().ok_or(Rejected::Unknown("plan"))?;
        let feature = plan.features.get(id).ok_or(Rejected::Unknown("feature"))?;
        if !awaits_person(spec, feature) {
            return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
        }
        if feature.tested.as_ref().map(|tested| &tested.commit) != Some(commit) {
            return Err(Rejected::Outdated("the commit is another one by now"));
        }
        Ok(())
    }

    /// What a commit did to its checks was looked at.
    pub(super) fn inspected(
        &mut self,
        id: &FeatureId,
        commit: &Oid,
        outcome: &InspectOutcome,
    ) -> Result<(), Rejected> {
        self.require_feature(id)?;
        if self.run.look_due(id).is_none_or(|(_, due)| due != commit) {
            return Err(Rejected::Late("nobody waits for a look at this commit"));
        }
        let feature = id.clone();
        self.emit(match outcome {
            InspectOutcome::Found(findings) => {
                let (commit, findings) = (commit.clone(), findings.clone());
                Event::Inspected { feature, inspection: Inspection { commit, findings } }
            }
            InspectOutcome::Failed { detail } => {
                Event::Blocked { feature, block: Block::Git { detail: detail.clone() } }
            }
        });
        Ok(())
    }

    /// The verdict of a reviewer.
    pub(super) fn reviewed(&mut self, id: &FeatureId, approved: bool, comments: &str) {
        let by = self.worker_name(id, Role::Reviewer);
        if approved {
            self.consent(id, &by);
        } else {
            let comments = comments.to_owned();
            self.next_iteration(id, Feedback::Review { by, comments }, None);
        }
    }
}

impl FeatureState {
    /// Whether consent is asked for in this state: by policy, of a person, or of a reviewer.
    pub(super) fn asks_for_consent(&self) -> bool {
        *self == Self::InReview
            || matches!(self.block(), Some(Block::Review { .. } | Block::SilentRevert { .. }))
    }
}

/// Whether a person's word is what a feature waits for.
pub fn awaits_person(spec: &PlanSpec, feature: &Feature) -> bool {
    match &feature.state {
        FeatureState::InReview => {
            let looked = !spec.inspects() || feature.uninspected().is_none();
            let suspect = feature.suspicions(spec).next().is_some();
            looked && (suspect || spec.review == ReviewPolicy::Person)
        }
        FeatureState::Blocked(Block::Review { .. } | Block::SilentRevert { .. }) => true,
        FeatureState::Blocked(
            Block::Conflict { .. }
            | Block::TargetDirty { .. }
            | Block::TargetMissing
            | Block::RepoHeld { .. }
            | Block::Resources { .. }
            | Block::Git { .. }
            | Block::Collision { .. }
            | Block::Input { .. }
            | Block::PushRefused { .. }
            | Block::RemoteUnreachable { .. }
            | Block::Diverged { .. }
            | Block::Auth { .. }
            | Block::LocalBehind { .. }
            | Block::NoProgress { .. }
            | Block::Budget { .. }
            | Block::Quarantine { .. },
        )
        | FeatureState::Queued
        | FeatureState::Working { .. }
        | FeatureState::Verifying { .. }
        | FeatureState::Landing(_)
        | FeatureState::Landed { .. }
        | FeatureState::Failed { .. }
        | FeatureState::Cancelled { .. }
        | FeatureState::Skipped { .. } => false,
    }
}
