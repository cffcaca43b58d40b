//! What agents used and told, as documents.

use tidegate_core::ids::FeatureId;
use tidegate_core::run::{Job, Run};
use tidegate_core::told::Usage;
use tidegate_protocol::{ToldDoc, UsageDoc};

use super::moment::stamp;

/// What the agents of a run used, or those of one feature of it; `None` when none told any.
pub(super) fn usage(run: &Run, of: Option<&FeatureId>) -> Option<UsageDoc> {
    let jobs = run.jobs.values().filter(|job| of.is_none() || job.purpose.feature() == of);
    let sum = jobs
        .filter_map(|job| job.told.as_ref())
        .fold(Usage::default(), |sum, told| sum.plus(told.usage));
    document(sum)
}

/// What one job used.
pub(super) fn of_job(job: &Job) -> Option<UsageDoc> {
    job.told.as_ref().and_then(|told| document(told.usage))
}

/// What one job told.
pub(super) fn told(job: &Job) -> Option<ToldDoc> {
    job.told.as_ref().map(|told| ToldDoc {
        outcome: told.outcome.word().to_owned(),
        detail: told.detail.clone(),
        reset: told.reset.map(stamp),
    })
}

#[expect(clippy::cast_precision_loss, reason = "millionths of a dollar, for people")]
fn document(usage: Usage) -> Option<UsageDoc> {
    (!usage.is_nothing()).then(|| UsageDoc {
        input: usage.input,
        cached: usage.cached,
        output: usage.output,
        cost_usd: usage.cost_micros.map(|micros| micros as f64 / 1e6),
    })
}
