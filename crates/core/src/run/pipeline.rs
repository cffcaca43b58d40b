//! A feature from its queue to its gates: building, committing, and the next iteration.

use super::backoff::Wait;
use super::barrier::Barrier;
use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState, Tested, WorkStep};
use super::feedback::Feedback;
use super::input::Rejected;
use super::outcome::{CommitOutcome, WorktreeOutcome};
use super::step::Draft;
use crate::exit::Exit;
use crate::ids::{FeatureId, JobId, Oid};
use crate::plan::{FeatureSpec, Role};
use crate::time::WallMs;

/// How an attempt failed.
pub(super) struct Failed {
    /// Why, for people.
    pub(super) why: String,
    /// Whether it counts against the bound.
    pub(super) counted: bool,
    /// Whether the next one waits even if this is the first to fail.
    pub(super) wait: bool,
}

impl Draft {
    pub(super) fn feature(&self, id: &FeatureId) -> Option<(&FeatureSpec, &Feature)> {
        let (spec, plan) = self.run.plan()?;
        Some((spec.features.get(id)?, plan.features.get(id)?))
    }

    pub(super) fn require_feature(
        &self,
        id: &FeatureId,
    ) -> Result<(&FeatureSpec, &Feature), Rejected> {
        self.feature(id).ok_or(Rejected::Unknown("feature"))
    }

    pub(super) fn admit(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.wait.is_some() {
            return Err(Rejected::NotWhile("its next attempt waits for its time".to_owned()));
        }
        match feature.state {
            FeatureState::Working { step: WorkStep::AwaitingSlot, .. } => {}
            FeatureState::Queued => {
                let (spec, plan) = self.run.plan().ok_or(Rejected::Unknown("plan"))?;
                let wave = spec.wave_of(id).ok_or(Rejected::Unknown("feature"))?;
                if !Barrier::of(spec, plan).is_ready(wave, id) {
                    let why = "its wave has not come, or a need of it has not landed";
                    return Err(Rejected::NotWhile(why.to_owned()));
                }
            }
            FeatureState::Working {
                step:
                    WorkStep::Preparing
                    | WorkStep::SettingUp(_)
                    | WorkStep::Agent(_)
                    | WorkStep::Committing(_)
                    | WorkStep::Reading(_)
                    | WorkStep::RollingBack(_),
                ..
            }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => {
                return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
            }
        }
        self.take_locks(id);
        if self.needs_planner(id) {
            self.emit(Event::HandedOver { feature: id.clone(), role: Role::Planner });
        }
        self.emit(Event::FeatureAdmitted { feature: id.clone() });
        let works = self.feature(id).and_then(|(_, feature)| feature.state.work_step());
        if works == Some(&WorkStep::Preparing) {
            self.stop_if_spent(id);
        }
        Ok(())
    }

    pub(super) fn worktree(
        &mut self,
        id: &FeatureId,
        outcome: &WorktreeOutcome,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.state.work_step() != Some(&WorkStep::Preparing) {
            return Err(Rejected::Late("no worktree is being prepared"));
        }
        let block = match outcome {
            WorktreeOutcome::Ready { path, base, furnished } => {
                self.note_furnished(id, furnished);
                self.worktree_ready(id, path, base);
                return Ok(());
            }
            WorktreeOutcome::SyncConflict { paths } => {
                self.conflict(id, paths);
                return Ok(());
            }
            WorktreeOutcome::NoRoom { detail } => Block::Resources { detail: detail.clone() },
            WorktreeOutcome::TargetMissing => Block::TargetMissing,
            WorktreeOutcome::Failed { detail } => Block::Git { detail: detail.clone() },
        };
        self.emit(Event::Blocked { feature: id.clone(), block });
        Ok(())
    }

    fn worktree_ready(&mut self, id: &FeatureId, path: &str, base: &Oid) {
        let (path, base) = (path.to_owned(), base.clone());
        self.emit(Event::WorktreeReady { feature: id.clone(), path, base });
        if !self.end_if_cancelled(id) && !self.begin_setup(id) {
            self.create_agent(id);
        }
    }

    /// The same step again, within its bound; an excused end does not count.
    pub(super) fn attempt_failed(&mut self, id: &FeatureId, job: &JobId, exit: &Exit, who: &str) {
        let failed = Failed { why: exit.describe(), counted: !exit.is_excused(), wait: false };
        self.step_failed(id, job, &failed, who);
    }

