//! The keys of `tidegate.toml`: what one layer says is put over what the layers below said.

use std::collections::BTreeMap;

use tidegate_core::ids::InvalidName;
use tidegate_core::integrity::Kind;
use tidegate_core::plan::{
    CollisionPolicy, CommitRule, IntegrityPolicy, RemoteSync, ReviewPolicy, Strategy,
};

use super::agent::agent_of;
use super::branch::branch_ref;
use super::budget::apply_budget;
use super::config::{Config, Sourced};
use super::named::{gate_of, launcher_of, profile_of, role_of};
use super::worktree::apply_worktree;
use crate::diagnostic::{Code, Sink};
use crate::fields::{Fields, wrong_type};
use crate::near::quoted;
use crate::node::{Node, Table, Value};
use crate::plan::{ON_FAILURE, TRIES_MAX};
use crate::span::{Span, Spanned};

/// Most features of a run that a file may let be active at once.
const ACTIVE_MAX: u32 = 1_000;
/// Most worktrees that a home may be bounded to.
const WORKTREES_MAX: u32 = 1_000_000;

/// Words of `commit`.
const COMMIT: &[(&str, CommitRule)] = &[("auto", CommitRule::Auto), ("agent", CommitRule::Agent)];

/// Words of `review.policy`.
const REVIEW: &[(&str, ReviewPolicy)] = &[
    ("auto", ReviewPolicy::Auto),
    ("person", ReviewPolicy::Person),
    ("agent", ReviewPolicy::Agent),
];

/// Words of `collisions`.
const COLLISIONS: &[(&str, CollisionPolicy)] = &[
    ("reject", CollisionPolicy::Reject),
    ("serialise", CollisionPolicy::Serialise),
    ("allow", CollisionPolicy::Allow),
];

/// Words of `landing.strategy`.
const STRATEGY: &[(&str, Strategy)] =
    &[("merge", Strategy::Merge), ("squash", Strategy::Squash), ("rebase", Strategy::Rebase)];

/// Words of `landing.remote`.
const REMOTE: &[(&str, RemoteSync)] = &[("auto", RemoteSync::Auto), ("off", RemoteSync::Off)];

/// Words of `review.integrity`.
const INTEGRITY: &[(&str, IntegrityPolicy)] = &[
    ("person", IntegrityPolicy::Person),
    ("note", IntegrityPolicy::Note),
    ("off", IntegrityPolicy::Off),
];

/// Places of a landing message that are filled in.
const PLACES: [&str; 5] = ["feature", "title", "run", "target", "branch"];

/// Tables that a later version brings.
const LATER: &[&str] = &["hook", "hooks", "notify", "notification", "notifications"];

