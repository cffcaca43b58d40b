//! `docs/peer-faults.md` names tests as `FILE#TEST`: each of them exists, and every row names one or says why not.

use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;
use super::source::Source;

const PAGE: &str = "docs/peer-faults.md";
/// How a row begins that the product has no part for.
const NONE: &str = "cannot be expressed: ";

/// Rows without a proof, and proofs that are no tests.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(root.join(PAGE)).with_context(|| PAGE.to_owned())?;
    Ok(findings(&text, sources))
}

fn findings(text: &str, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let is_row = line.starts_with("| ") && !line.starts_with("| row ");
        if !is_row {
            continue;
        }
        let mut find =
            |message: String| findings.push(Finding::new(Path::new(PAGE), number + 1, message));
        let named: Vec<&str> = line.split('`').filter(|part| part.contains(".rs#")).collect();
        if named.is_empty() && !line.contains(NONE) {
            find("a row without a test".to_owned());
        }
        for name in named.into_iter().filter(|name| !is_test(name, sources)) {
            find(format!("no test is called {name}"));
        }
    }
    findings
}

fn is_test(name: &str, sources: &[Source]) -> bool {
    let Some((file, test)) = name.split_once('#') else { return false };
    let source = sources.iter().find(|source| source.path == Path::new(file));
    source.is_some_and(|source| {
        let head = format!("fn {test}(");
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| line.starts_with(&head));
        // Further attributes may stand between.
        at.is_some_and(|at| lines[at.saturating_sub(4)..at].contains(&"#[test]"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, findings};

    #[test]
    fn row_without_a_test_that_exists_is_found() {
        let source = Source::new(
            Path::new("a/b.rs"),
            "#[test]\nfn good() {}\n\n\n\n\nfn help() {}\n".to_owned(),
        );
        let number = |row: &str| findings(row, std::slice::from_ref(&source)).len();
        assert_eq!(number("| F01 | x | y | `a/b.rs#good` |"), 0);
        assert_eq!(number("| F01 | x | y | `a/b.rs#gone` |"), 1);
        assert_eq!(number("| F01 | x | y | `a/b.rs#help` |"), 1);
        assert_eq!(number("| F01 | x | y | |"), 1);
        assert_eq!(number("| F01 | x | | cannot be expressed: there is none |"), 0);
        assert_eq!(number("text"), 0);
    }
}
