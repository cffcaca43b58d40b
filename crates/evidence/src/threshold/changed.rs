//! The lines that a change wrote, per file, and which of them ran.

use std::collections::{BTreeMap, BTreeSet};

use crate::coverage::{Coverage, Ratio};

/// Lines of the new content that the change added or altered, from 1, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangedLines(pub BTreeMap<String, BTreeSet<u32>>);

impl ChangedLines {
    /// Reads the hunks of a unified diff of one file, with any number of lines of context.
    ///
    /// Lines outside of hunks are passed over; the bytes of a hunk are counted by its header, so
    /// that content which looks like a header is content.
    pub fn add_unified(&mut self, path: &str, diff: &str) {
        let lines = self.0.entry(path.to_owned()).or_default();
        let (mut at, mut old_left, mut new_left) = (0_u32, 0_u32, 0_u32);
        for line in diff.lines() {
            if old_left == 0 && new_left == 0 {
                if let Some((old, start, new)) = hunk(line) {
                    (at, old_left, new_left) = (start, old, new);
                }
                continue;
            }
            match line.as_bytes().first() {
                Some(b'+') => {
                    lines.insert(at);
                    at += 1;
                    new_left = new_left.saturating_sub(1);
                }
                Some(b'-') => old_left = old_left.saturating_sub(1),
                Some(b'\\') => {}
                Some(_) | None => {
                    at += 1;
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
            }
        }
    }

    /// Whether any line with code was changed, as far as `coverage` knows, and how many ran.
    pub fn covered(&self, coverage: &Coverage) -> Ratio {
        self.0
            .iter()
            .map(|(path, lines)| Self::of_file(coverage, path, lines))
            .fold(Ratio::default(), |a, b| a + b)
    }

    pub(super) fn of_file(coverage: &Coverage, path: &str, lines: &BTreeSet<u32>) -> Ratio {
        let Some(file) = coverage.files.get(path) else { return Ratio::default() };
        let counts = lines.iter().filter_map(|line| file.lines.get(line));
        counts.fold(Ratio::default(), |sum, count| {
            sum + Ratio { hit: u64::from(*count > 0), found: 1 }
        })
    }
}

/// `@@ -a[,b] +c[,d] @@`: lines of the old side, start and lines of the new one.
fn hunk(line: &str) -> Option<(u32, u32, u32)> {
    let body = line.strip_prefix("@@ -")?;
    let (old, rest) = body.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let start = new.split(',').next()?.parse().ok()?;
    Some((count(old)?, start, count(new)?))
}

#[cfg(test)]
mod tests {
    use super::ChangedLines;

    #[test]
    fn added_lines_of_hunks_are_read_by_their_counts() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@ fn a\n keep\n-old\n+new\n\
                    +@@ -9 +9 @@\n keep\n@@ -10 +12,2 @@\n-x\n+y\n+++ z\n\\ No newline at end\n";
        let mut changed = ChangedLines::default();
        changed.add_unified("x", diff);
        assert_eq!(changed.0["x"].iter().copied().collect::<Vec<_>>(), [2, 3, 12, 13]);
    }
}
