//! A manifest's rules, ready to be applied: one line of a stream in, what it means out.

use regex::Regex;
use serde_json::Value;
use tidegate_core::manifest::{Emit, EventRule, Manifest, UsageRule};
use tidegate_core::told::{Class, Outcome, Usage};

use crate::classify::{Classifier, pattern_of};
use crate::event::{Event, Reset, TEXT_BYTES, Trouble, bounded};
use crate::lines::Line;
use crate::{path, reset};

/// Bytes that are kept of a line that no rule knows.
const RAW_BYTES: usize = 256;

/// A manifest that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a pattern of the manifest does not read: {0}")]
pub struct BadPattern(String);

impl From<regex::Error> for BadPattern {
    fn from(error: regex::Error) -> Self {
        Self(error.to_string())
    }
}

/// The rules of one manifest.
#[derive(Debug)]
pub struct Rules<'m> {
    manifest: &'m Manifest,
    classifier: Classifier,
    errors: Vec<Regex>,
    gone: Option<Regex>,
    /// How far the clocks of the agent are ahead of UTC, in seconds.
    offset_s: i32,
}

impl<'m> Rules<'m> {
    /// Compiles the patterns. `offset_s`: how far the agent's clocks are ahead of UTC, in seconds.
    ///
    /// # Errors
    /// [`BadPattern`] when one does not read.
    pub fn new(manifest: &'m Manifest, offset_s: i32) -> Result<Self, BadPattern> {
        let errors = manifest.errors.iter().map(|pattern| pattern_of(pattern));
        Ok(Self {
            manifest,
            classifier: Classifier::new(&manifest.classes)?,
            errors: errors.collect::<Result<_, _>>()?,
            gone: manifest.gone.as_deref().map(pattern_of).transpose()?,
            offset_s,
        })
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        self.manifest
    }

    pub(crate) fn offset_s(&self) -> i32 {
        self.offset_s
    }

    /// What a line of standard output means.
    pub(crate) fn read(&self, line: Line<'_>, take: &mut impl FnMut(Event)) {
        if line.oversized {
            return take(raw(line.bytes, true));
        }
        let Ok(value @ Value::Object(_)) = serde_json::from_slice::<Value>(line.bytes) else {
            return take(raw(line.bytes, false));
        };
        let session = &self.manifest.session;
        let told = session.key.as_ref().filter(|_| path::holds(&value, &session.when));
        if let Some(id) = path::text(&value, told).filter(|id| is_id(id)) {
            take(Event::Session(id));
        }
        let rule = self.manifest.events.iter().rev().find(|rule| path::holds(&value, &rule.when));
        let Some(rule) = rule else { return take(raw(line.bytes, false)) };
        if let Some(figures) = &rule.usage
            && let Some(usage) = usage_of(&value, figures)
        {
            take(Event::Usage { usage, scope: figures.scope });
        }
        if let Some(event) = self.event(rule, &value) {
            take(event);
        }
    }

    fn event(&self, rule: &EventRule, value: &Value) -> Option<Event> {
        let id = || path::text(value, rule.id.as_ref());
        let ended = |outcome| Some(Event::TurnEnd { outcome, trouble: None });
        match rule.emit {
            Emit::Text => {
                let text = path::text(value, rule.text.as_ref())?;
                Some(Event::Text(bounded(&text, TEXT_BYTES)))
            }
            Emit::ToolStart => {
                Some(Event::ToolStart { id: id(), name: path::text(value, rule.name.as_ref()) })
            }
            Emit::ToolEnd => Some(Event::ToolEnd { id: id() }),
            Emit::Waiting => {
                let trouble = self.trouble(rule, value);
                let class = trouble.as_ref().map_or(Class::Other, |trouble| trouble.class);
                let until = reset_of(rule, value);
                Some(Event::Waiting { class, until })
            }
            Emit::Usage => None,
            Emit::Error => self.trouble(rule, value).map(Event::Error),
            Emit::Completed => ended(Outcome::Completed),
            Emit::Failed => {
                let trouble = self.trouble(rule, value);
                let class = trouble.as_ref().map_or(Class::Other, |trouble| trouble.class);
                Some(Event::TurnEnd { outcome: Outcome::Failed(class), trouble })
            }
            Emit::Interrupted => ended(Outcome::Interrupted),
            Emit::Limit => ended(Outcome::Limit),
        }
    }

    fn trouble(&self, rule: &EventRule, value: &Value) -> Option<Trouble> {
        let text = path::text(value, rule.text.as_ref());
        let status = path::scaled(value, rule.status.as_ref(), 1.0);
        if text.is_none() && status.is_none() && rule.class.is_none() {
            return None;
        }
        let text = text.unwrap_or_default();
        let class = rule.class.unwrap_or_else(|| self.classifier.class(&text, status));
        let reset = match reset_of(rule, value) {
            Reset::Untold => reset::of_text(&text, self.offset_s),
            told @ (Reset::In(_) | Reset::At(_) | Reset::Clock(_)) => told,
        };
        Some(Trouble { class, text: bounded(text.trim(), TEXT_BYTES), reset })
    }

    /// What a line of standard error says, if the manifest knows it as the agent's own error.
    pub(crate) fn read_error(&self, line: &str) -> Option<Trouble> {
        let found = self.errors.iter().find_map(|pattern| pattern.captures(line))?;
        let text = found.get(1).or_else(|| found.get(0)).map_or("", |text| text.as_str()).trim();
        Some(Trouble {
            class: self.classifier.class(text, None),
            text: bounded(text, TEXT_BYTES),
            reset: reset::of_text(text, self.offset_s),
        })
    }

    /// Whether a line of standard error says that the conversation is gone.
    pub(crate) fn says_gone(&self, line: &str) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.is_match(line))
    }
}

fn reset_of(rule: &EventRule, value: &Value) -> Reset {
    if let Some(ms) = path::scaled(value, rule.delay_ms.as_ref(), 1.0) {
        return Reset::In(ms);
    }
    let until = rule.until.as_ref().and_then(|until| path::at(value, until));
    until.map_or(Reset::Untold, reset::of_value)
}

/// An id that may stand in an argv: nothing that a program could take for an option or a path.
fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 200
        && !id.starts_with('-')
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn raw(bytes: &[u8], oversized: bool) -> Event {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(RAW_BYTES)]);
    Event::Raw { text: bounded(&text, RAW_BYTES), oversized }
}

fn usage_of(value: &Value, rule: &UsageRule) -> Option<Usage> {
    let figure = |at: &Option<String>| path::scaled(value, at.as_ref(), 1.0);
    let (input, output) = (figure(&rule.input), figure(&rule.output));
    let cost_micros = path::scaled(value, rule.cost.as_ref(), 1e6);
    if input.is_none() && output.is_none() && cost_micros.is_none() {
        return None;
    }
    Some(Usage {
        input: input.unwrap_or(0),
        cached: figure(&rule.cached).unwrap_or(0),
        output: output.unwrap_or(0),
        cost_micros,
    })
}
