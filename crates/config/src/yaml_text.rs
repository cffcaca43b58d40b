//! YAML front matter into a tree with places, within budgets against bombs.
//!
//! Plain words stay text unless they are `true`, `false`, `null` or a number.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Location;

use crate::diagnostic::{Code, Sink};
use crate::near::is_hidden;
use crate::node::{Entry, Node, Table, Value};
use crate::span::{Span, Spanned};

/// Reads `span` of the sink's text as one YAML mapping; `None` when that is not what it is.
pub(crate) fn read_yaml(span: &Span, sink: &mut Sink<'_>) -> Option<Table> {
    let text = sink.source().slice(span);
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Some(Table::default());
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 20_000,
            max_aliases: 100,
            max_anchors: 100,
            max_depth: 16,
            max_nodes: 10_000,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<serde_saphyr::Spanned<Loose>>(text, options) {
        Ok(root) => match node_of(root, span.start) {
            Node { value: Value::Table(table), .. } => Some(table),
            other => {
                let message =
                    format!("front matter is keys and values, this is {}", other.type_name());
                sink.error(Code::InvalidYaml, &other.span, message);
                None
            }
        },
        Err(error) => {
            let at = error.location().map_or(0..0, |place| range(place, 0));
            let at = at.start.min(text.len()) + span.start..at.end.min(text.len()) + span.start;
            let (code, message) = in_own_words(&error.to_string());
            sink.error(code, &at, message);
            None
        }
    }
}

/// The code of an error, and its text without hints on the parser's own options.
fn in_own_words(error: &str) -> (Code, String) {
    if error.contains("duplicate mapping key") {
        return (Code::DuplicateKey, "this key is given twice".to_owned());
    }
    if error.contains("budget") {
        let message = "the front matter is too large or too deep, or its aliases grow too much";
        return (Code::InvalidYaml, message.to_owned());
    }
    let first = error.lines().next().unwrap_or("").trim();
    let bare = first.find(" at line ").map_or(first, |at| &first[..at]);
    let shown: String = bare.chars().take(200).filter(|c| !is_hidden(*c)).collect();
    (Code::InvalidYaml, format!("this is not YAML: {shown}"))
}

fn range(place: Location, shift: usize) -> Span {
    let span = place.span();
    let start = span.byte_offset().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    let len = span.byte_len().and_then(|len| usize::try_from(len).ok()).unwrap_or(0);
    start + shift..start + shift + len
}

enum Loose {
    Scalar(Value),
    List(Vec<serde_saphyr::Spanned<Loose>>),
    Map(Vec<(serde_saphyr::Spanned<String>, serde_saphyr::Spanned<Loose>)>),
}

fn node_of(loose: serde_saphyr::Spanned<Loose>, shift: usize) -> Node {
    let value = match loose.value {
        Loose::Scalar(value) => value,
        Loose::List(items) => {
            Value::Array(items.into_iter().map(|item| node_of(item, shift)).collect())
        }
        Loose::Map(pairs) => Value::Table(Table {
            entries: pairs
                .into_iter()
                .map(|(key, value)| Entry {
                    key: Spanned::new(key.value, range(key.referenced, shift)),
                    node: node_of(value, shift),
                })
                .collect(),
        }),
    };
    Node::new(value, range(loose.referenced, shift))
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Loose, E> {
        Ok(Loose::Scalar(Value::Boolean(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
        Ok(Loose::Scalar(Value::Integer(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
        let value = i64::try_from(value).map_or(Value::Number(value.to_string()), Value::Integer);
        Ok(Loose::Scalar(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
        Ok(Loose::Scalar(Value::Number(value.to_string())))
    }

    fn visit_str<E>(self, value: &str) -> Result<Loose, E> {
        Ok(Loose::Scalar(Value::String(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Loose, E> {
        Ok(Loose::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Loose, D::Error> {
        Loose::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Loose, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Loose::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Loose, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = access.next_entry()? {
            pairs.push(pair);
        }
        Ok(Loose::Map(pairs))
    }
}
