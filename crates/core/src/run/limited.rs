//! A limit that an agent ran into: how long its feature is parked. A function of what was told, of
//! how often, and of names alone.

use super::backoff::{Wait, spread};
use super::event::Event;
use super::state::Run;
use super::telling::Telling;
use crate::ids::{FeatureId, RunId};
use crate::time::{Now, WallMs};
use crate::told::Class;

/// Wait after the first rate limit that tells no end, in milliseconds; it doubles.
const RATE_MS: u64 = 60 * 1000;
/// The longest such wait, in milliseconds.
const RATE_MS_MAX: u64 = 30 * 60 * 1000;
/// Wait after the first usage limit that tells no end, in milliseconds; it doubles.
const USAGE_MS: u64 = 15 * 60 * 1000;
/// The longest such wait, in milliseconds.
const USAGE_MS_MAX: u64 = 2 * 60 * 60 * 1000;
/// Those that wait for the same moment are spread over this time, in milliseconds.
const SPREAD_MS: u64 = 30 * 1000;
/// So much of a limit counts as nothing, in milliseconds: clocks differ by that.
const LATE_MS: u64 = 1_000;

/// A limit of an agent's account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// A rate limit or a usage limit.
    pub class: Class,
    /// When it is tried again, on the wall clock: resets are told in it.
    pub until: WallMs,
    /// Whether the agent told when the limit ends.
    pub told: bool,
    /// What it said, for people.
    pub detail: Option<String>,
    /// Limits in a row, from 1.
    pub times: u32,
    /// How long it was to last when it was met, in milliseconds.
    pub ms: u64,
    /// Whether its wait was over too early once: a clock that was set back is not followed for ever.
    pub again: bool,
    /// Whether another agent of the same account met it.
    pub shared: bool,
    /// The account that is limited.
    pub account: Option<String>,
}

/// A limit that keeps the other agents of an account from work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// The account.
    pub account: String,
    /// A rate limit or a usage limit.
    pub class: Class,
    /// When the first of those that met it is tried again, on the wall clock.
    pub until: WallMs,
    /// Whether its end was told.
    pub told: bool,
    /// How long it was to last for that one, in milliseconds.
    pub ms: u64,
    /// The run of that one.
    pub run: RunId,
    /// That one.
    pub feature: FeatureId,
}

impl Limit {
    /// The limit that `class` tells, the `times`-th in a row of the work that is named by `name`.
    pub(super) fn new(
        class: Class,
        reset: Option<WallMs>,
        detail: Option<String>,
        (times, name): (u32, &str),
        (account, now): (Option<String>, WallMs),
    ) -> Self {
        let ms = match reset {
            Some(reset) => reset.0.saturating_sub(now.0),
            None => untold_ms(class, times),
        };
        let ms = ms.saturating_add(apart_ms(name, times, ms)).max(1);
        let until = WallMs(now.0.saturating_add(ms));
        Self {
            class,
            until,
            told: reset.is_some(),
            detail,
            times,
            ms,
            again: false,
            shared: false,
            account,
        }
    }

    /// The same limit, for a feature that has not met it itself: after the first that has.
    pub(super) fn shared(parked: &Parked, (times, name): (u32, &str), now: WallMs) -> Self {
        let left = parked.until.0.saturating_sub(now.0);
        let ms = left.saturating_add(apart_ms(name, times, parked.ms)).max(1);
        Self {
            class: parked.class,
            until: WallMs(now.0.saturating_add(ms)),
            told: parked.told,
            detail: Some(format!("met by {}/{}", parked.run, parked.feature)),
            times,
            ms,
            again: false,
            shared: true,
            account: Some(parked.account.clone()),
        }
    }

    /// What is left of it, as a wait of this boot's clock; `None` when its time has come.
    pub(super) fn wait(&self, now: Now) -> Option<Wait> {
        let ms = self.until.0.saturating_sub(now.wall.0).min(self.ms);
        let about = self.until;
        (ms > 0).then(|| Wait { until: now.boot.after_ms(ms), ms, about })
    }
}

