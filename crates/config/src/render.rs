//! Shows a finding with the line it is about, as plain text that is safe for a terminal.
//!
//! It must not know of colours, and it never prints more than a window of a long line.

use crate::diagnostic::Diagnostic;
use crate::near::is_hidden;

/// Columns of the source line that are shown.
const WINDOW: usize = 100;
/// Columns that are shown before the caret where the line is cut.
const LEAD: usize = 40;

impl Diagnostic {
    /// The finding with its line of `source`, which is the text of its file (with or without its
    /// byte order mark; empty when it is not at hand). Ends with a line break.
    pub fn render(&self, source: &str) -> String {
        let mut out = format!("{}[{}]: {}\n", self.severity.as_str(), self.code, self.message);
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let file: String = escaped(&self.file, usize::MAX);
        out.push_str(&format_line(&[&gutter, "--> ", &file, ":", &number, ":"]));
        out.push_str(&format_line(&[&self.column.to_string(), "\n"]));
        if let Some((line, mark)) = self.excerpt(source) {
            out.push_str(&format_line(&[&gutter, " |\n", &number, " | ", &line, "\n"]));
            out.push_str(&format_line(&[&gutter, " | ", &mark, "\n"]));
        }
        if let Some(hint) = &self.hint {
            out.push_str(&format_line(&[&gutter, " = hint: ", hint, "\n"]));
        }
        out
    }

    /// The line and the marks below it; `None` when the text does not have the line.
    fn excerpt(&self, source: &str) -> Option<(String, String)> {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        let start = self.span.start;
        let before = source.get(..start)?;
        // Another text than the one that was read is not shown as if it were that.
        let line_number = u32::try_from(before.matches('\n').count() + 1).ok()?;
        if line_number != self.line {
            return None;
        }
        let from = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = &source[from..];
        let line = rest.split('\n').next().unwrap_or("").trim_end_matches('\r');
        if line.trim().is_empty() {
            return None;
        }
        let caret = start - from;
        let (shown_from, cut) = window_start(line, caret.min(line.len()));
        let (mut text, mut mark) = (String::new(), String::new());
        if cut {
            text.push('…');
            mark.push(' ');
        }
        let end = self.span.end.max(self.span.start + 1) - from;
        let mut used = 0;
        for (at, character) in line[shown_from..].char_indices() {
            let at = at + shown_from;
            if used >= WINDOW {
                text.push('…');
                break;
            }
            let piece = shown(character);
            let width: usize = piece.chars().map(width).sum();
            let sign = if at >= caret && at < end { "^" } else { " " };
            mark.push_str(&sign.repeat(width));
            text.push_str(&piece);
            used += width;
        }
        if caret >= line.len() {
            mark.push('^');
        }
        Some((text, mark.trim_end().to_owned()))
    }
}

fn format_line(parts: &[&str]) -> String {
    parts.concat()
}

/// Where the window on a line starts so that the byte at `caret` is in it, and whether it is cut.
fn window_start(line: &str, caret: usize) -> (usize, bool) {
    let columns = line[..caret].chars().count();
    if columns + 20 <= WINDOW {
        return (0, false);
    }
    let back = line[..caret].char_indices().rev().nth(LEAD - 1);
    back.map_or((0, false), |(at, _)| (at, at > 0))
}

/// A text with hidden characters escaped, cut after `max` characters.
fn escaped(text: &str, max: usize) -> String {
    text.chars().take(max).map(shown).collect()
}

fn shown(character: char) -> String {
    match character {
        '\t' => "    ".to_owned(),
        hidden if is_hidden(hidden) => hidden.escape_default().to_string(),
        plain => plain.to_string(),
    }
}

/// Columns of a character on a terminal, near enough to place a caret.
fn width(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
