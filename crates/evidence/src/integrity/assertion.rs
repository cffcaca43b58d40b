//! Assertions among the tokens of a test: where they stand, what they say, what they demand.

use super::expression::{
    Strength, arguments, condition, equality, is_constant, joined, matching, part,
};
use super::language::Language;
use super::lexer::Token;
use super::line_assertion::{go, ruby, shell};

/// An assertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assertion {
    /// Its tokens as one text.
    pub(super) text: String,
    pub(super) line: u32,
    pub(super) strength: Strength,
    /// Strings and numbers in it.
    pub(super) literals: Vec<String>,
}

/// Tokens of an assertion and what it demands.
pub(super) type Found = (usize, Strength);

/// The assertions among `tokens`, in order.
pub(super) fn assertions(tokens: &[Token<'_>], language: Language) -> Vec<Assertion> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = match language {
            Language::Rust => rust(tokens, at),
            Language::Script => script(tokens, at),
            Language::Python => python(tokens, at).or_else(|| method(tokens, at)),
            Language::Go => go(tokens, at).or_else(|| method(tokens, at)),
            Language::Java => chained(tokens, at).or_else(|| method(tokens, at)),
            Language::Ruby => ruby(tokens, at),
            Language::Shell => shell(tokens, at),
        };
        let Some((end, strength)) = end else {
            at += 1;
            continue;
        };
        let slice = part(tokens, at, end.max(at + 1));
        let literals = slice.iter().filter(|token| token.is_literal());
        let literals = literals.map(|token| token.text.to_owned()).collect();
        let line = tokens[at].line;
        found.push(Assertion { text: joined(slice), line, strength, literals });
        at = end.max(at + 1);
    }
    found
}

pub(super) fn before<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<&'t Token<'a>> {
    at.checked_sub(1).and_then(|before| tokens.get(before))
}

pub(super) fn next_is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at + 1).is_some_and(|token| token.is(text))
}

/// Tokens between the delimiter at `open` and the one that closes it, and the index behind.
pub(super) fn inside<'t, 'a>(tokens: &'t [Token<'a>], open: usize) -> (&'t [Token<'a>], usize) {
    let end = matching(tokens, open);
    let inner = tokens.get(open + 1..end.saturating_sub(1)).unwrap_or_default();
    (inner, end)
}

pub(super) fn is_named(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["assert", "expect", "verify", "check_", "ensure_", "require_"]
        .iter()
        .any(|start| lower.starts_with(start))
}

fn rust(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    if !token.is_word() || before(tokens, at).is_some_and(|before| before.is("fn")) {
        return None;
    }
    if !next_is(tokens, at, "!") {
        let free = before(tokens, at).is_none_or(|before| !before.is("."));
        let called = next_is(tokens, at, "(");
        let named = is_named(token.text) && free || token.is("assert");
        return (called && named).then(|| (matching(tokens, at + 1), Strength::Condition));
    }
    let name = token.text.trim_start_matches("debug_").trim_start_matches("prop_");
    if name == "panic" {
        return Some((matching(tokens, at + 2), Strength::Condition));
    }
    if !name.starts_with("assert") {
        return None;
    }
    let (inner, end) = inside(tokens, at + 2);
    let parts = arguments(inner);
    let strength = match (name, parts.as_slice()) {
        ("assert", [first, ..]) => condition(first),
        ("assert_eq", [a, b, ..]) => equality(a, b),
        ("assert_ne", [a, b, ..]) => equality(a, b).min(Strength::Condition),
        ("assert" | "assert_eq" | "assert_ne", _) => Strength::Nothing,
        _ => Strength::Exact,
    };
    Some((end, strength))
}

