//! Assertions that are lines or conditions instead of calls: those of Go, Ruby and the shell.

use super::assertion::{Found, before, by_name, inside, is_named, line_end, next_is};
use super::expression::{
    Strength, arguments, condition, equality, is_constant, joined, matching, part, split,
};
use super::lexer::Token;

/// `t.Fatalf(...)` demands that the condition around it is not met.
pub(super) fn go(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    if token.is("if") {
        // The condition and the call that it guards are one assertion.
        let open = (at..tokens.len()).find(|index| tokens[*index].is("{"))?;
        let end = matching(tokens, open);
        let guards = (open..end).any(|index| is_go_failure(tokens, index));
        let nested = (open + 1..end).any(|index| tokens[index].is("{"));
        if !guards || nested {
            return None;
        }
        let clause = part(tokens, at + 1, open);
        let test = *split(clause, &[";"]).last()?;
        let strength = if let [a, b] = split(test, &["!="]).as_slice() {
            if a.last().is_some_and(|a| a.text.to_lowercase().contains("err")) {
                Strength::Existence
            } else {
                equality(a, b)
            }
        } else if let [a, b] = split(test, &["=="]).as_slice() {
            equality(a, b).min(Strength::Condition)
        } else {
            condition(test)
        };
        // The message is no part of what is demanded.
        return Some((open, strength));
    }
    let guarded =
        is_go_failure(tokens, at) && before(tokens, at).is_none_or(|before| !before.is("{"));
    guarded.then(|| (matching(tokens, at + 3), Strength::Condition))
}

fn is_go_failure(tokens: &[Token<'_>], at: usize) -> bool {
    let failing = ["Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"];
    matches!(tokens[at].text, "t" | "b" | "tb" | "f")
        && next_is(tokens, at, ".")
        && tokens.get(at + 2).is_some_and(|token| failing.contains(&token.text))
}

pub(super) fn ruby(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    let named = token.first && (is_named(token.text) || token.text.starts_with("refute"));
    let member = token.text.starts_with("must_") || token.text.starts_with("wont_");
    if !(named || member || token.is("should") && !token.first) {
        return None;
    }
    let end = line_end(tokens, at);
    let line = part(tokens, at, end);
    let has = |words: &[&str]| line.iter().any(|token| words.contains(&token.text));
    let strength = if token.is("expect") {
        if has(&["eq", "eql", "equal", "match_array", "raise_error", "be_nil"]) && !has(&["not_to"])
        {
            Strength::Exact
        } else if has(&["not_to"]) && has(&["be_nil", "raise_error"]) {
            Strength::Existence
        } else {
            Strength::Condition
        }
    } else if line.get(1).is_some_and(|second| second.is("(")) {
        by_name(token.text, &arguments(inside(line, 1).0))
    } else {
        by_name(token.text, &arguments(&line[1..]))
    };
    let idle = line.len() > 1 && is_constant(&line[1..]);
    Some((end, if idle { Strength::Nothing } else { strength }))
}

pub(super) fn shell(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    let starts = token.first
        || before(tokens, at).is_some_and(|b| {
            matches!(
                b.text,
                ";" | "&&" | "||" | "!" | "if" | "elif" | "then" | "do" | "|" | "while"
            )
        });
    if !starts {
        return None;
    }
    let end = (at + 1..tokens.len())
        .find(|index| {
            let token = tokens[*index];
            token.first || matches!(token.text, ";" | "&&" | "||" | "|")
        })
        .unwrap_or(tokens.len());
    let line = part(tokens, at, end);
    let has = |words: &[&str]| line.iter().any(|token| words.contains(&token.text));
    match token.text {
        "[" | "test" => {
            let operator = line.iter().position(|t| {
                matches!(t.text, "=" | "==" | "-eq" | "!=" | "-ne" | "=~" | "-gt" | "-lt" | "-ge")
            });
            let Some(operator) = operator else {
                return Some((end, Strength::Existence));
            };
            let left = joined(&line[1..operator]).replace('[', "").trim().to_owned();
            let right = joined(&line[operator + 1..]).replace(']', "").trim().to_owned();
            let exact = has(&["=", "==", "-eq"]);
            let strength = if left == right {
                Strength::Nothing
            } else if exact {
                Strength::Exact
            } else {
                Strength::Condition
            };
            Some((end, strength))
        }
        "cmp" | "diff" => Some((end, Strength::Exact)),
        "grep" | "jq" => Some((end, Strength::Condition)),
        "exit" | "return" if line.get(1).is_some_and(|code| code.text != "0") => {
            Some((end, Strength::Condition))
        }
        word if is_named(word) || word.starts_with("refute") => Some((end, Strength::Condition)),
        _ => None,
    }
}
