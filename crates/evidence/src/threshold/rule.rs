//! What a gate asks of coverage. Shares are basis points: 8000 is 80 %.

use globset::{GlobBuilder, GlobMatcher};

use crate::coverage::Measure;

/// A share that must be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minimum {
    /// Of what.
    pub measure: Measure,
    /// In basis points.
    pub basis_points: u32,
}

/// A pattern that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no pattern of paths: {why}")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Minimums of each file that a pattern matches.
#[derive(Debug, Clone)]
pub struct PathRule {
    pattern: GlobMatcher,
    /// What each of these files must reach, as far as it has any.
    pub minimums: Vec<Minimum>,
}

impl PathRule {
    /// A rule for the files that `pattern` matches; `*` does not cross a `/`, `**` does.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn new(pattern: &str, minimums: Vec<Minimum>) -> Result<Self, InvalidPattern> {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| InvalidPattern {
            pattern: pattern.to_owned(),
            why: error.kind().to_string(),
        })?;
        Ok(Self { pattern: glob.compile_matcher(), minimums })
    }

    /// The pattern as it was written.
    pub fn pattern(&self) -> &str {
        self.pattern.glob().glob()
    }

    /// Whether it is about this file.
    pub fn matches(&self, path: &str) -> bool {
        self.pattern.is_match(path)
    }
}

/// All that a gate asks of coverage.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Of all files together.
    pub total: Vec<Minimum>,
    /// Of single files.
    pub files: Vec<PathRule>,
    /// How far a share may fall below that of the base, in basis points: for each measure named.
    /// A base is then needed.
    pub may_fall: Vec<Minimum>,
    /// Share of the changed lines with code that must have run, in basis points.
    pub changed_lines: Option<u32>,
}

impl Rules {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        let Self { total, files, may_fall, changed_lines } = self;
        total.is_empty() && files.is_empty() && may_fall.is_empty() && changed_lines.is_none()
    }
}
