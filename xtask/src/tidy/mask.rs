//! Rust text with comments and literals blanked, so that a rule sees code alone; the literals beside it.
//!
//! Knows the lexical grammar as far as this needs it, and no rule.

/// A string literal of a source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// Offset of its opening quote, in bytes.
    pub(crate) offset: usize,
    /// What is between its quotes, escapes as written.
    pub(crate) text: String,
}

/// Code with everything else blanked: same length, same lines.
#[derive(Debug)]
pub(crate) struct Masked {
    /// The code.
    pub(crate) code: String,
    /// Its string literals, in order.
    pub(crate) literals: Vec<Literal>,
}

/// Blanks comments and the insides of literals.
pub(crate) fn mask(text: &str) -> Masked {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0, code: Vec::new(), literals: Vec::new() };
    while scan.at < scan.bytes.len() {
        scan.step();
    }
    Masked { code: String::from_utf8_lossy(&scan.code).into_owned(), literals: scan.literals }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    code: Vec<u8>,
    literals: Vec<Literal>,
}

impl Scan<'_> {
    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"//") {
            self.blank(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()));
        } else if rest.starts_with(b"/*") {
            self.blank(block_comment(rest));
        } else if let Some(hashes) = raw_start(rest).filter(|_| !self.inside_word()) {
            self.raw_string(hashes);
        } else if rest[0] == b'"' {
            self.string();
        } else if let Some(length) = char_literal(rest) {
            self.blank(length);
        } else {
            let byte = if rest[0].is_ascii() { rest[0] } else { b' ' };
            self.code.push(byte);
            self.at += 1;
        }
    }

    fn inside_word(&self) -> bool {
        self.code.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    }

    fn blank(&mut self, length: usize) {
        for byte in &self.bytes[self.at..self.at + length] {
            self.code.push(if *byte == b'\n' { b'\n' } else { b' ' });
        }
        self.at += length;
    }

    fn string(&mut self) {
        let body = &self.bytes[self.at + 1..];
        let mut length = 0;
        while length < body.len() && body[length] != b'"' {
            length += if body[length] == b'\\' { 2 } else { 1 };
        }
        self.quoted(1, length.min(body.len()), 1);
    }

    fn raw_string(&mut self, start: usize) {
        let body = &self.bytes[self.at + start..];
        let opening = &self.bytes[self.at..self.at + start - 1];
        let hashes = opening.iter().rev().take_while(|byte| **byte == b'#').count();
        let closing = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
        let found = body.windows(closing.len()).position(|window| window == closing);
        self.quoted(start, found.unwrap_or(body.len()), closing.len());
    }

    fn quoted(&mut self, start: usize, length: usize, end: usize) {
        let text = &self.bytes[self.at + start..self.at + start + length];
        let text = String::from_utf8_lossy(text).into_owned();
        self.literals.push(Literal { offset: self.at + start - 1, text });
        self.blank(start - 1);
        self.code.push(b'"');
        self.at += 1;
        self.blank(length);
        let end = end.min(self.bytes.len() - self.at);
        if end > 0 {
            self.code.push(b'"');
            self.at += 1;
            self.blank(end - 1);
        }
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// Length of `r"`, `r#"`, `br##"` and the like, up to and with the quote.
fn raw_start(rest: &[u8]) -> Option<usize> {
    let prefix = usize::from(matches!(rest.first(), Some(b'b' | b'c')));
    if rest.get(prefix) != Some(&b'r') {
        return None;
    }
    let hashes = rest[prefix + 1..].iter().take_while(|byte| **byte == b'#').count();
    let quote = prefix + 1 + hashes;
    (rest.get(quote) == Some(&b'"')).then_some(quote + 1)
}

/// Length of a character literal; `None` for a lifetime and everything else.
fn char_literal(rest: &[u8]) -> Option<usize> {
    if rest.first() != Some(&b'\'') {
        return None;
    }
    if rest.get(1) == Some(&b'\\') {
        let end = rest.iter().skip(3).position(|byte| *byte == b'\'')?;
        return Some(end + 4);
    }
    let text = std::str::from_utf8(&rest[1..rest.len().min(6)]);
    let valid = match &text {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&rest[1..=error.valid_up_to()]).ok()?,
    };
    let length = valid.chars().next()?.len_utf8();
    (rest.get(length + 1) == Some(&b'\'')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_kept() {
        let text =
            "let a = \"un\\\"safe\"; // unsafe\n/* unsafe /* fn */ */ let b = r#\"x\"y\"#;\n";
        let masked = mask(text);
        assert_eq!(masked.code.len(), text.len());
        assert_eq!(masked.code.lines().count(), 2);
        assert!(!masked.code.contains("unsafe"));
        let texts: Vec<&str> =
            masked.literals.iter().map(|literal| literal.text.as_str()).collect();
        assert_eq!(texts, ["un\\\"safe", "x\"y"]);
        assert!(masked.code.contains("let b ="));
    }

    #[test]
    fn lifetimes_are_code_and_characters_are_not() {
        let masked = mask("fn f<'a>(x: &'a str) { x == '{' || x == '\\'' || x == 'ü' }");
        assert_eq!(masked.code.matches('{').count(), 1);
        assert!(masked.code.contains("<'a>"));
        assert!(masked.code.ends_with('}'));
    }
}
