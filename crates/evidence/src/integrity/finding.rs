//! What was found in a change, how grave it is, and where it stands.

use std::fmt;

/// What a person has to know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A file of tests is gone, and its tests are nowhere else.
    DeletedTestFile,
    /// A test is gone, and its assertions are nowhere else.
    DeletedTest,
    /// A test that ran is skipped, ignored or expected to fail.
    SkippedTest,
    /// A mark makes the runner leave out every other test.
    FocusedTest,
    /// A test checks nothing any more.
    EmptiedTest,
    /// A test has fewer assertions than before.
    RemovedAssertions,
    /// An assertion accepts more than before.
    WeakenedAssertion,
    /// An assertion that cannot fail.
    Tautology,
    /// A failure inside a test is caught and dropped.
    SwallowedFailure,
    /// A test or check ends its process with success.
    ForcedSuccess,
    /// Tests are there and are no longer compiled or collected.
    UnreachedTests,
    /// A test was rewritten; what it checks seems to be kept.
    RestructuredTest,
    /// An assertion expects something else than before.
    ChangedExpectation,
    /// A file below the tests that holds none was deleted.
    DeletedTestData,
    /// A threshold was lowered or removed.
    LoweredThreshold,
    /// A lint was lowered or switched off.
    LoweredLint,
    /// A time limit of tests was changed.
    ChangedTimeout,
    /// What a gate runs was changed.
    ChangedGate,
    /// The configuration of tests, coverage or lints was changed.
    ChangedTestConfig,
    /// Continuous integration was changed.
    ChangedCi,
    /// A recorded expectation was changed or deleted.
    ChangedSnapshot,
    /// A hook was changed.
    ChangedHook,
    /// The failure of a command is ignored.
    IgnoredFailure,
    /// Hooks are passed by or switched off.
    BypassedHook,
    /// Tests are left out by an option.
    ExcludedTests,
    /// Code is left out of coverage by a comment.
    ExcludedFromCoverage,
    /// A file outside of the paths that the feature declared.
    OutsideDeclaredPaths,
}

impl Kind {
    /// Its name in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DeletedTestFile => "deleted_test_file",
            Self::DeletedTest => "deleted_test",
            Self::SkippedTest => "skipped_test",
            Self::FocusedTest => "focused_test",
            Self::EmptiedTest => "emptied_test",
            Self::RemovedAssertions => "removed_assertions",
            Self::WeakenedAssertion => "weakened_assertion",
            Self::Tautology => "tautology",
            Self::SwallowedFailure => "swallowed_failure",
            Self::ForcedSuccess => "forced_success",
            Self::UnreachedTests => "unreached_tests",
            Self::RestructuredTest => "restructured_test",
            Self::ChangedExpectation => "changed_expectation",
            Self::DeletedTestData => "deleted_test_data",
            Self::LoweredThreshold => "lowered_threshold",
            Self::LoweredLint => "lowered_lint",
            Self::ChangedTimeout => "changed_timeout",
            Self::ChangedGate => "changed_gate",
            Self::ChangedTestConfig => "changed_test_config",
            Self::ChangedCi => "changed_ci",
            Self::ChangedSnapshot => "changed_snapshot",
            Self::ChangedHook => "changed_hook",
            Self::IgnoredFailure => "ignored_failure",
            Self::BypassedHook => "bypassed_hook",
            Self::ExcludedTests => "excluded_tests",
            Self::ExcludedFromCoverage => "excluded_from_coverage",
            Self::OutsideDeclaredPaths => "outside_declared_paths",
        }
    }

    /// How grave it is by itself.
    pub(super) fn severity(self) -> Severity {
        match self {
            Self::RestructuredTest
            | Self::ChangedExpectation
            | Self::DeletedTestData
            | Self::ChangedTimeout
            | Self::ExcludedFromCoverage => Severity::Note,
            Self::DeletedTestFile
            | Self::DeletedTest
            | Self::SkippedTest
            | Self::FocusedTest
            | Self::EmptiedTest
            | Self::RemovedAssertions
            | Self::WeakenedAssertion
            | Self::Tautology
            | Self::SwallowedFailure
            | Self::ForcedSuccess
            | Self::UnreachedTests
            | Self::LoweredThreshold
            | Self::LoweredLint
            | Self::ChangedGate
            | Self::ChangedTestConfig
            | Self::ChangedCi
            | Self::ChangedSnapshot
            | Self::ChangedHook
            | Self::IgnoredFailure
            | Self::BypassedHook
            | Self::ExcludedTests
            | Self::OutsideDeclaredPaths => Severity::Stop,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is shown in the review.
    Note,
    /// Landing waits for a person.
    Stop,
}

/// Characters of an excerpt.
const EXCERPT_CHARS: usize = 160;

/// Something that a person has to know of a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, by its new path where it has one.
    pub path: String,
    /// Line of the new content, or of the old one for what is gone; from 1, 0 for the whole file.
    pub line: u32,
    /// What it is.
    pub kind: Kind,
    /// How grave it is.
    pub severity: Severity,
    /// The line, or what it is about.
    pub excerpt: String,
}

impl Finding {
    pub(super) fn new(kind: Kind, path: &str, line: u32, excerpt: &str) -> Self {
        let (path, severity) = (path.to_owned(), kind.severity());
        let excerpt = excerpt.trim().chars().take(EXCERPT_CHARS).collect();
        Self { path, line, kind, severity, excerpt }
    }

    /// The same, for the review alone.
    pub(super) fn noted(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.path, self.line, self.kind, self.excerpt)
    }
}
