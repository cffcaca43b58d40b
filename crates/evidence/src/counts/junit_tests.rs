//! Reports in the dialects of the programs that write them, and reports that lie or attack.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::report::{CaseOutcome, Claim, Counts};
use super::parse;
use crate::error::Problem;

fn counts(xml: &str) -> Counts {
    let report = parse(xml.as_bytes()).unwrap();
    assert_eq!(report.contradictions, [], "{xml}");
    report.counts
}

#[test]
fn nested_suites_add_up_whether_or_not_their_parent_counts_them() {
    let inner = "<testsuite name='b' tests='2' failures='1'><testcase name='x'/>\
                 <testcase name='y' classname='C'><failure message='1 &lt; 2'>at C</failure>\
                 </testcase><system-out>ok &#10; <![CDATA[<failure/>]]></system-out></testsuite>";
    for total in ["tests='3'", "tests='1'", ""] {
        let xml = format!("<testsuite name='a' {total}>{inner}<testcase name='z'/></testsuite>");
        assert_eq!(counts(&xml), Counts { passed: 2, failed: 1, ..Counts::default() });
    }
    let report = parse(format!("<testsuites>{inner}</testsuites>").as_bytes()).unwrap();
    assert_eq!(report.failures[0].name, "C y");
    assert_eq!(report.failures[0].message, "1 < 2");
}

#[test]
fn surefire_repetitions_are_one_case() {
    let xml = "<testsuite name='T' tests='4' failures='1' errors='0' skipped='1' flakes='1'>\
        <properties><property name='java' value='21'/></properties>\
        <testcase name='flaky' time='0.1'><flakyFailure message='m'><stackTrace>s</stackTrace>\
        <system-err>e</system-err></flakyFailure></testcase>\
        <testcase name='bad'><failure message='m' type='E'/><rerunFailure message='m'/>\
        <rerunFailure message='m'/></testcase>\
        <testcase name='off'><skipped message='later'/></testcase><testcase name='good'/>\
        </testsuite>";
    let expected = Counts { passed: 2, failed: 1, skipped: 1, flaky: 1, errored: 0 };
    assert_eq!(counts(xml), expected);
}

#[test]
fn dialects_of_pytest_gtest_and_jest_are_understood() {
    let pytest = "<?xml version=\"1.0\" encoding=\"utf-8\"?><testsuites><testsuite name=\"pytest\" \
        errors=\"1\" failures=\"0\" skipped=\"1\" tests=\"3\" hostname=\"h\"><testcase \
        classname=\"tests.test_a\" name=\"test_one\" time=\"0.01\"/><testcase name=\"test_two\">\
        <skipped type=\"pytest.xfail\" message=\"\"/></testcase><testcase name=\"test_three\">\
        <error message=\"failed on setup\">trace</error></testcase></testsuite></testsuites>";
    let expected = Counts { passed: 1, errored: 1, skipped: 1, ..Counts::default() };
    assert_eq!(counts(pytest), expected);
    let gtest = "<testsuites tests='2' failures='0' disabled='1' errors='0' name='All'>\
        <testsuite name='S' tests='2' disabled='1'><testcase name='A' status='run' \
        result='completed'/><testcase name='B' status='notrun' result='suppressed'/>\
        </testsuite></testsuites>";
    assert_eq!(counts(gtest), Counts { passed: 1, skipped: 1, ..Counts::default() });
    let suite_broke = "<testsuite name='s'><error message='cannot import'/></testsuite>";
    assert_eq!(counts(suite_broke), Counts { errored: 1, ..Counts::default() });
}

#[test]
fn totals_that_the_cases_do_not_bear_out_are_named() {
    let xml = "<testsuites tests='9'>\n<testsuite name='s' failures='1'><testcase/></testsuite></testsuites>";
    let report = parse(xml.as_bytes()).unwrap();
    let found: Vec<_> = report
        .contradictions
        .iter()
        .map(|c| (c.suite.as_str(), c.line, c.claim, c.claimed, c.counted))
        .collect();
    let expected = [("s", 2, Claim::Failures, 1, 0), ("testsuites", 1, Claim::Tests, 9, 1)];
    assert_eq!(found, expected);
    assert!(!report.is_success());
}

#[test]
fn report_without_a_case_is_no_success() {
    assert!(!parse(b"<testsuites/>").unwrap().is_success());
    let skipped = b"<testsuite><testcase name='a'><skipped/></testcase></testsuite>";
    assert!(!parse(skipped).unwrap().is_success());
}

#[test]
fn hostile_and_broken_documents_are_refused_with_their_place() {
    let laughs = "<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]>\n<testsuite>&b;</testsuite>";
    assert_eq!(parse(laughs.as_bytes()).unwrap_err().problem, Problem::Entities);
    let outside = "<!DOCTYPE t [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><testsuite/>";
    assert_eq!(parse(outside.as_bytes()).unwrap_err().problem, Problem::Entities);
    let undefined = parse(b"<testsuite>\n<testcase/>&x;</testsuite>").unwrap_err();
    assert_eq!(undefined.problem, Problem::UndefinedEntity("x".into()));
    assert_eq!(undefined.at.line, 2);
    assert!(parse(b"<testsuite><testcase name='&x;'/></testsuite>").is_err());
    let deep = format!("<testsuites>{}", "<testsuite>".repeat(100_000));
    assert_eq!(parse(deep.as_bytes()).unwrap_err().problem, Problem::TooDeep(256));
    let cut = parse(b"<testsuite><testcase name='a'>").unwrap_err();
    assert!(matches!(cut.problem, Problem::Truncated(_)), "{cut}");
    assert!(matches!(
        parse(b"<html><body/></html>").unwrap_err().problem,
        Problem::Unexpected { .. }
    ));
    assert_eq!(parse(b"<a>\xff").unwrap_err().problem, Problem::NotUtf8);
    assert!(parse(b"<testsuite/><testsuite/>").is_err());
    assert!(parse(b"").is_err());
}

#[test]
fn many_failures_are_counted_and_a_hundred_kept() {
    let xml = format!("<testsuite>{}</testsuite>", "<testcase><failure/></testcase>\n".repeat(500));
    let report = parse(xml.as_bytes()).unwrap();
    assert_eq!((report.counts.failed, report.failures.len()), (500, 100));
    assert!(report.failures.iter().all(|failure| failure.outcome == CaseOutcome::Failed));
}
