//! The front matter of a Markdown file: `+++` around TOML or `---` around YAML, on the first line.

use crate::diagnostic::{Code, Sink};
use crate::node::Table;
use crate::span::Span;
use crate::toml_text::read_toml;
use crate::yaml_text::read_yaml;

/// What precedes the body of a Markdown file.
pub(crate) struct FrontMatter {
    /// Its keys; `None` when there is none, or when it is broken.
    pub(crate) table: Option<Table>,
    /// Where the body starts.
    pub(crate) body: usize,
    /// Whether there is one.
    pub(crate) present: bool,
}

/// Splits the front matter off; `None` when it is not closed, which is reported.
pub(crate) fn split(sink: &mut Sink<'_>) -> Option<FrontMatter> {
    let text = sink.source().text();
    let first = text.lines().next().unwrap_or("").trim_end();
    if first != "+++" && first != "---" {
        return Some(FrontMatter { table: None, body: 0, present: false });
    }
    let start = text.find('\n').map_or(text.len(), |at| at + 1);
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim_end() == first {
            let span: Span = start..at;
            let table =
                if first == "+++" { read_toml(&span, sink) } else { read_yaml(&span, sink) };
            return Some(FrontMatter { table, body: at + line.len(), present: true });
        }
        at += line.len();
    }
    let message = format!("the front matter that starts here has no closing `{first}` line");
    let hint = format!("close it with a line `{first}` before the text of the plan");
    sink.error_hint(Code::UnclosedFrontMatter, &(0..first.len()), message, &hint);
    None
}
