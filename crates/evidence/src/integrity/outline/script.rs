//! Tests of JavaScript and TypeScript: calls of `it`, `test` and their kin within `describe`.

use super::super::expression::{matching, part};
use super::super::language::Language;
use super::super::lexer::{Token, TokenKind};
use super::Outline;
use super::block::{Block, Mark, Marks};

const TESTS: &[&str] = &["it", "test", "specify", "xit", "xtest", "fit", "ftest", "xspecify"];
const GROUPS: &[&str] =
    &["describe", "context", "suite", "xdescribe", "fdescribe", "xcontext", "fcontext"];

/// A call that defines a test or a group.
struct Call {
    marks: Marks,
    name: String,
    /// Of its argument list.
    open: usize,
    end: usize,
    is_group: bool,
}

pub(super) fn read(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut around: Vec<(usize, String, Marks)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        around.retain(|(end, ..)| at < *end);
        if let Some(call) = call_at(tokens, at) {
            let outer = around.iter().map(|(_, name, _)| name.as_str());
            let name = outer.chain([call.name.as_str()]).collect::<Vec<_>>().join(" > ");
            let marks = around.iter().fold(call.marks, |marks, (.., outer)| marks.within(outer));
            if call.is_group {
                around.push((call.end, call.name, marks));
                at = call.open + 1;
                continue;
            }
            let body = part(tokens, call.open + 1, call.end.saturating_sub(1));
            let marks = with_inner_skip(marks, body);
            // `it.skip('x')` and `it.todo('x')` may come without a body.
            let body = without_name(body);
            let line = tokens[at].line;
            let block = Block::new(&name, line, true, body, marks, Language::Script);
            outline.blocks.push(block.with_table(part(tokens, at, call.open)));
            at = call.end;
        } else if let Some((name, open)) = function_at(tokens, at) {
            let end = matching(tokens, open);
            let body = part(tokens, open + 1, end.saturating_sub(1));
            let (line, marks) = (tokens[at].line, Marks::default());
            outline.blocks.push(Block::new(name, line, false, body, marks, Language::Script));
            at = end;
        } else {
            at += 1;
        }
    }
    outline
}

fn call_at(tokens: &[Token<'_>], at: usize) -> Option<Call> {
    let token = tokens[at];
    let is_group = GROUPS.contains(&token.text);
    if token.kind != TokenKind::Word || !(is_group || TESTS.contains(&token.text)) {
        return None;
    }
    let before = at.checked_sub(1).map(|before| tokens[before].text);
    // `Deno.test` and `base.describe` define; `regex.test` does not and has no text as argument.
    if matches!(before, Some("function" | "const" | "let" | "import" | "new")) {
        return None;
    }
    let member = before == Some(".");
    if member
        && !matches!(at.checked_sub(2).map(|i| tokens[i].text), Some("Deno" | "test" | "node"))
    {
        return None;
    }
    let mut marks = Marks::default();
    if token.text.starts_with('x') {
        marks.skip = Some(Mark::at(&token));
    }
    if token.text.starts_with('f') {
        marks.focus = Some(Mark::at(&token));
    }
    let mut open = at + 1;
    loop {
        let next = tokens.get(open)?;
        if next.is(".") {
            let word = tokens.get(open + 1)?;
            match word.text {
                "skip" | "todo" | "fixme" | "skipIf" | "runIf" | "ignore" => {
                    marks.skip = Some(Mark::at(word));
                }
                "only" => marks.focus = Some(Mark::at(word)),
                "failing" | "fails" | "fail" => marks.inverted = Some(Mark::at(word)),
                "each" | "for" => marks.table = true,
                _ => {}
            }
            open += 2;
        } else if next.is("(") {
            let end = matching(tokens, open);
            // `each(...)`, `skipIf(...)`: the definition follows.
            if tokens.get(end).is_some_and(|token| token.is("(") && !token.first) {
                open = end;
                continue;
            }
            let name = tokens.get(open + 1)?;
            let named = name.kind == TokenKind::Text || name.is_word() && !name.is("async");
            let defines = name.kind == TokenKind::Text
                || part(tokens, open, end)
                    .iter()
                    .any(|token| token.is("=>") || token.is("function"));
            let name = name.text.trim_matches(['"', '\'', '`']).to_owned();
            return (named && defines).then_some(Call { marks, name, open, end, is_group });
        } else if next.kind == TokenKind::Text {
            // A tagged template as the table of `each`.
            open += 1;
        } else {
            return None;
        }
    }
}

/// `ctx.skip()`, `this.skip()`, `test.skip(condition, ...)` within a test.
fn with_inner_skip(mut marks: Marks, body: &[Token<'_>]) -> Marks {
    let inner = body.windows(3).find(|three| {
        three[0].is(".") && matches!(three[1].text, "skip" | "fixme") && three[2].is("(")
    });
    if marks.skip.is_none() {
        marks.skip = inner.map(|three| Mark::at(&three[1]));
    }
    marks
}

/// The body of the function among a call's arguments, so that its first statement is the first.
fn without_name<'t, 'a>(arguments: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let start = arguments.iter().position(|token| token.is("=>") || token.is("function"));
    let Some(start) = start else { return arguments };
    let open = (start..arguments.len()).find(|index| arguments[*index].is("{"));
    let Some(open) = open.filter(|open| arguments[start].is("function") || *open == start + 1)
    else {
        return &arguments[start + 1..];
    };
    let end = matching(arguments, open);
    part(arguments, open + 1, end.saturating_sub(1))
}

/// `function name(...) {` and `const name = (...) => {`.
fn function_at<'a>(tokens: &[Token<'a>], at: usize) -> Option<(&'a str, usize)> {
    let token = tokens[at];
    if token.is("function") {
        let name = tokens.get(at + 1).filter(|name| name.is_word())?;
        let close = matching(tokens, at + 2);
        let open = (close..tokens.len().min(close + 24)).find(|index| tokens[*index].is("{"))?;
        return Some((name.text, open));
    }
    if token.is("const") && tokens.get(at + 2).is_some_and(|sign| sign.is("=")) {
        let mut open = at + 3;
        if tokens.get(open).is_some_and(|word| word.is("async")) {
            open += 1;
        }
        if !tokens.get(open)?.is("(") {
            return None;
        }
        let close = matching(tokens, open);
        let arrow = (close..tokens.len().min(close + 16)).find(|i| tokens[*i].is("=>"))?;
        return tokens.get(arrow + 1)?.is("{").then_some((tokens[at + 1].text, arrow + 1));
    }
    None
}
