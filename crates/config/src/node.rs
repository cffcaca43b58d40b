//! A tree of values with the place of each: what TOML, YAML and Markdown settings are read into.
//!
//! It must not know the schema.

use crate::span::{Span, Spanned};

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// A value of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// YAML's null.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number that is not whole or does not fit, as it is written.
    Number(String),
    /// A date or time, as it is written.
    Date(String),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Node>),
    /// Keys and values, in the order of the file.
    Table(Table),
}

/// Keys and values in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The entries; no key is there twice.
    pub entries: Vec<Entry>,
}

/// One key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Spanned<String>,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// Joins a value and its place.
    pub(crate) fn new(value: Value, span: Span) -> Self {
        Self { value, span }
    }

    /// The type, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Boolean(_) => "a boolean",
            Value::Integer(_) | Value::Number(_) => "a number",
            Value::Date(_) => "a date",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value on one line, in TOML's form.
    pub(crate) fn to_line(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Number(text) | Value::Date(text) => text.clone(),
            Value::String(text) => toml_string(text),
            Value::Array(nodes) => {
                let items: Vec<String> = nodes.iter().map(Self::to_line).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Table(table) => {
                let items: Vec<String> = table
                    .entries
                    .iter()
                    .map(|entry| format!("{} = {}", entry.key.value, entry.node.to_line()))
                    .collect();
                format!("{{ {} }}", items.join(", "))
            }
        }
    }
}

impl Table {
    /// The entry of `key`.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.value == key)
    }
}

/// A text as a basic string of TOML.
pub(crate) fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            other if crate::near::is_hidden(other) => {
                let code = u32::from(other);
                for part in ['\\', 'U'] {
                    quoted.push(part);
                }
                for place in (0..8).rev() {
                    let digit = (code >> (4 * place)) & 15;
                    quoted.push(char::from_digit(digit, 16).unwrap_or('0'));
                }
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