    /// The same step again, within its bound.
    pub(super) fn step_failed(&mut self, id: &FeatureId, job: &JobId, failed: &Failed, who: &str) {
        let Some((spec, feature)) = self.feature(id) else { return };
        let Some((plan, _)) = self.run.plan() else { return };
        let role = feature.state.role().and_then(|role| plan.role_spec(spec, role));
        let retry = role.and_then(|role| role.retry).unwrap_or(plan.retry);
        let counted = failed.counted;
        let failures = feature.failures + u32::from(counted);
        if counted && failures >= spec.attempts_max {
            let reason = format!("{who}: {} after {failures} attempts", failed.why);
            self.give_up(id, reason);
            return;
        }
        // What says nothing about the job is tried again at once.
        let spaced = failures.saturating_add(u32::from(failed.wait));
        let ms = if counted { retry.wait_ms(spaced, &format!("{}/{id}", self.run.id)) } else { 0 };
        // Of a held run nothing begins: its next attempt waits for a slot, which it is not given. And
        // where money counts, a slot is given when there is enough of it.
        let by_slot = self.run.hold.is_some() || plan.budgets.run.cost_micros.is_some();
        let ms = if by_slot { ms.max(1) } else { ms };
        let wait = (ms > 0).then(|| Wait {
            until: self.now.boot.after_ms(ms),
            ms,
            about: WallMs(self.now.wall.0.saturating_add(ms)),
        });
        self.emit(Event::AttemptFailed { feature: id.clone(), job: job.clone(), counted, wait });
    }

    /// The time of a feature's next attempt has come, or a person does not want to wait for it.
    pub(super) fn retry_due(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.wait.is_none() {
            return Err(Rejected::Late("no attempt waits for its time"));
        }
        self.emit(Event::RetryDue { feature: id.clone() });
        Ok(())
    }

    /// An alarm says that the time has come: of a limit the wall clock has the last word.
    pub(super) fn alarm_rang(&mut self, id: &FeatureId) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.wait.is_some() && self.waits_on(id) {
            return Ok(());
        }
        self.retry_due(id)
    }

    pub(super) fn committed(
        &mut self,
        id: &FeatureId,
        job: &JobId,
        outcome: &CommitOutcome,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.state.work_step() != Some(&WorkStep::Committing(job.clone())) {
            return Err(Rejected::Late("no commit is being made"));
        }
        if let CommitOutcome::Commit(tested) | CommitOutcome::NoChange(tested) = outcome
            && feature.is_nothing_new(tested)
            && self.await_answer_to_nothing(id)
        {
            return Ok(());
        }
        let (spec, feature) = self.require_feature(id)?;
        let feedback = match outcome {
            CommitOutcome::Commit(tested) => {
                self.verify(id, job, tested);
                return Ok(());
            }
            CommitOutcome::NoChange(tested)
                if spec.allow_no_change || feature.state.role() != Some(Role::Builder) =>
            {
                self.verify(id, job, tested);
                return Ok(());
            }
            CommitOutcome::NoChange(_) => Feedback::NoChange,
            CommitOutcome::HookRefused { output } => {
                Feedback::HookRefused { output: output.clone() }
            }
            CommitOutcome::LeftBranch { found } => Feedback::LeftBranch { found: found.clone() },
            CommitOutcome::Failed { detail } => {
                let block = Block::Git { detail: detail.clone() };
                self.emit(Event::Blocked { feature: id.clone(), block });
                return Ok(());
            }
            CommitOutcome::Unresolved { paths } => {
                let paths = paths.clone();
                if feature.state.role() == Some(Role::Reconciler) {
                    self.refuse_result(id, job, Feedback::Unresolved { paths });
                } else {
                    let block = Block::Conflict { paths };
                    self.emit(Event::Blocked { feature: id.clone(), block });
                }
                return Ok(());
            }
        };
        self.next_iteration(id, feedback, None);
        Ok(())
    }

    /// The gates run on what was committed; what qa left as it was has passed them already.
    fn verify(&mut self, id: &FeatureId, job: &JobId, tested: &Tested) {
        let Some((_, feature)) = self.feature(id) else { return };
        let same = feature.tested.as_ref() == Some(tested);
        let feature_id = id.clone();
        self.emit(match feature.state.role() {
            Some(Role::Qa) if same => Event::Checked { feature: feature_id, job: job.clone() },
            Some(Role::Planner | Role::Builder | Role::Qa | Role::Reviewer | Role::Reconciler)
            | None => Event::Committed { feature: feature_id, tested: tested.clone() },
        });
    }

    /// The next builder attempt with the evidence of this one, within the bound of iterations.
    pub(super) fn next_iteration(&mut self, id: &FeatureId, why: Feedback, sync: Option<Oid>) {
        let Some((spec, feature)) = self.feature(id) else { return };
        let last = feature.iteration >= spec.iterations_max;
        let described = why.describe();
        let reason = format!("{described} after {} iterations", feature.iteration);
        let mark = self.run.mark_of(id, &why);
        // Recorded in any case: should a person retry the feature, its builder is told.
        self.emit(Event::IterationFailed { feature: id.clone(), feedback: why, sync, mark });
        if last {
            self.emit(Event::FeatureFailed { feature: id.clone(), reason });
        } else {
            self.stop_if_stuck(id, &described);
        }
    }
}
