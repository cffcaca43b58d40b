//! A test, or a function that asserts for tests: its marks, its assertions, its literals.

use std::collections::BTreeSet;

use super::super::assertion::{Assertion, assertions};
use super::super::expression::Strength;
use super::super::guard;
use super::super::language::Language;
use super::super::lexer::Token;

/// A mark on a test, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Mark {
    pub(in super::super) line: u32,
    pub(in super::super) text: String,
}

impl Mark {
    pub(super) fn at(token: &Token<'_>) -> Self {
        Self { line: token.line, text: token.text.to_owned() }
    }
}

/// Marks that a runner obeys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) skip: Option<Mark>,
    pub(super) focus: Option<Mark>,
    pub(super) inverted: Option<Mark>,
    pub(super) table: bool,
}

impl Marks {
    /// These, and those of what is around where there are none.
    pub(super) fn within(self, around: &Self) -> Self {
        Self {
            skip: self.skip.or_else(|| around.skip.clone()),
            focus: self.focus.or_else(|| around.focus.clone()),
            inverted: self.inverted.or_else(|| around.inverted.clone()),
            table: self.table || around.table,
        }
    }
}

/// A declared module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Module {
    pub(in super::super) name: String,
    pub(in super::super) line: u32,
    /// Whether it is compiled for tests.
    pub(in super::super) for_tests: bool,
    /// Whether a condition keeps it out for good.
    pub(in super::super) disabled: bool,
}

/// A test or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Block {
    pub(in super::super) name: String,
    pub(in super::super) line: u32,
    pub(in super::super) is_test: bool,
    pub(in super::super) skip: Option<Mark>,
    pub(in super::super) focus: Option<Mark>,
    /// It is expected to fail.
    pub(in super::super) inverted: Option<Mark>,
    /// It runs its assertions over many values.
    pub(in super::super) table: bool,
    /// Assertions that can be reached.
    pub(in super::super) assertions: Vec<Assertion>,
    pub(in super::super) swallows: Vec<u32>,
    pub(in super::super) exits: Vec<u32>,
    /// Strings and numbers in it.
    pub(in super::super) literals: BTreeSet<String>,
    /// Names that it calls.
    pub(in super::super) calls: Vec<String>,
    /// Its tokens as one text.
    pub(in super::super) body: String,
}

/// Names that are called on nothing, on `self` or on `this`: methods of values are their own.
fn called(body: &[Token<'_>]) -> Vec<String> {
    let own = |at: usize| match at.checked_sub(1).map(|before| body[before]) {
        Some(dot) if dot.is(".") => {
            at >= 2 && ["self", "this", "cls"].iter().any(|word| body[at - 2].is(word))
        }
        Some(_) | None => true,
    };
    let calls = (1..body.len()).filter(|open| body[*open].is("(") && body[*open - 1].is_word());
    calls.filter(|open| own(*open - 1)).map(|open| body[open - 1].text.to_owned()).collect()
}

impl Block {
    pub(super) fn new(
        name: &str,
        line: u32,
        is_test: bool,
        body: &[Token<'_>],
        marks: Marks,
        language: Language,
    ) -> Self {
        let living = guard::living(body, language);
        let literals = body.iter().filter(|token| token.is_literal());
        let literals = literals.map(|token| token.text.to_owned()).collect();
        let mut calls: Vec<String> = called(body);
        if language == Language::Shell {
            calls = body.iter().filter(|token| token.first).map(|t| t.text.to_owned()).collect();
        }
        let loops = ["for", "while", "forEach", "each", "map", "iter", "parametrize", "times"];
        let table = marks.table || body.iter().any(|token| loops.contains(&token.text));
        Self {
            name: name.trim_matches(['"', '\'', '`']).to_owned(),
            line,
            is_test,
            skip: marks.skip,
            focus: marks.focus,
            inverted: marks.inverted,
            table,
            assertions: assertions(&living, language),
            swallows: guard::swallows(body, language),
            exits: guard::exits(body, language),
            literals,
            calls,
            body: guard::text(body),
        }
    }

    /// The same with the values of a table above it.
    pub(super) fn with_table(mut self, header: &[Token<'_>]) -> Self {
        let values = header.iter().filter(|token| token.is_literal());
        self.literals.extend(values.map(|token| token.text.to_owned()));
        self
    }

    /// Its name without those of what is around it.
    pub(in super::super) fn short_name(&self) -> &str {
        self.name.rsplit(['.', ' ']).next().unwrap_or_default()
    }

    /// Assertions that can fail.
    pub(in super::super) fn effective(&self) -> impl Iterator<Item = &Assertion> {
        self.assertions.iter().filter(|assertion| assertion.strength > Strength::Nothing)
    }
}
