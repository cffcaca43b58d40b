//! Budgets in words: what was used of what.

use tidegate_core::budget::{BudgetScope, Overrun, Resource};
use tidegate_core::ids::FeatureId;
use tidegate_core::run::Run;
use tidegate_protocol::Fact;

use super::explain::fact;

/// A budget that is used up.
pub(super) fn overrun_in_words(overrun: Overrun) -> String {
    let Overrun { scope, resource, spent, cap } = overrun;
    let whose = scope.word();
    let (spent, cap) = (amount(resource, spent), amount(resource, cap));
    format!("the budget of the {whose} is used up: {spent} of {cap}; what was made stays")
}

/// What a feature and its run have used of their budgets, a line each.
pub(super) fn budget_facts(run: &Run, id: &FeatureId) -> Vec<Fact> {
    let Some((spec, _)) = run.plan() else { return Vec::new() };
    let lines = [
        (BudgetScope::Feature, spec.budgets.feature, run.spent(Some(id))),
        (BudgetScope::Run, spec.budgets.run, run.spent(None)),
    ];
    let counted = lines.into_iter().flat_map(|(scope, budget, spent)| {
        budget.against(spent).map(|(resource, cap, spent)| (scope, resource, cap, spent))
    });
    let told = counted.filter_map(|(scope, resource, cap, spent)| {
        let (spent, cap) = (amount(resource, spent), amount(resource, cap?));
        Some(fact("budget", format!("the {} has used {spent}; its budget is {cap}", scope.word())))
    });
    told.collect()
}

fn amount(resource: Resource, amount: u64) -> String {
    match resource {
        Resource::Attempts => format!("{amount} attempts"),
        Resource::Time => format!("{}.{:03} s of work", amount / 1_000, amount % 1_000),
        Resource::Cost => {
            let cents = amount.div_ceil(10_000);
            format!("{}.{:02} USD", cents / 100, cents % 100)
        }
    }
}
