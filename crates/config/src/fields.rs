//! Takes a table apart by its schema: each key asked for is known, every other one is an error.
//!
//! It must not know which files use it.

use crate::diagnostic::{Code, Sink};
use crate::duration::parse_duration;
use crate::near::{hint_for, near_miss, quoted};
use crate::node::{Entry, Node, Table, Value};
use crate::span::{Span, Spanned};

/// A table that is being read.
pub(crate) struct Fields<'n> {
    /// What the table is, for messages, such as `a feature`.
    what: &'static str,
    table: &'n Table,
    at: Span,
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    pub(crate) fn new(what: &'static str, table: &'n Table, at: Span) -> Self {
        Self { what, table, at, known: Vec::new() }
    }

    /// Where the table stands.
    pub(crate) fn at(&self) -> &Span {
        &self.at
    }

    /// The entry of `key`, of any type.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.known.push(key);
        self.table.get(key)
    }

    pub(crate) fn string(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<String>> {
        let entry = self.take(key)?;
        string_of(&format!("`{key}`"), &entry.node, sink)
    }

    /// A string that must be there.
    pub(crate) fn required_string(
        &mut self,
        key: &'static str,
        hint: &str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<String>> {
        if self.table.get(key).is_none() {
            self.missing(key, hint, sink);
        }
        self.string(key, sink)
    }

    pub(crate) fn missing(&self, key: &str, hint: &str, sink: &mut Sink<'_>) {
        let near = near_miss(key, self.table.entries.iter().map(|entry| entry.key.value.as_str()));
        if near.is_none() {
            let message = format!("{} has no `{key}`", self.what);
            sink.error_hint(Code::MissingKey, &self.at, message, hint);
        }
    }

    pub(crate) fn strings(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<Vec<Spanned<String>>>> {
        let entry = self.take(key)?;
        match &entry.node.value {
            Value::Array(items) => {
                let what = format!("an item of `{key}`");
                let items = items.iter().filter_map(|item| string_of(&what, item, sink)).collect();
                Some(Spanned::new(items, entry.node.span.clone()))
            }
            Value::String(text) => {
                let message = format!("`{key}` is a list of strings, this is a string");
                let hint = format!("write [{}]", crate::node::toml_string(text));
                let hint = if text.len() > 100 { "write it in brackets" } else { &hint };
                sink.error_hint(Code::WrongType, &entry.node.span, message, hint);
                None
            }
            Value::Null
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::Number(_)
            | Value::Date(_)
            | Value::Table(_) => {
                wrong_type(&format!("`{key}`"), "a list of strings", &entry.node, sink);
                None
            }
        }
    }

    pub(crate) fn boolean(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<bool>> {
        let entry = self.take(key)?;
        if let Value::Boolean(value) = entry.node.value {
            return Some(Spanned::new(value, entry.node.span.clone()));
        }
        wrong_type(&format!("`{key}`"), "true or false", &entry.node, sink);
        None
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn count(
        &mut self,
        key: &'static str,
        least: u32,
        most: u32,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<u32>> {
        let entry = self.take(key)?;
        let Value::Integer(number) = entry.node.value else {
            wrong_type(&format!("`{key}`"), "a whole number", &entry.node, sink);
            return None;
        };
        match u32::try_from(number) {
            Ok(number) if (least..=most).contains(&number) => {
                Some(Spanned::new(number, entry.node.span.clone()))
            }
            Ok(_) | Err(_) => {
                let message = format!("`{key}` is {number}; it is from {least} to {most}");
                sink.error(Code::IllegalValue, &entry.node.span, message);
                None
            }
        }
    }

    /// A whole number or a text: what a unit may follow.
    fn measure(
        &mut self,
        key: &'static str,
        what: &str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<String>> {
        let entry = self.take(key)?;
        let text = match &entry.node.value {
            Value::Integer(number) => number.to_string(),
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Boolean(_)
            | Value::Number(_)
            | Value::Date(_)
            | Value::Array(_)
            | Value::Table(_) => {
                wrong_type(&format!("`{key}`"), what, &entry.node, sink);
                return None;
            }
        };
        Some(Spanned::new(text, entry.node.span.clone()))
    }

    /// An amount of bytes above nothing: a whole number of them, or one with `KiB`, `MiB` or `GiB`.
    pub(crate) fn size(&mut self, key: &'static str, sink: &mut Sink<'_>) -> Option<Spanned<u64>> {
        let Spanned { value: text, span } = self.measure(key, "a size such as \"20GiB\"", sink)?;
        if let Some(bytes) = parse_size(&text) {
            return Some(Spanned::new(bytes, span));
        }
        let message = format!("`{key}` is {}, which is no size that can be kept", quoted(&text));
        let hint = "write bytes, or a whole number with KiB, MiB or GiB, above nothing";
        sink.error_hint(Code::IllegalValue, &span, message, hint);
        None
    }

    /// A duration above nothing, in milliseconds.
    pub(crate) fn duration(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<u64>> {
        let Spanned { value: text, span } =
            self.measure(key, "a duration such as \"30s\"", sink)?;
        let refuse = |sink: &mut Sink<'_>, hint: &str| {
            let message =
                format!("`{key}` is {}, which is no duration that can be kept", quoted(&text));
            sink.error_hint(Code::IllegalValue, &span, message, hint);
        };
        match parse_duration(&text) {
            Ok(0) => refuse(sink, "it must be longer than nothing"),
            Ok(ms) if ms > i64::MAX.unsigned_abs() => refuse(sink, "it is too long"),
            Ok(ms) => return Some(Spanned::new(ms, span)),
            Err(error) => refuse(sink, &error.to_string()),
        }
        None
    }

    /// An amount of dollars above nothing, in millionths.
    pub(crate) fn dollars(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<u64>> {
        let entry = self.take(key)?;
        let text = match &entry.node.value {
            Value::Integer(number) => number.to_string(),
            Value::Number(text) | Value::String(text) => text.clone(),
            Value::Null
            | Value::Boolean(_)
            | Value::Date(_)
            | Value::Array(_)
            | Value::Table(_) => {
                wrong_type(&format!("`{key}`"), "an amount such as 2.50", &entry.node, sink);
                return None;
            }
        };
        let micros = crate::money::micros_of(&text).filter(|micros| *micros > 0);
        if micros.is_none() {
            let message = format!("`{key}` is {}, which is no amount of dollars", quoted(&text));
            let hint = "digits, and at most six more after a point, such as 2.50";
            sink.error_hint(Code::IllegalValue, &entry.node.span, message, hint);
        }
        micros.map(|micros| Spanned::new(micros, entry.node.span.clone()))
    }

    /// One word of a closed set.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<T>> {
        let word = self.string(key, sink)?;
        if let Some((_, value)) = words.iter().find(|(known, _)| *known == word.value) {
            return Some(Spanned::new(*value, word.span));
        }
        let message = format!("`{key}` cannot be {}", quoted(&word.value));
        let hint = hint_for(&word.value, words.iter().map(|(known, _)| *known));
        sink.error_hint(Code::IllegalValue, &word.span, message, &hint);
        None
    }

    /// A table within this one.
    pub(crate) fn table(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Option<(&'n Table, &'n Entry)> {
        let entry = self.take(key)?;
        if let Value::Table(table) = &entry.node.value {
            return Some((table, entry));
        }
        wrong_type(&format!("`{key}`"), "a table", &entry.node, sink);
        None
    }

    /// A table whose keys are free and whose values are strings, such as an environment.
    pub(crate) fn string_map(
        &mut self,
        key: &'static str,
        sink: &mut Sink<'_>,
    ) -> Vec<(Spanned<String>, Spanned<String>)> {
        let Some((table, _)) = self.table(key, sink) else { return Vec::new() };
        let mut pairs = Vec::new();
        for entry in &table.entries {
            let what = format!("{} of `{key}`", quoted(&entry.key.value));
            if let Some(value) = string_of(&what, &entry.node, sink) {
                pairs.push((entry.key.clone(), value));
            }
        }
        pairs
    }

    /// Keys that a later version will use: accepted, with a warning.
    pub(crate) fn reserved(
        &mut self,
        keys: &[&'static str],
        sink: &mut Sink<'_>,
    ) -> Vec<(String, Node)> {
        let mut kept = Vec::new();
        for key in keys {
            if let Some(entry) = self.take(key) {
                let message = format!("`{key}` is accepted, but this version does not use it");
                sink.warning(Code::NotUsedYet, &entry.key.span, message, "");
                kept.push(((*key).to_owned(), entry.node.clone()));
            }
        }
        kept
    }

    /// Reports every key that was not asked for.
    pub(crate) fn finish(self, sink: &mut Sink<'_>) {
        for entry in &self.table.entries {
            let key = entry.key.value.as_str();
            if !self.known.contains(&key) {
                if sink.is_full() {
                    sink.error(Code::UnknownKey, &entry.key.span, "");
                    continue;
                }
                let message = format!("{} has no key {}", self.what, quoted(key));
                let hint = hint_for(key, self.known.iter().copied());
                sink.error_hint(Code::UnknownKey, &entry.key.span, message, &hint);
            }
        }
    }
}

/// A string without NUL, or a finding.
pub(crate) fn string_of(what: &str, node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<String>> {
    let Value::String(text) = &node.value else {
        wrong_type(what, "a string", node, sink);
        return None;
    };
    if text.contains('\0') {
        let message = format!("{what} holds a NUL character");
        sink.error(Code::IllegalValue, &node.span, message);
        return None;
    }
    Some(Spanned::new(text.clone(), node.span.clone()))
}

pub(crate) fn wrong_type(what: &str, wanted: &str, node: &Node, sink: &mut Sink<'_>) {
    let message = format!("{what} is {wanted}, this is {}", node.type_name());
    let scalar = matches!(node.value, Value::Boolean(_) | Value::Integer(_) | Value::Number(_));
    let hint = if wanted == "a string" && scalar { "put it in quotes" } else { "" };
    sink.error_hint(Code::WrongType, &node.span, message, hint);
}

/// Bytes; `None` for nothing, for what is no number and for what a store does not hold.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let of_unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (number, shift) = of_unit.unwrap_or((text, 0));
    let bytes = number.trim().parse::<u64>().ok()?.checked_mul(1 << shift)?;
    (bytes > 0 && bytes <= i64::MAX.unsigned_abs()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn size_is_bytes_or_has_a_unit_and_is_above_nothing() {
        let read = ["1", "2 KiB", "3MiB", "4GiB", "0", "-1", "1.5GiB", "9GB", "", "9999999999GiB"];
        let bytes = [Some(1), Some(2 << 10), Some(3 << 20), Some(4 << 30)];
        let refused = [None; 6];
        assert_eq!(read.map(parse_size).to_vec(), [&bytes[..], &refused[..]].concat());
    }
}
