//! A Markdown plan into the same tree of values that a TOML plan gives.
//!
//! Structure is only what Markdown itself takes for a heading: nothing inside fences, comments,
//! lists or quotes counts. It must not know what the values mean.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::foreign::{HINT, foreign_markdown};
use super::front_matter;
use super::headings::{feature_heading, is_wave_like, wave_heading};
use super::section::{is_settings_fence, is_settings_list, read_fence, read_list, refuse_taken};
use crate::diagnostic::{Code, Sink};
use crate::near::quoted;
use crate::node::{Entry, Node, Table, Value};
use crate::span::{Span, Spanned};

/// Bytes of one line; what is longer was not written by hand.
const LINE_BYTES_MAX: usize = 100_000;

/// Reads a Markdown plan; `None` when it has no structure that could be checked further.
pub(crate) fn read_markdown(sink: &mut Sink<'_>) -> Option<Table> {
    if refuse_long_lines(sink) {
        return None;
    }
    let front = front_matter::split(sink)?;
    let whole = !front.present || front.table.is_some();
    let mut table = front.table.unwrap_or_default();
    let mut outline = Outline::default();
    for block in blocks(&sink.source().text()[front.body..], front.body) {
        outline.take(block, sink);
    }
    outline.close_feature(sink.source().text().len(), sink);
    if outline.waves.is_empty() {
        refuse_waveless(front.body, &outline, sink);
        return None;
    }
    for stray in &outline.strays {
        stray.report(sink);
    }
    if let Some(at) = table.entries.iter().position(|entry| entry.key.value == "wave") {
        let entry = table.entries.remove(at);
        let message = "in a Markdown plan the headings are the waves, not the front matter";
        sink.error(Code::DuplicateKey, &entry.key.span, message);
    }
    if let (None, true, Some(title)) = (table.get("title"), whole, outline.title) {
        table.entries.push(string_entry("title", &title));
    }
    let waves: Vec<Node> = outline.waves.into_iter().map(Wave::into_node).collect();
    let span = waves.first().map_or(0..0, |wave| wave.span.clone());
    table.entries.push(Entry {
        key: Spanned::new("wave".to_owned(), span.clone()),
        node: Node::new(Value::Array(waves), span),
    });
    Some(table)
}

fn refuse_long_lines(sink: &mut Sink<'_>) -> bool {
    let (mut at, mut found) = (0, false);
    for line in sink.source().text().split_inclusive('\n') {
        if line.len() > LINE_BYTES_MAX {
            let message =
                format!("this line has {} bytes, at most {LINE_BYTES_MAX} are read", line.len());
            let hint = "put a long text into a spec file and name it: `- spec: PATH`";
            sink.error_hint(Code::LineTooLong, &(at..at + 1), message, hint);
            found = true;
        }
        at += line.len();
    }
    found
}

fn refuse_waveless(body: usize, outline: &Outline, sink: &mut Sink<'_>) {
    for stray in outline.strays.iter().filter(|stray| stray.is_wave_like) {
        stray.report(sink);
    }
    if let Some(foreign) = foreign_markdown(sink.source(), body) {
        let message = format!("this is {}, not a Tidegate plan", foreign.name);
        sink.error_hint(Code::ForeignFormat, &foreign.span, message, HINT);
    } else {
        let message = "the plan has no wave: there is no heading `## Wave: NAME`";
        let at = body.min(sink.source().text().len());
        sink.error_hint(Code::NoFeatures, &(at..at), message, HINT);
    }
}

/// A block at the top level of the document.
struct Block {
    kind: Kind,
    span: Span,
}

enum Kind {
    Heading(HeadingLevel),
    List,
    Fence { info: String },
    Html,
    Other,
}

/// The blocks at the top level of `text`, which starts at `shift` in its file.
fn blocks(text: &str, shift: usize) -> Vec<Block> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let span = range.start + shift..range.end + shift;
        if let Event::Start(tag) = event {
            if depth == 0 {
                found.push(Block { kind: kind_of(&tag), span });
            }
            depth += 1;
        } else if let Event::End(_) = event {
            depth = depth.saturating_sub(1);
        } else if let (Event::Rule, 0) = (event, depth) {
            found.push(Block { kind: Kind::Other, span });
        }
    }
    found
}

fn kind_of(tag: &Tag<'_>) -> Kind {
    if let Tag::Heading { level, .. } = tag {
        Kind::Heading(*level)
    } else if let Tag::CodeBlock(CodeBlockKind::Fenced(info)) = tag {
        Kind::Fence { info: info.to_string() }
    } else if matches!(tag, Tag::List(None)) {
        Kind::List
    } else if matches!(tag, Tag::HtmlBlock) {
        Kind::Html
    } else {
        Kind::Other
    }
}

