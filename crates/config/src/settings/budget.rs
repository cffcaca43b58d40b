//! `[budget]`: what agents may use of attempts, time and money, by feature and by run.

use tidegate_core::budget::{Budget, Budgets};

use crate::diagnostic::Sink;
use crate::fields::Fields;

/// Most attempts that a budget may name.
const ATTEMPTS_MAX: u32 = 1_000_000;

/// Puts what a layer says of budgets over what is there.
pub(crate) fn apply_budget(budgets: &mut Budgets, fields: &mut Fields<'_>, sink: &mut Sink<'_>) {
    let Some((table, entry)) = fields.table("budget", sink) else { return };
    let mut inner = Fields::new("[budget]", table, entry.key.span.clone());
    budget("feature", &mut budgets.feature, &mut inner, sink);
    budget("run", &mut budgets.run, &mut inner, sink);
    if let Some(most) = inner.dollars("attempt_usd", sink) {
        budgets.attempt_micros = Some(most.value);
    }
    inner.finish(sink);
}

fn budget(key: &'static str, into: &mut Budget, fields: &mut Fields<'_>, sink: &mut Sink<'_>) {
    let Some((table, entry)) = fields.table(key, sink) else { return };
    let mut inner = Fields::new("a budget", table, entry.key.span.clone());
    if let Some(most) = inner.count("attempts", 1, ATTEMPTS_MAX, sink) {
        into.attempts = Some(u64::from(most.value));
    }
    if let Some(most) = inner.duration("time", sink) {
        into.time_ms = Some(most.value);
    }
    if let Some(most) = inner.dollars("usd", sink) {
        into.cost_micros = Some(most.value);
    }
    inner.finish(sink);
}
