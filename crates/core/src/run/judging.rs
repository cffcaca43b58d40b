//! What follows on what an agent told of its turn: a success is a terminal event that says so, never
//! an exit code alone, where its stream can tell.

use super::block::Block;
use super::event::Event;
use super::feature::{Feature, FeatureState, WorkStep};
use super::input::Rejected;
use super::limited::{Limit, Parked};
use super::state::Run;
use super::step::Draft;
use super::telling::Telling;
use crate::exit::{Exit, Reason};
use crate::ids::{AgentName, FeatureId, JobId};
use crate::plan::Role;
use crate::time::WallMs;
use crate::told::{Class, Outcome, Told, Usage};

/// What an agent's end comes to.
pub(super) enum Ending {
    /// It did its work, by its own word.
    Well,
    /// Its account is limited: it counts as no attempt.
    Limited(Class, Option<WallMs>, Option<String>),
    /// A person must let it in.
    Refused(String),
    /// It was to take up a conversation that is gone.
    Gone,
    /// The attempt failed.
    Failed {
        /// Why, for people; `None`: its exit says all there is.
        why: Option<String>,
        /// Whether a next attempt at once would meet the same.
        wait: bool,
    },
}

impl Draft {
    /// Records what an agent told, before its end is.
    pub(super) fn record_told(&mut self, job: &JobId, told: &Told) {
        let mut told = told.clone();
        if told.cumulative {
            told.usage = told.usage.minus(self.run.used_in(told.session.as_deref(), job));
        }
        let (job, told) = (job.clone(), Box::new(told));
        self.emit(Event::Telling(Telling::Told { job, told }));
    }

    /// What the end of an agent comes to.
    pub(super) fn ending(&self, job: &JobId, exit: &Exit) -> Ending {
        let told = self.run.jobs.get(job).and_then(|job| job.told.as_ref());
        let Some(told) = told else {
            let streams = self.run.manifest_of(job).is_some_and(crate::manifest::Manifest::judges);
            return match (exit.is_success(), streams) {
                (true, false) => Ending::Well,
                (true, true) => Ending::Failed {
                    why: Some("what it told could not be read".to_owned()),
                    wait: false,
                },
                (false, _) => Ending::Failed { why: None, wait: false },
            };
        };
        if told.gone {
            return Ending::Gone;
        }
        // Whoever ended it has the last word: what it told before is no judgement of its work.
        if exit.reason != Reason::Exited && told.outcome == Outcome::Unknown {
            return Ending::Failed { why: None, wait: false };
        }
        let wait = match told.outcome {
            Outcome::Completed if exit.reason == Reason::Exited => return Ending::Well,
            Outcome::Failed(class @ (Class::RateLimit | Class::UsageLimit)) => {
                return Ending::Limited(class, told.reset, told.detail.clone());
            }
            Outcome::Failed(Class::Auth) => return Ending::Refused(sentence(told)),
            Outcome::Failed(Class::Server | Class::Network) => true,
            Outcome::Completed
            | Outcome::Failed(
                Class::BadModel
                | Class::BadRequest
                | Class::TooLong
                | Class::Permission
                | Class::Other,
            )
            | Outcome::Interrupted
            | Outcome::Limit
            | Outcome::Unknown => false,
        };
        Ending::Failed { why: Some(sentence(told)), wait }
    }

    /// Parks the work until its account may go on: without a slot, and as no attempt.
    pub(super) fn park(
        &mut self,
        id: &FeatureId,
        job: &JobId,
        class: Class,
        (reset, detail): (Option<WallMs>, Option<String>),
    ) {
        let Some((_, feature)) = self.feature(id) else { return };
        let times = feature.limited.as_ref().map_or(0, |limit| limit.times).saturating_add(1);
        let name = format!("{}/{id}", self.run.id);
        let account = self.run.manifest_of(job).and_then(|manifest| manifest.account.clone());
        let limit = Limit::new(class, reset, detail, (times, &name), (account, self.now.wall));
        let Some(wait) = limit.wait(self.now) else { return };
        let (feature, job) = (id.clone(), Some(job.clone()));
        self.emit(Event::Telling(Telling::Limited { feature, job, limit, wait }));
    }

    /// Whether a wait is over that a limit made: a clock of another boot, or one that was set, may
    /// say so too early. Then it waits on.
    pub(super) fn waits_on(&mut self, id: &FeatureId) -> bool {
        let Some((_, feature)) = self.feature(id) else { return false };
        let Some(limit) = feature.limited.clone().filter(|limit| !limit.again) else {
            return false;
        };
        // What a clock lost by a second is not worth another wait.
        let Some(wait) = limit.wait(self.now).filter(|wait| wait.ms > 1_000) else { return false };
        let limit = Limit { again: true, ..limit };
        let feature = id.clone();
        self.emit(Event::Telling(if limit.shared {
            Telling::Parked { feature, limit, wait }
        } else {
            Telling::Limited { feature, job: None, limit, wait }
        }));
        true
    }

