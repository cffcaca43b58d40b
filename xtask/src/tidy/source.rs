//! One Rust file as the rules see it: its text, its code, its functions, and which lines are tests. Knows no rule.

use std::path::{Path, PathBuf};

use super::mask::{Masked, mask};

/// One Rust file.
pub(crate) struct Source {
    /// Its path from the root of the workspace.
    pub(crate) path: PathBuf,
    /// As written.
    pub(crate) text: String,
    /// Without comments and literals.
    pub(crate) masked: Masked,
    /// Its functions with a body, nested ones included.
    pub(crate) functions: Vec<Function>,
    tests: Vec<(usize, usize)>,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// First and last line, from 1.
    pub(crate) lines: (usize, usize),
}

impl Function {
    /// Its length in lines, the signature included.
    pub(crate) fn length(&self) -> usize {
        self.lines.1 - self.lines.0 + 1
    }
}

impl Source {
    /// Reads `text` as the file at `path`.
    pub(crate) fn new(path: &Path, text: String) -> Self {
        let masked = mask(&text);
        let functions = functions(&masked.code);
        let tests = test_modules(&masked.code);
        Self { path: path.to_path_buf(), text, masked, functions, tests }
    }

    /// Whether it is below `prefix`.
    pub(crate) fn is_in(&self, prefix: &str) -> bool {
        self.path.starts_with(prefix)
    }

    /// Whether `line` (from 1) belongs to a test: a test file, or a module behind `cfg(test)`.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        let in_test_file = self.path.components().any(|part| {
            let part = part.as_os_str();
            part == "tests" || part == "tests.rs"
        });
        in_test_file || self.tests.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }

    /// Line (from 1) of a byte offset.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        line_of(&self.masked.code, offset)
    }

    /// Lines (from 1) where `needle` occurs in code, as whole words at its ends.
    pub(crate) fn uses(&self, needle: &str) -> Vec<usize> {
        let code = &self.masked.code;
        code.match_indices(needle)
            .filter(|(at, _)| is_word_edge(code, *at, needle))
            .map(|(at, _)| self.line_of(at))
            .collect()
    }

    /// The innermost function around `line`.
    pub(crate) fn function_at(&self, line: usize) -> Option<&Function> {
        self.functions
            .iter()
            .filter(|function| (function.lines.0..=function.lines.1).contains(&line))
            .min_by_key(|function| function.length())
    }
}

fn line_of(code: &str, offset: usize) -> usize {
    code[..offset].matches('\n').count() + 1
}

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

fn is_word_edge(code: &str, at: usize, needle: &str) -> bool {
    let bytes = code.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let after = bytes.get(at + needle.len());
    let joined_before = is_word(needle.as_bytes().first()) && is_word(before);
    let joined_after = is_word(needle.as_bytes().last()) && is_word(after);
    !joined_before && !joined_after
}

/// Offset just after the brace that closes the first one at or after `from`; `None` if a `;` comes first.
fn body_end(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut brackets = 0_i32;
    for (offset, byte) in code.bytes().enumerate().skip(from) {
        match byte {
            b'(' | b'[' if depth == 0 => brackets += 1,
            b')' | b']' if depth == 0 => brackets -= 1,
            b';' if depth == 0 && brackets == 0 => return None,
            b'{' => depth += 1,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if !is_word_edge(code, at, "fn ") {
            continue;
        }
        let name: String = code[at + 3..]
            .chars()
            .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
            .collect();
        if let Some(end) = body_end(code, at).filter(|_| !name.is_empty()) {
            found.push(Function { name, lines: (line_of(code, at), line_of(code, end - 1)) });
        }
    }
    found
}

fn test_modules(code: &str) -> Vec<(usize, usize)> {
    code.match_indices("#[cfg(test)]")
        .filter_map(|(at, attribute)| {
            let end = body_end(code, skip_attributes(code, at + attribute.len()))?;
            Some((line_of(code, at), line_of(code, end - 1)))
        })
        .collect()
}

fn skip_attributes(code: &str, from: usize) -> usize {
    let rest = code[from..].trim_start();
    let at = code.len() - rest.len();
    if !rest.starts_with("#[") {
        return at;
    }
    let mut depth = 0_usize;
    for (offset, byte) in rest.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' if depth == 1 => return skip_attributes(code, at + offset + 1),
            b']' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Source;

    const TEXT: &str = "\
//! Doc.
fn outer(a: [u8; 2]) -> u8 {
    fn inner() {
        1;
    }
    inner()
}
trait T { fn declared(&self); }
type F = fn(u8);
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = \"x\")]
mod tests {
    fn check() { sleep(1) }
}
";

    #[test]
    fn functions_are_found_with_their_lines() {
        let source = Source::new(Path::new("crates/a/src/b.rs"), TEXT.to_owned());
        let found: Vec<_> = source
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function.lines))
            .collect();
        assert_eq!(found, [("outer", (2, 7)), ("inner", (3, 5)), ("check", (13, 13))]);
        assert_eq!(source.function_at(4).map(|function| function.name.as_str()), Some("inner"));
    }

    #[test]
    fn test_lines_are_those_of_test_modules_and_test_files() {
        let source = Source::new(Path::new("crates/a/src/b.rs"), TEXT.to_owned());
        assert!(source.is_test(13));
        assert!(!source.is_test(6));
        assert!(Source::new(Path::new("crates/a/tests/b.rs"), String::new()).is_test(1));
        assert_eq!(source.uses("sleep("), [13]);
        assert!(source.uses("leep(").is_empty());
    }
}