/// Puts the layer that `table` holds over `config`.
pub(crate) fn apply(config: &mut Config, table: &Table, layer: usize, sink: &mut Sink<'_>) {
    let mut fields = Fields::new("tidegate.toml", table, 0..0);
    if let Some(target) = fields.string("target", sink) {
        match branch_ref(&target.value) {
            Ok(full) => config.target = Sourced::at(full, layer, target.span),
            Err(why) => {
                let message = format!("`target` cannot be {}", quoted(&target.value));
                sink.error_hint(Code::IllegalValue, &target.span, message, why);
            }
        }
    }
    config.commit.set(fields.choice("commit", COMMIT, sink), layer);
    config.collisions.set(fields.choice("collisions", COLLISIONS, sink), layer);
    config.on_failure.set(fields.choice("on_failure", ON_FAILURE, sink), layer);
    named(&mut fields, "agent", layer, &mut config.agents, agent_of, sink);
    named(&mut fields, "role", layer, &mut config.roles, role_of, sink);
    named(&mut fields, "gate", layer, &mut config.gates, gate_of, sink);
    named(&mut fields, "profile", layer, &mut config.profiles, profile_of, sink);
    named(&mut fields, "launcher", layer, &mut config.launchers, launcher_of, sink);
    if let Some((table, entry)) = fields.table("review", sink) {
        let mut inner = Fields::new("[review]", table, entry.key.span.clone());
        config.review.set(inner.choice("policy", REVIEW, sink), layer);
        config.integrity.set(inner.choice("integrity", INTEGRITY, sink), layer);
        inner.finish(sink);
    }
    if let Some((table, entry)) = fields.table("integrity", sink) {
        let mut inner = Fields::new("[integrity]", table, entry.key.span.clone());
        for kind in Kind::ALL {
            if let Some(Spanned { value, span }) = inner.choice(kind.as_str(), INTEGRITY, sink) {
                config.integrity_by_kind.insert(kind, Sourced::at(value, layer, span));
            }
        }
        inner.finish(sink);
    }
    if let Some((table, entry)) = fields.table("landing", sink) {
        let mut inner = Fields::new("[landing]", table, entry.key.span.clone());
        config.strategy.set(inner.choice("strategy", STRATEGY, sink), layer);
        config.remote.set(inner.choice("remote", REMOTE, sink), layer);
        if let Some(message) = inner.string("message", sink)
            && is_message(&message, sink)
        {
            let Spanned { value, span } = message;
            config.landing_message = Sourced::at(Some(value), layer, span);
        }
        config.merge_gates.set(inner.strings("merge_gates", sink), layer);
        inner.finish(sink);
    }
    limits(config, &mut fields, layer, sink);
    of_home(config, &mut fields, layer, sink);
    retry(config, &mut fields, layer, sink);
    apply_worktree(&mut config.worktree, &mut fields, sink);
    if let Some((table, entry)) = fields.table("env", sink) {
        let mut inner = Fields::new("[env]", table, entry.key.span.clone());
        if let Some(pass) = inner.strings("pass", sink) {
            let names = pass.value.iter().filter(|name| is_variable(name, sink));
            let names = names.map(|name| name.value.clone()).collect();
            config.env_pass = Sourced::at(names, layer, pass.span);
        }
        inner.finish(sink);
    }
    for key in LATER {
        if let Some(entry) = table.get(key) {
            fields.take(key);
            let message = format!("`{key}` comes with a later version");
            let hint = "take it out: it would have no effect";
            sink.error_hint(Code::LaterVersion, &entry.key.span, message, hint);
        }
    }
    fields.finish(sink);
}

/// What only the user's own file says: a home is no repository's.
fn of_home(config: &mut Config, fields: &mut Fields<'_>, layer: usize, sink: &mut Sink<'_>) {
    commands(config, fields, layer, sink);
    worktrees(config, fields, layer, sink);
}

fn commands(config: &mut Config, fields: &mut Fields<'_>, layer: usize, sink: &mut Sink<'_>) {
    let Some((table, entry)) = fields.table("commands", sink) else { return };
    let mut inner = Fields::new("[commands]", table, entry.key.span.clone());
    config.commands_kept_ms.set(inner.duration("keep", sink), layer);
    inner.finish(sink);
}

/// The bounds of a home's worktrees.
fn worktrees(config: &mut Config, fields: &mut Fields<'_>, layer: usize, sink: &mut Sink<'_>) {
    let Some((table, entry)) = fields.table("worktrees", sink) else { return };
    let mut inner = Fields::new("[worktrees]", table, entry.key.span.clone());
    if let Some(max) = inner.count("max", 1, WORKTREES_MAX, sink) {
        config.worktrees_max = Sourced::at(Some(max.value), layer, max.span);
    }
    if let Some(max) = inner.size("max_bytes", sink) {
        config.worktrees_bytes_max = Sourced::at(Some(max.value), layer, max.span);
    }
    inner.finish(sink);
}

fn limits(config: &mut Config, fields: &mut Fields<'_>, layer: usize, sink: &mut Sink<'_>) {
    apply_budget(&mut config.budgets, fields, sink);
    let Some((table, entry)) = fields.table("limits", sink) else { return };
    let mut inner = Fields::new("[limits]", table, entry.key.span.clone());
    config.active_features.set(inner.count("active_features", 1, ACTIVE_MAX, sink), layer);
    config.max_iterations.set(inner.count("max_iterations", 1, TRIES_MAX, sink), layer);
    config.max_attempts.set(inner.count("max_attempts", 1, TRIES_MAX, sink), layer);
    config.same_max.set(inner.count("max_same", 0, TRIES_MAX, sink), layer);
    config.stall_after_ms.set(inner.duration("stall_after", sink), layer);
    config.agent_timeout_ms.set(inner.duration("agent_timeout", sink), layer);
    config.gate_timeout_ms.set(inner.duration("gate_timeout", sink), layer);
    config.grace_ms.set(inner.duration("grace", sink), layer);
    config.snapshot_every_ms.set(inner.duration("snapshot_every", sink), layer);
    inner.finish(sink);
}

