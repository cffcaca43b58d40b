//! The settings of a feature in a Markdown plan: a key list or a fenced TOML block right under its
//! heading.

use super::schema::FEATURE_KEYS;
use crate::diagnostic::{Code, Sink};
use crate::loose::loose_value;
use crate::near::{near_miss, quoted};
use crate::node::{Entry, Table};
use crate::span::{Span, Spanned};
use crate::toml_text::read_toml;

/// Whether a list right under a feature's heading is its settings, and not the prompt's first list:
/// one of its lines gives a known key, or each gives a key and one of them nearly a known one.
pub(crate) fn is_settings_list(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let keys: Vec<Option<&str>> = lines.map(|line| setting(line).map(|(key, ..)| key)).collect();
    let known = |key: &&str| FEATURE_KEYS.contains(key) || matches!(*key, "prompt" | "id");
    let near = |key: &&str| near_miss(key, FEATURE_KEYS.iter().copied()).is_some();
    keys.iter().flatten().any(known)
        || (keys.iter().all(Option::is_some) && keys.iter().flatten().any(near))
}

/// Splits `- key: value` into the key, its offset, the value, and its offset.
fn setting(line: &str) -> Option<(&str, usize, &str, usize)> {
    let item = line.trim_start();
    let rest = item.strip_prefix(['-', '*', '+'])?;
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let (key, value) = rest.split_once(':')?;
    let shown = key.trim();
    let bare = shown.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(shown);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if bare.is_empty() || !bare.chars().all(plain) {
        return None;
    }
    let offset = line.len() - rest.len();
    let lead = key.len() - key.trim_start().len() + usize::from(bare.len() < shown.len());
    Some((bare, offset + lead, value.trim_end(), line.len() - value.len()))
}

/// Reads the list at `span`.
pub(crate) fn read_list(span: &Span, sink: &mut Sink<'_>) -> Table {
    let mut table = Table::default();
    let mut at = span.start;
    for raw in sink.source().slice(span).split_inclusive('\n') {
        let line = raw.trim_end();
        if let Some((key, key_at, value, value_at)) = setting(line) {
            let key_span = at + key_at..at + key_at + key.len();
            let node = loose_value(key, value, at + value_at);
            if table.get(key).is_some() {
                let message = format!("{} is given twice", quoted(key));
                sink.error(Code::DuplicateKey, &key_span, message);
            } else {
                table.entries.push(Entry { key: Spanned::new(key.to_owned(), key_span), node });
            }
        } else if !line.trim().is_empty() {
            let lead = line.len() - line.trim_start().len();
            let message = "this is no setting, `- key: value` on one line";
            let hint = "leave a blank line after the settings; what follows is the prompt. \
                        Lists are written with commas: `- gates: a, b`";
            sink.error_hint(Code::InvalidSetting, &(at + lead..at + line.len()), message, hint);
        }
        at += raw.len();
    }
    table
}

/// Whether the info string of a fence says that it holds settings.
pub(crate) fn is_settings_fence(info: &str) -> bool {
    let words: Vec<&str> = info.split_whitespace().collect();
    matches!(words.as_slice(), ["toml", "tidegate"] | ["tidegate"])
}

/// Reads the inside of a settings fence.
pub(crate) fn read_fence(inner: &Span, sink: &mut Sink<'_>) -> Table {
    read_toml(inner, sink).unwrap_or_default()
}

/// Takes out what the heading and the text of the section say already.
pub(crate) fn refuse_taken(table: &mut Table, heading_has_title: bool, sink: &mut Sink<'_>) {
    table.entries.retain(|entry| {
        let why = match entry.key.value.as_str() {
            "id" => "the heading gives the id",
            "prompt" => "the text of the section is the prompt",
            "title" if heading_has_title => "the heading gives the title",
            _ => return true,
        };
        let message = format!("{} does not belong here: {why}", quoted(&entry.key.value));
        sink.error(Code::DuplicateKey, &entry.key.span, message);
        false
    });
}