/// The outline as far as it was read.
#[derive(Default)]
struct Outline {
    title: Option<Spanned<String>>,
    waves: Vec<Wave>,
    feature: Option<Feature>,
    /// Under a heading `## Notes`, whose text is for people.
    in_notes: bool,
    /// Headings that are nothing.
    strays: Vec<Stray>,
}

/// A heading that is neither a wave nor a feature.
struct Stray {
    span: Span,
    message: String,
    hint: &'static str,
    /// Whether a wave was probably meant.
    is_wave_like: bool,
}

impl Stray {
    fn report(&self, sink: &mut Sink<'_>) {
        let code = Code::UnexpectedHeading;
        sink.error_hint(code, &self.span, self.message.as_str(), self.hint);
    }
}

struct Wave {
    span: Span,
    entries: Vec<Entry>,
    features: Vec<Node>,
}

struct Feature {
    span: Span,
    settings: Table,
    has_title: bool,
    /// Where the text after the heading and the settings starts.
    body: usize,
    /// Whether a block has followed the heading.
    begun: bool,
}

impl Outline {
    fn take(&mut self, block: Block, sink: &mut Sink<'_>) {
        let text = sink.source().slice(&block.span);
        match block.kind {
            // An underlined heading stays part of the text around it.
            Kind::Heading(level) if text.trim_start().starts_with('#') => {
                let heading = heading_text(text, block.span.start);
                match level {
                    HeadingLevel::H1 => self.first_level(heading, &block.span, sink),
                    HeadingLevel::H2 => self.second_level(heading, &block.span, sink),
                    HeadingLevel::H3 => self.third_level(heading, &block.span, sink),
                    HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => self.begin_text(),
                }
            }
            Kind::List => {
                if is_settings_list(text) {
                    self.settings(&block.span, |sink| read_list(&block.span, sink), sink);
                }
                self.begin_text();
            }
            Kind::Fence { info } => {
                match fence_inside(text) {
                    Some(inner) if is_settings_fence(&info) => {
                        let inner = block.span.start + inner.start..block.span.start + inner.end;
                        if !self.settings(&block.span, |sink| read_fence(&inner, sink), sink) {
                            let at = block.span.start..inner.start;
                            let message = "these settings belong to no feature";
                            let hint = "put them right below the feature's heading";
                            sink.error_hint(Code::InvalidSetting, &at, message, hint);
                        }
                    }
                    Some(_) => {}
                    None => {
                        let first = text.lines().next().unwrap_or("").len();
                        let at = block.span.start..block.span.start + first;
                        let message =
                            "this code fence is not closed: it takes in the rest of the file";
                        sink.error(Code::UnclosedFence, &at, message);
                    }
                }
                self.begin_text();
            }
            Kind::Html => {
                if text.trim_start().starts_with("<!--") && !text.contains("-->") {
                    let at = block.span.start..block.span.start + 4;
                    let message = "this comment is not closed: it takes in the rest of the file";
                    sink.error(Code::UnclosedComment, &at, message);
                }
                self.begin_text();
            }
            Kind::Heading(_) | Kind::Other => self.begin_text(),
        }
    }

    fn begin_text(&mut self) {
        if let Some(feature) = &mut self.feature {
            feature.begun = true;
        }
    }

