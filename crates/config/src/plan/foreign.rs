//! Names formats that are not plans, so that none of them is half-read.
//!
//! It looks at names and a few tell-tale lines and never parses.

use crate::source::Source;
use crate::span::Span;

/// What to do with a file that is no plan.
pub(crate) const HINT: &str = "a plan is TOML with `[[wave]]` and `[[wave.feature]]`, or Markdown \
                               with `## Wave: NAME` and `### ID` headings; docs/plans.md shows both";

/// Bytes that are looked at.
const SNIFF_BYTES: usize = 256 * 1024;

/// The form of a plan file.
#[derive(Debug)]
pub(crate) enum Form {
    /// TOML.
    Toml,
    /// Markdown.
    Markdown,
    /// Something else.
    Foreign(Foreign),
}

/// A format that is not a plan.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// Its name, with its article.
    pub(crate) name: &'static str,
    /// The line that gives it away.
    pub(crate) span: Span,
}

fn foreign(name: &'static str) -> Form {
    Form::Foreign(Foreign { name, span: 0..0 })
}

/// Tells the form from the name and the first characters.
pub(crate) fn form_of(source: &Source) -> Form {
    let base = source.path().rsplit(['/', '\\']).next().unwrap_or("");
    let lower = base.to_ascii_lowercase();
    let text = head(source.text());
    let first = text.trim_start();
    let extension = lower.rsplit_once('.').map_or("", |(_, extension)| extension);
    if first.starts_with('{') || first.starts_with("[{") || extension.starts_with("json") {
        return foreign(json_name(&lower, text));
    }
    match lower.as_str() {
        "agents.md" | "claude.md" | "gemini.md" | "copilot-instructions.md" => {
            return foreign("a file of instructions for agents");
        }
        "tidegate.toml" => return foreign("the config of a repository (tidegate.toml)"),
        "cargo.toml" | "pyproject.toml" => return foreign("the manifest of a package"),
        _ => {}
    }
    match extension {
        "toml" => Form::Toml,
        "md" | "markdown" | "mdown" => Form::Markdown,
        "yaml" | "yml" => foreign(yaml_name(text)),
        "txt" => foreign("a plain text file"),
        "rst" | "adoc" | "org" | "html" | "htm" | "xml" | "csv" | "tsv" | "ini" | "cfg" => {
            foreign("a document in another format")
        }
        _ => by_content(&lower, text),
    }
}

fn by_content(lower: &str, text: &str) -> Form {
    let names = [
        ("procfile", "a Procfile"),
        ("justfile", "a justfile"),
        ("makefile", "a makefile"),
        ("dockerfile", "a Dockerfile"),
    ];
    if let Some((_, name)) = names.iter().find(|(end, _)| lower.ends_with(end)) {
        return foreign(name);
    }
    let has = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    if has("[[wave]]") {
        Form::Toml
    } else if has("## ") || has("# ") && has("- ") || text.starts_with("+++") {
        Form::Markdown
    } else if text.starts_with("#!") {
        foreign("a script")
    } else if text.starts_with("---") || has("version:") {
        foreign(yaml_name(text))
    } else {
        foreign("a file in no format that is known here")
    }
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(SNIFF_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn json_name(base: &str, text: &str) -> &'static str {
    let has = |word: &str| text.contains(word);
    if has("\"userStories\"") {
        "a list of user stories (prd.json, JSON)"
    } else if has("\"subtasks\"") || has("\"testStrategy\"") {
        "a Task Master file (tasks.json, JSON)"
    } else if has("\"issue_type\"") {
        "a Beads issue list (JSON lines)"
    } else if base.contains("jsonl") && (has("\"blockedBy\"") || has("\"createdAt\"")) {
        "a Seeds issue list (JSON lines)"
    } else if base.contains("jsonl") || base.contains("ndjson") {
        "a file of JSON lines"
    } else {
        "a JSON file"
    }
}

fn yaml_name(text: &str) -> &'static str {
    let key = |name: &str| text.lines().any(|line| line.trim_end().starts_with(name));
    if key("processes:") {
        "a process-compose file (YAML)"
    } else if key("jobs:") {
        "a GitHub Actions workflow (YAML)"
    } else if key("services:") {
        "a Compose file (YAML)"
    } else {
        "a YAML file"
    }
}

/// The foreign format of a Markdown text that has no wave, from its body on.
pub(crate) fn foreign_markdown(source: &Source, body: usize) -> Option<Foreign> {
    let base = source.path().rsplit(['/', '\\']).next().unwrap_or("").to_ascii_lowercase();
    let lines = plain_lines(source.text(), body);
    let found = |name, test: &dyn Fn(&str) -> bool| {
        let (at, line) = lines.iter().find(|(_, line)| test(line))?;
        Some(Foreign { name, span: *at..at + line.len() })
    };
    let after_box = |line: &str| box_text(line).map(str::to_owned);
    let spec_kit = |line: &str| {
        after_box(line).is_some_and(|text| {
            let digits = text.strip_prefix('T').unwrap_or("");
            digits.bytes().take_while(u8::is_ascii_digit).count() >= 3
        })
    };
    let numbered = |line: &str| {
        after_box(line).is_some_and(|text| {
            let word = text.split_whitespace().next().unwrap_or("");
            word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        })
    };
    if matches!(base.as_str(), "prompt.md" | "status.md") {
        return found("a task packet (PROMPT.md, STATUS.md)", &|line| line.starts_with('#'));
    }
    found("a Spec Kit task list", &spec_kit)
        .or_else(|| found("a ralphex plan", &|line| is_numbered_task(line)))
        .or_else(|| found("an OpenSpec task list", &numbered))
        .or_else(|| {
            found("a product requirements document", &|line| {
                let lower = line.to_ascii_lowercase();
                lower.starts_with('#') && (lower.contains("user stor") || lower.contains("prd"))
                    || lower.starts_with("# product requirements")
                    || lower.contains("as a ") && lower.contains("i want")
            })
        })
        .or_else(|| found("a Markdown task list with boxes", &|line| box_text(line).is_some()))
        .or_else(|| {
            found("a list of issues in prose", &|line| {
                let item = line.trim_start().strip_prefix("- #").unwrap_or("");
                item.starts_with(|c: char| c.is_ascii_digit())
            })
        })
}

fn is_numbered_task(line: &str) -> bool {
    let rest = line.trim_start_matches('#').trim_start();
    line.starts_with("##")
        && rest
            .strip_prefix("Task ")
            .is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()))
}

/// The text after a box at the start of a list item.
fn box_text(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let rest = item.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = item.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| item[digits..].strip_prefix(['.', ')'])).flatten()
    })?;
    let inner = rest.trim_start().strip_prefix('[')?;
    let mark = inner.chars().next()?;
    inner[mark.len_utf8()..].strip_prefix(']').map(str::trim_start)
}

/// The lines from `body` on that stand outside of fences, with their offsets.
fn plain_lines(text: &str, body: usize) -> Vec<(usize, &str)> {
    let (mut at, mut fence, mut found) = (body, None, Vec::new());
    for raw in head(text).get(body..).unwrap_or("").split_inclusive('\n') {
        let line = raw.trim_end();
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => found.push((at, line)),
        }
        at += raw.len();
    }
    found
}
