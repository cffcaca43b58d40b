//! How one feature evolves by one fact.

use super::backoff::Wait;
use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState, LandStep, Trail, WorkStep};
use super::feedback::Feedback;
use crate::budget::BudgetScope;
use crate::ids::{JobId, Oid};
use crate::plan::Role;

impl Feature {
    /// Its agent was decided on: the step goes on, whatever its role.
    pub(super) fn agent_created(&mut self, job: &JobId) {
        if let FeatureState::Working { step, .. } = &mut self.state {
            *step = WorkStep::Agent(job.clone());
        }
    }

    /// The setup of its worktree was decided on.
    pub(super) fn setup_created(&mut self, job: &JobId) {
        if let FeatureState::Working { step, .. } = &mut self.state {
            *step = WorkStep::SettingUp(job.clone());
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of features are handed here, by a match that lists them all"
    )]
    pub(super) fn apply(&mut self, event: &Event, trail: &mut Trail) {
        match event {
            Event::FeatureAdmitted { .. } => self.admitted(trail),
            Event::WorktreeReady { .. }
            | Event::WorktreeFurnished { .. }
            | Event::WorktreeSetUp { .. } => self.apply_of_worktree(event, trail),
            Event::AttemptFailed { job, counted, wait, .. } => {
                if let Some((round, _)) = self.state.round_mut() {
                    round.lost(job);
                }
                self.tried(*counted, *wait, trail);
            }
            Event::Telling(fact) => self.apply_of_telling(fact, trail),
            Event::RetryDue { .. } => self.wait = None,
            Event::BuilderFinished { job, .. } => {
                self.failures = 0;
                self.limited = None;
                trail.built = Some(job.clone());
                trail.checked = false;
                self.state = FeatureState::building(WorkStep::Committing(job.clone()));
            }
            Event::RoleFinished { .. }
            | Event::ResultRefused { .. }
            | Event::HandedOver { .. }
            | Event::Planned { .. }
            | Event::Checked { .. }
            | Event::Reviewed { .. }
            | Event::Inspected { .. }
            | Event::RevertAccepted { .. }
            | Event::ConflictFound { .. } => self.apply_of_crew(event, trail),
            Event::SnapshotTaken { .. }
            | Event::RollbackRequested { .. }
            | Event::RolledBack { .. } => self.apply_of_capture(event, trail),
            Event::IterationFailed { feedback, sync, mark, .. } => {
                trail.failed_with(mark.as_deref());
                self.iterates(feedback, sync.as_ref(), trail);
            }
            Event::Committed { .. }
            | Event::GatePassed { .. }
            | Event::GateFailed { .. }
            | Event::GateRetried { .. }
            | Event::Verified { .. } => self.apply_of_round(event),
            Event::Approved { .. }
            | Event::LandingAdmitted { .. }
            | Event::MergePrepared { .. }
            | Event::LandingIntended { .. }
            | Event::TargetMoved { .. }
            | Event::Landed { .. } => self.apply_of_landing(event),
            Event::Blocked { block, .. } => self.blocked(block, trail),
            Event::Unblocked { .. } => self.unblocked(trail),
            Event::FeatureFailed { reason, .. } => {
                self.wait = None;
                self.state = FeatureState::Failed { reason: reason.clone() };
            }
            Event::FeatureSkipped { cause, .. } => {
                self.state = FeatureState::Skipped { cause: cause.clone() };
            }
            Event::FeatureCancelled { actor, .. } => {
                self.wait = None;
                self.state = FeatureState::Cancelled { actor: actor.clone() };
            }
            Event::FeatureRetried { .. } => self.retry(trail),
            Event::LocksAwaited { wait, .. } => self.in_line = Some(wait.clone()),
            Event::LocksTaken { at, .. } => self.take_locks(*at),
            _ => {}
        }
        self.let_go();
    }

    fn blocked(&mut self, block: &Block, trail: &mut Trail) {
        self.wait = None;
        self.limited = None;
        if matches!(block, Block::Input { .. }) {
            trail.built = None;
        }
        self.state = FeatureState::Blocked(block.clone());
    }

