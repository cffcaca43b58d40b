//! A feature from its review to the target.

use super::block::Block;
use super::event::Event;
use super::feature::{FeatureState, LandStep, Merged};
use super::input::Rejected;
use super::outcome::{MergeOutcome, UpdateOutcome};
use super::state::Run;
use super::step::Draft;
use crate::ids::{FeatureId, Oid};

impl Run {
    /// The feature that began to wait for the target first, of those that do.
    pub fn next_to_land(&self) -> Option<&FeatureId> {
        let (_, plan) = self.plan()?;
        let waiting = plan.features.iter().filter(|(_, feature)| feature.state.awaits_target());
        let place = |id: &FeatureId| self.trails.get(id).map_or(0, |trail| trail.place);
        waiting.map(|(id, _)| id).min_by_key(|id| place(id))
    }
}

impl FeatureState {
    /// Whether it waits for its turn at the target.
    pub fn awaits_target(&self) -> bool {
        *self == Self::Landing(LandStep::AwaitingTarget)
    }
}

impl Draft {
    /// Records consent, and the landing at once where there is nothing to change.
    pub(super) fn consent(&mut self, id: &FeatureId, by: &str) {
        let Some((_, feature)) = self.feature(id) else { return };
        let commit = feature.tested.as_ref().map(|tested| tested.commit.clone());
        let unchanged = commit.is_some() && commit == feature.base;
        let by = by.to_owned();
        self.emit(Event::Approved { feature: id.clone(), commit, by });
        if unchanged {
            self.emit(Event::Landed { feature: id.clone(), commit: None });
        }
    }

    pub(super) fn admit_landing(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        self.require_land_step(id, &LandStep::AwaitingTarget)?;
        self.emit(Event::LandingAdmitted { feature: id.clone() });
        Ok(())
    }

    fn require_land_step(&self, id: &FeatureId, step: &LandStep) -> Result<(), Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        match &feature.state {
            FeatureState::Landing(found) if found == step => Ok(()),
            FeatureState::Landing(_)
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => Err(Rejected::Late("the landing is elsewhere")),
        }
    }

    pub(super) fn merged(
        &mut self,
        id: &FeatureId,
        outcome: &MergeOutcome,
    ) -> Result<(), Rejected> {
        self.require_land_step(id, &LandStep::Merging)?;
        let feature = id.clone();
        self.emit(match outcome {
            MergeOutcome::Merged(merged) => {
                Event::MergePrepared { feature, merged: merged.clone() }
            }
            MergeOutcome::AlreadyThere { commit } => {
                Event::Landed { feature, commit: Some(commit.clone()) }
            }
            MergeOutcome::Conflict { paths } => {
                self.conflict(id, paths);
                return Ok(());
            }
            MergeOutcome::SilentRevert { losses } => {
                let block = Block::SilentRevert { losses: losses.clone() };
                Event::Blocked { feature, block }
            }
            MergeOutcome::TargetMissing => Event::Blocked { feature, block: Block::TargetMissing },
            MergeOutcome::Failed { detail } => {
                Event::Blocked { feature, block: Block::Git { detail: detail.clone() } }
            }
        });
        Ok(())
    }

    pub(super) fn updated(
        &mut self,
        id: &FeatureId,
        commit: &Oid,
        outcome: &UpdateOutcome,
    ) -> Result<(), Rejected> {
        let late = Rejected::Late("the target is not being moved to this commit");
        let merged = self.updating(id)?.filter(|merged| merged.commit == *commit).ok_or(late)?;
        if matches!(outcome, UpdateOutcome::Moved) && self.end_if_cancelled(id) {
            return Ok(());
        }
        let feature = id.clone();
        self.emit(match outcome {
            UpdateOutcome::Landed => Event::Landed { feature, commit: Some(commit.clone()) },
            UpdateOutcome::Moved => Event::TargetMoved { feature },
            UpdateOutcome::Dirty { paths, why } => {
                let block = Block::TargetDirty { paths: paths.clone(), why: why.clone() };
                Event::Blocked { feature, block }
            }
            UpdateOutcome::Behind { paths, why } => {
                let (paths, why) = (paths.clone(), why.clone());
                Event::Blocked { feature, block: Block::LocalBehind { merged, paths, why } }
            }
            UpdateOutcome::PushRefused { detail } => {
                Event::Blocked { feature, block: Block::PushRefused { detail: detail.clone() } }
            }
            UpdateOutcome::Unreachable { detail } => {
                let block = Block::RemoteUnreachable { detail: detail.clone() };
                Event::Blocked { feature, block }
            }
            UpdateOutcome::Diverged { detail } => {
                Event::Blocked { feature, block: Block::Diverged { detail: detail.clone() } }
            }
            UpdateOutcome::Missing => Event::Blocked { feature, block: Block::TargetMissing },
            UpdateOutcome::Failed { detail } => {
                Event::Blocked { feature, block: Block::Git { detail: detail.clone() } }
            }
        });
        Ok(())
    }

    /// What the target is being moved to, if it is.
    fn updating(&self, id: &FeatureId) -> Result<Option<Merged>, Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        Ok(match &feature.state {
            FeatureState::Landing(LandStep::Updating { merged }) => Some(merged.clone()),
            FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Gates { .. },
            )
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => None,
        })
    }

    /// What is in the way has changed: the block says so anew, for whoever asks.
    pub(super) fn target_dirty(
        &mut self,
        id: &FeatureId,
        paths: &[String],
        why: &str,
    ) -> Result<(), Rejected> {
        let (paths, why) = (paths.to_vec(), why.to_owned());
        let block = self.require_dirty_target(id)?;
        let now = if let Block::LocalBehind { merged, .. } = block {
            Block::LocalBehind { merged: merged.clone(), paths, why }
        } else {
            Block::TargetDirty { paths, why }
        };
        if *block == now {
            return Err(Rejected::Already("told"));
        }
        self.emit(Event::Blocked { feature: id.clone(), block: now });
        Ok(())
    }

    pub(super) fn target_clean(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        let feature = id.clone();
        let event = if let Block::LocalBehind { merged, .. } = self.require_dirty_target(id)? {
            Event::LandingIntended { feature, merged: merged.clone() }
        } else {
            Event::Unblocked { feature }
        };
        self.emit(event);
        Ok(())
    }

    pub(super) fn remote_back(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        if !matches!(feature.state.block(), Some(Block::RemoteUnreachable { .. })) {
            return Err(Rejected::Late("the feature does not wait for a remote"));
        }
        self.emit(Event::Unblocked { feature: id.clone() });
        Ok(())
    }

    fn require_dirty_target(&self, id: &FeatureId) -> Result<&Block, Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        let block = feature.state.block().filter(|block| block.obstacle().is_some());
        block.ok_or(Rejected::Late("the feature does not wait for its target"))
    }
}
