//! One file's text with its line index, and the checks that every text file must pass first.
//!
//! It must not know what the text means.

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::near::is_hidden;
use crate::span::Span;

/// A text file: path, text without its byte order mark, and where its lines start.
#[derive(Debug, Clone)]
pub struct Source {
    path: String,
    text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// Takes a text that is known to be fit.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { path: path.into(), text, line_starts }
    }

    /// Reads the bytes of a file of at most `bytes_max` bytes: UTF-8, with or without a byte order
    /// mark, LF or CRLF, no NUL.
    ///
    /// # Errors
    /// Everything that keeps the bytes from being such a text.
    pub fn decode(path: &str, bytes: &[u8], bytes_max: usize) -> Result<Self, Vec<Diagnostic>> {
        let whole = |code, message: String, hint: &str| {
            let source = Self::new(path, String::new());
            vec![source.diagnostic(Severity::Error, code, &(0..0), message, hint)]
        };
        if bytes.len() > bytes_max {
            // Whoever read it may have stopped at a bound of its own: how long it is is not known here.
            let message =
                format!("the file has more than {bytes_max} bytes, which is what is read");
            let hint =
                "is it the right file? Long texts of features are files of their own (`spec`)";
            return Err(whole(Code::FileTooLarge, message, hint));
        }
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            let hint = "save it as UTF-8, for instance with `iconv -f UTF-16 -t UTF-8`";
            return Err(whole(Code::Utf16, "the file is UTF-16, not UTF-8".to_owned(), hint));
        }
        let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let source = Self::new(path, text.clone());
        let mut found = Vec::new();
        if let Err(error) = std::str::from_utf8(bytes) {
            let at = error.valid_up_to();
            let message = format!("byte 0x{:02x} is not UTF-8", bytes[at]);
            let hint = "save the file as UTF-8; it may be Latin-1 or Windows-1252";
            let span = at..at + 3;
            found.push(source.diagnostic(Severity::Error, Code::NotUtf8, &span, message, hint));
        }
        if let Some(at) = text.bytes().position(|byte| byte == 0) {
            let count = text.bytes().filter(|byte| *byte == 0).count();
            let message = format!("the file holds {count} NUL byte(s); this is the first");
            let hint = "the file is binary, damaged, or in another encoding";
            let span = at..at + 1;
            found.push(source.diagnostic(Severity::Error, Code::NulByte, &span, message, hint));
        }
        if found.is_empty() { Ok(source) } else { Err(found) }
    }

    /// The path, as the user gave it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The slice at `span`; empty where the span does not fit the text.
    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or("")
    }

    /// Line and column (in characters) of a byte offset, both from 1.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1) - 1;
        let column = self.text[self.line_starts[line]..offset].chars().count();
        (bounded(line + 1), bounded(column + 1))
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        bounded(self.line_starts.partition_point(|start| *start <= offset).max(1))
    }

    /// A diagnostic at `span` of this file; an empty `hint` means none.
    pub(crate) fn diagnostic(
        &self,
        severity: Severity,
        code: Code,
        span: &Span,
        message: impl Into<String>,
        hint: &str,
    ) -> Diagnostic {
        let (line, column) = self.position(span.start);
        Diagnostic {
            severity,
            code,
            file: self.path.clone(),
            line,
            column,
            message: plain(&message.into()),
            hint: (!hint.is_empty()).then(|| plain(hint)),
            span: span.clone(),
        }
    }
}

/// Characters of a message or hint that are kept.
const MESSAGE_CHARS_MAX: usize = 600;

/// A text of bounded length on one line, where hidden characters are escaped: what a user wrote may
/// be part of it.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (count, character) in text.chars().enumerate() {
        if count == MESSAGE_CHARS_MAX {
            shown.push('…');
            break;
        }
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn bounded(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
