//! The keys of a manifest that say how an agent's stream is read, when it has succeeded and how its
//! conversation is taken up again. What they mean together is checked in `agent.rs`.

use regex::RegexBuilder;
use tidegate_core::manifest::{
    ClassRule, Emit, EventRule, Match, Scalar, StreamForm, UsageRule, UsageScope,
};
use tidegate_core::told::Class;

use crate::diagnostic::{Code, Sink};
use crate::fields::{Fields, wrong_type};
use crate::near::quoted;
use crate::node::{Node, Table, Value};
use crate::span::{Span, Spanned};

/// Most rules, patterns or conditions of one kind.
const RULES_MAX: usize = 200;

/// Longest path or pattern, in bytes.
const TEXT_MAX: usize = 1_000;

/// Compiled size of a pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;

const STREAMS: &[(&str, StreamForm)] = &[("text", StreamForm::Text), ("jsonl", StreamForm::Jsonl)];

const EMITS: &[(&str, Emit)] = &[
    ("text", Emit::Text),
    ("tool_start", Emit::ToolStart),
    ("tool_end", Emit::ToolEnd),
    ("waiting", Emit::Waiting),
    ("usage", Emit::Usage),
    ("error", Emit::Error),
    ("completed", Emit::Completed),
    ("failed", Emit::Failed),
    ("interrupted", Emit::Interrupted),
    ("limit", Emit::Limit),
];

const CLASSES: &[(&str, Class)] = &[
    ("rate_limit", Class::RateLimit),
    ("usage_limit", Class::UsageLimit),
    ("auth", Class::Auth),
    ("bad_model", Class::BadModel),
    ("bad_request", Class::BadRequest),
    ("too_long", Class::TooLong),
    ("server", Class::Server),
    ("network", Class::Network),
    ("permission", Class::Permission),
    ("other", Class::Other),
];

const SCOPES: &[(&str, UsageScope)] = &[
    ("process", UsageScope::Process),
    ("step", UsageScope::Step),
    ("turn", UsageScope::Turn),
    ("session", UsageScope::Session),
];

/// Those keys of one manifest, as they are written.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) stream: Option<Spanned<StreamForm>>,
    pub(crate) session: Option<SessionDraft>,
    pub(crate) events: Vec<EventRule>,
    /// Where `event` stands, when it does.
    pub(crate) events_at: Option<Span>,
    pub(crate) classes: Vec<ClassRule>,
    pub(crate) errors: Option<Vec<String>>,
    pub(crate) gone: Option<String>,
    pub(crate) exit: Option<Vec<i32>>,
}

/// `session`.
#[derive(Debug, Default)]
pub(crate) struct SessionDraft {
    pub(crate) given: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) when: Vec<Match>,
    pub(crate) key: Option<String>,
}

