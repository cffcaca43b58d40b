//! How much a condition demands, as far as its tokens show it.

use super::lexer::{Token, TokenKind};

/// How much an assertion demands; the greater, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Strength {
    /// It cannot fail.
    Nothing,
    /// Something is there, or of a kind.
    Existence,
    /// A relation or a predicate holds.
    Condition,
    /// A value is exactly this.
    Exact,
}

const EXISTENCE: &[&str] =
    &["is_ok", "is_some", "is_err", "is_none", "isinstance", "nil", "null", "undefined", "hasattr"];

/// The tokens as one text, for comparison.
pub(super) fn joined(tokens: &[Token<'_>]) -> String {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    texts.join(" ")
}

/// The tokens from `from` up to `to`; none where texts are so broken that these are out of order.
pub(super) fn part<'t, 'a>(tokens: &'t [Token<'a>], from: usize, to: usize) -> &'t [Token<'a>] {
    tokens.get(from..to).unwrap_or_default()
}

/// Index just behind the delimiter that closes the one at `open`.
pub(super) fn matching(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        if token.kind != TokenKind::Sign {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// Splits at a sign or word outside of all delimiters.
pub(super) fn split<'t, 'a>(tokens: &'t [Token<'a>], at: &[&str]) -> Vec<&'t [Token<'a>]> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (index, token) in tokens.iter().enumerate() {
        if token.kind == TokenKind::Sign {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 0 && at.iter().any(|text| token.is(text)) {
            parts.push(&tokens[start..index]);
            start = index + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// Arguments of a call, without what stands behind a trailing comma.
pub(super) fn arguments<'t, 'a>(tokens: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut parts = split(tokens, &[","]);
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    parts
}

/// Whether an expression is a constant.
pub(super) fn is_constant(tokens: &[Token<'_>]) -> bool {
    !tokens.is_empty()
        && tokens.iter().all(|token| {
            token.is_literal()
                || is_bool(token)
                || matches!(token.text, "-" | "!" | "not" | "(" | ")" | "None" | "null" | "nil")
        })
}

fn is_bool(token: &Token<'_>) -> bool {
    matches!(token.text, "true" | "false" | "True" | "False") && token.is_word()
}

fn is_single_bool(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [only] if is_bool(only))
}

fn same(a: &[Token<'_>], b: &[Token<'_>]) -> bool {
    !a.is_empty() && joined(a) == joined(b)
}

/// What comparing two values for being equal demands.
pub(super) fn equality(a: &[Token<'_>], b: &[Token<'_>]) -> Strength {
    if same(a, b) || is_constant(a) && is_constant(b) {
        Strength::Nothing
    } else if is_single_bool(a) || is_single_bool(b) {
        Strength::Condition
    } else {
        Strength::Exact
    }
}

/// What a condition demands.
pub(super) fn condition(tokens: &[Token<'_>]) -> Strength {
    let tokens = unwrapped(tokens);
    if is_constant(tokens) {
        return Strength::Nothing;
    }
    let either = split(tokens, &["||", "or"]);
    if either.len() > 1 {
        let always = either.iter().any(|part| matches!(part, [only] if is_true(only)));
        let parts = either.iter().map(|part| condition(part));
        let weakest = parts.min().unwrap_or(Strength::Nothing);
        return if always { Strength::Nothing } else { weakest.min(Strength::Condition) };
    }
    let both = split(tokens, &["&&", "and"]);
    if both.len() > 1 {
        return both.iter().map(|part| condition(part)).max().unwrap_or(Strength::Nothing);
    }
    if let [a, b] = split(tokens, &["==", "===", "is"]).as_slice() {
        return match b {
            [not, rest @ ..] if not.is("not") && is_constant(rest) => Strength::Existence,
            [not, ..] if not.is("not") => Strength::Condition,
            _ => equality(a, b),
        };
    }
    if let [a, b] = split(tokens, &["!=", "!=="]).as_slice() {
        let existence = is_constant(b) && b.iter().any(Token::is_word);
        return match (same(a, b), existence) {
            (true, _) => Strength::Nothing,
            (_, true) => Strength::Existence,
            (false, false) => Strength::Condition,
        };
    }
    if let [a, b] = split(tokens, &[">=", "<="]).as_slice()
        && same(a, b)
    {
        return Strength::Nothing;
    }
    let exists = tokens.iter().any(|token| EXISTENCE.contains(&token.text));
    if exists { Strength::Existence } else { Strength::Condition }
}

fn is_true(token: &Token<'_>) -> bool {
    matches!(token.text, "true" | "True" | "1") && token.kind != TokenKind::Text
}

/// Without delimiters around all of it.
fn unwrapped<'t, 'a>(mut tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    while tokens.len() > 2 && tokens[0].is("(") && matching(tokens, 0) == tokens.len() {
        tokens = &tokens[1..tokens.len() - 1];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::super::language::Language;
    use super::super::lexer::lex;
    use super::{Strength, condition};

    #[test]
    fn conditions_are_ranked_by_what_they_demand() {
        let of = |text| condition(&lex(text, Language::Python));
        for text in
            ["True", "1", "'x'", "not False", "x == x", "(1 == 1)", "f(x) or True", "a >= a"]
        {
            assert_eq!(of(text), Strength::Nothing, "{text}");
        }
        for text in ["x is not None", "isinstance(x, A)", "x != None"] {
            assert_eq!(of(text), Strength::Existence, "{text}");
        }
        for text in ["x", "x > 3", "f(x, 1)", "a in b", "x == True", "a == 1 or b == 2"] {
            assert_eq!(of(text), Strength::Condition, "{text}");
        }
        for text in ["x == 3", "f(x or True) == 'a'", "x is None", "a == 1 and b"] {
            assert_eq!(of(text), Strength::Exact, "{text}");
        }
    }
}
