//! What a gate is to leave beside its exit code, and what was found of it.
//!
//! A gate passes when it ends with 0 *and* what it promised is there, is of this run of it, and says
//! so. It must not know the formats of reports, or where files lie.

use std::collections::BTreeMap;

/// What a gate is to leave, and what it may do to its checkout.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Promises {
    /// Test reports, as globs below the root of the checkout.
    pub reports: Vec<String>,
    /// Coverage.
    pub coverage: Option<CoverageRule>,
    /// Whether it may change files of the commit. Else its end says nothing about the commit.
    pub may_change: bool,
}

/// What a gate asks of coverage. Shares are basis points: 8000 is 80 %.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CoverageRule {
    /// The report, below the root of the checkout.
    pub file: String,
    /// Least shares of all files together.
    pub least: BTreeMap<Measure, u32>,
    /// Least share of the lines of each file, by a glob of files.
    pub files: BTreeMap<String, u32>,
}

/// What coverage counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Lines with code.
    Lines,
    /// Ways out of a decision.
    Branches,
    /// Functions.
    Functions,
    /// Lines with code among those that the change wrote.
    ChangedLines,
}

/// What a gate left beside its exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// What its test reports count together.
    pub tests: Option<Tests>,
    /// How much was reached, of all files together.
    pub coverage: BTreeMap<Measure, Share>,
    /// Files of the commit that it changed, the first of them.
    pub changed: Vec<String>,
    /// Why the gate does not pass, whatever its exit code says: a sentence each.
    pub problems: Vec<String>,
    /// What the end of its output says without what differs from run to run, as a digest: two gates
    /// that failed for one reason have the same.
    pub digest: Option<String>,
}

/// Counts of test cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tests {
    /// Passed, flaky ones included.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Broke before they could check.
    pub errored: u64,
    /// Did not run.
    pub skipped: u64,
    /// Among `passed`, those that failed first.
    pub flaky: u64,
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    /// How many were reached.
    pub hit: u64,
    /// How many there are.
    pub found: u64,
}

impl Promises {
    /// Whether there are files to read after its end.
    pub fn asks(&self) -> bool {
        !self.reports.is_empty() || self.coverage.is_some()
    }
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Lines, Self::Branches, Self::Functions, Self::ChangedLines];

    /// Its word: a key of the config and of documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Branches => "branches",
            Self::Functions => "functions",
            Self::ChangedLines => "changed_lines",
        }
    }
}

impl Share {
    /// The share as people write it, rounded down.
    pub fn percent(self) -> String {
        let points = u128::from(self.hit) * 10_000;
        match points.checked_div(u128::from(self.found)) {
            Some(points) => format!("{}.{:02} %", points / 100, points % 100),
            None => "of nothing".to_owned(),
        }
    }
}
