//! Tests of Rust: functions under an attribute that ends in `test`, and modules that hold them.

use super::super::expression::{matching, part};
use super::super::language::Language;
use super::super::lexer::Token;
use super::Outline;
use super::block::{Block, Mark, Marks, Module};

/// What the attributes above an item say.
#[derive(Default)]
struct Attributes {
    marks: Marks,
    is_test: bool,
    cfg_test: bool,
    disabled: Option<Mark>,
}

pub(super) fn read(tokens: &[Token<'_>]) -> Outline {
    let mut outline = Outline::default();
    let mut attributes = Attributes::default();
    // Ends of modules that a condition keeps out, with its mark.
    let mut around: Vec<(usize, Marks)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        around.retain(|(end, _)| at < *end);
        let token = tokens[at];
        if token.is("#") && tokens.get(at + 1).is_some_and(|next| next.is("[")) {
            let end = matching(tokens, at + 1);
            attributes.take(part(tokens, at + 2, end.saturating_sub(1)));
            at = end;
        } else if token.is("mod") && tokens.get(at + 1).is_some_and(Token::is_word) {
            let above = std::mem::take(&mut attributes);
            let name = tokens[at + 1].text.to_owned();
            let (disabled, for_tests) = (above.disabled.is_some(), above.cfg_test);
            outline.modules.push(Module { name, line: token.line, for_tests, disabled });
            if let (Some(mark), Some(true)) =
                (above.disabled, tokens.get(at + 2).map(|next| next.is("{")))
            {
                let marks = Marks { skip: Some(mark), ..Marks::default() };
                around.push((matching(tokens, at + 2), marks));
            }
            at += 2;
        } else if token.is("fn") && tokens.get(at + 1).is_some_and(Token::is_word) {
            let above = std::mem::take(&mut attributes);
            let Some(open) = body_of(tokens, at) else {
                at += 2;
                continue;
            };
            let end = matching(tokens, open);
            let body = part(tokens, open + 1, end.saturating_sub(1));
            let marks = around.iter().fold(above.marks, |marks, (_, outer)| marks.within(outer));
            let (line, is_test) = (token.line, above.is_test);
            let name = tokens[at + 1].text;
            // `drop(x)` calls no method of that name.
            let method = part(tokens, at + 2, open).iter().any(|token| token.is("self"));
            let name = if method { format!("self::{name}") } else { name.to_owned() };
            let block = Block::new(&name, line, is_test, body, marks, Language::Rust);
            outline.blocks.push(block);
            // Functions within functions are part of them.
            at = end;
        } else {
            let item = ["struct", "enum", "impl", "const", "static", "use", "type", "trait"];
            // `const fn` has its attributes above the `const`.
            let constant = token.is("const") && tokens.get(at + 1).is_some_and(|t| t.is("fn"));
            if !constant && (item.contains(&token.text) || token.is(";") || token.is("}")) {
                attributes = Attributes::default();
            }
            at += 1;
        }
    }
    outline
}

/// The brace that opens a function's body; none of a declaration.
fn body_of(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut index = at + 2;
    while let Some(token) = tokens.get(index) {
        if token.is("{") {
            return Some(index);
        }
        if token.is(";") {
            return None;
        }
        index = if token.is("(") || token.is("[") { matching(tokens, index) } else { index + 1 };
    }
    None
}

impl Attributes {
    fn take(&mut self, inner: &[Token<'_>]) {
        let Some(first) = inner.first() else { return };
        let has = |word: &str| inner.iter().any(|token| token.is(word));
        let path_end = inner.iter().position(|token| token.is("(") || token.is("="));
        let path = &inner[..path_end.unwrap_or(inner.len())];
        let last = path.last().map_or("", |token| token.text);
        let runs =
            ["test", "rstest", "test_case", "case", "quickcheck", "test_log", "bench", "proptest"];
        if runs.contains(&last) && !first.is("cfg") {
            self.is_test = true;
            self.marks.table |= matches!(last, "rstest" | "test_case" | "case");
        }
        let ignored = first.is("ignore") || first.is("cfg_attr") && has("ignore");
        if ignored {
            self.marks.skip = Some(Mark::at(first));
        }
        if first.is("should_panic") {
            self.marks.inverted = Some(Mark::at(first));
        }
        if first.is("cfg") {
            let never = has("any") && inner.len() == 6
                || has("FALSE")
                || has("false")
                || has("not") && has("test");
            let custom =
                !["test", "any", "all", "not", "feature", "unix", "windows", "debug_assertions"]
                    .iter()
                    .any(|known| has(known))
                    && !inner.iter().any(|token| token.text.starts_with("target_"));
            self.cfg_test |= has("test") && !has("not");
            if never || custom {
                self.marks.skip = Some(Mark::at(first));
                self.disabled = Some(Mark::at(first));
            }
        }
    }
}
