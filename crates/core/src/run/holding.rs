//! Waiting for a repository that another home serves.

use super::block::Block;
use super::event::Event;
use super::feature::{FeatureState, LandStep, WorkStep};
use super::input::Rejected;
use super::step::Draft;
use crate::ids::FeatureId;

impl Draft {
    /// Git work was not begun. Moving the target is not among it: that may have been done before,
    /// so it is probed until the answer is known.
    pub(super) fn repo_held(&mut self, id: &FeatureId, by: &str) -> Result<(), Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        match &feature.state {
            FeatureState::Working {
                step: WorkStep::Preparing | WorkStep::Committing(_), ..
            }
            | FeatureState::Landing(LandStep::Merging) => {}
            FeatureState::Working {
                step:
                    WorkStep::AwaitingSlot
                    | WorkStep::SettingUp(_)
                    | WorkStep::Agent(_)
                    | WorkStep::Reading(_)
                    | WorkStep::RollingBack(_),
                ..
            }
            | FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Gates { .. } | LandStep::Updating { .. },
            )
            | FeatureState::Queued
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {
                return Err(Rejected::Late("the feature waits for no git work"));
            }
        }
        if self.end_if_cancelled(id) {
            return Ok(());
        }
        let block = Block::RepoHeld { by: by.to_owned() };
        self.emit(Event::Blocked { feature: id.clone(), block });
        Ok(())
    }

    pub(super) fn repo_free(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        if !matches!(feature.state.block(), Some(Block::RepoHeld { .. })) {
            return Err(Rejected::Late("the feature does not wait for its repository"));
        }
        self.emit(Event::Unblocked { feature: id.clone() });
        Ok(())
    }
}
