//! Snapshots of worktrees: taken while an agent works and at its end, and put back on demand.

use super::block::Block;
use super::event::Event;
use super::feature::{FeatureState, WorkStep};
use super::input::Rejected;
use super::outcome::{CaptureOutcome, RollbackOutcome};
use super::state::JobState;
use super::step::Draft;
use crate::exit::Exit;
use crate::ids::{FeatureId, JobId, Oid};

/// What was captured of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The snapshot's number among those of its feature, from 1.
    pub number: u32,
    /// Its commit, in the repository of snapshots.
    pub commit: Oid,
    /// Files in it.
    pub files: u64,
    /// Files and folders that are not in it; the snapshot names them.
    pub left_out: u64,
    /// How long it took, in milliseconds.
    pub cost_ms: u64,
}

impl Draft {
    /// A worktree was captured; at the end of an attempt, what follows on that end comes with it.
    pub(super) fn captured(
        &mut self,
        id: &FeatureId,
        job: &JobId,
        outcome: &CaptureOutcome,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        if feature.state.work_step() != Some(&WorkStep::Agent(job.clone())) {
            return Err(Rejected::Late("the feature is no longer at this job"));
        }
        let exit = self.exit_of(job);
        let (feature, of) = (id.clone(), job.clone());
        let newest = self.run.trails.get(id).map_or(0, |trail| trail.snapshot);
        match outcome {
            CaptureOutcome::Taken(captured) if exit.is_none() && captured.number == newest => {
                return Err(Rejected::Already("recorded"));
            }
            CaptureOutcome::Taken(captured) => {
                let captured = captured.clone();
                self.emit(Event::SnapshotTaken { feature, job: of, captured });
            }
            CaptureOutcome::Skipped { .. } if exit.is_none() => {
                return Err(Rejected::Already("captured as it is"));
            }
            CaptureOutcome::Skipped { why } => {
                let why = why.clone();
                self.emit(Event::SnapshotSkipped { feature, job: of, why });
            }
        }
        if let Some(exit) = exit {
            self.agent_ended(id, job, &exit);
        }
        Ok(())
    }

    fn exit_of(&self, job: &JobId) -> Option<Exit> {
        match &self.run.jobs.get(job)?.state {
            JobState::Finished { exit, .. } => Some(exit.clone()),
            JobState::Launching
            | JobState::Running(_)
            | JobState::Stopping { .. }
            | JobState::Quarantined { .. } => None,
        }
    }

    /// Only while no agent works in the worktree, and nothing that was made of it is on its way.
    pub(super) fn ask_rollback(
        &mut self,
        id: &FeatureId,
        to: u32,
        actor: &str,
    ) -> Result<(), Rejected> {
        self.require_going_on()?;
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        match &feature.state {
            FeatureState::Working { step: WorkStep::AwaitingSlot, .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_) => {}
            FeatureState::Working { step: WorkStep::RollingBack(_), .. } => {
                return Err(Rejected::Already("being rolled back"));
            }
            FeatureState::Working {
                step:
                    WorkStep::Preparing
                    | WorkStep::SettingUp(_)
                    | WorkStep::Agent(_)
                    | WorkStep::Committing(_)
                    | WorkStep::Reading(_),
                ..
            }
            | FeatureState::Queued
            | FeatureState::Verifying { .. }
            | FeatureState::Landing(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {
                return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
            }
        }
        if feature.worktree.is_none() || feature.base.is_none() {
            return Err(Rejected::NotWhile("the feature has no worktree yet".to_owned()));
        }
        let (feature, actor) = (id.clone(), actor.to_owned());
        self.emit(Event::RollbackRequested { feature, to, actor });
        Ok(())
    }

    pub(super) fn rolled_back(
        &mut self,
        id: &FeatureId,
        to: u32,
        outcome: &RollbackOutcome,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.feature(id).ok_or(Rejected::Unknown("feature"))?;
        if feature.state.work_step() != Some(&WorkStep::RollingBack(to)) {
            return Err(Rejected::Late("nothing is being rolled back"));
        }
        let feature = id.clone();
        match outcome {
            RollbackOutcome::Done { captured } => {
                let captured = captured.clone();
                self.emit(Event::RolledBack { feature, to, captured });
                self.end_if_cancelled(id);
            }
            RollbackOutcome::Failed { .. } if self.end_if_cancelled(id) => {}
            RollbackOutcome::Failed { detail } => {
                let block = Block::Git { detail: detail.clone() };
                self.emit(Event::Blocked { feature, block });
            }
        }
        Ok(())
    }
}
