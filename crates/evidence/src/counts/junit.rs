//! `JUnit` XML in the dialects in use: surefire, pytest, jest, go-junit-report, nextest, gtest.

use crate::error::{Place, Problem, ReportError, text_of};
use crate::xml::{Element, Step, Walk};

use super::report::{CaseOutcome, Claim, Contradiction, Counts, Failure, LISTED_MAX, TestReport};

/// Cases that are read at most.
const CASES_MAX: usize = 2_000_000;
/// Characters of a message that are kept.
const MESSAGE_CHARS: usize = 300;
const ROOTS: &str = "`testsuites`, `testsuite` or `testrun`";

/// Reads a report. Totals are recomputed from the cases; those that disagree are reported.
///
/// # Errors
/// Bytes that are too many, not XML, hostile, or not of this kind.
pub fn parse(bytes: &[u8]) -> Result<TestReport, ReportError> {
    let text = text_of(bytes)?;
    let mut reading =
        Reading { walk: Walk::new(text), text, report: TestReport::default(), cases: 0 };
    let root = match reading.walk.next()? {
        Step::Open(root) if is_suite(&root.name) => root,
        Step::Open(other) => {
            let problem = Problem::Unexpected { found: other.name, expected: ROOTS };
            return Err(reading.walk.error(problem, other.offset));
        }
        Step::Close | Step::End => {
            return Err(reading.walk.error(Problem::Truncated("a root element"), text.len()));
        }
    };
    let counts = reading.suite(&root)?;
    match reading.walk.next()? {
        Step::End => {}
        Step::Open(Element { offset, name, .. }) => {
            let problem = Problem::Unexpected { found: name, expected: "the end" };
            return Err(reading.walk.error(problem, offset));
        }
        Step::Close => {
            return Err(reading.walk.error(Problem::Malformed("an end too many".into()), 0));
        }
    }
    reading.report.counts = counts.all;
    Ok(reading.report)
}

fn is_suite(name: &str) -> bool {
    matches!(name, "testsuites" | "testsuite" | "testrun")
}

/// Counts of a suite: its own cases, and those of nested suites too.
#[derive(Default)]
struct Tally {
    own: Counts,
    all: Counts,
}

struct Reading<'a> {
    walk: Walk<'a>,
    text: &'a str,
    report: TestReport,
    cases: usize,
}

