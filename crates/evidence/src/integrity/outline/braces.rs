//! Tests of Go, and of Java, Kotlin and C#: functions by name or annotation, in braces.

use super::super::expression::{matching, part};
use super::super::language::Language;
use super::super::lexer::{Token, TokenKind};
use super::Outline;
use super::block::{Block, Mark, Marks};

fn inner<'t, 'a>(tokens: &'t [Token<'a>], open: usize, end: usize) -> &'t [Token<'a>] {
    part(tokens, open + 1, end.saturating_sub(1))
}

pub(super) fn go(tokens: &[Token<'_>], text: &str) -> Outline {
    let mut outline = Outline::default();
    let file = build_tag(text);
    let mut at = 0;
    while at < tokens.len() {
        if !(tokens[at].is("func") && tokens[at].first) {
            at += 1;
            continue;
        }
        // A method has its receiver before its name.
        let receiver = tokens.get(at + 1).is_some_and(|next| next.is("("));
        let name_at = if receiver { matching(tokens, at + 1) } else { at + 1 };
        let open = (name_at..tokens.len()).find(|index| tokens[*index].is("{"));
        let (Some(name), Some(open)) = (tokens.get(name_at), open) else { break };
        let end = matching(tokens, open);
        let body = inner(tokens, open, end);
        let skip = body.windows(3).find(|three| {
            let called = three[0].is(".") && three[2].is("(");
            called && matches!(three[1].text, "Skip" | "Skipf" | "SkipNow")
        });
        let skip = skip.map(|three| Mark::at(&three[1])).or_else(|| file.clone());
        let starts = ["Test", "Fuzz", "Example", "Benchmark"];
        let is_test = starts.iter().any(|start| name.text.starts_with(start));
        let marks = Marks { skip, ..Marks::default() };
        let line = tokens[at].line;
        outline.blocks.push(Block::new(name.text, line, is_test, body, marks, Language::Go));
        at = end;
    }
    outline
}

/// A build constraint, which may keep a whole file out.
fn build_tag(text: &str) -> Option<Mark> {
    let mut lines = text.lines().zip(1_u32..);
    let (found, line) = lines
        .by_ref()
        .take_while(|(line, _)| !line.starts_with("package "))
        .find(|(line, _)| line.starts_with("//go:build") || line.starts_with("// +build"))?;
    Some(Mark { line, text: found.to_owned() })
}

/// What annotations since the last declaration say.
#[derive(Default)]
struct Annotations {
    marks: Marks,
    is_test: bool,
}

impl Annotations {
    fn take(&mut self, name: &Token<'_>, arguments: &[Token<'_>]) {
        let tests = [
            "Test",
            "ParameterizedTest",
            "RepeatedTest",
            "TestFactory",
            "Property",
            "TestTemplate",
            "Fact",
            "Theory",
            "TestMethod",
            "DataTestMethod",
            "TestCase",
        ];
        self.is_test |= tests.contains(&name.text);
        self.marks.table |= matches!(name.text, "ParameterizedTest" | "Theory" | "TestCase");
        let skips = name.text.starts_with("Disabled") || name.text.starts_with("EnabledIf");
        let skips = skips || matches!(name.text, "Ignore" | "Ignored" | "Explicit");
        let option = arguments.iter().find(|token| token.is("Skip") || token.is("enabled"));
        if skips {
            self.marks.skip = Some(Mark::at(name));
        } else if let Some(option) = option {
            self.marks.skip = Some(Mark::at(option));
        }
    }
}

pub(super) fn java(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut pending = Annotations::default();
    let mut around: Vec<(usize, Marks)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        around.retain(|(end, _)| at < *end);
        let token = tokens[at];
        if let Some((name, end)) = annotation(tokens, at) {
            pending.take(&tokens[name], part(tokens, name + 1, end));
            at = end;
        } else if matches!(token.text, "class" | "interface" | "object") && token.is_word() {
            let above = std::mem::take(&mut pending);
            if let Some(open) = (at..tokens.len()).find(|index| tokens[*index].is("{")) {
                around.push((matching(tokens, open), above.marks));
                at = open;
            }
            at += 1;
        } else if let Some(open) = method_body(tokens, at) {
            let above = std::mem::take(&mut pending);
            let marks = around.iter().fold(above.marks, |marks, (_, outer)| marks.within(outer));
            let end = matching(tokens, open);
            let body = inner(tokens, open, end);
            let (line, language) = (token.line, Language::Java);
            let block = Block::new(token.text, line, above.is_test, body, marks, language);
            outline.blocks.push(block);
            at = end;
        } else {
            if token.is(";") || token.is("}") {
                pending = Annotations::default();
            }
            at += 1;
        }
    }
    outline
}

/// `@Name(...)` or `[Name(...)]`: the name's index and the index behind it.
fn annotation(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let bracket = tokens[at].is("[") && tokens[at].first;
    if !(tokens[at].is("@") || bracket) {
        return None;
    }
    let name = at + 1;
    if !tokens.get(name)?.is_word() {
        return None;
    }
    if bracket {
        return Some((name, matching(tokens, at)));
    }
    let called = tokens.get(name + 1).is_some_and(|next| next.is("("));
    Some((name, if called { matching(tokens, name + 1) } else { name + 1 }))
}

/// The brace of a method whose name stands at `at`.
fn method_body(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let token = tokens[at];
    let named = token.is_word() || token.kind == TokenKind::Text;
    let control =
        ["if", "for", "while", "switch", "catch", "synchronized", "when", "using", "lock"];
    if !named || control.contains(&token.text) || !tokens.get(at + 1)?.is("(") {
        return None;
    }
    let before = at.checked_sub(1).map(|before| tokens[before])?;
    let typed = before.is_word() && !matches!(before.text, "new" | "return" | "throw");
    if !(typed || before.is(">") || before.is("]")) {
        return None;
    }
    let start = matching(tokens, at + 1);
    let ahead = start..tokens.len().min(start + 12);
    let stops = |token: &Token<'_>| ["{", ";", ".", "("].iter().any(|sign| token.is(sign));
    let found = ahead.into_iter().find(|index| stops(&tokens[*index]))?;
    tokens[found].is("{").then_some(found)
}
