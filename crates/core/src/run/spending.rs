//! What the agents of a run have used of its budgets, and what that allows.
//!
//! An agent begins only while something is left, and only while what the others at work may still
//! cost is left too: so a budget of money is overrun by one attempt of one agent at most. What a
//! person raises is an event like any other; nothing is lost by a stop.

use super::block::Block;
use super::event::Event;
use super::feature::{FeatureState, WorkStep};
use super::state::{Job, JobState, Purpose, Run};
use super::step::Draft;
use crate::budget::{BudgetScope, Overrun, Spent};
use crate::ids::FeatureId;

impl Run {
    /// What the agents of a feature have used, or those of all features.
    pub fn spent(&self, of: Option<&FeatureId>) -> Spent {
        self.agent_jobs(of).fold(Spent::default(), |sum, job| Spent {
            attempts: sum.attempts + 1,
            time_ms: sum.time_ms.saturating_add(ran_ms(job)),
            cost_micros: sum.cost_micros.saturating_add(cost(job).unwrap_or(0)),
        })
    }

    /// The budget that keeps agents of a feature from being started, if one does.
    pub fn overrun(&self, id: &FeatureId) -> Option<Overrun> {
        let (spec, plan) = self.plan()?;
        let feature = plan.features.get(id)?;
        let own = spec.budgets.feature.raised(feature.raised);
        own.overrun(BudgetScope::Feature, self.spent(Some(id))).or_else(|| {
            let all = spec.budgets.run.raised(self.run_raised());
            all.overrun(BudgetScope::Run, self.spent(None))
        })
    }

    /// How long the next agent of a feature may work, where a budget says so, in milliseconds.
    pub fn time_left_ms(&self, id: &FeatureId) -> Option<u64> {
        let (spec, plan) = self.plan()?;
        let own = spec.budgets.feature.raised(plan.features.get(id)?.raised).time_ms;
        let all = spec.budgets.run.raised(self.run_raised()).time_ms;
        let own = own.map(|cap| cap.saturating_sub(self.spent(Some(id)).time_ms));
        let all = all.map(|cap| cap.saturating_sub(self.spent(None).time_ms));
        own.into_iter().chain(all).min()
    }

    /// Whether one more agent may begin beside so many that are about to: what those at work may cost
    /// is kept back. Until the first figures are known agents of a run that counts money go alone.
    pub fn has_room(&self, begun: u32) -> bool {
        let Some((spec, plan)) = self.plan() else { return true };
        let Some(cap) = spec.budgets.run.raised(self.run_raised()).cost_micros else { return true };
        let at_work = plan.features.values().filter(|feature| feature.state.spends()).count();
        let others = u64::try_from(at_work).unwrap_or(u64::MAX).saturating_add(u64::from(begun));
        if others == 0 {
            return true;
        }
        let ended = self.agent_jobs(None).filter(|job| job.told.is_some());
        let dearest = ended.map(|job| cost(job).unwrap_or(0)).max();
        let Some(each) = spec.budgets.attempt_micros.max(dearest) else { return false };
        self.spent(None).cost_micros.saturating_add(others.saturating_mul(each)) < cap
    }

    /// How often a person gave the run its budget anew.
    fn run_raised(&self) -> u32 {
        let features = self.plan().into_iter().flat_map(|(_, plan)| plan.features.values());
        features.map(|feature| feature.run_raised).sum()
    }

    fn agent_jobs<'a>(&'a self, of: Option<&'a FeatureId>) -> impl Iterator<Item = &'a Job> {
        self.jobs.values().filter(move |job| match &job.purpose {
            Purpose::Agent { feature, .. } => of.is_none_or(|of| of == feature),
            Purpose::Launcher { .. }
            | Purpose::LauncherAgent { .. }
            | Purpose::Gate { .. }
            | Purpose::Hook { .. } => false,
        })
    }
}

fn cost(job: &Job) -> Option<u64> {
    job.told.as_ref()?.usage.cost_micros
}

fn ran_ms(job: &Job) -> u64 {
    match &job.state {
        JobState::Finished { exit, .. } => exit.ran_ms,
        JobState::Launching
        | JobState::Running(_)
        | JobState::Stopping { .. }
        | JobState::Quarantined { .. } => 0,
    }
}

impl FeatureState {
    /// Whether an agent works on it, or is about to.
    fn spends(&self) -> bool {
        self.work_step().is_some_and(|step| match step {
            WorkStep::Preparing | WorkStep::SettingUp(_) | WorkStep::Agent(_) => true,
            WorkStep::AwaitingSlot
            | WorkStep::Committing(_)
            | WorkStep::Reading(_)
            | WorkStep::RollingBack(_) => false,
        })
    }
}

impl Draft {
    /// Stops a feature whose next agent no budget is left for. True if it did.
    pub(super) fn stop_if_spent(&mut self, id: &FeatureId) -> bool {
        let Some(overrun) = self.run.overrun(id) else { return false };
        let block = Block::Budget { overrun };
        self.emit(Event::Blocked { feature: id.clone(), block });
        true
    }

    /// A feature that was stopped for a budget goes on once there is something left of it.
    pub(super) fn budget_back(&self, id: &FeatureId) -> Option<Event> {
        let back = self.run.overrun(id).is_none();
        back.then(|| Event::Unblocked { feature: id.clone() })
    }
}
