//! The keys of a plan: from the tree of values to the model. Both forms come through here.

use tidegate_core::plan::OnFailure;

use super::doc::{FeatureDoc, PlanDoc, WaveDoc};
use crate::diagnostic::{Code, Sink};
use crate::fields::{Fields, wrong_type};
use crate::node::{Entry, Node, Table, Value};
use crate::span::Span;

/// The keys that a feature may have in a Markdown plan's settings.
pub(crate) const FEATURE_KEYS: &[&str] = &[
    "title",
    "spec",
    "needs",
    "paths",
    "gates",
    "agent",
    "roles",
    "locks",
    "allow_no_change",
    "max_iterations",
    "max_attempts",
];

/// Words of `on_failure`.
pub(crate) const ON_FAILURE: &[(&str, OnFailure)] =
    &[("stop", OnFailure::Stop), ("continue", OnFailure::Continue)];

/// Most iterations or attempts that a file may ask for.
pub(crate) const TRIES_MAX: u32 = 1_000;

/// Reads a plan's tree.
pub(crate) fn plan_of(table: &Table, sink: &mut Sink<'_>) -> PlanDoc {
    let mut fields = Fields::new("a plan", table, 0..0);
    let mut doc = PlanDoc {
        title: fields.string("title", sink),
        target: fields.string("target", sink),
        on_failure: fields.choice("on_failure", ON_FAILURE, sink),
        gates: fields.strings("gates", sink).map(|gates| gates.value),
        waves: Vec::new(),
    };
    if let Some(entry) = fields.take("wave") {
        for (wave, at) in tables("wave", entry, sink) {
            doc.waves.push(wave_of(wave, at, sink));
        }
    }
    fields.finish(sink);
    doc
}

fn wave_of(table: &Table, at: Span, sink: &mut Sink<'_>) -> WaveDoc {
    let mut fields = Fields::new("a wave", table, at);
    let mut wave = WaveDoc {
        span: fields.at().clone(),
        name: fields.string("name", sink),
        number: fields.count("number", 0, u32::MAX / 2, sink),
        features: Vec::new(),
    };
    if let Some(entry) = fields.take("feature") {
        for (feature, at) in tables("feature", entry, sink) {
            wave.features.push(feature_of(feature, at, sink));
        }
    }
    fields.finish(sink);
    wave
}

fn feature_of(table: &Table, at: Span, sink: &mut Sink<'_>) -> FeatureDoc {
    let mut fields = Fields::new("a feature", table, at);
    let hint = "give it a name of letters, digits and `-`";
    let feature = FeatureDoc {
        span: fields.at().clone(),
        id: fields.required_string("id", hint, sink),
        title: fields.string("title", sink),
        says_prompt: table.get("spec").is_some() || table.get("prompt").is_some(),
        spec: fields.string("spec", sink),
        prompt: fields.string("prompt", sink),
        needs: fields.strings("needs", sink).map(|list| list.value).unwrap_or_default(),
        paths: fields.strings("paths", sink).map(|list| list.value).unwrap_or_default(),
        gates: fields.strings("gates", sink).map(|list| list.value),
        locks: fields.strings("locks", sink).map(|list| list.value).unwrap_or_default(),
        agent: fields.string("agent", sink),
        roles: fields.strings("roles", sink).map(|list| list.value),
        allow_no_change: fields.boolean("allow_no_change", sink),
        max_iterations: fields.count("max_iterations", 1, TRIES_MAX, sink),
        max_attempts: fields.count("max_attempts", 1, TRIES_MAX, sink),
    };
    fields.finish(sink);
    feature
}

/// The tables of an array of tables, each with its place.
fn tables<'n>(key: &str, entry: &'n Entry, sink: &mut Sink<'_>) -> Vec<(&'n Table, Span)> {
    let refuse = |node: &Node, sink: &mut Sink<'_>| {
        let shown = if key == "wave" { "[[wave]]" } else { "[[wave.feature]]" };
        wrong_type(&format!("`{key}`"), &format!("a list of tables, `{shown}`"), node, sink);
    };
    let Value::Array(items) = &entry.node.value else {
        let node = Node::new(entry.node.value.clone(), entry.key.span.clone());
        refuse(&node, sink);
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in items {
        if let Value::Table(table) = &item.value {
            found.push((table, item.span.clone()));
        } else {
            refuse(item, sink);
        }
    }
    if items.is_empty() {
        sink.error(Code::IllegalValue, &entry.node.span, format!("`{key}` is empty"));
    }
    found
}
