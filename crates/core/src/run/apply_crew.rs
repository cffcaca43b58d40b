//! How a feature evolves by what its agents in other roles than the builder's do.

use super::event::Event;
use super::feature::{Feature, FeatureState, Trail, WorkStep};
use crate::ids::JobId;
use crate::plan::Role;

impl Feature {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of the crew are handed here, by a match that lists them"
    )]
    pub(super) fn apply_of_crew(&mut self, event: &Event, trail: &mut Trail) {
        match event {
            Event::RoleFinished { role, job, .. } => {
                self.limited = None;
                self.role_finished(*role, job, trail);
            }
            Event::ResultRefused { feedback, .. } => {
                self.failures += 1;
                self.feedback = Some(feedback.clone());
                self.rewind_step();
            }
            Event::HandedOver { role, .. } => {
                self.failures = 0;
                self.state = FeatureState::Working { role: *role, step: WorkStep::AwaitingSlot };
            }
            Event::Planned { planned, .. } => self.planned = Some(planned.clone()),
            Event::Checked { .. } => {
                self.failures = 0;
                self.state = FeatureState::InReview;
            }
            Event::Inspected { inspection, .. } => self.inspected = Some(inspection.clone()),
            Event::RevertAccepted { commit, .. } => self.reverts_accepted = Some(commit.clone()),
            Event::ConflictFound { paths, .. } => {
                // The first word of a conflict counts; the reconciler's own look adds to it.
                self.reconciliations += u32::from(self.conflict.is_none());
                self.conflict = Some(paths.clone());
            }
            _ => {}
        }
    }

    /// Its failures stand until its result is taken.
    fn role_finished(&mut self, role: Role, job: &JobId, trail: &mut Trail) {
        let step = match role {
            Role::Planner | Role::Reviewer => WorkStep::Reading(job.clone()),
            Role::Qa => {
                trail.checked = true;
                trail.built = Some(job.clone());
                WorkStep::Committing(job.clone())
            }
            Role::Builder | Role::Reconciler => {
                trail.built = Some(job.clone());
                WorkStep::Committing(job.clone())
            }
        };
        self.state = FeatureState::Working { role, step };
    }
}
