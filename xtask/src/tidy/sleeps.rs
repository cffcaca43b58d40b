//! Tests wait for conditions, never for time: a sleep stands only inside a function that polls until a deadline.

use super::Finding;
use super::source::Source;

/// A sleep in a test whose function knows no deadline.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let lines: Vec<&str> = source.masked.code.lines().collect();
    source
        .uses("sleep(")
        .into_iter()
        .filter(|line| source.is_test(*line) || source.is_in("crates/testkit"))
        .filter(|line| {
            let polls = source.function_at(*line).is_some_and(|function| {
                let body = &lines[function.lines.0 - 1..function.lines.1];
                body.iter().any(|line| line.contains("deadline"))
            });
            !polls
        })
        .map(|line| {
            let message = "a sleep as synchronisation: poll a condition until a `deadline`";
            Finding::new(&source.path, line, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, check};

    #[test]
    fn sleep_without_a_deadline_is_found_in_tests_alone() {
        let bare = "fn a() { sleep(x); }";
        let polls = "fn a() { while now() < deadline { sleep(x); } }";
        let number =
            |path: &str, text: &str| check(&Source::new(Path::new(path), text.to_owned())).len();
        assert_eq!(number("crates/a/tests/b.rs", bare), 1);
        assert_eq!(number("crates/a/tests/b.rs", polls), 0);
        assert_eq!(number("crates/a/src/b.rs", bare), 0);
    }
}
