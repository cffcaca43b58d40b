//! Names in a plan that the settings must define: gates, agents, roles.

use crate::diagnostic::{Code, Sink};
use crate::near::{hint_for, quoted};
use crate::plan::PlanDoc;
use crate::settings::{Layered, branch_ref};
use crate::span::Spanned;

/// Checks that every name leads somewhere.
pub(crate) fn check_references(doc: &PlanDoc, layered: &Layered, sink: &mut Sink<'_>) {
    let config = &layered.config;
    let gates: Vec<&str> = config.gates.keys().map(|name| name.as_str()).collect();
    let agents: Vec<&str> = config.agents.keys().map(|name| name.as_str()).collect();
    let roles: Vec<&str> = config.roles.keys().map(|name| name.as_str()).collect();
    let names = Names { layered };
    for gate in doc.gates.iter().flatten() {
        names.check(("gate", Code::UnknownGate), gate, &gates, sink);
    }
    if let Some(target) = &doc.target
        && let Err(why) = branch_ref(&target.value)
    {
        let message = format!("`target` cannot be {}", quoted(&target.value));
        sink.error_hint(Code::IllegalValue, &target.span, message, why);
    }
    for feature in doc.features() {
        for gate in feature.gates.iter().flatten() {
            names.check(("gate", Code::UnknownGate), gate, &gates, sink);
        }
        if let Some(agent) = &feature.agent {
            names.check(("agent", Code::UnknownAgent), agent, &agents, sink);
        }
        for role in feature.roles.iter().flatten() {
            names.check(("role", Code::UnknownRole), role, &roles, sink);
            if role.value != "builder" {
                let message =
                    format!("the role {} comes with a later version", quoted(&role.value));
                sink.error_hint(Code::LaterVersion, &role.span, message, "this one runs `builder`");
            }
        }
        let ungated = feature.gates.as_ref().or(doc.gates.as_ref()).is_none_or(Vec::is_empty);
        if ungated && config.merge_gates.value.is_empty() {
            let id = feature.id.as_ref();
            let span = id.map_or(&feature.span, |id| &id.span);
            let name = id.map_or_else(|| "this feature".to_owned(), |id| quoted(&id.value));
            let hint = "name gates for the feature or the plan, or set landing.merge_gates";
            let message = format!("{name} lands without passing any gate");
            sink.warning(Code::NoGates, span, message, hint);
        }
    }
}

struct Names<'l> {
    layered: &'l Layered,
}

impl Names<'_> {
    fn check(
        &self,
        (what, code): (&str, Code),
        name: &Spanned<String>,
        known: &[&str],
        sink: &mut Sink<'_>,
    ) {
        if known.contains(&name.value.as_str()) || self.layered.is_declared(what, &name.value) {
            return;
        }
        let message = format!("there is no {what} {}", quoted(&name.value));
        let mut hint = hint_for(&name.value, known.iter().copied(), what);
        if known.is_empty() {
            hint = format!("define [{what}.NAME] in tidegate.toml");
        }
        sink.error_hint(code, &name.span, message, &hint);
    }
}
