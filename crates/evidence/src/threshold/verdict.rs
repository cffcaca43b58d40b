//! What came of comparing coverage with what is asked.

use crate::coverage::{Measure, Ratio};
use crate::error::ReportError;
use crate::freshness::Unusable;

/// A file that keeps a share low.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorstFile {
    /// Its path.
    pub path: String,
    /// What it reached.
    pub ratio: Ratio,
    /// The first lines that did not run, at most ten.
    pub missed_lines: Vec<u32>,
}

/// Something that is asked and was not reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Shortfall {
    /// There is no usable report.
    #[error("{0}")]
    NoReport(Unusable),
    /// The report cannot be read.
    #[error("the report cannot be read: {0}")]
    Unreadable(ReportError),
    /// The report names no line of code.
    #[error("the report covers nothing")]
    NothingCovered,
    /// It cannot be compared with the base, whose coverage is not known.
    #[error("{measure} cannot be compared: the base has no coverage")]
    NoBase {
        /// Of what.
        measure: Measure,
    },
    /// The report says nothing of what is asked.
    #[error("the report counts no {measure}")]
    NotCounted {
        /// Of what.
        measure: Measure,
    },
    /// All files together reach too little.
    #[error("{measure}: {ratio}, at least {} are asked", percent(*minimum))]
    Total {
        /// Of what.
        measure: Measure,
        /// What was reached.
        ratio: Ratio,
        /// In basis points.
        minimum: u32,
        /// The worst files first, at most five.
        worst: Vec<WorstFile>,
    },
    /// Files of a pattern reach too little.
    #[error("{measure} of `{pattern}`: {} files below {}", files.len(), percent(*minimum))]
    Files {
        /// Of what.
        measure: Measure,
        /// The pattern.
        pattern: String,
        /// In basis points.
        minimum: u32,
        /// Those files, the worst first.
        files: Vec<WorstFile>,
    },
    /// A pattern matches no file of the report: what it guards is not measured.
    #[error("no file of the report matches `{pattern}`")]
    NoSuchFiles {
        /// The pattern.
        pattern: String,
    },
    /// The share is lower than that of the base.
    #[error("{measure} fell from {base} to {ratio}, by more than {}", percent(*may_fall))]
    Fell {
        /// Of what.
        measure: Measure,
        /// What was reached.
        ratio: Ratio,
        /// What the base reached.
        base: Ratio,
        /// In basis points.
        may_fall: u32,
        /// Files that lost most, the worst first, at most five.
        worst: Vec<WorstFile>,
    },
    /// All paths of the report are absolute, so that no changed file is found in it.
    #[error("the report names no path of the repository, `{example}` for one")]
    PathsElsewhere {
        /// One of its paths.
        example: String,
    },
    /// Too few of the changed lines ran.
    #[error("changed lines: {ratio}, at least {} are asked", percent(*minimum))]
    ChangedLines {
        /// What was reached.
        ratio: Ratio,
        /// In basis points.
        minimum: u32,
        /// The worst files first, at most five.
        worst: Vec<WorstFile>,
    },
}

/// The share of basis points as people write it.
fn percent(basis_points: u32) -> String {
    format!("{}.{:02} %", basis_points / 100, basis_points % 100)
}

/// What came of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// What was reached of all files together, as far as it is known.
    pub totals: Vec<(Measure, Ratio)>,
    /// What the changed lines reached, where they are known.
    pub changed_lines: Option<Ratio>,
    /// Changed files that the report does not name: without code, or not measured.
    pub unmeasured: Vec<String>,
    /// What fell short; empty when everything was reached.
    pub shortfalls: Vec<Shortfall>,
}

impl Verdict {
    /// Whether everything that is asked was reached.
    pub fn is_pass(&self) -> bool {
        self.shortfalls.is_empty()
    }

    /// The verdict of a gate whose report is not there or not of this run.
    pub fn without_report(why: Unusable) -> Self {
        Self { shortfalls: vec![Shortfall::NoReport(why)], ..Self::default() }
    }

    /// The verdict of a gate whose report cannot be read.
    pub fn unreadable(why: ReportError) -> Self {
        Self { shortfalls: vec![Shortfall::Unreadable(why)], ..Self::default() }
    }
}