    /// Its next iteration begins with a slot.
    fn iterates(&mut self, why: &Feedback, sync: Option<&Oid>, trail: &mut Trail) {
        self.feedback = Some(why.clone());
        self.sync = sync.cloned();
        trail.built = None;
        trail.again = false;
        self.failures = 0;
        self.wait = None;
        self.approved = false;
        self.conflict = None;
        self.state = FeatureState::building(WorkStep::AwaitingSlot);
    }

    /// An attempt failed: the next one begins at once, or waits for its time without a slot.
    pub(super) fn tried(&mut self, counted: bool, wait: Option<Wait>, trail: &mut Trail) {
        self.failures += u32::from(counted);
        self.limited = None;
        self.wait = wait;
        self.rewind_step();
        if wait.is_some()
            && let FeatureState::Working { step, .. } = &mut self.state
        {
            *step = WorkStep::AwaitingSlot;
            trail.again = true;
        }
    }

    /// After a failed attempt the same step waits for its next one.
    pub(super) fn rewind_step(&mut self) {
        match &mut self.state {
            FeatureState::Working { step, .. } => *step = WorkStep::Preparing,
            FeatureState::Verifying { .. }
            | FeatureState::Landing(_)
            | FeatureState::Queued
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {}
        }
    }

    /// What was in the way is gone: the step that it stopped begins again.
    fn unblocked(&mut self, trail: &mut Trail) {
        if let FeatureState::Blocked(Block::Input { role }) = self.state {
            return self.goes_on_with_answer(role, &mut trail.again);
        }
        if self.state.role() == Some(Role::Reconciler) {
            self.conflict = None;
        }
        self.state = if self.approved {
            FeatureState::Landing(LandStep::AwaitingTarget)
        } else if trail.built.is_some() {
            let role = self.resumed_role();
            FeatureState::Working { role, step: WorkStep::AwaitingSlot }
        } else {
            // Its builder has not begun, and the next admission counts the iteration again.
            self.iteration = self.iteration.saturating_sub(u32::from(!trail.again));
            match self.iteration {
                0 => FeatureState::Queued,
                _ => FeatureState::building(WorkStep::AwaitingSlot),
            }
        };
    }

    /// The next iteration begins, or the work of the last one is looked at again.
    fn admitted(&mut self, trail: &Trail) {
        let role = self.state.role().unwrap_or(Role::Builder);
        let step = match (role, &trail.built) {
            (Role::Builder, Some(job)) => WorkStep::Committing(job.clone()),
            (Role::Builder, None) => {
                self.iteration += u32::from(!trail.again);
                WorkStep::Preparing
            }
            (Role::Planner | Role::Qa | Role::Reviewer | Role::Reconciler, _) => {
                WorkStep::Preparing
            }
        };
        self.state = FeatureState::Working { role, step };
    }

    /// What a budget stopped goes on with more of it. What stopped an approved landing is tried again
    /// from the landing. After a conflict a person
    /// may have changed the branch: then, and whenever a builder's work stands, its commit is
    /// looked at anew, which voids the approval. All else begins with the builder.
    fn retry(&mut self, trail: &mut Trail) {
        let conflict = matches!(self.state, FeatureState::Blocked(Block::Conflict { .. }));
        if let FeatureState::Blocked(Block::Budget { overrun }) = &self.state {
            match overrun.scope {
                BudgetScope::Feature => self.raised += 1,
                BudgetScope::Run => self.run_raised += 1,
            }
            self.failures = 0;
            return self.unblocked(trail);
        }
        let blocked = matches!(self.state, FeatureState::Blocked(_));
        self.failures = 0;
        self.reconciliations = 0;
        trail.again = false;
        trail.same = None;
        if blocked && self.approved && !conflict {
            self.state = FeatureState::Landing(LandStep::AwaitingTarget);
        } else if blocked && trail.built.is_some() {
            self.approved = false;
            self.state = FeatureState::building(WorkStep::AwaitingSlot);
        } else {
            trail.built = None;
            self.approved = false;
            self.conflict = None;
            self.iteration = 0;
            self.state = FeatureState::Queued;
        }
    }
}