/// Reads them.
pub(crate) fn read(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Reading {
    let stream = fields.choice("stream", STREAMS, sink);
    let session = fields.table("session", sink).map(|(table, entry)| {
        let mut inner = Fields::new("a session", table, entry.key.span.clone());
        let draft = SessionDraft {
            given: inner.strings("given", sink),
            when: inner.take("on").map(|on| when_of(&on.node, sink)).unwrap_or_default(),
            key: path_of(&mut inner, "key", sink),
        };
        if draft.given.is_none() && draft.key.is_none() {
            inner.missing("key", "say where a line tells the id, or how it is `given`", sink);
        }
        inner.finish(sink);
        draft
    });
    let events_at = fields.take("event").map(|entry| entry.key.span.clone());
    let events = tables(fields, "event", sink, event_of);
    let classes = tables(fields, "class", sink, class_of);
    let errors = fields.strings("stderr", sink).map(|list| {
        let checked = list.value.into_iter().filter(|one| is_pattern(one, sink));
        checked.take(RULES_MAX).map(|one| one.value).collect()
    });
    let gone = fields.string("history_gone", sink).filter(|gone| is_pattern(gone, sink));
    let exit = success_of(fields, sink);
    let gone = gone.map(|gone| gone.value);
    Reading { stream, session, events, events_at, classes, errors, gone, exit }
}

/// The tables of a list of tables.
fn tables<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    sink: &mut Sink<'_>,
    read: impl Fn(&Table, &Span, &mut Sink<'_>) -> Option<T>,
) -> Vec<T> {
    let Some(entry) = fields.take(key) else { return Vec::new() };
    let Value::Array(items) = &entry.node.value else {
        wrong_type(&format!("`{key}`"), "a list of tables", &entry.node, sink);
        return Vec::new();
    };
    if items.len() > RULES_MAX {
        let message = format!("`{key}` has {} tables, at most {RULES_MAX} are read", items.len());
        sink.error(Code::IllegalValue, &entry.key.span, message);
    }
    let mut found = Vec::new();
    for item in items.iter().take(RULES_MAX) {
        let Value::Table(table) = &item.value else {
            wrong_type(&format!("an item of `{key}`"), "a table", item, sink);
            continue;
        };
        found.extend(read(table, &item.span, sink));
    }
    found
}

fn event_of(table: &Table, at: &Span, sink: &mut Sink<'_>) -> Option<EventRule> {
    let mut fields = Fields::new("an event", table, at.clone());
    let when = match fields.take("when") {
        Some(entry) => when_of(&entry.node, sink),
        None => Vec::new(),
    };
    if when.is_empty() {
        fields.missing("when", "when = { type = \"the value that tells the line\" }", sink);
    }
    if table.get("emit").is_none() {
        fields.missing("emit", "say what the line means", sink);
    }
    let emit = fields.choice("emit", EMITS, sink).map(|emit| emit.value);
    let text = path_of(&mut fields, "text", sink);
    let status = path_of(&mut fields, "status", sink);
    let delay_ms = path_of(&mut fields, "delay_ms", sink);
    let until = path_of(&mut fields, "until", sink);
    let name = path_of(&mut fields, "name", sink);
    let id = path_of(&mut fields, "id", sink);
    let class = fields.choice("class", CLASSES, sink).map(|class| class.value);
    let usage = usage_of(&mut fields, sink);
    fields.finish(sink);
    let emit = emit.filter(|_| !when.is_empty())?;
    Some(EventRule { when, emit, text, status, delay_ms, until, name, id, class, usage })
}

fn usage_of(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Option<UsageRule> {
    let (table, entry) = fields.table("usage", sink)?;
    let mut inner = Fields::new("`usage`", table, entry.key.span.clone());
    let rule = UsageRule {
        input: path_of(&mut inner, "input", sink),
        cached: path_of(&mut inner, "cached", sink),
        output: path_of(&mut inner, "output", sink),
        cost: path_of(&mut inner, "cost", sink),
        scope: inner.choice("of", SCOPES, sink).map(|scope| scope.value).unwrap_or_default(),
    };
    inner.finish(sink);
    Some(rule)
}

fn class_of(table: &Table, at: &Span, sink: &mut Sink<'_>) -> Option<ClassRule> {
    let mut fields = Fields::new("a class", table, at.clone());
    let hint = "a regular expression over the text of an error";
    let pattern = fields.required_string("pattern", hint, sink).filter(|one| is_pattern(one, sink));
    if table.get("class").is_none() {
        fields.missing("class", "say which kind of error it is", sink);
    }
    let class = fields.choice("class", CLASSES, sink);
    fields.finish(sink);
    Some(ClassRule { pattern: pattern?.value, class: class?.value })
}

/// The conditions of a table; tables within it make longer paths.
fn when_of(node: &Node, sink: &mut Sink<'_>) -> Vec<Match> {
    let Value::Table(table) = &node.value else {
        wrong_type("`when`", "a table of paths and values", node, sink);
        return Vec::new();
    };
    let mut all = Vec::new();
    collect("", table, &mut all, sink);
    all.truncate(RULES_MAX);
    all
}

fn collect(prefix: &str, table: &Table, all: &mut Vec<Match>, sink: &mut Sink<'_>) {
    for entry in &table.entries {
        let path = format!("{prefix}{}", entry.key.value);
        if !check_path(&Spanned::new(path.clone(), entry.key.span.clone()), sink) {
            continue;
        }
        let is = match &entry.node.value {
            Value::String(text) => Scalar::Text(text.clone()),
            Value::Integer(number) => Scalar::Number(*number),
            Value::Boolean(flag) => Scalar::Flag(*flag),
            Value::Table(inner) => {
                collect(&format!("{path}."), inner, all, sink);
                continue;
            }
            Value::Null | Value::Number(_) | Value::Date(_) | Value::Array(_) => {
                let what = format!("the value at {}", quoted(&path));
                wrong_type(&what, "a string, a whole number, true or false", &entry.node, sink);
                continue;
            }
        };
        all.push(Match { path, is });
    }
}

fn path_of(fields: &mut Fields<'_>, key: &'static str, sink: &mut Sink<'_>) -> Option<String> {
    let path = fields.string(key, sink)?;
    check_path(&path, sink).then_some(path.value)
}

fn check_path(path: &Spanned<String>, sink: &mut Sink<'_>) -> bool {
    let text = &path.value;
    let fit = text.len() <= TEXT_MAX && text.split('.').all(|part| !part.is_empty());
    if !fit {
        let message = format!("{} is no path into a line", quoted(text));
        let hint = "names with dots between them, such as \"message.usage.input\"";
        sink.error_hint(Code::IllegalValue, &path.span, message, hint);
    }
    fit
}

fn is_pattern(pattern: &Spanned<String>, sink: &mut Sink<'_>) -> bool {
    let text = &pattern.value;
    if text.len() > TEXT_MAX || text.is_empty() {
        let message = format!("a pattern has 1 to {TEXT_MAX} bytes");
        sink.error(Code::IllegalValue, &pattern.span, message);
        return false;
    }
    let made = RegexBuilder::new(text).size_limit(COMPILED_BYTES_MAX).build();
    if let Err(error) = &made {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim();
        let message = format!("{} is no regular expression: {why}", quoted(text));
        sink.error(Code::IllegalValue, &pattern.span, message);
    }
    made.is_ok()
}

fn success_of(fields: &mut Fields<'_>, sink: &mut Sink<'_>) -> Option<Vec<i32>> {
    let (table, entry) = fields.table("success", sink)?;
    let mut inner = Fields::new("`success`", table, entry.key.span.clone());
    for word in inner.strings("requires", sink).map(|list| list.value).unwrap_or_default() {
        if word.value != "completed" {
            let message = format!("{} cannot be required", quoted(&word.value));
            sink.error_hint(Code::IllegalValue, &word.span, message, "known: completed");
        }
    }
    let exit = inner.take("exit").and_then(|entry| {
        let Value::Array(items) = &entry.node.value else {
            wrong_type("`exit`", "a list of exit codes", &entry.node, sink);
            return None;
        };
        let code = |item: &Node| match item.value {
            Value::Integer(code) => {
                i32::try_from(code).ok().filter(|code| (0..=255).contains(code))
            }
            Value::Null
            | Value::Boolean(_)
            | Value::Number(_)
            | Value::Date(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Table(_) => None,
        };
        let codes: Option<Vec<i32>> = items.iter().map(code).collect();
        if codes.is_none() || items.is_empty() {
            let message = "`exit` lists exit codes from 0 to 255";
            sink.error(Code::IllegalValue, &entry.node.span, message);
        }
        codes.filter(|codes| !codes.is_empty())
    });
    inner.finish(sink);
    exit
}
