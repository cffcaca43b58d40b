//! `unsafe` only where processes are made, and each with the reason why it is sound.

use super::Finding;
use super::source::Source;

/// Lines above an `unsafe` in which its reason is looked for.
const LINES_ABOVE: usize = 8;

/// `unsafe` in another crate than process, and without a `SAFETY` comment there.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let lines: Vec<&str> = source.text.lines().collect();
    source
        .uses("unsafe")
        .into_iter()
        .filter_map(|line| {
            let message = if !source.is_in("crates/process") {
                "`unsafe` outside of crates/process"
            } else if explained(&lines, line) {
                return None;
            } else {
                "`unsafe` without a SAFETY comment just above"
            };
            Some(Finding::new(&source.path, line, message))
        })
        .collect()
}

/// Whether the statement around `line` (from 1), or the comment above it, says SAFETY.
fn explained(lines: &[&str], line: usize) -> bool {
    let says = |text: &str| text.contains("SAFETY:") || text.contains("# Safety");
    let mut above = lines[..line - 1].iter().rev().take(LINES_ABOVE).map(|line| line.trim());
    says(lines[line - 1])
        || above
            .by_ref()
            .take_while(|text| {
                let comment = text.starts_with("//") || text.starts_with("#[");
                comment || !(text.is_empty() || text.ends_with([';', '}']))
            })
            .any(says)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, check};

    fn number(path: &str, text: &str) -> usize {
        check(&Source::new(Path::new(path), text.to_owned())).len()
    }

    #[test]
    fn block_is_found_unless_it_is_explained_in_process() {
        let bare = "let a = 1;\nlet b = unsafe { f() };\n";
        let explained = "// SAFETY: f has no precondition.\nlet b =\n    unsafe { f() };\n";
        assert_eq!(number("crates/process/src/a.rs", bare), 1);
        assert_eq!(number("crates/process/src/a.rs", explained), 0);
        assert_eq!(number("crates/git/src/a.rs", explained), 1);
        assert_eq!(number("crates/git/src/a.rs", "#![forbid(unsafe_code)]"), 0);
    }
}
