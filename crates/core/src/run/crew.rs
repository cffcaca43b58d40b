//! The agents of a feature: how their ends are taken, what each role's result leads to, and who
//! works next.

use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState, WorkStep};
use super::feedback::Feedback;
use super::input::Rejected;
use super::judging::Ending;
use super::outcome::{ConflictOutcome, ResultOutcome};
use super::pipeline::Failed;
use super::planned::PlannedChange;
use super::state::Purpose;
use super::step::Draft;
use crate::exit::Exit;
use crate::ids::{FeatureId, JobId};
use crate::limits::RECONCILIATIONS_MAX;
use crate::plan::{CollisionPolicy, Role};

impl Draft {
    /// Decides on the agent that the feature's state waits for.
    pub(super) fn create_agent(&mut self, id: &FeatureId) {
        let Some((spec, _)) = self.run.plan() else { return };
        let Some((of_spec, feature)) = self.feature(id) else { return };
        let Some(role) = feature.state.role() else { return };
        let Some((name, _)) = spec.worker(of_spec, role) else { return };
        let (role, iteration) = (name.clone(), feature.iteration);
        if self.stop_if_spent(id) {
            return;
        }
        let job = self.create_job(Purpose::Agent { feature: id.clone(), role, iteration });
        self.begin_session(id, &job);
    }

    /// What follows on an agent's end, once what it left is captured.
    pub(super) fn agent_ended(&mut self, id: &FeatureId, job: &JobId, exit: &Exit) {
        let Some((_, feature)) = self.feature(id) else { return };
        if feature.state.work_step() != Some(&WorkStep::Agent(job.clone())) {
            return;
        }
        let Some(role) = feature.state.role() else { return };
        if self.end_if_cancelled(id) {
            return;
        }
        let (feature, done) = (id.clone(), job.clone());
        match self.ending(job, exit) {
            Ending::Well if self.await_answer_to_turn(id, role, job) => {}
            Ending::Well if role == Role::Builder => {
                self.emit(Event::BuilderFinished { feature, job: done });
            }
            Ending::Well => self.emit(Event::RoleFinished { feature, role, job: done }),
            Ending::Limited(class, reset, detail) => self.park(id, job, class, (reset, detail)),
            Ending::Refused(detail) => self.refused_login(id, role, (job, detail)),
            Ending::Gone => {
                self.emit(Event::AttemptFailed { feature, job: done, counted: false, wait: None });
            }
            Ending::Failed { .. } if self.await_answer(id, job, exit) => {}
            Ending::Failed { why: None, .. } => self.attempt_failed(id, job, exit, role.word()),
            Ending::Failed { why: Some(why), wait } => {
                let failed = Failed { why, counted: true, wait };
                self.step_failed(id, job, &failed, role.word());
            }
        }
    }

    /// What follows when the attempts of a step are used up.
    pub(super) fn give_up(&mut self, id: &FeatureId, reason: String) {
        let Some((_, feature)) = self.feature(id) else { return };
        let conflict = feature.conflict.clone().unwrap_or_default();
        let event = match feature.state.role() {
            Some(Role::Reviewer) => {
                Event::Blocked { feature: id.clone(), block: Block::Review { detail: reason } }
            }
            Some(Role::Reconciler) => {
                Event::Blocked { feature: id.clone(), block: Block::Conflict { paths: conflict } }
            }
            Some(Role::Planner | Role::Builder | Role::Qa) | None => {
                Event::FeatureFailed { feature: id.clone(), reason }
            }
        };
        self.emit(event);
    }

    /// What an agent left cannot be used: it is tried again, within the bound of attempts.
    pub(super) fn refuse_result(&mut self, id: &FeatureId, job: &JobId, feedback: Feedback) {
        let Some((spec, feature)) = self.feature(id) else { return };
        let (attempts, max) = (feature.failures + 1, spec.attempts_max);
        let reason = format!("{} after {attempts} attempts", feedback.describe());
        self.emit(Event::ResultRefused { feature: id.clone(), job: job.clone(), feedback });
        if attempts >= max {
            self.give_up(id, reason);
        }
    }

    pub(super) fn result(
        &mut self,
        id: &FeatureId,
        job: &JobId,
        outcome: &ResultOutcome,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.state.work_step() != Some(&WorkStep::Reading(job.clone())) {
            return Err(Rejected::Late("no result is being read"));
        }
        if self.end_if_cancelled(id) {
            return Ok(());
        }
        match outcome {
            ResultOutcome::Planned(planned) => self.planned(id, job, planned),
            ResultOutcome::Verdict { approved, comments } => {
                let (feature, job, comments) = (id.clone(), job.clone(), comments.clone());
                let approved = *approved;
                let told = comments.clone();
                self.emit(Event::Reviewed { feature, job, approved, comments });
                self.reviewed(id, approved, &told);
            }
            ResultOutcome::Unusable { .. } if self.await_answer_to_nothing(id) => {}
            ResultOutcome::Unusable { detail } => {
                self.refuse_result(id, job, Feedback::Unusable { detail: detail.clone() });
            }
        }
        Ok(())
    }

