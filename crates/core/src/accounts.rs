//! Accounts that agents share, over all runs of the home: what one of them ran into keeps the others of
//! its account from beginning, or has another agent stand in. It must not know of slots, nor what an
//! account is.

use std::collections::BTreeMap;

use crate::admission::Caps;
use crate::ids::{AgentName, FeatureId, RunId};
use crate::plan::PlanSpec;
use crate::run::{Block, Feature, FeatureState, Grant, Parked, Run};
use crate::time::WallMs;

/// What keeps agents from work, by account.
#[derive(Debug, Default)]
pub(crate) struct Accounts<'r> {
    limits: BTreeMap<&'r str, Parked>,
    /// How many wait because another one met a limit.
    waiting: BTreeMap<&'r str, u32>,
    refused: BTreeMap<&'r str, (RunId, FeatureId)>,
}

/// What an account says of a feature that could have a slot.
pub(crate) enum Look {
    /// Nothing: it may have it.
    Free,
    /// It is given this in its stead.
    Instead(Grant),
    /// It waits.
    Kept,
}

impl<'r> Accounts<'r> {
    /// What the running runs say of theirs now.
    pub(crate) fn of(runs: impl Iterator<Item = &'r Run>, now: WallMs) -> Self {
        let mut found = Self::default();
        for run in runs {
            for (account, parked) in run.limits_at(now) {
                // The first that comes back shows whether it has passed.
                let known = found.limits.entry(account).or_insert_with(|| parked.clone());
                if parked.until < known.until {
                    *known = parked;
                }
            }
            let Some((_, plan)) = run.plan() else { continue };
            for (id, feature) in &plan.features {
                found.count(run, id, feature);
            }
        }
        found
    }

    fn count(&mut self, run: &Run, id: &FeatureId, feature: &'r Feature) {
        if let FeatureState::Blocked(Block::Auth { account: Some(account), .. }) = &feature.state {
            self.refused.entry(account).or_insert_with(|| (run.id.clone(), id.clone()));
        }
        let limit = feature.limited.as_ref().filter(|limit| limit.shared && feature.wait.is_some());
        if let Some(account) = limit.and_then(|limit| limit.account.as_deref()) {
            *self.waiting.entry(account).or_default() += 1;
        }
    }

    /// What the account of a feature's next agent says of it.
    pub(crate) fn look(
        &mut self,
        run: &'r Run,
        id: &FeatureId,
        feature: &Feature,
        caps: Caps,
    ) -> Look {
        if let Some(grant) = self.other(run, id, feature) {
            return Look::Instead(grant);
        }
        let account = chain(run, id)
            .and_then(|(spec, own, _)| account_of(spec, feature.stand_in.as_ref().unwrap_or(own)));
        let refused = account.and_then(|account| self.refused.get(account));
        let by = refused.map(|(run, feature)| format!("{run}/{feature}"));
        if by != feature.held_by {
            return Look::Instead(Grant::Hold { feature: id.clone(), by });
        }
        if by.is_some() {
            return Look::Kept;
        }
        let Some(account) = account else { return Look::Free };
        let Some(parked) = self.limits.get(account).cloned() else { return Look::Free };
        // No more than could begin at once are told when: the others stand behind them.
        let waiting = self.waiting.entry(account).or_default();
        if *waiting >= caps.features {
            return Look::Kept;
        }
        *waiting += 1;
        Look::Instead(Grant::Park { feature: id.clone(), parked })
    }

    /// Another agent than the one that a feature has now: the first of its chain whose account lets it
    /// work. None when it has that one, or no account does.
    pub(crate) fn other(&self, run: &Run, id: &FeatureId, feature: &Feature) -> Option<Grant> {
        let (spec, own, fallback) = chain(run, id).filter(|_| feature.may_have_slot())?;
        if fallback.is_empty() && feature.stand_in.is_none() {
            return None;
        }
        // Who stood in for the agent of another role does not for this one.
        let strange = |agent: &AgentName| agent != own && !fallback.contains(agent);
        if feature.stand_in.as_ref().is_some_and(strange) {
            return Some(Grant::StandIn { feature: id.clone(), agent: None });
        }
        let works = |agent: &&AgentName| {
            account_of(spec, agent).is_none_or(|account| {
                !self.limits.contains_key(account) && !self.refused.contains_key(account)
            })
        };
        let agent = std::iter::once(own).chain(fallback).find(works)?;
        let agent = (agent != own).then(|| agent.clone());
        (agent != feature.stand_in).then(|| Grant::StandIn { feature: id.clone(), agent })
    }
}

/// The agent of the role that works on a feature next, and those that stand in for it.
fn chain<'r>(
    run: &'r Run,
    id: &FeatureId,
) -> Option<(&'r PlanSpec, &'r AgentName, &'r [AgentName])> {
    let (spec, _) = run.plan()?;
    let (of_spec, role) = (spec.features.get(id)?, run.next_role(id)?);
    let (_, own) = spec.worker(of_spec, role)?;
    Some((spec, own, &spec.role_spec(of_spec, role)?.fallback))
}

fn account_of<'s>(spec: &'s PlanSpec, agent: &AgentName) -> Option<&'s str> {
    spec.agents.get(agent)?.manifest.account.as_deref()
}