impl Run {
    /// How the limits of accounts evolve by one fact.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all other facts leave limits as they are, whatever they will be"
    )]
    pub(super) fn apply_to_limits(&mut self, event: &Event) {
        match event {
            Event::Telling(Telling::Limited { feature, job: Some(_), limit, .. }) => {
                if let Some(account) = limit.account.clone() {
                    self.limits.insert(account, (feature.clone(), limit.clone()));
                }
            }
            // It works again.
            Event::BuilderFinished { job, .. } | Event::RoleFinished { job, .. } => {
                let account = self.manifest_of(job).and_then(|one| one.account.clone());
                if let Some(account) = account {
                    self.limits.remove(&account);
                }
            }
            // A person knows better.
            Event::FeatureRetried { .. } => self.limits.clear(),
            _ => {}
        }
    }

    /// The limits that its agents met and that have not passed, by account.
    pub(crate) fn limits_at(&self, now: WallMs) -> impl Iterator<Item = (&str, Parked)> {
        let lasts = move |limit: &Limit| {
            // More than all of it can only be left by a clock that was set back.
            let left = limit.until.0.saturating_sub(now.0);
            left > LATE_MS && (left <= limit.ms || now.0 == 0)
        };
        self.limits.iter().filter(move |(_, (_, limit))| lasts(limit)).map(
            |(account, (feature, limit))| {
                let parked = Parked {
                    account: account.clone(),
                    class: limit.class,
                    until: limit.until,
                    told: limit.told,
                    ms: limit.ms,
                    run: self.id.clone(),
                    feature: feature.clone(),
                };
                (account.as_str(), parked)
            },
        )
    }
}

/// How much later than others of that name's kind one comes back from a wait of `ms`: short waits are
/// spread over less than they last.
fn apart_ms(name: &str, times: u32, ms: u64) -> u64 {
    let width = SPREAD_MS.min(ms / 2 + 1_000);
    spread(name, times) % (width + 1)
}

fn untold_ms(class: Class, times: u32) -> u64 {
    let (first, most) =
        if class == Class::UsageLimit { (USAGE_MS, USAGE_MS_MAX) } else { (RATE_MS, RATE_MS_MAX) };
    let factor = 1_u64.checked_shl(times.saturating_sub(1)).unwrap_or(u64::MAX);
    first.saturating_mul(factor).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(class: Class, reset: Option<u64>, times: u32, name: &str) -> u64 {
        let now = WallMs(1_000_000);
        Limit::new(class, reset.map(WallMs), None, (times, name), (None, now)).until.0 - now.0
    }

    #[test]
    fn those_that_wait_for_one_reset_come_after_it_and_spread_out() {
        let waits: Vec<u64> = (0..40)
            .map(|n| limit(Class::UsageLimit, Some(4_600_000), 1, &format!("r/{n}")))
            .collect();
        assert!(waits.iter().all(|ms| (3_600_000..=3_630_000).contains(ms)), "{waits:?}");
        let mut distinct = waits.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 35, "{distinct:?}");
        assert!(distinct[39 - 5] - distinct[0] > 20_000, "{distinct:?}");
    }

    #[test]
    fn limits_that_tell_no_end_wait_longer_each_time_up_to_a_bound() {
        let rate = |times| limit(Class::RateLimit, None, times, "a");
        assert!(rate(1) >= RATE_MS && rate(2) >= 2 * RATE_MS);
        assert!(rate(40) <= RATE_MS_MAX + SPREAD_MS);
        assert!(limit(Class::UsageLimit, None, 64, "a") <= USAGE_MS_MAX + SPREAD_MS);
        assert!(limit(Class::RateLimit, Some(1_001_000), 1, "a") <= 2_501);
    }
}
