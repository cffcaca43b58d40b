//! Tests of the shell: functions named so, cases of bats, and a test script as a whole.

use super::super::expression::{matching, part};
use super::super::language::Language;
use super::super::lexer::Token;
use super::Outline;
use super::block::{Block, Mark, Marks};

pub(super) fn read(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((name, open, is_test)) = function_at(tokens, at) else {
            rest.push(tokens[at]);
            at += 1;
            continue;
        };
        let end = matching(tokens, open);
        let body = part(tokens, open + 1, end.saturating_sub(1));
        let skip =
            body.iter().find(|token| token.first && matches!(token.text, "skip" | "startSkipping"));
        let marks = Marks { skip: skip.map(Mark::at), ..Marks::default() };
        let line = tokens[at].line;
        outline.blocks.push(Block::new(name, line, is_test, body, marks, Language::Shell));
        at = end;
    }
    if !rest.is_empty() {
        let (line, marks) = (rest[0].line, Marks::default());
        let script = Block::new("(script)", line, true, &rest, marks, Language::Shell);
        outline.blocks.push(script);
    }
    outline
}

/// `name() {`, `function name {`, `@test "name" {`: name, brace, whether it is a test.
fn function_at<'a>(tokens: &[Token<'a>], at: usize) -> Option<(&'a str, usize, bool)> {
    let token = tokens[at];
    let is = |index: usize, text: &str| tokens.get(index).is_some_and(|token| token.is(text));
    if !token.first {
        return None;
    }
    if token.is("@test") && is(at + 2, "{") {
        return Some((tokens[at + 1].text, at + 2, true));
    }
    if token.is("function") {
        let name = tokens.get(at + 1)?;
        let open = if is(at + 2, "(") { at + 4 } else { at + 2 };
        return is(open, "{").then_some((name.text, open, is_test_name(name.text)));
    }
    let defines = token.is_word() && is(at + 1, "(") && is(at + 2, ")") && is(at + 3, "{");
    defines.then_some((token.text, at + 3, is_test_name(token.text)))
}

fn is_test_name(name: &str) -> bool {
    name.starts_with("test") || name.ends_with("_test")
}
