//! Consent to a landing: by policy, by a person, or by a reviewer.

use super::block::Block;
use super::feature::{Feature, FeatureState};
use super::feedback::Feedback;
use super::input::Rejected;
use super::step::Draft;
use crate::ids::{FeatureId, Oid};
use crate::plan::{ReviewPolicy, Role};

impl Draft {
    pub(super) fn approve(
        &mut self,
        id: &FeatureId,
        commit: &Oid,
        actor: &str,
    ) -> Result<(), Rejected> {
        self.require_in_review(id, commit)?;
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
        if !awaits_person(spec.review, feature) {
            return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
        }
        if feature.tested.as_ref().map(|tested| &tested.commit) != Some(commit) {
            return Err(Rejected::NotWhile("the commit is another one by now".to_owned()));
        }
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

/// Whether a person's word is what a feature waits for.
pub(super) fn awaits_person(policy: ReviewPolicy, feature: &Feature) -> bool {
    match &feature.state {
        FeatureState::InReview => match policy {
            ReviewPolicy::Person => true,
            ReviewPolicy::Auto | ReviewPolicy::Agent => false,
        },
        FeatureState::Blocked(Block::Review { .. }) => true,
        FeatureState::Blocked(
            Block::Conflict { .. }
            | Block::TargetDirty { .. }
            | Block::TargetMissing
            | Block::RepoHeld { .. }
            | Block::Git { .. }
            | Block::Collision { .. }
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
