//! Code of a test that cannot run, failures that it drops, and ways to end with success.

use super::expression::{joined, matching};
use super::language::Language;
use super::lexer::Token;

/// The tokens of a body that can run: without what follows an unconditional return and without
/// blocks under a condition that never holds.
pub(super) fn living<'a>(body: &[Token<'a>], language: Language) -> Vec<Token<'a>> {
    let mut living = Vec::new();
    let mut depth = 0_i32;
    let mut at = 0;
    let indent = body.iter().filter(|token| token.first).map(|token| token.indent).min();
    while at < body.len() {
        let token = body[at];
        if let Some(end) = never(body, at, language) {
            at = end;
            continue;
        }
        let top = if language.has_braces() {
            depth == 0
        } else {
            token.first && Some(token.indent) == indent
        };
        let starts = at == 0
            || token.first
            || matches!(body[at - 1].text, ";" | "{" | "}") && !body[at - 1].is_literal();
        let leaves = token.is("return") || is_exit(body, at, language);
        if top && starts && leaves && at + 1 < body.len() && !token.is_literal() {
            break;
        }
        if !token.is_literal() {
            match token.text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
        }
        living.push(token);
        at += 1;
    }
    living
}

/// End of a block that never runs.
fn never(body: &[Token<'_>], at: usize, language: Language) -> Option<usize> {
    if !matches!(body[at].text, "if" | "while") || body[at].is_literal() {
        return None;
    }
    let ahead: Vec<&str> = body[at + 1..].iter().take(8).map(|token| token.text).collect();
    let false_word = |word: &&str| matches!(*word, "false" | "False" | "0");
    let plain = ahead.first().is_some_and(false_word);
    let wrapped = ahead.first() == Some(&"(")
        && ahead.get(1).is_some_and(false_word)
        && ahead.get(2) == Some(&")");
    let configured = ahead.starts_with(&["cfg", "!", "(", "any", "(", ")", ")"]);
    if !(plain || wrapped || configured) {
        return None;
    }
    if language.has_braces() {
        let open = (at..body.len().min(at + 12)).find(|index| body[*index].is("{"))?;
        return Some(matching(body, open));
    }
    let start = body[at];
    let behind = (at + 1..body.len()).find(|index| {
        let token = body[*index];
        token.first && token.line > start.line && token.indent <= start.indent
    });
    Some(behind.unwrap_or(body.len()))
}

/// Whether a process ends here with success.
fn is_exit(tokens: &[Token<'_>], at: usize, language: Language) -> bool {
    let ahead: Vec<&str> = tokens[at..].iter().take(8).map(|token| token.text).collect();
    let calls: &[&[&str]] = match language {
        Language::Rust => &[&["process", "::", "exit", "(", "0", ")"]],
        Language::Script => &[&["process", ".", "exit", "(", "0", ")"]],
        Language::Python => &[
            &["sys", ".", "exit", "(", "0", ")"],
            &["sys", ".", "exit", "(", ")"],
            &["os", ".", "_exit", "(", "0", ")"],
            &["pytest", ".", "exit", "("],
        ],
        Language::Go => &[&["os", ".", "Exit", "(", "0", ")"]],
        Language::Java => &[&["System", ".", "exit", "(", "0", ")"]],
        Language::Ruby => &[&["exit", "!"], &["exit", "(", "0", ")"], &["exit", "0"]],
        Language::Shell => &[&["exit", "0"]],
    };
    calls.iter().any(|call| ahead.starts_with(call))
}

/// Lines on which a process ends with success.
pub(super) fn exits(tokens: &[Token<'_>], language: Language) -> Vec<u32> {
    let ends = (0..tokens.len()).filter(|at| is_exit(tokens, *at, language));
    ends.map(|at| tokens[at].line).collect()
}

/// Lines on which a failure is caught and dropped.
pub(super) fn swallows(tokens: &[Token<'_>], language: Language) -> Vec<u32> {
    (0..tokens.len()).filter(|at| drops(tokens, *at, language)).map(|at| tokens[at].line).collect()
}

fn drops(tokens: &[Token<'_>], at: usize, language: Language) -> bool {
    let token = tokens[at];
    match language {
        Language::Rust => token.is("catch_unwind"),
        Language::Python => {
            let idle = |word: &Token<'_>| matches!(word.text, "pass" | "." | "return" | "continue");
            let colon = || (at..tokens.len()).find(|index| tokens[*index].is(":"));
            let drops = || colon().and_then(|at| tokens.get(at + 1)).is_some_and(idle);
            token.is("except") && drops() || token.is("suppress")
        }
        Language::Script | Language::Java => {
            let open = || (at..tokens.len().min(at + 8)).find(|index| tokens[*index].is("{"));
            let empty = |open: usize| tokens.get(open + 1).is_some_and(|next| next.is("}"));
            token.is("catch") && open().is_some_and(empty)
        }
        Language::Go => token.is("recover") && tokens.get(at + 1).is_some_and(|t| t.is("(")),
        Language::Ruby => {
            let next = tokens.get(at + 1..).unwrap_or_default();
            let body = next.iter().find(|t| t.first);
            token.is("rescue") && body.is_some_and(|t| t.is("end") || t.is("nil"))
        }
        Language::Shell => {
            token.is("||") && tokens.get(at + 1).is_some_and(|t| t.is("true") || t.is(":"))
        }
    }
}

/// The text of living tokens.
pub(super) fn text(tokens: &[Token<'_>]) -> String {
    joined(tokens)
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::{Language, living, swallows, text};

    fn left(body: &str, language: Language) -> String {
        text(&living(&lex(body, language), language))
    }

    #[test]
    fn code_behind_a_return_and_under_false_is_dead() {
        assert_eq!(left("a(); return; b();", Language::Rust), "a ( ) ;");
        assert_eq!(left("if x { return; } b();", Language::Go), "if x { return ; } b ( ) ;");
        assert_eq!(left("if (false) { b(); } c();", Language::Script), "c ( ) ;");
        assert_eq!(left("if false { b(); } c();", Language::Rust), "c ( ) ;");
        assert_eq!(left("    a()\n    return\n    b()\n", Language::Python), "a ( )");
        assert_eq!(
            left("    if x:\n        return\n    b()\n", Language::Python),
            "if x : return b ( )"
        );
        assert_eq!(left("    if False:\n        b()\n    c()\n", Language::Python), "c ( )");
    }

    #[test]
    fn dropped_failures_are_found() {
        let number = |text, language| swallows(&lex(text, language), language).len();
        assert_eq!(number("try:\n  a()\nexcept ValueError:\n  pass\n", Language::Python), 1);
        assert_eq!(number("try:\n  a()\nexcept ValueError as e:\n  b(e)\n", Language::Python), 0);
        assert_eq!(number("try { a() } catch (e) {}", Language::Script), 1);
        assert_eq!(number("try { a() } catch (e) { b(e) }", Language::Script), 0);
    }
}
