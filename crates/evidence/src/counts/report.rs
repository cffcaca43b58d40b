//! The counts of a test report, recomputed from its cases, and where its own totals say otherwise.

use std::fmt;

/// Failed cases and contradictions that are kept by name; the counts count all.
pub(super) const LISTED_MAX: usize = 100;

/// How a case ended; the worse is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseOutcome {
    /// It passed.
    Passed,
    /// It failed first and passed when it was repeated.
    Flaky,
    /// It did not run.
    Skipped,
    /// It broke before it could check.
    Errored,
    /// A check of it failed.
    Failed,
}

/// Numbers of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Cases that passed, flaky ones included.
    pub passed: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Cases and suites that broke.
    pub errored: u64,
    /// Cases that did not run.
    pub skipped: u64,
    /// Cases among `passed` that failed first.
    pub flaky: u64,
}

impl Counts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.passed + self.failed + self.errored + self.skipped
    }

    /// Cases that ran.
    pub fn ran(&self) -> u64 {
        self.passed + self.failed + self.errored
    }

    pub(crate) fn count(&mut self, outcome: CaseOutcome) {
        match outcome {
            CaseOutcome::Passed => self.passed += 1,
            CaseOutcome::Flaky => {
                self.passed += 1;
                self.flaky += 1;
            }
            CaseOutcome::Failed => self.failed += 1,
            CaseOutcome::Errored => self.errored += 1,
            CaseOutcome::Skipped => self.skipped += 1,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.errored += other.errored;
        self.skipped += other.skipped;
        self.flaky += other.flaky;
    }
}

/// A case that failed or broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Suite or class, and case.
    pub name: String,
    /// [`CaseOutcome::Failed`] or [`CaseOutcome::Errored`].
    pub outcome: CaseOutcome,
    /// Its one-line message, as far as the report has one.
    pub message: String,
    /// Line of the report, from 1.
    pub line: usize,
}

/// What a total of a report counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// All cases.
    Tests,
    /// Failed ones.
    Failures,
    /// Broken ones.
    Errors,
    /// Cases that did not run.
    Skipped,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tests => "tests",
            Self::Failures => "failures",
            Self::Errors => "errors",
            Self::Skipped => "skipped",
        })
    }
}

/// A total that the cases do not bear out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{suite}` claims {claimed} {claim}, its cases say {counted}")]
pub struct Contradiction {
    /// The suite, or the document.
    pub suite: String,
    /// Line of the report, from 1.
    pub line: usize,
    /// What the total counts.
    pub claim: Claim,
    /// The total.
    pub claimed: u64,
    /// What the cases add up to.
    pub counted: u64,
}

/// What a test report says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestReport {
    /// Recomputed from the cases.
    pub counts: Counts,
    /// The first hundred that failed, in order.
    pub failures: Vec<Failure>,
    /// Totals that disagree with the cases.
    pub contradictions: Vec<Contradiction>,
}

impl TestReport {
    /// Whether something ran, nothing failed and the report agrees with itself.
    pub fn is_success(&self) -> bool {
        let Counts { failed, errored, .. } = self.counts;
        self.counts.ran() > 0 && failed == 0 && errored == 0 && self.contradictions.is_empty()
    }

    /// Adds another report of the same gate.
    pub fn merge(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.contradictions.extend(other.contradictions);
        let room = LISTED_MAX.saturating_sub(self.failures.len());
        self.failures.extend(other.failures.into_iter().take(room));
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        if self.failures.len() < LISTED_MAX {
            self.failures.push(failure);
        }
    }
}
