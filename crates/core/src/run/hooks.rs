//! The hooks of a worktree: the setup before its first agent, the teardown after its feature.
//!
//! A setup runs once in each making of a worktree. When it fails, the making is thrown away and the
//! next attempt gets another one, so that no agent ever stands in a half-made worktree.

use super::event::Event;
use super::feature::{Feature, FeatureState, Trail, WorkStep};
use super::state::{Purpose, Run};
use super::step::Draft;
use crate::exit::Exit;
use crate::ids::{FeatureId, JobId};
use crate::workplace::{Furnished, Hook};

impl Draft {
    /// Records what a worktree got, where that is new and worth telling.
    pub(super) fn note_furnished(&mut self, id: &FeatureId, furnished: &Furnished) {
        let Some((spec, plan)) = self.run.plan() else { return };
        let Some(feature) = plan.features.get(id) else { return };
        let told = !furnished.is_plain() || spec.worktree.setup.is_some();
        if told && feature.furnished != *furnished {
            let (feature, furnished) = (id.clone(), furnished.clone());
            self.emit(Event::WorktreeFurnished { feature, furnished });
        }
    }

    /// Begins the setup of a worktree that had none. False when there is nothing to set up.
    pub(super) fn begin_setup(&mut self, id: &FeatureId) -> bool {
        let Some((spec, plan)) = self.run.plan() else { return false };
        let Some(feature) = plan.features.get(id) else { return false };
        let making = feature.furnished.making.clone();
        let is_up = self.run.trails.get(id).and_then(|trail| trail.set_up.as_ref());
        if spec.worktree.setup.is_none() || is_up == Some(&making) {
            return false;
        }
        self.create_job(Purpose::Hook { feature: id.clone(), hook: Hook::Setup, making });
        true
    }

    pub(super) fn hook_ended(&mut self, id: &FeatureId, hook: Hook, job: &JobId, exit: &Exit) {
        match hook {
            Hook::Setup => self.setup_ended(id, job, exit),
            // Whatever came of it: the feature has ended before, and the job's record says it.
            Hook::Teardown => {}
        }
    }

    fn setup_ended(&mut self, id: &FeatureId, job: &JobId, exit: &Exit) {
        let step = WorkStep::SettingUp(job.clone());
        let waits = self.feature(id).is_some_and(|(_, f)| f.state.work_step() == Some(&step));
        if !waits || self.run.status.cancel().is_some() {
            return;
        }
        if exit.is_success() {
            self.emit(Event::WorktreeSetUp { feature: id.clone(), job: job.clone() });
            self.create_agent(id);
        } else {
            self.attempt_failed(id, job, exit, &format!("setup (see the log of job {job})"));
        }
    }
}

impl Run {
    /// The feature whose worktree is to be torn down now.
    pub(super) fn teardown_due(&self, id: &FeatureId, feature: &Feature) -> Option<Purpose> {
        let (spec, _) = self.plan()?;
        spec.worktree.teardown.as_ref()?;
        let ended = match feature.state {
            FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. } => true,
            FeatureState::Skipped { .. }
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Landing(_)
            | FeatureState::Blocked(_) => false,
        };
        let stands = self.trails.get(id).is_some_and(|trail| trail.stands);
        let making = feature.furnished.making.clone();
        let hook = Hook::Teardown;
        (ended && stands).then(|| Purpose::Hook { feature: id.clone(), hook, making })
    }

    /// The teardown of a feature that may be running.
    pub(super) fn living_teardown(&self, id: &FeatureId) -> Option<&JobId> {
        let of = |purpose: &Purpose| purpose.is_teardown() && purpose.feature() == Some(id);
        let mut jobs = self.jobs.iter();
        jobs.find(|(_, job)| of(&job.purpose) && job.state.is_live()).map(|(job, _)| job)
    }

    /// The making of a feature's worktree that no agent was let into, when its setup did not end
    /// well: it is to be thrown away.
    pub(super) fn half_made(&self, id: &FeatureId) -> Option<String> {
        let trail = self.trails.get(id)?;
        trail.setting_up.clone().filter(|making| trail.worked_in.as_ref() != Some(making))
    }
}

impl Feature {
    /// How it evolves by a fact about its worktree.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only facts of worktrees are handed here")]
    pub(super) fn apply_of_worktree(&mut self, event: &Event, trail: &mut Trail) {
        match event {
            Event::WorktreeReady { path, base, .. } => {
                self.worktree = Some(path.clone());
                self.base = Some(base.clone());
                self.sync = None;
                trail.again = false;
                trail.stands = true;
            }
            Event::WorktreeFurnished { furnished, .. } => self.furnished = furnished.clone(),
            Event::WorktreeSetUp { .. } => {
                self.failures = 0;
                trail.set_up = trail.setting_up.take();
            }
            _ => {}
        }
    }
}

impl Trail {
    /// A hook's job was decided on.
    pub(super) fn hook_begins(&mut self, hook: Hook, making: &str) {
        match hook {
            Hook::Setup => {
                self.set_up = None;
                self.setting_up = Some(making.to_owned());
            }
            Hook::Teardown => {
                self.set_up = None;
                self.stands = false;
            }
        }
    }
}

impl Purpose {
    /// Whether it ends what a worktree has left outside of itself.
    pub fn is_teardown(&self) -> bool {
        match self {
            Self::Hook { hook, .. } => *hook == Hook::Teardown,
            Self::Launcher { .. }
            | Self::LauncherAgent { .. }
            | Self::Agent { .. }
            | Self::Gate { .. } => false,
        }
    }

    /// The feature that it is for.
    pub fn feature(&self) -> Option<&FeatureId> {
        match self {
            Self::Agent { feature, .. }
            | Self::Gate { feature, .. }
            | Self::Hook { feature, .. } => Some(feature),
            Self::Launcher { .. } | Self::LauncherAgent { .. } => None,
        }
    }
}
