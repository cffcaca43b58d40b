//! Settings from the environment and from flags: the documented set, above all files.

use super::layered::Layer;
use crate::diagnostic::{Code, Sink};
use crate::loose::loose_value;
use crate::node::{Entry, Node, Table, Value};
use crate::span::Spanned;

/// The variables that set something, with the key that each sets.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("TIDEGATE_TARGET", "target"),
    ("TIDEGATE_COMMIT", "commit"),
    ("TIDEGATE_ON_FAILURE", "on_failure"),
    ("TIDEGATE_REVIEW_POLICY", "review.policy"),
    ("TIDEGATE_LANDING_STRATEGY", "landing.strategy"),
    ("TIDEGATE_MERGE_GATES", "landing.merge_gates"),
    ("TIDEGATE_ACTIVE_FEATURES", "limits.active_features"),
    ("TIDEGATE_MAX_ITERATIONS", "limits.max_iterations"),
    ("TIDEGATE_MAX_ATTEMPTS", "limits.max_attempts"),
    ("TIDEGATE_RETRY_BACKOFF", "retry.backoff"),
    ("TIDEGATE_RETRY_MAX_BACKOFF", "retry.max_backoff"),
    ("TIDEGATE_STALL_AFTER", "limits.stall_after"),
    ("TIDEGATE_AGENT_TIMEOUT", "limits.agent_timeout"),
    ("TIDEGATE_GATE_TIMEOUT", "limits.gate_timeout"),
    ("TIDEGATE_GRACE", "limits.grace"),
    ("TIDEGATE_ENV_PASS", "env.pass"),
];

/// One setting from the environment or a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// [`Layer::Environment`] or [`Layer::Flag`].
    pub layer: Layer,
    /// Name of the variable or flag; findings give it in place of a file.
    pub name: String,
    /// Key of the setting, such as `limits.max_attempts`.
    pub key: String,
    /// The value as text; lists with commas.
    pub value: String,
}

/// The settings that a client's environment gives. Other variables are passed over; so are those
/// that are set to nothing.
pub fn environment_overrides<'v>(
    variables: impl IntoIterator<Item = (&'v str, &'v str)>,
) -> Vec<Override> {
    let mut found: Vec<Override> = variables
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .filter_map(|(name, value)| {
            let (_, key) = ENVIRONMENT.iter().find(|(known, _)| *known == name)?;
            Some(Override {
                layer: Layer::Environment,
                name: name.to_owned(),
                key: (*key).to_owned(),
                value: value.to_owned(),
            })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// An override as the table that a file with this one setting would give.
pub(crate) fn table_of(key: &str, sink: &mut Sink<'_>) -> Option<Table> {
    let text = sink.source().text();
    let span = 0..text.len();
    if !ENVIRONMENT.iter().any(|(_, known)| *known == key) {
        let message = format!("{} cannot be set this way", crate::near::quoted(key));
        sink.error(Code::UnknownKey, &span, message);
        return None;
    }
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop()?;
    let entry =
        |key: &str, node: Node| Entry { key: Spanned::new(key.to_owned(), span.clone()), node };
    let mut table = Table { entries: vec![entry(last, loose_value(last, text, 0))] };
    while let Some(part) = parts.pop() {
        let node = Node::new(Value::Table(table), span.clone());
        table = Table { entries: vec![entry(part, node)] };
    }
    Some(table)
}
