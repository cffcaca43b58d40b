//! The jobs that a feature waits for.

use super::feature::{Feature, FeatureState, LandStep, WorkStep};
use crate::ids::JobId;

impl Feature {
    /// The job that it waits for; the first one of several gates.
    pub fn job(&self) -> Option<&JobId> {
        self.jobs().first().copied()
    }

    /// The jobs that it waits for.
    pub fn jobs(&self) -> Vec<&JobId> {
        match &self.state {
            FeatureState::Working {
                step:
                    WorkStep::SettingUp(job)
                    | WorkStep::Agent(job)
                    | WorkStep::Committing(job)
                    | WorkStep::Reading(job),
                ..
            } => vec![job],
            FeatureState::Verifying { round }
            | FeatureState::Landing(LandStep::Gates { round, .. }) => {
                round.running.values().collect()
            }
            FeatureState::Working {
                step: WorkStep::AwaitingSlot | WorkStep::Preparing | WorkStep::RollingBack(_),
                ..
            }
            | FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | FeatureState::Queued
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => Vec::new(),
        }
    }
}