    /// Asks a person, once: nothing is tried again before, and nobody else of the account asks, too.
    pub(super) fn refused_login(
        &mut self,
        id: &FeatureId,
        role: Role,
        (job, detail): (&JobId, String),
    ) {
        let Some((_, plan)) = self.run.plan() else { return };
        let account = self.run.manifest_of(job).and_then(|manifest| manifest.account.as_deref());
        let asks = |feature: &Feature| {
            let FeatureState::Blocked(Block::Auth { account: asked, .. }) = &feature.state else {
                return false;
            };
            asked.is_some() && asked.as_deref() == account
        };
        let asked = plan.features.iter().find(|(_, feature)| asks(feature));
        let feature = id.clone();
        if let Some((other, _)) = asked {
            let by = Some(format!("{}/{other}", self.run.id));
            let job = Some(job.clone());
            self.emit(Event::Telling(Telling::AccountHeld { feature, job, by }));
            return;
        }
        let (agent, account) = (self.worker_name(id, role), account.map(str::to_owned));
        self.emit(Event::Blocked { feature, block: Block::Auth { agent, detail, account } });
    }

    /// Parks a feature that has not begun: another agent of its account met a limit.
    pub(super) fn park_with(&mut self, id: &FeatureId, parked: &Parked) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.wait.is_some() || !feature.may_have_slot() {
            return Err(Rejected::NotWhile(format!("the feature is {}", feature.state.word())));
        }
        let times = feature.limited.as_ref().map_or(0, |limit| limit.times);
        let name = format!("{}/{id}", self.run.id);
        let limit = Limit::shared(parked, (times, &name), self.now.wall);
        let wait = limit.wait(self.now).ok_or(Rejected::Late("the limit is over"))?;
        let feature = id.clone();
        self.emit(Event::Telling(Telling::Parked { feature, limit, wait }));
        Ok(())
    }

    /// Has another agent stand in for a feature's own, or has that one work again.
    pub(super) fn stand_in(
        &mut self,
        id: &FeatureId,
        agent: Option<&AgentName>,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.stand_in.as_ref() == agent || !feature.may_have_slot() {
            return Err(Rejected::Already("told"));
        }
        let (feature, agent) = (id.clone(), agent.cloned());
        self.emit(Event::Telling(Telling::StandsIn { feature, agent }));
        Ok(())
    }

    /// Says why a feature gets no slot, or that this is over.
    pub(super) fn hold_account(
        &mut self,
        id: &FeatureId,
        by: Option<&str>,
    ) -> Result<(), Rejected> {
        let (_, feature) = self.require_feature(id)?;
        if feature.held_by.as_deref() == by || !feature.may_have_slot() {
            return Err(Rejected::Already("told"));
        }
        let (feature, by) = (id.clone(), by.map(str::to_owned));
        self.emit(Event::Telling(Telling::AccountHeld { feature, job: None, by }));
        Ok(())
    }
}

/// What is told of an end, for people.
fn sentence(told: &Told) -> String {
    let what = told.outcome.describe();
    match &told.detail {
        Some(detail) => format!("{what}: {detail}"),
        None => what.to_owned(),
    }
}

impl Feature {
    /// Whether a slot is what it needs next.
    pub(crate) fn may_have_slot(&self) -> bool {
        matches!(
            self.state,
            FeatureState::Queued | FeatureState::Working { step: WorkStep::AwaitingSlot, .. }
        )
    }
}

impl Run {
    /// The role that works on a feature next, once it has a slot.
    pub(crate) fn next_role(&self, id: &FeatureId) -> Option<Role> {
        let (spec, plan) = self.plan()?;
        let (of_spec, feature) = (spec.features.get(id)?, plan.features.get(id)?);
        if feature.state == FeatureState::Queued {
            let plans = feature.planned.is_none() && of_spec.crew.contains_key(&Role::Planner);
            return Some(if plans { Role::Planner } else { Role::Builder });
        }
        feature.state.role()
    }

    /// What earlier jobs used in the same conversation.
    fn used_in(&self, session: Option<&str>, before: &JobId) -> Usage {
        let same = self.jobs.range(..before).filter_map(|(_, job)| job.told.as_ref());
        let same = same.filter(|told| session.is_some() && told.session.as_deref() == session);
        same.fold(Usage::default(), |sum, told| sum.plus(told.usage))
    }
}