    fn settings(
        &mut self,
        span: &Span,
        read: impl FnOnce(&mut Sink<'_>) -> Table,
        sink: &mut Sink<'_>,
    ) -> bool {
        if let Some(feature) = self.feature.as_mut().filter(|feature| !feature.begun) {
            feature.settings = read(sink);
            refuse_taken(&mut feature.settings, feature.has_title, sink);
            feature.body = span.end;
            return true;
        }
        false
    }

    fn first_level(&mut self, heading: Spanned<String>, span: &Span, sink: &mut Sink<'_>) {
        self.close_feature(span.start, sink);
        if self.title.is_none() && self.waves.is_empty() {
            self.title = Some(heading);
            return;
        }
        let message =
            format!("the heading {} is neither a wave nor a feature", quoted(&heading.value));
        let hint = "within a feature's prompt use `####` and deeper";
        self.strays.push(Stray { span: heading.span, message, hint, is_wave_like: false });
    }

    fn second_level(&mut self, heading: Spanned<String>, span: &Span, sink: &mut Sink<'_>) {
        self.close_feature(span.start, sink);
        let text = heading.value.as_str();
        self.in_notes = text.eq_ignore_ascii_case("notes");
        if self.in_notes {
            return;
        }
        let Some(wave) = wave_heading(text) else {
            let is_wave_like = is_wave_like(text);
            let message = if is_wave_like {
                format!("the heading {} is not of the form `## Wave 2: NAME`", quoted(text))
            } else {
                format!("the heading {} is not a wave", quoted(text))
            };
            let hint = "a wave is `## Wave: NAME`; a text for people goes under `## Notes`; within \
                        a feature's prompt use `####` and deeper";
            self.strays.push(Stray { span: heading.span, message, hint, is_wave_like });
            return;
        };
        let at = |inner: &Span| heading.span.start + inner.start..heading.span.start + inner.end;
        let mut entries = Vec::new();
        if let Some((number, inner)) = &wave.number {
            let node = Node::new(Value::Integer(i64::from(*number)), at(inner));
            let key = Spanned::new("number".to_owned(), at(inner));
            entries.push(Entry { key, node });
        }
        if let Some(inner) = &wave.name {
            let name = Spanned::new(text[inner.clone()].to_owned(), at(inner));
            entries.push(string_entry("name", &name));
        }
        self.waves.push(Wave { span: heading.span.clone(), entries, features: Vec::new() });
    }

    fn third_level(&mut self, heading: Spanned<String>, span: &Span, sink: &mut Sink<'_>) {
        self.close_feature(span.start, sink);
        if self.in_notes {
            return;
        }
        if self.waves.is_empty() {
            let message = format!("the feature {} stands before any wave", quoted(&heading.value));
            let hint = "put `## Wave: NAME` above it";
            self.strays.push(Stray { span: heading.span, message, hint, is_wave_like: false });
            return;
        }
        let (id, title) = feature_heading(&heading.value);
        let at = |inner: &Span| heading.span.start + inner.start..heading.span.start + inner.end;
        let part = |inner: &Span| Spanned::new(heading.value[inner.clone()].to_owned(), at(inner));
        let mut settings = Table::default();
        settings.entries.push(string_entry("id", &part(&id)));
        let mut head = settings.entries;
        if let Some(title) = &title {
            head.push(string_entry("title", &part(title)));
        }
        self.feature = Some(Feature {
            span: heading.span.clone(),
            settings: Table::default(),
            has_title: title.is_some(),
            body: span.end,
            begun: false,
        });
        // The heading's own entries wait in the wave until the section is closed.
        if let Some(wave) = self.waves.last_mut() {
            let table = Value::Table(Table { entries: head });
            wave.features.push(Node::new(table, heading.span));
        }
    }

    fn close_feature(&mut self, end: usize, sink: &mut Sink<'_>) {
        let Some(feature) = self.feature.take() else { return };
        let body = sink.source().slice(&(feature.body.min(end)..end));
        let lead = body.len() - body.trim_start().len();
        let prompt = body.trim();
        let start = feature.body + lead;
        let node = self.waves.last_mut().and_then(|wave| wave.features.last_mut());
        let Some(Node { value: Value::Table(table), span }) = node else { return };
        *span = feature.span;
        table.entries.extend(feature.settings.entries);
        if !prompt.is_empty() {
            let prompt = Spanned::new(prompt.to_owned(), start..start + prompt.len());
            table.entries.push(string_entry("prompt", &prompt));
        }
    }
}

impl Wave {
    fn into_node(self) -> Node {
        let mut entries = self.entries;
        if !self.features.is_empty() {
            entries.push(Entry {
                key: Spanned::new("feature".to_owned(), self.span.clone()),
                node: Node::new(Value::Array(self.features), self.span.clone()),
            });
        }
        Node::new(Value::Table(Table { entries }), self.span)
    }
}

fn string_entry(key: &str, value: &Spanned<String>) -> Entry {
    Entry {
        key: Spanned::new(key.to_owned(), value.span.clone()),
        node: Node::new(Value::String(value.value.clone()), value.span.clone()),
    }
}

/// The text of a `#` heading whose block starts at `at`.
fn heading_text(block: &str, at: usize) -> Spanned<String> {
    let line = block.lines().next().unwrap_or("");
    let after = line.trim_start().trim_start_matches('#');
    let start = line.len() - after.trim_start().len();
    let mut text = after.trim();
    let unclosed = text.trim_end_matches('#');
    if unclosed.is_empty() || unclosed.ends_with([' ', '\t']) {
        text = unclosed.trim_end();
    }
    Spanned::new(text.to_owned(), at + start..at + start + text.len())
}

/// The inside of a fenced block; `None` when its closing line is missing.
fn fence_inside(block: &str) -> Option<Span> {
    let block = block.trim_end();
    let open = block.trim_start();
    let mark = open.chars().next()?;
    let width = open.chars().take_while(|c| *c == mark).count();
    let first = block.find('\n')? + 1;
    let last = block.rfind('\n')? + 1;
    let closing = block[last..].trim();
    let closed = closing.chars().all(|c| c == mark) && closing.chars().count() >= width;
    closed.then_some(first..last)
}
