//! Text as tokens: words, numbers, strings and signs with their lines; comments are left out.
//!
//! A light lexer: it knows enough of each language not to take a comment or a string for code.

use super::language::Language;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    Text,
    Sign,
}

/// A token with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    /// As it is written; a string with its quotes.
    pub(super) text: &'a str,
    /// From 1.
    pub(super) line: u32,
    /// Columns before the first token of its line.
    pub(super) indent: u32,
    /// Whether it is the first of its line.
    pub(super) first: bool,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != TokenKind::Text && self.text == text
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }

    /// A string or a number.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self.kind, TokenKind::Text | TokenKind::Number)
    }
}

/// Signs of more than one character, the longest first.
const SIGNS: &[&str] =
    &["===", "!==", "==", "!=", "<=", ">=", "=>", "->", "::", "||", "&&", ":=", "=~"];

/// The tokens of `text`.
pub(super) fn lex(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut lexer =
        Lexer { text, language, at: 0, line: 1, indent: 0, first: true, out: Vec::new() };
    lexer.measure_indent();
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    language: Language,
    at: usize,
    line: u32,
    indent: u32,
    first: bool,
    out: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return };
        if first == '\n' || first.is_whitespace() {
            self.skip(first.len_utf8());
        } else if let Some(length) = self.comment(rest) {
            self.skip(length);
        } else if let Some(length) = self.string(rest) {
            self.push(TokenKind::Text, length);
        } else if is_word_char(first, self.language) {
            let word = |letter: char| !is_word_char(letter, self.language);
            let length = rest.find(word).unwrap_or(rest.len());
            let number = first.is_ascii_digit();
            self.push(if number { TokenKind::Number } else { TokenKind::Word }, length);
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            self.push(TokenKind::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()));
        }
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let text = &self.rest()[..length];
        let (line, indent, first) = (self.line, self.indent, self.first);
        self.out.push(Token { kind, text, line, indent, first });
        self.first = false;
        self.skip(length);
    }

    /// Moves on, and keeps line and indentation.
    fn skip(&mut self, length: usize) {
        let passed = &self.rest()[..length];
        let lines = passed.matches('\n').count();
        self.at += length;
        if lines > 0 {
            self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            self.first = true;
            self.measure_indent();
        }
    }

    fn measure_indent(&mut self) {
        let line_start = self.text[..self.at].rfind('\n').map_or(0, |at| at + 1);
        let line = &self.text[line_start..];
        let columns = line.chars().take_while(|c| *c == ' ' || *c == '\t');
        self.indent = columns.map(|c| if c == '\t' { 8 } else { 1 }).sum();
    }

    fn comment(&self, rest: &str) -> Option<usize> {
        let to_line_end = || rest.find('\n').unwrap_or(rest.len());
        if self.language.has_hash_comments() {
            if self.language == Language::Ruby && self.first && rest.starts_with("=begin") {
                return Some(rest.find("\n=end").map_or(rest.len(), |at| at + 5));
            }
            let before = self.text[..self.at].chars().next_back();
            let starts = self.language != Language::Shell
                || before.is_none_or(|before| before.is_whitespace() || ";&|(".contains(before));
            return (rest.starts_with('#') && starts).then(to_line_end);
        }
        if rest.starts_with("//") {
            return Some(to_line_end());
        }
        rest.starts_with("/*").then(|| block_comment(rest, self.language == Language::Rust))
    }

    fn string(&self, rest: &str) -> Option<usize> {
        match self.language {
            Language::Rust => rust_string(rest),
            Language::Python => triple(rest).or_else(|| quoted(rest, "\"'", true)),
            Language::Script => {
                quoted(rest, "\"'", true).or_else(|| template(rest)).or_else(|| self.regex(rest))
            }
            Language::Go => quoted(rest, "\"'", true).or_else(|| raw(rest, '`')),
            Language::Java => triple(rest).or_else(|| quoted(rest, "\"'`", true)),
            Language::Ruby => {
                heredoc(rest).or_else(|| quoted(rest, "\"'`", false)).or_else(|| self.regex(rest))
            }
            Language::Shell => {
                heredoc(rest).or_else(|| raw(rest, '\'')).or_else(|| quoted(rest, "\"`", false))
            }
        }
    }

    /// A regular expression where no division can stand.
    fn regex(&self, rest: &str) -> Option<usize> {
        let operand = self.out.last().is_some_and(|last| {
            last.is_literal()
                || last.is(")")
                || last.is("]")
                || last.is("}")
                || last.is_word()
                    && !matches!(last.text, "return" | "typeof" | "case" | "in" | "of")
        });
        if operand || !rest.starts_with('/') {
            return None;
        }
        let mut class = false;
        let mut escaped = false;
        for (at, letter) in rest.char_indices().skip(1) {
            match letter {
                '\n' => return None,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '/' if !class => return Some(at + 1),
                _ => {}
            }
        }
        None
    }
}

