//! Tests of Python and Ruby, whose blocks are told by indentation here.

use super::super::expression::part;
use super::super::language::Language;
use super::super::lexer::{Token, TokenKind};
use super::Outline;
use super::block::{Block, Mark, Marks};

/// Index behind the block whose header begins at `at`.
fn block_end(tokens: &[Token<'_>], at: usize, header_end: usize) -> usize {
    let indent = tokens[at].indent;
    let outside = |index: &usize| {
        let token = tokens[*index];
        token.first && token.indent <= indent && !matches!(token.text, ")" | "]" | "}")
    };
    (header_end..tokens.len()).find(outside).unwrap_or(tokens.len())
}

/// A decorator, a class or a module that marks what it holds.
struct Around {
    end: usize,
    name: String,
    marks: Marks,
}

fn is_skip(word: &str) -> bool {
    let marks = ["skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "SkipTest"];
    marks.contains(&word)
}

fn marks_of(tokens: &[Token<'_>]) -> Marks {
    let skip = tokens.iter().find(|token| token.is_word() && is_skip(token.text)).map(Mark::at);
    let table = tokens.iter().any(|token| token.is("parametrize") || token.is("given"));
    Marks { skip, table, ..Marks::default() }
}

pub(super) fn python(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut around =
        vec![Around { end: usize::MAX, name: String::new(), marks: python_module_marks(tokens) }];
    let mut decorators = Marks::default();
    let mut decorated: Option<usize> = None;
    let mut at = 0;
    while at < tokens.len() {
        around.retain(|outer| at < outer.end);
        let token = tokens[at];
        if token.first && token.is("@") {
            let end = decorator_end(tokens, at);
            decorators = marks_of(part(tokens, at, end)).within(&decorators);
            decorated.get_or_insert(at);
            at = end;
            continue;
        }
        let name_at = if token.is("async") { at + 2 } else { at + 1 };
        let defines = token.is("class")
            || token.is("def")
            || token.is("async") && tokens.get(at + 1).is_some_and(|next| next.is("def"));
        let name = tokens.get(name_at).filter(|_| token.first && defines);
        let Some(name) = name else {
            at += 1;
            continue;
        };
        let table = part(tokens, decorated.take().unwrap_or(at), at);
        let outer = around.iter().fold(Marks::default(), |marks, outer| marks.within(&outer.marks));
        let marks = std::mem::take(&mut decorators).within(&outer);
        let header_end = colon(tokens, name_at);
        let end = block_end(tokens, at, header_end);
        if token.is("class") {
            let disabled = part(tokens, header_end, end)
                .windows(3)
                .find(|three| three[0].is("__test__") && three[1].is("=") && three[2].is("False"));
            let marks =
                Marks { skip: marks.skip.or_else(|| disabled.map(|t| Mark::at(&t[0]))), ..marks };
            around.push(Around { end, name: name.text.to_owned(), marks });
            at = header_end;
            continue;
        }
        let path: Vec<&str> = around
            .iter()
            .map(|outer| outer.name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let full = [path.as_slice(), &[name.text]].concat().join(".");
        let body = part(tokens, header_end, end);
        let marks = with_inner_skip(marks, body);
        let is_test = name.text.starts_with("test");
        let block = Block::new(&full, token.line, is_test, body, marks, Language::Python);
        outline.blocks.push(block.with_table(table));
        at = end;
    }
    outline
}

fn decorator_end(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_i32;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if index > at && depth == 0 && token.first {
            return index;
        }
        if !token.is_literal() {
            depth += i32::from(matches!(token.text, "(" | "[" | "{"));
            depth -= i32::from(matches!(token.text, ")" | "]" | "}"));
        }
    }
    tokens.len()
}

/// Index behind the colon that ends a header.
fn colon(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_i32;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if token.is_literal() {
            continue;
        }
        depth += i32::from(matches!(token.text, "(" | "[" | "{"));
        depth -= i32::from(matches!(token.text, ")" | "]" | "}"));
        if depth == 0 && token.is(":") {
            return index + 1;
        }
    }
    tokens.len()
}

fn python_module_marks(tokens: &[Token<'_>]) -> Marks {
    let at = (0..tokens.len()).find(|at| {
        let token = tokens[*at];
        let top = token.first && token.indent == 0;
        let call = token.is("pytest") && tokens.get(at + 2).is_some_and(|next| is_skip(next.text));
        top && (token.is("pytestmark") || call || token.is("__test__"))
    });
    let Some(at) = at else { return Marks::default() };
    let line = part(tokens, at, decorator_end(tokens, at));
    let off = tokens[at].is("__test__") && line.iter().any(|token| token.is("False"));
    let mut marks = marks_of(line);
    if off {
        marks.skip = Some(Mark::at(&tokens[at]));
    }
    marks
}

/// `pytest.skip(...)`, `self.skipTest(...)`, `raise SkipTest`.
fn with_inner_skip(mut marks: Marks, body: &[Token<'_>]) -> Marks {
    let inner = body.windows(3).find(|three| {
        let called = three[0].is(".") && three[2].is("(");
        called && matches!(three[1].text, "skip" | "skipTest" | "xfail" | "SkipTest")
    });
    if marks.skip.is_none() {
        marks.skip = inner.map(|three| Mark::at(&three[1]));
    }
    marks
}

pub(super) fn ruby(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut around: Vec<Around> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        around.retain(|outer| at < outer.end);
        let token = tokens[at];
        // `RSpec.describe` is `describe`.
        let prefixed = token.is("RSpec") && tokens.get(at + 1).is_some_and(|dot| dot.is("."));
        let word_at = if prefixed { at + 2 } else { at };
        let Some(word) = tokens.get(word_at) else { break };
        let word = word.text.trim_start_matches(['x', 'f']);
        let next = tokens.get(word_at + 1);
        let texted = next.is_some_and(|next| next.kind == TokenKind::Text);
        let group = matches!(word, "describe" | "context" | "class" | "module");
        let names = ["it", "specify", "test", "scenario", "example"];
        let example = texted && (names.contains(&word) || token.is("pending"));
        let method = token.is("def");
        if !token.first || token.is_literal() || !(group || example || method) || next.is_none() {
            at += 1;
            continue;
        }
        let header = tokens[at..].iter().take_while(|t| t.line == token.line).count();
        let header_end = at + header;
        let end = block_end(tokens, at, header_end);
        let own = ruby_marks(part(tokens, word_at, header_end));
        let marks = around.iter().fold(own, |marks, outer| marks.within(&outer.marks));
        let name = next.map_or("", |next| next.text);
        if group {
            around.push(Around { end: end + 1, name: name.to_owned(), marks });
            at = header_end;
            continue;
        }
        let body = part(tokens, header_end, end);
        let skipped =
            body.iter().find(|token| token.first && matches!(token.text, "skip" | "pending"));
        let marks = Marks { skip: marks.skip.or_else(|| skipped.map(Mark::at)), ..marks };
        let is_test = example || name.starts_with("test_");
        let (line, language) = (token.line, Language::Ruby);
        outline.blocks.push(Block::new(name, line, is_test, body, marks, language));
        at = end.max(header_end);
    }
    outline
}

fn ruby_marks(header: &[Token<'_>]) -> Marks {
    let Some(first) = header.first().copied() else { return Marks::default() };
    let known = |word: &str| matches!(word, "it" | "describe" | "context" | "specify" | "example");
    let prefixed = |letter: char| first.text.strip_prefix(letter).is_some_and(known);
    let tagged = |names: &[&str]| {
        header.iter().skip(1).find(|token| token.is_word() && names.contains(&token.text))
    };
    let skip = (prefixed('x') || first.is("pending")).then(|| Mark::at(&first));
    let focus = prefixed('f').then(|| Mark::at(&first));
    Marks {
        skip: skip.or_else(|| tagged(&["skip", "pending"]).map(Mark::at)),
        focus: focus.or_else(|| tagged(&["focus"]).map(Mark::at)),
        ..Marks::default()
    }
}
