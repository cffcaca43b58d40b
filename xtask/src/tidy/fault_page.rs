//! The page of faults names the tests that inject them: each of those names must be one of a test.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;
use super::source::Source;

/// The page.
const PAGE: &str = "docs/faults.md";
/// A name with at least so many underscores is meant to be a test's.
const UNDERSCORES: usize = 3;

/// Names on the page that no function of the workspace has.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let page =
        std::fs::read_to_string(root.join(PAGE)).context("cannot read the page of faults")?;
    let functions: BTreeSet<&str> = sources.iter().flat_map(functions).collect();
    Ok(unknown(&page, &functions))
}

fn functions(source: &Source) -> impl Iterator<Item = &str> {
    let found = source.masked.code.split("fn ").skip(1);
    found.filter_map(|rest| rest.split('(').next()).map(str::trim)
}

fn unknown(page: &str, functions: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in page.lines().enumerate() {
        // Every second part of a line stands between backticks.
        for name in line.split('`').skip(1).step_by(2) {
            let is_name = name.chars().all(|letter| {
                letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit()
            });
            let is_test = is_name && name.matches('_').count() >= UNDERSCORES;
            if is_test && !functions.contains(name) {
                let message = format!("there is no test `{name}`");
                findings.push(Finding::new(Path::new(PAGE), number + 1, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn test_that_is_named_and_missing_is_found() {
        let functions = ["storm_of_signals_ends"].into();
        let page = "`storm_of_signals_ends`; `cargo xtask sim`\n| `storm_that_was_renamed` |";
        let findings = unknown(page, &functions);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].to_string().contains("faults.md:2: there is no test"));
    }
}
