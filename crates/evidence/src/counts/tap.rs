//! TAP, versions 12 to 14: numbered results with directives; subtests are part of their result.

use crate::error::{Problem, ReportError, text_of};

use super::report::{CaseOutcome, Claim, Contradiction, Failure, TestReport};

/// Reads a stream. A plan that the results do not fill is a contradiction; no plan is an error.
///
/// # Errors
/// Bytes that are too many or no TAP: neither a plan nor a result.
pub fn parse(bytes: &[u8]) -> Result<TestReport, ReportError> {
    let text = text_of(bytes)?;
    let mut report = TestReport::default();
    let mut plan = None;
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        let content = line.trim_end();
        if let Some(rest) = content.strip_prefix("1..") {
            plan = Some((planned(rest, text, offset)?, number));
        } else if let Some(reason) = content.strip_prefix("Bail out!") {
            report.counts.count(CaseOutcome::Errored);
            let (name, message) = ("Bail out!".to_owned(), reason.trim().to_owned());
            report.fail(Failure { name, outcome: CaseOutcome::Errored, message, line: number });
        } else if let Some((ok, rest)) = result_of(content) {
            let (description, outcome) = judge(ok, rest);
            report.counts.count(outcome);
            if outcome == CaseOutcome::Failed {
                let message = String::new();
                report.fail(Failure { name: description, outcome, message, line: number });
            }
        }
        offset += line.len();
    }
    let Some((claimed, line)) = plan else {
        return Err(ReportError::new(Problem::Truncated("a plan, `1..N`"), text, text.len()));
    };
    let counted = report.counts.total();
    if claimed != counted {
        let (suite, claim) = ("plan".to_owned(), Claim::Tests);
        report.contradictions.push(Contradiction { suite, line, claim, claimed, counted });
    }
    Ok(report)
}

fn planned(rest: &str, text: &str, offset: usize) -> Result<u64, ReportError> {
    let digits = rest.split('#').next().unwrap_or_default().trim();
    digits.parse().map_err(|_| {
        let (name, value) = ("1..".to_owned(), digits.to_owned());
        ReportError::new(Problem::BadValue { name, value, expected: "number" }, text, offset)
    })
}

/// Whether a line is a result at the top level, and what follows `ok`.
fn result_of(line: &str) -> Option<(bool, &str)> {
    let (ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    (rest.is_empty() || rest.starts_with(' ')).then_some((ok, rest.trim()))
}

fn judge(ok: bool, rest: &str) -> (String, CaseOutcome) {
    let (text, directive) = rest.split_once(" #").unwrap_or_else(|| match rest.strip_prefix('#') {
        Some(directive) => ("", directive),
        None => (rest, ""),
    });
    let text = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let text = text.trim().trim_start_matches("- ").to_owned();
    let directive = directive.trim().to_ascii_lowercase();
    let outcome = if directive.starts_with("skip") || directive.starts_with("todo") {
        CaseOutcome::Skipped
    } else if ok {
        CaseOutcome::Passed
    } else {
        CaseOutcome::Failed
    };
    (text, outcome)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::parse;

    #[test]
    fn results_directives_and_subtests_are_counted_once() {
        let text = "TAP version 14\n1..5\nok 1 - opens\n# Subtest: inner\n    ok 1 - deep\n    1..1\n\
                    not ok 2 - closes # TODO later\nnot ok 3 - sorts\n  ---\n  got: 1\n  ...\n\
                    ok 4 # SKIP no network\nok 5 okay\n";
        let report = parse(text.as_bytes()).unwrap();
        let counts = report.counts;
        assert_eq!((counts.passed, counts.failed, counts.skipped), (2, 1, 2));
        assert_eq!((report.failures[0].name.as_str(), report.failures[0].line), ("sorts", 8));
        assert!(report.contradictions.is_empty());
    }

    #[test]
    fn plan_that_is_not_filled_is_a_contradiction_and_none_is_an_error() {
        let report = parse(b"1..3\nok 1\nok 2\n").unwrap();
        assert_eq!((report.contradictions[0].claimed, report.contradictions[0].counted), (3, 2));
        assert!(!report.is_success());
        assert!(parse(b"all 12 tests passed\n").is_err());
        assert!(!parse(b"1..1\nBail out! no database\n").unwrap().is_success());
    }
}