fn is_word_char(letter: char, language: Language) -> bool {
    letter.is_alphanumeric()
        || letter == '_'
        || letter == '$'
        || language == Language::Shell && "-./:%+,@*?~".contains(letter)
}

fn block_comment(rest: &str, nested: bool) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") && (nested || depth == 0) {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
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

/// A string between the same quote; where `one_line`, an open one ends with its line.
fn quoted(rest: &str, quotes: &str, one_line: bool) -> Option<usize> {
    let quote = rest.chars().next().filter(|first| quotes.contains(*first))?;
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            '\n' if one_line && !escaped => return Some(at),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}

fn raw(rest: &str, quote: char) -> Option<usize> {
    let body = rest.strip_prefix(quote)?;
    Some(body.find(quote).map_or(rest.len(), |at| at + 2))
}

fn triple(rest: &str) -> Option<usize> {
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes))?;
    let mut at = 3;
    while let Some(found) = rest[at..].find(quotes) {
        let end = at + found;
        if !rest[..end].ends_with('\\') {
            return Some(end + 3);
        }
        at = end + 1;
    }
    Some(rest.len())
}

/// A template string; what is inserted into it belongs to it.
fn template(rest: &str) -> Option<usize> {
    rest.strip_prefix('`')?;
    let bytes = rest.as_bytes();
    let (mut at, mut depth) = (1, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'`' if depth == 0 => return Some(at + 1),
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                depth += 1;
                at += 1;
            }
            b'{' if depth > 0 => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Some(rest.len())
}

/// `<<EOF`, `<<-'EOF'`, `<<~EOS` with all lines up to the mark.
fn heredoc(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("<<")?;
    let mark = body.trim_start_matches(['-', '~']).trim_start_matches(['\'', '"']);
    let length = mark.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(mark.len());
    let mark = &mark[..length];
    if mark.is_empty() {
        return None;
    }
    let mut at = rest.find('\n')? + 1;
    for line in rest[at..].split_inclusive('\n') {
        at += line.len();
        if line.trim() == mark {
            return Some(at - usize::from(line.ends_with('\n')));
        }
    }
    Some(rest.len())
}

fn rust_string(rest: &str) -> Option<usize> {
    let prefix = usize::from(rest.starts_with(['b', 'c']));
    let body = &rest[prefix..];
    if let Some(raw) = body.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let closing = format!("\"{}", "#".repeat(hashes));
            let start = prefix + 1 + hashes + 1;
            let found = rest[start..].find(&closing);
            return Some(found.map_or(rest.len(), |at| start + at + closing.len()));
        }
    }
    if body.starts_with('"') {
        return quoted(body, "\"", false).map(|length| length + prefix);
    }
    let inner = body.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    if first == '\\' {
        return inner.get(2..)?.find('\'').map(|at| prefix + at + 4);
    }
    inner[first.len_utf8()..].starts_with('\'').then(|| prefix + first.len_utf8() + 2)
}

#[cfg(test)]
mod tests {
    use super::{Language, lex};

    fn code(text: &str, language: Language) -> Vec<&str> {
        lex(text, language).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_are_left_out_and_strings_are_one_token() {
        let rust = "a /* x /* y */ assert!(1) */ b // c\nr#\"q\"w\"# 'x' '\\n' &'a b\"z\"";
        let expected = ["a", "b", "r#\"q\"w\"#", "'x'", "'\\n'", "&", "'", "a", "b\"z\""];
        assert_eq!(code(rust, Language::Rust), expected);
        let script = "x = /it('a')\\//g; y = `${a ? `b` : '}'} it(`\n// only\nz = 4 / 2";
        assert_eq!(code(script, Language::Script)[2], "/it('a')\\//");
        let python = "x = '''\nassert 1\n''' # assert 2\ny = \"it's\"";
        assert_eq!(
            code(python, Language::Python),
            ["x", "=", "'''\nassert 1\n'''", "y", "=", "\"it's\""]
        );
        let shell = "a#b # c\ncat <<'EOF'\n|| true\nEOF\nx='#'";
        assert_eq!(
            code(shell, Language::Shell),
            ["a", "#", "b", "cat", "<<'EOF'\n|| true\nEOF", "x", "=", "'#'"]
        );
    }

    #[test]
    fn lines_and_indents_are_kept() {
        let tokens = lex("a\n\n    b '''\n''' c\n", Language::Python);
        let places: Vec<_> = tokens.iter().map(|t| (t.text, t.line, t.indent, t.first)).collect();
        assert_eq!(places[0], ("a", 1, 0, true));
        assert_eq!(places[1], ("b", 3, 4, true));
        assert_eq!(places[3], ("c", 4, 0, true));
    }

    #[test]
    fn open_strings_and_odd_bytes_end() {
        for language in [Language::Rust, Language::Script, Language::Shell, Language::Ruby] {
            for text in ["\"", "'", "`${", "/*", "r#\"", "<<EOF\n", "'\\", "é'ü'", "b'", "/["] {
                assert!(lex(text, language).len() < 9);
            }
        }
    }
}