/// How often, and how soon, a job that failed is tried again.
fn retry(config: &mut Config, fields: &mut Fields<'_>, layer: usize, sink: &mut Sink<'_>) {
    let Some((table, entry)) = fields.table("retry", sink) else { return };
    let mut inner = Fields::new("[retry]", table, entry.key.span.clone());
    config.max_attempts.set(inner.count("max_attempts", 1, TRIES_MAX, sink), layer);
    config.backoff_ms.set(inner.duration("backoff", sink), layer);
    config.max_backoff_ms.set(inner.duration("max_backoff", sink), layer);
    inner.finish(sink);
}

/// Whether every place of a message is one that can be filled in.
fn is_message(message: &Spanned<String>, sink: &mut Sink<'_>) -> bool {
    let text = message.value.replace("{{", "").replace("}}", "");
    let mut rest = text.as_str();
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, then)) = after.split_once('}').filter(|(name, _)| PLACES.contains(name))
        else {
            let text = "a place of the message is not one of {feature}, {title}, {run}, {target}, {branch}";
            let hint = "double a brace to mean the brace itself";
            sink.error_hint(Code::IllegalValue, &message.span, text, hint);
            return false;
        };
        debug_assert!(PLACES.contains(&name));
        rest = then;
    }
    let closed = !rest.contains('}') && !text.trim().is_empty();
    if !closed {
        let what = "a message is not empty, and has no `}` without its `{`";
        sink.error(Code::IllegalValue, &message.span, what);
    }
    closed
}

/// Reads the tables `[KIND.NAME]`; each replaces the one of the same name in a layer below.
fn named<K: Ord, T>(
    fields: &mut Fields<'_>,
    kind: &'static str,
    layer: usize,
    into: &mut BTreeMap<K, Sourced<T>>,
    read: impl Fn(&str, &mut Fields<'_>, &mut Sink<'_>) -> (Result<K, InvalidName>, Option<T>),
    sink: &mut Sink<'_>,
) {
    let Some((tables, _)) = fields.table(kind, sink) else { return };
    for entry in &tables.entries {
        let name = entry.key.value.as_str();
        let Value::Table(table) = &entry.node.value else {
            let node = Node::new(entry.node.value.clone(), entry.key.span.clone());
            wrong_type(&format!("`{kind}.{name}`"), "a table", &node, sink);
            continue;
        };
        let mut inner = Fields::new(table_name(kind), table, entry.key.span.clone());
        let (key, value) = read(name, &mut inner, sink);
        inner.finish(sink);
        match (key, value) {
            (Ok(key), Some(value)) => {
                into.insert(key, Sourced::at(value, layer, entry.key.span.clone()));
            }
            (Ok(_), None) => {}
            (Err(error), _) => illegal_name(&error, &entry.key.span, sink),
        }
    }
}

fn table_name(kind: &str) -> &'static str {
    match kind {
        "agent" => "an agent",
        "role" => "a role",
        "gate" => "a gate",
        "profile" => "a profile",
        _ => "a launcher",
    }
}

/// Reports a name that does not follow the grammar.
pub(crate) fn illegal_name(error: &InvalidName, span: &Span, sink: &mut Sink<'_>) {
    sink.error(Code::IllegalName, span, error.to_string());
}

/// Whether a name is one of a variable, possibly with a `*` at its end.
fn is_variable(name: &Spanned<String>, sink: &mut Sink<'_>) -> bool {
    let stem = name.value.strip_suffix('*').unwrap_or(&name.value);
    let fit = is_variable_name(stem);
    if !fit {
        let message = format!("{} is no name of a variable", quoted(&name.value));
        let hint = "names have letters, digits and `_`; `NAME_*` takes all that start so";
        sink.error_hint(Code::IllegalValue, &name.span, message, hint);
    }
    fit
}

/// Whether `text` is a portable name of a variable.
pub(crate) fn is_variable_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
