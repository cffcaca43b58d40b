//! Settings that come without types (Markdown lists, variables, flags): the key says the type.

use crate::node::{Node, Value};
use crate::span::Span;

/// Keys whose value is a list.
const LISTS: &[&str] = &["needs", "paths", "gates", "roles", "locks", "merge_gates", "pass"];

/// The value of `text`, which stands at `at`: a list where `key` is one, else true, false, a whole
/// number, or a string. Back quotes and double quotes around an item are taken off.
pub(crate) fn loose_value(key: &str, text: &str, at: usize) -> Node {
    let start = at + (text.len() - text.trim_start().len());
    let span = start..start + text.trim().len();
    if !LISTS.contains(&key) {
        return scalar(text.trim(), span);
    }
    let inner = text.trim();
    let (inner, shift) = match inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        // `[ab]*` is a glob, `[a, b]` a list: brackets count as a list's only around commas or a
        // quoted item.
        Some(rest) if rest.contains([',', '"', '`']) && !rest.contains(['[', ']']) => (rest, 1),
        _ => (inner, 0),
    };
    let items = split(inner)
        .into_iter()
        .filter(|(_, item)| !item.trim().is_empty())
        .map(|(offset, item)| {
            let lead = item.len() - item.trim_start().len();
            let from = start + shift + offset + lead;
            let item = item.trim();
            Node::new(Value::String(unquoted(item).to_owned()), from..from + item.len())
        })
        .collect();
    Node::new(Value::Array(items), span)
}

fn scalar(text: &str, span: Span) -> Node {
    let value = match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ => match text.parse() {
            Ok(number) if !text.starts_with('+') => Value::Integer(number),
            Ok(_) | Err(_) => Value::String(unquoted(text).to_owned()),
        },
    };
    Node::new(value, span)
}

fn unquoted(text: &str) -> &str {
    for quote in ['`', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

/// Splits at commas outside of quotes and braces; each item with its offset.
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut items = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_usize, None);
    for (at, character) in text.char_indices() {
        if let Some(open) = quote {
            if character == open {
                quote = None;
            }
            continue;
        }
        match character {
            '`' | '"' => quote = Some(character),
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push((start, &text[start..]));
    items
}
