//! Names in a plan that the settings must define: gates, agents, roles.

use tidegate_core::plan::Role;

use crate::diagnostic::{Code, Sink};
use crate::near::{hint_for, quoted};
use crate::plan::{FeatureDoc, PlanDoc};
use crate::settings::{Layered, branch_ref};
use crate::span::Spanned;

/// Checks that every name leads somewhere.
pub(crate) fn check_references(doc: &PlanDoc, layered: &Layered, sink: &mut Sink<'_>) {
    let (agents, roles) = (layered.declared("agent"), layered.declared("role"));
    check_gates(doc.gates.iter().flatten(), layered, sink);
    if let Some(target) = &doc.target
        && let Err(why) = branch_ref(&target.value)
    {
        let message = format!("`target` cannot be {}", quoted(&target.value));
        sink.error_hint(Code::IllegalValue, &target.span, message, why);
    }
    for feature in doc.features() {
        check_gates(feature.gates.iter().flatten(), layered, sink);
        if let Some(agent) = &feature.agent {
            check_name(("agent", Code::UnknownAgent), agent, &agents, sink);
        }
        for role in feature.roles.iter().flatten() {
            check_name(("role", Code::UnknownRole), role, &roles, sink);
        }
        check_builders(feature, sink);
    }
}

/// One role of a feature builds: `builder`, or one that has no part of its own in the pipeline.
fn check_builders(feature: &FeatureDoc, sink: &mut Sink<'_>) {
    let builds = |role: &&Spanned<String>| {
        Role::ALL.into_iter().all(|part| part == Role::Builder || part.word() != role.value)
    };
    let mut builders = feature.roles.iter().flatten().filter(builds);
    if let (Some(first), Some(second)) = (builders.next(), builders.next()) {
        let (first, name) = (quoted(&first.value), quoted(&second.value));
        let message = format!("{name} would build what {first} builds");
        let hint = "name one of them; `planner`, `qa`, `reviewer` and `reconciler` work beside it";
        sink.error_hint(Code::IllegalValue, &second.span, message, hint);
    }
}

/// Warns of features that land without any gate. Only worth saying of a plan without errors.
pub(crate) fn warn_of_ungated(doc: &PlanDoc, layered: &Layered, sink: &mut Sink<'_>) {
    if !layered.config.merge_gates.value.is_empty() {
        return;
    }
    for feature in doc.features() {
        if feature.gates.as_ref().or(doc.gates.as_ref()).is_none_or(Vec::is_empty) {
            let id = feature.id.as_ref();
            let span = id.map_or(&feature.span, |id| &id.span);
            let name = id.map_or_else(|| "this feature".to_owned(), |id| quoted(&id.value));
            let hint = "name gates for the feature or the plan, or set landing.merge_gates";
            let message = format!("{name} lands without passing any gate");
            sink.warning(Code::NoGates, span, message, hint);
        }
    }
}

fn check_gates<'g>(
    gates: impl Iterator<Item = &'g Spanned<String>>,
    layered: &Layered,
    sink: &mut Sink<'_>,
) {
    for gate in gates {
        if let Some((message, hint)) = layered.unknown_gate(&gate.value) {
            sink.error_hint(Code::UnknownGate, &gate.span, message, &hint);
        }
    }
}

fn check_name(
    (what, code): (&str, Code),
    name: &Spanned<String>,
    known: &[&str],
    sink: &mut Sink<'_>,
) {
    if known.contains(&name.value.as_str()) {
        return;
    }
    let message = format!("there is no {what} {}", quoted(&name.value));
    let mut hint = hint_for(&name.value, known.iter().copied());
    if known.is_empty() {
        hint = format!("define [{what}.NAME] in tidegate.toml");
    }
    sink.error_hint(code, &name.span, message, &hint);
}
