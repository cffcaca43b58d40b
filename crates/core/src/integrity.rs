//! What a change may do to the checks that judge it, and what is done about each kind of that.

use std::fmt;

use crate::plan::{IntegrityPolicy, PlanSpec};
use crate::run::Finding;

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
    /// The branch went on after the commit that the gates looked at: what came later does not land.
    CommitsAfterGate,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 28] = [
        Self::DeletedTestFile,
        Self::DeletedTest,
        Self::SkippedTest,
        Self::FocusedTest,
        Self::EmptiedTest,
        Self::RemovedAssertions,
        Self::WeakenedAssertion,
        Self::Tautology,
        Self::SwallowedFailure,
        Self::ForcedSuccess,
        Self::UnreachedTests,
        Self::RestructuredTest,
        Self::ChangedExpectation,
        Self::DeletedTestData,
        Self::LoweredThreshold,
        Self::LoweredLint,
        Self::ChangedTimeout,
        Self::ChangedGate,
        Self::ChangedTestConfig,
        Self::ChangedCi,
        Self::ChangedSnapshot,
        Self::ChangedHook,
        Self::IgnoredFailure,
        Self::BypassedHook,
        Self::ExcludedTests,
        Self::ExcludedFromCoverage,
        Self::OutsideDeclaredPaths,
        Self::CommitsAfterGate,
    ];

    /// Its name: a key of the config and a word of documents.
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
            Self::CommitsAfterGate => "commits_after_gate",
        }
    }

    /// The kind of this name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether a landing waits for a person because of it, when nothing else is said.
    pub fn stops(self) -> bool {
        match self {
            Self::RestructuredTest
            | Self::ChangedExpectation
            | Self::DeletedTestData
            | Self::ChangedTimeout
            | Self::ExcludedFromCoverage => false,
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
            | Self::OutsideDeclaredPaths
            | Self::CommitsAfterGate => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PlanSpec {
    /// What is done about a finding: what is said of its kind, else what is said of all. Of the kinds
    /// that a person is only shown nobody is asked unless that is said of the kind itself.
    pub fn integrity_of(&self, finding: &Finding) -> IntegrityPolicy {
        let kind = Kind::parse(&finding.kind);
        let own = kind.and_then(|kind| self.integrity_by_kind.get(&kind)).copied();
        match (own, self.integrity) {
            (Some(own), _) => own,
            (None, IntegrityPolicy::Person) if !finding.stops => IntegrityPolicy::Note,
            (None, general) => general,
        }
    }

    /// Whether commits are looked at at all.
    pub fn inspects(&self) -> bool {
        let mut all = self.integrity_by_kind.values().chain([&self.integrity]);
        all.any(|policy| *policy != IntegrityPolicy::Off)
    }
}