    fn planned(&mut self, id: &FeatureId, job: &JobId, planned: &PlannedChange) {
        let (feature, job) = (id.clone(), job.clone());
        self.emit(Event::Planned { feature: feature.clone(), job, planned: planned.clone() });
        let Some(policy) = self.run.plan().map(|(spec, _)| spec.collisions) else { return };
        let waits = match policy {
            CollisionPolicy::Allow => None,
            CollisionPolicy::Serialise => Some(true),
            CollisionPolicy::Reject => Some(false),
        };
        let met = waits.and_then(|waits| Some((waits, self.collision(id, planned)?)));
        match met {
            Some((waits, (with, paths))) => {
                let block = Block::Collision { with, paths, waits };
                self.emit(Event::Blocked { feature, block });
            }
            None => self.emit(Event::HandedOver { feature, role: Role::Builder }),
        }
    }

    /// Another feature of the run that was planned before, has not ended and meets this plan.
    fn collision(
        &self,
        id: &FeatureId,
        planned: &PlannedChange,
    ) -> Option<(FeatureId, Vec<String>)> {
        let (_, plan) = self.run.plan()?;
        plan.features.iter().find_map(|(other, feature)| {
            let waits = matches!(feature.state, FeatureState::Blocked(Block::Collision { .. }));
            if other == id || waits || feature.is_terminal() {
                return None;
            }
            let paths = planned.meets(feature.planned.as_ref()?);
            (!paths.is_empty()).then(|| (other.clone(), paths))
        })
    }

    /// Whether the feature's planner is to speak before anything is built.
    pub(super) fn needs_planner(&self, id: &FeatureId) -> bool {
        self.feature(id).is_some_and(|(spec, feature)| {
            feature.state == FeatureState::Queued
                && feature.planned.is_none()
                && spec.crew.contains_key(&Role::Planner)
        })
    }

    /// The merge with the target conflicts: the reconciler's, within its bound, else a person's.
    pub(super) fn conflict(&mut self, id: &FeatureId, paths: &[String]) {
        let Some((spec, feature)) = self.feature(id) else { return };
        let by_agent = spec.crew.contains_key(&Role::Reconciler)
            && feature.reconciliations < RECONCILIATIONS_MAX;
        let (feature, paths) = (id.clone(), paths.to_vec());
        if by_agent {
            self.emit(Event::ConflictFound { feature: feature.clone(), paths });
            self.emit(Event::HandedOver { feature, role: Role::Reconciler });
        } else {
            self.emit(Event::Blocked { feature, block: Block::Conflict { paths } });
        }
    }

    pub(super) fn conflict_laid_out(
        &mut self,
        id: &FeatureId,
        outcome: &ConflictOutcome,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        let reconciles = feature.state
            == FeatureState::Working { role: Role::Reconciler, step: WorkStep::Preparing };
        if !reconciles {
            return Err(Rejected::Late("no conflict is being laid out"));
        }
        if self.end_if_cancelled(id) {
            return Ok(());
        }
        let feature = id.clone();
        match outcome {
            ConflictOutcome::Prepared { paths } => {
                let known = self.feature(id).and_then(|(_, feature)| feature.conflict.clone());
                if known.as_ref() != Some(paths) {
                    self.emit(Event::ConflictFound { feature, paths: paths.clone() });
                }
                self.create_agent(id);
            }
            // The target has moved meanwhile, or the branch has: the merge is made again.
            ConflictOutcome::Clean => self.emit(Event::Unblocked { feature }),
            ConflictOutcome::TargetMissing => {
                self.emit(Event::Blocked { feature, block: Block::TargetMissing });
            }
            ConflictOutcome::Failed { detail } => {
                let block = Block::Git { detail: detail.clone() };
                self.emit(Event::Blocked { feature, block });
            }
        }
        Ok(())
    }

    /// Who an agent in `role` is, for people.
    pub(super) fn worker_name(&self, id: &FeatureId, role: Role) -> String {
        let named = || {
            let (spec, _) = self.run.plan()?;
            let (name, agent) = spec.worker(spec.features.get(id)?, role)?;
            Some(format!("{name} ({agent})"))
        };
        named().unwrap_or_else(|| role.word().to_owned())
    }
}

impl Feature {
    /// The role whose work is taken up again after something was in the way.
    pub(super) fn resumed_role(&self) -> Role {
        if self.conflict.is_some() { Role::Reconciler } else { Role::Builder }
    }
}