impl Reading<'_> {
    fn line(&self, offset: usize) -> usize {
        Place::of(self.text, offset).line
    }

    /// Reads a suite to its end. Nested suites are bounded by the depth that the walk allows.
    fn suite(&mut self, suite: &Element) -> Result<Tally, ReportError> {
        let mut tally = Tally::default();
        loop {
            let element = match self.walk.next()? {
                Step::Open(element) => element,
                Step::Close => break,
                Step::End => {
                    let problem = Problem::Truncated("the end of a suite");
                    return Err(self.walk.error(problem, self.text.len()));
                }
            };
            match element.name.as_str() {
                name if is_suite(name) => {
                    let nested = self.suite(&element)?;
                    tally.all.add(&nested.all);
                }
                "testcase" => {
                    let outcome = self.case(suite, &element)?;
                    tally.own.count(outcome);
                    tally.all.count(outcome);
                }
                "error" | "failure" => {
                    // A suite that broke outside of its cases.
                    let name = name_of(suite);
                    self.failed(name, CaseOutcome::Errored, &element);
                    tally.own.count(CaseOutcome::Errored);
                    tally.all.count(CaseOutcome::Errored);
                    self.skip_element()?;
                }
                _ => self.skip_element()?,
            }
        }
        self.compare(suite, &tally);
        Ok(tally)
    }

    fn case(&mut self, suite: &Element, case: &Element) -> Result<CaseOutcome, ReportError> {
        self.cases += 1;
        if self.cases > CASES_MAX {
            return Err(self.walk.error(Problem::TooMany(CASES_MAX), case.offset));
        }
        let mut marks = Marks::of(case);
        let mut reason = None;
        loop {
            match self.walk.next()? {
                Step::Open(child) => {
                    if marks.see(&child.name) {
                        reason = reason.or_else(|| Some(child.clone()));
                    }
                    self.skip_element()?;
                }
                Step::Close => break,
                Step::End => {
                    let problem = Problem::Truncated("the end of a case");
                    return Err(self.walk.error(problem, self.text.len()));
                }
            }
        }
        let outcome = marks.0;
        if matches!(outcome, CaseOutcome::Failed | CaseOutcome::Errored) {
            let group = case.get("classname").map_or_else(|| name_of(suite), str::to_owned);
            let name = format!("{group} {}", case.get("name").unwrap_or("(unnamed)"));
            self.failed(name.trim().to_owned(), outcome, reason.as_ref().unwrap_or(case));
        }
        Ok(outcome)
    }

    fn failed(&mut self, name: String, outcome: CaseOutcome, cause: &Element) {
        // Finding the line walks the text: not for failures that are not kept.
        if self.report.failures.len() >= LISTED_MAX {
            return;
        }
        let message = cause.get("message").or_else(|| cause.get("type")).unwrap_or_default();
        let message = message.lines().next().unwrap_or_default();
        let message = message.chars().take(MESSAGE_CHARS).collect();
        let line = self.line(cause.offset);
        self.report.fail(Failure { name, outcome, message, line });
    }

    /// Passes over the element that was opened last.
    fn skip_element(&mut self) -> Result<(), ReportError> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.walk.next()? {
                Step::Open(_) => depth += 1,
                Step::Close => depth -= 1,
                Step::End => {
                    let problem = Problem::Truncated("the end of an element");
                    return Err(self.walk.error(problem, self.text.len()));
                }
            }
        }
        Ok(())
    }

    /// Compares the totals that a suite claims. Dialects differ in whether nested suites count, and
    /// in whether what broke counts as failed: a total is wrong when no reading of it fits.
    fn compare(&mut self, suite: &Element, tally: &Tally) {
        let number = |name: &str| suite.get(name).and_then(|value| value.trim().parse().ok());
        let skipped = number("skipped").or_else(|| number("skip"));
        let skipped = skipped.or_else(|| number("disabled").filter(|number: &u64| *number > 0));
        let has_errors = suite.get("errors").is_some();
        let claims = [
            (Claim::Tests, number("tests")),
            (Claim::Failures, number("failures")),
            (Claim::Errors, number("errors")),
            (Claim::Skipped, skipped),
        ];
        for (claim, claimed) in claims {
            let Some(claimed) = claimed else { continue };
            let readings: Vec<u64> = [&tally.all, &tally.own]
                .into_iter()
                .flat_map(|counts| possible(claim, counts, has_errors))
                .collect();
            if !readings.contains(&claimed) && self.report.contradictions.len() < LISTED_MAX {
                let line = self.line(suite.offset);
                let (suite, counted) = (name_of(suite), readings[0]);
                let contradiction = Contradiction { suite, line, claim, claimed, counted };
                self.report.contradictions.push(contradiction);
            }
        }
    }
}

/// What a total may mean, the usual meaning first.
fn possible(claim: Claim, counts: &Counts, has_errors: bool) -> Vec<u64> {
    match claim {
        // Some count what ran, and a suite that broke is no test to others.
        Claim::Tests => {
            let (total, ran) = (counts.total(), counts.ran());
            vec![total, ran, total.saturating_sub(counts.errored)]
        }
        Claim::Failures if has_errors => vec![counts.failed],
        Claim::Failures => vec![counts.failed + counts.errored, counts.failed],
        Claim::Errors => vec![counts.errored],
        Claim::Skipped => vec![counts.skipped],
    }
}

fn name_of(suite: &Element) -> String {
    suite.get("name").filter(|name| !name.is_empty()).unwrap_or(&suite.name).to_owned()
}

/// What a case and its children say of it: the worst of it counts.
struct Marks(CaseOutcome);

impl Marks {
    fn of(case: &Element) -> Self {
        let mut marks = Self(CaseOutcome::Passed);
        for name in ["status", "result"] {
            marks.take(match case.get(name).map(str::to_lowercase).as_deref() {
                Some("failed" | "failure") => CaseOutcome::Failed,
                Some("error") => CaseOutcome::Errored,
                Some("skipped" | "notrun" | "disabled" | "ignored" | "suppressed") => {
                    CaseOutcome::Skipped
                }
                Some(_) | None => CaseOutcome::Passed,
            });
        }
        marks
    }

    fn take(&mut self, outcome: CaseOutcome) {
        self.0 = self.0.max(outcome);
    }

    /// Takes a child in; whether it is the cause of a failure.
    fn see(&mut self, name: &str) -> bool {
        match name {
            "failure" => self.take(CaseOutcome::Failed),
            "error" => self.take(CaseOutcome::Errored),
            "skipped" | "skip" | "ignored" => self.take(CaseOutcome::Skipped),
            // `rerunFailure` stands beside the failure itself; these when a repetition passed.
            "flakyFailure" | "flakyError" => self.take(CaseOutcome::Flaky),
            _ => {}
        }
        matches!(name, "failure" | "error")
    }
}

#[cfg(test)]
#[path = "junit_tests.rs"]
mod tests;
