//! What may stand in one place only: SQL in the store, the start of programs where it is decided how.

use super::Finding;
use super::source::Source;

/// Where programs may be started, tests aside.
const STARTERS: [&str; 5] = [
    "crates/process/src",
    "crates/git/src/std_exec.rs",
    "crates/cli/src/client/start.rs",
    "crates/cli/src/demo",
    "xtask",
];

/// How a literal starts that is a statement of SQL.
const STATEMENTS: [&str; 13] = [
    "SELECT ",
    "INSERT INTO ",
    "INSERT OR ",
    "UPDATE ",
    "DELETE FROM ",
    "CREATE TABLE ",
    "CREATE INDEX ",
    "CREATE UNIQUE ",
    "ALTER TABLE ",
    "DROP TABLE ",
    "BEGIN IMMEDIATE",
    "PRAGMA ",
    "WITH RECURSIVE ",
];

/// SQL outside of the store, and programs started elsewhere than in the places for it.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.is_in("crates/store") && !source.is_in("xtask/src/tidy") {
        for literal in &source.masked.literals {
            let text = literal.text.trim_start().trim_start_matches("\\n").trim_start();
            if STATEMENTS.iter().any(|statement| text.starts_with(statement)) {
                let line = source.line_of(literal.offset);
                findings.push(Finding::new(&source.path, line, "SQL outside of crates/store"));
            }
        }
    }
    let may_start =
        STARTERS.iter().any(|place| source.is_in(place)) || source.is_in("crates/testkit");
    for line in source.uses("Command::new(") {
        if !may_start && !source.is_test(line) {
            let message = "a program started outside of crates/process and the git runner";
            findings.push(Finding::new(&source.path, line, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, check};

    fn number(path: &str, text: &str) -> usize {
        check(&Source::new(Path::new(path), text.to_owned())).len()
    }

    #[test]
    fn statement_outside_of_the_store_is_found() {
        let text = "let a = \"\n  SELECT a FROM b\"; let c = \"SELECTED a\";";
        assert_eq!(number("crates/daemon/src/a.rs", text), 1);
        assert_eq!(number("crates/store/src/a.rs", text), 0);
    }

    #[test]
    fn program_started_elsewhere_is_found_tests_aside() {
        let text = "let a = std::process::Command::new(\"true\");";
        assert_eq!(number("crates/daemon/src/a.rs", text), 1);
        assert_eq!(number("crates/daemon/tests/a.rs", text), 0);
        assert_eq!(number("crates/git/src/std_exec.rs", text), 0);
        assert_eq!(number("crates/git/src/merge.rs", text), 1);
    }
}
