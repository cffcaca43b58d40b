//! Coverage of all files of a report, and of several reports together.

use std::collections::BTreeMap;

use super::file::FileCoverage;
use super::measure::{Measure, Ratio};

/// A total of a report that its own entries do not bear out. The entries count, not the total.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{file}` claims {claimed} of {measure} {what}, its entries say {counted}")]
pub struct FileMismatch {
    /// The file.
    pub file: String,
    /// Line of the report, from 1.
    pub line: usize,
    /// What is counted.
    pub measure: Measure,
    /// `found` or `hit`.
    pub what: &'static str,
    /// The total.
    pub claimed: u64,
    /// What the entries add up to.
    pub counted: u64,
}

/// Coverage per file, by the path that the report names, made relative where it lies below a root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The files, by path.
    pub files: BTreeMap<String, FileCoverage>,
    /// Totals that disagree with the entries, for people: tools count templates and macros
    /// differently in the two places.
    pub mismatches: Vec<FileMismatch>,
}

impl Coverage {
    /// Counts over all files.
    pub fn ratio(&self, measure: Measure) -> Ratio {
        self.files.values().map(|file| file.ratio(measure)).fold(Ratio::default(), |a, b| a + b)
    }

    /// Whether it says nothing at all of any line.
    pub fn is_empty(&self) -> bool {
        self.ratio(Measure::Lines).found == 0
    }

    /// Adds another report.
    pub fn merge(&mut self, other: Self) {
        for (path, file) in other.files {
            self.files.entry(path).or_default().merge(file);
        }
        self.mismatches.extend(other.mismatches);
    }

    /// The same with paths relative to `root`, the directory that the gate ran in. Paths that lie
    /// elsewhere stay as they are; two that become one are merged.
    #[must_use]
    pub fn relative_to(self, root: &str) -> Self {
        let mut relative = Self { mismatches: self.mismatches, ..Self::default() };
        for (path, file) in self.files {
            let path = relative_path(&path, root);
            relative.files.entry(path).or_default().merge(file);
        }
        relative
    }
}

fn relative_path(path: &str, root: &str) -> String {
    let root = root.trim_end_matches('/');
    let path = path.replace('\\', "/");
    let below = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let path = if root.is_empty() { path.as_str() } else { below.unwrap_or(&path) };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::{Coverage, FileCoverage, Measure, Ratio};

    #[test]
    fn spellings_of_one_file_are_merged_below_the_root() {
        let file = |line, count| FileCoverage {
            lines: [(line, count)].into_iter().collect(),
            ..FileCoverage::default()
        };
        let files = [
            ("/build/app/src/a.rs".to_owned(), file(1, 0)),
            ("./src/x/../a.rs".to_owned(), file(1, 2)),
            ("/usr/include/b.h".to_owned(), file(9, 0)),
        ];
        let coverage = Coverage { files: files.into_iter().collect(), mismatches: Vec::new() };
        let relative = coverage.relative_to("/build/app/");
        let paths: Vec<&str> = relative.files.keys().map(String::as_str).collect();
        assert_eq!(paths, ["/usr/include/b.h", "src/a.rs"]);
        assert_eq!(relative.ratio(Measure::Lines), Ratio { hit: 1, found: 2 });
    }
}