/// What a matcher or an assertion demands by its name, of values that are not constants.
pub(super) fn by_name(name: &str, parts: &[&[Token<'_>]]) -> Strength {
    let lower = name.to_ascii_lowercase().replace('_', "");
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["notequal", "notsame", "notbe", "notstrict", "notdeep", "isnot", "areNotEqual"]) {
        let existence = has(&["notnull", "notnone", "notnil"]);
        return if existence { Strength::Existence } else { Strength::Condition };
    }
    if has(&[
        "defined",
        "notnull",
        "notnil",
        "notnone",
        "notempty",
        "instanceof",
        "isinstance",
        "noerror",
        "doesnotthrow",
        "exists",
        "anything",
        "isdefined",
        "doesnotraise",
    ]) {
        return Strength::Existence;
    }
    if has(&[
        "equal",
        "same",
        "throws",
        "raises",
        "snapshot",
        "match",
        "tobe",
        "calledwith",
        "length",
        "erroris",
        "isnone",
        "isnull",
        "nil",
        "areequal",
        "called",
        "eq",
        "json",
        "countequal",
    ]) && !has(&["greater", "less", "closeto", "truthy", "falsy", "tobecalled", "matchregex"])
    {
        return match parts {
            [a, b, ..] => equality(a, b),
            [_] | [] => Strength::Exact,
        };
    }
    match (lower.as_str(), parts) {
        (
            "assert" | "assertion" | "true" | "asserttrue" | "istrue" | "ok" | "assertfalse"
            | "false" | "isfalse" | "truthy" | "falsy",
            [first, ..],
        ) => condition(first),
        _ => Strength::Condition,
    }
}

/// `assertX(...)`, `self.assertX(...)`, `assert.X(...)`, `require.X(t, ...)`.
fn method(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    let defines = |word: &Token<'_>| matches!(word.text, "def" | "func" | "fun" | "void" | "new");
    if !token.is_word() || before(tokens, at).is_some_and(defines) {
        return None;
    }
    let object =
        matches!(token.text, "assert" | "require" | "Assert" | "Assertions" | "assertions");
    if object && next_is(tokens, at, ".") && tokens.get(at + 3).is_some_and(|t| t.is("(")) {
        let (inner, end) = inside(tokens, at + 3);
        let mut parts = arguments(inner);
        if matches!(parts.first(), Some([only]) if matches!(only.text, "t" | "b" | "tb")) {
            parts.remove(0);
        }
        return Some((end, by_name(tokens[at + 2].text, &parts)));
    }
    let raises = matches!(token.text, "raises" | "fail") && !token.first;
    if !(is_named(token.text) || raises) || !next_is(tokens, at, "(") {
        return None;
    }
    let (inner, end) = inside(tokens, at + 1);
    let parts = arguments(inner);
    let broad =
        |part: &[Token<'_>]| matches!(part, [t] if matches!(t.text, "Exception" | "BaseException"));
    if token.text.to_ascii_lowercase().contains("raises") {
        let any = parts.first().is_some_and(|first| broad(first));
        let end = guarded_block(tokens, at, end);
        return Some((end, if any { Strength::Condition } else { Strength::Exact }));
    }
    Some((end, by_name(token.text, &parts)))
}

/// End of the block of `with raises(...):`, which says what must fail; of one without assertions.
fn guarded_block(tokens: &[Token<'_>], at: usize, end: usize) -> usize {
    if !tokens.get(end).is_some_and(|token| token.is(":")) {
        return end;
    }
    let indent = tokens[at].indent;
    let behind = (end..tokens.len()).find(|i| tokens[*i].first && tokens[*i].indent <= indent);
    let behind = behind.unwrap_or(tokens.len());
    let nested = part(tokens, end, behind).iter().any(|token| token.text.starts_with("assert"));
    if nested { end } else { behind }
}

fn script(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    let member = before(tokens, at).is_some_and(|before| before.is("."));
    if token.is("should") && member {
        let end = (at..tokens.len()).find(|i| tokens[*i].is(";") || *i > at && tokens[*i].first);
        return Some((end.unwrap_or(tokens.len()), Strength::Condition));
    }
    if token.is("t") && next_is(tokens, at, ".") && tokens.get(at + 3).is_some_and(|t| t.is("(")) {
        let name = tokens[at + 2].text;
        let known = [
            "is",
            "not",
            "deepEqual",
            "equal",
            "strictEqual",
            "same",
            "ok",
            "truthy",
            "true",
            "false",
            "throws",
            "throwsAsync",
            "rejects",
            "match",
            "regex",
            "like",
            "assert",
        ];
        if known.contains(&name) {
            let (inner, end) = inside(tokens, at + 3);
            let parts = arguments(inner);
            let name = if name == "is" { "equal" } else { name };
            return Some((end, by_name(name, &parts)));
        }
        return None;
    }
    if member {
        return None;
    }
    if token.is("expect") && next_is(tokens, at, ".") {
        return None;
    }
    chained(tokens, at).or_else(|| method(tokens, at))
}

/// `expect(a).not.toBe(b)`, `assertThat(a).isEqualTo(b)`.
fn chained(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    if !matches!(tokens[at].text, "expect" | "expectTypeOf" | "assertThat")
        || !next_is(tokens, at, "(")
    {
        return None;
    }
    let (subject, mut end) = inside(tokens, at + 1);
    let (mut matcher, mut argument): (Option<&str>, &[Token<'_>]) = (None, &[]);
    let mut negated = false;
    while tokens.get(end).is_some_and(|token| token.is(".")) {
        let Some(word) = tokens.get(end + 1) else { break };
        negated |= word.is("not") || word.is("never");
        matcher = Some(word.text);
        end += 2;
        if tokens.get(end).is_some_and(|token| token.is("(")) {
            (argument, end) = inside(tokens, end);
        }
    }
    let Some(matcher) = matcher else {
        let parts = arguments(subject);
        // `assertThat(actual, is(expected))` of Hamcrest; an `expect` without a matcher checks nothing.
        let hamcrest = tokens[at].is("assertThat") && parts.len() > 1;
        return Some((end, if hamcrest { Strength::Exact } else { Strength::Nothing }));
    };
    Some((end, matched(subject, matcher, argument, negated)))
}

fn matched(
    subject: &[Token<'_>],
    matcher: &str,
    argument: &[Token<'_>],
    negated: bool,
) -> Strength {
    let constant = is_constant(subject);
    if constant && (argument.is_empty() || is_constant(argument))
        || !argument.is_empty() && !negated && joined(subject) == joined(argument)
    {
        return Strength::Nothing;
    }
    let exact = [
        "toThrow",
        "toBeNull",
        "toBeUndefined",
        "isNull",
        "isEmpty",
        "toMatchSnapshot",
        "toMatchInlineSnapshot",
        "toHaveLength",
        "toHaveBeenCalledTimes",
        "toHaveBeenCalledWith",
        "toMatchObject",
    ];
    let equal = [
        "toBe",
        "toEqual",
        "toStrictEqual",
        "isEqualTo",
        "isSameAs",
        "toThrowError",
        "eq",
        "equal",
        "equals",
        "eql",
        "deepEqual",
    ];
    let existence = ["toBeDefined", "isNotNull", "toBeInstanceOf", "isInstanceOf", "exist"];
    let strength = if existence.contains(&matcher) {
        Strength::Existence
    } else if equal.contains(&matcher) && !argument.is_empty() {
        equality(subject, argument)
    } else if exact.contains(&matcher) {
        Strength::Exact
    } else if matches!(matcher, "toBeTruthy" | "isTrue" | "toBeFalsy" | "isFalse") {
        condition(subject)
    } else {
        Strength::Condition
    };
    match (negated, matcher) {
        (true, "toBeNull" | "toBeUndefined" | "toThrow") => Strength::Existence,
        (true, _) => strength.min(Strength::Condition),
        (false, _) => strength,
    }
}

/// End of a logical line: the first token of another line outside of all delimiters.
pub(super) fn line_end(tokens: &[Token<'_>], at: usize) -> usize {
    let mut depth = 0_i32;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        if index > at && depth <= 0 && (token.first || token.is(";")) {
            return index;
        }
        if !token.is_literal() && matches!(token.text, "(" | "[" | "{") {
            depth += 1;
        } else if !token.is_literal() && matches!(token.text, ")" | "]" | "}") {
            depth -= 1;
        }
    }
    tokens.len()
}

fn python(tokens: &[Token<'_>], at: usize) -> Option<Found> {
    let token = tokens[at];
    let starts = token.first || before(tokens, at).is_some_and(|b| b.is(":") || b.is(";"));
    if !token.is("assert") || !starts {
        return None;
    }
    let end = line_end(tokens, at);
    let parts = arguments(part(tokens, at + 1, end));
    Some((end, parts.first().map_or(Strength::Nothing, |first| condition(first))))
}

#[cfg(test)]
#[path = "assertion_tests.rs"]
mod tests;
