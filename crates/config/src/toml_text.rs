//! TOML text into a tree with places. Every error of the grammar is reported, not only the first.

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Code, Sink};
use crate::node::{Entry, Node, Table, Value};
use crate::span::{Span, Spanned};

/// Reads `span` of the sink's text as a TOML document; `None` when the grammar is violated.
pub(crate) fn read_toml(span: &Span, sink: &mut Sink<'_>) -> Option<Table> {
    let text = sink.source().slice(span);
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Some(table_of(table.get_ref(), span.start));
    }
    for error in &errors {
        let at = error.span().unwrap_or(0..0);
        let at = at.start + span.start..at.end + span.start;
        let message = one_line(error.message());
        let code =
            if message.contains("duplicate") { Code::DuplicateKey } else { Code::InvalidToml };
        sink.error(code, &at, message);
    }
    None
}

fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let joined = lines.join("; ");
    if joined.is_empty() { "this is not TOML".to_owned() } else { joined }
}

fn table_of(table: &DeTable<'_>, shift: usize) -> Table {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: Spanned::new(key.get_ref().clone().into_owned(), moved(key.span(), shift)),
            node: Node::new(value_of(value.get_ref(), shift), moved(value.span(), shift)),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key.span.start);
    Table { entries }
}

fn moved(span: Span, shift: usize) -> Span {
    span.start + shift..span.end + shift
}

fn value_of(value: &DeValue<'_>, shift: usize) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Number(number.to_string()), Value::Integer),
        DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| Node::new(value_of(item.get_ref(), shift), moved(item.span(), shift)))
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(table_of(table, shift)),
    }
}
