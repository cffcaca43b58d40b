//! Named locks in words and documents: who has them, who waits for them, and since when.

use tidegate_core::plan::FeatureSpec;
use tidegate_core::run::{Feature, InLine, LockAhead};
use tidegate_protocol::{Fact, LockDoc};

use super::explain::fact;
use super::moment::stamp;

/// The locks of a feature, in the order of its plan.
pub(super) fn locks(spec: &FeatureSpec, feature: &Feature) -> Vec<LockDoc> {
    let line = feature.in_line.as_ref();
    let behind = line.and_then(|line| line.wait.ahead.as_ref());
    let since = feature.locked.or_else(|| line.map(|line| line.since));
    let state = match (feature.locked, line) {
        (Some(_), _) => "held",
        (None, Some(_)) => "waiting",
        (None, None) => "free",
    };
    let document = |lock| LockDoc {
        name: String::from(lock),
        state: state.to_owned(),
        since: since.map(stamp),
        behind: behind
            .filter(|ahead| ahead.lock.as_str() == lock)
            .map(|ahead| format!("{}/{}", ahead.run, ahead.feature)),
    };
    spec.locks.iter().map(|lock| document(lock.as_str())).collect()
}

/// What a feature in a line waits for; `None` when nobody is before it.
pub(super) fn line_in_words(line: &InLine) -> Option<String> {
    let LockAhead { lock, run, feature, held } = line.wait.ahead.as_ref()?;
    let how = match held {
        Some(since) => format!("has it since {}", stamp(*since)),
        None => "waits before it".to_owned(),
    };
    let since = stamp(line.since);
    Some(format!("lock `{lock}`: {run}/{feature} {how}; this one is in the line since {since}"))
}

/// The locks that a feature has.
pub(super) fn lock_fact(spec: &FeatureSpec, feature: &Feature) -> Option<Fact> {
    let since = stamp(feature.locked?);
    let names: Vec<String> = spec.locks.iter().map(|lock| format!("`{lock}`")).collect();
    Some(fact("locks", format!("has {} since {since}, until it has ended", names.join(", "))))
}
