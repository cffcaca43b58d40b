//! The tests of a file and the functions that assert for them, whatever the language.

mod block;
mod braces;
mod indented;
mod rust;
mod script;
mod shell;

pub(super) use block::{Block, Module};

use super::language::Language;
use super::lexer::lex;

/// What a file has of tests.
#[derive(Debug, Clone, Default)]
pub(super) struct Outline {
    /// Tests and the functions beside them.
    pub(super) blocks: Vec<Block>,
    /// Modules that it declares; Rust alone.
    pub(super) modules: Vec<Module>,
}

/// Reads the tests of a file.
pub(super) fn outline(text: &str, language: Language) -> Outline {
    let tokens = lex(text, language);
    match language {
        Language::Rust => rust::read(&tokens),
        Language::Script => script::read(&tokens),
        Language::Python => indented::python(&tokens),
        Language::Ruby => indented::ruby(&tokens),
        Language::Go => braces::go(&tokens, text),
        Language::Java => braces::java(&tokens),
        Language::Shell => shell::read(&tokens),
    }
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
