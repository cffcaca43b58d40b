//! Accounts that agents share, over all runs of the home: what one of them ran into keeps the others of
//! its account from beginning. It must not know of slots, nor what an account is.

use std::collections::BTreeMap;

use crate::admission::Caps;
use crate::ids::{FeatureId, RunId};
use crate::plan::{FeatureSpec, PlanSpec, Role};
use crate::run::{Block, Feature, FeatureState, Grant, Parked, Run};

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
    /// What the running runs say of theirs.
    pub(crate) fn of(runs: impl Iterator<Item = &'r Run>) -> Self {
        let mut found = Self::default();
        for run in runs {
            let Some((spec, plan)) = run.plan() else { continue };
            for (id, feature) in &plan.features {
                found.count(run, spec, id, feature);
            }
        }
        found
    }

    fn count(&mut self, run: &Run, spec: &'r PlanSpec, id: &FeatureId, feature: &'r Feature) {
        let who = || (run.id.clone(), id.clone());
        if let FeatureState::Blocked(Block::Auth { account: Some(account), .. }) = &feature.state {
            self.refused.entry(account).or_insert_with(who);
        }
        let Some(limit) = feature.limited.as_ref().filter(|_| feature.wait.is_some()) else {
            return;
        };
        let of_spec = spec.features.get(id);
        let role = run.next_role(id);
        let Some(account) = of_spec.zip(role).and_then(|(of, role)| account_of(spec, of, role))
        else {
            return;
        };
        if limit.shared {
            *self.waiting.entry(account).or_default() += 1;
            return;
        }
        let (run, feature) = who();
        let (class, until, told, ms) = (limit.class, limit.until, limit.told, limit.ms);
        let parked = Parked { class, until, told, ms, run, feature };
        // The first that comes back shows whether it has passed.
        let known = self.limits.entry(account).or_insert_with(|| parked.clone());
        if parked.until < known.until {
            *known = parked;
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
        let of = |(spec, _): (&'r PlanSpec, _)| {
            account_of(spec, spec.features.get(id)?, run.next_role(id)?)
        };
        let account = run.plan().and_then(of);
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
}

/// The account of the agent that fills a role.
pub(crate) fn account_of<'s>(
    spec: &'s PlanSpec,
    feature: &FeatureSpec,
    role: Role,
) -> Option<&'s str> {
    let (_, agent) = spec.worker(feature, role)?;
    spec.agents.get(agent)?.manifest.account.as_deref()
}
