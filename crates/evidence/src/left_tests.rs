//! Every promise kept, broken and not needed any more, through the formats that fit it.

use std::collections::BTreeMap;

use tidegate_core::evidence::{CoverageRule, Evidence, Measure, Promises, Share, Tests};

use super::{Left, evidence};
use crate::freshness::Unusable;
use crate::threshold::ChangedLines;

const GOOD: &str = "<testsuite name='a' tests='2'><testcase name='x'/><testcase name='y'><skipped/>\
                    </testcase></testsuite>";
const LCOV: &str = "SF:/w/src/a.rs\nDA:1,1\nDA:2,0\nDA:3,4\nend_of_record\n";

type Report = (String, Result<Vec<u8>, Unusable>);

fn report(text: &str) -> Report {
    ("out/a.xml".to_owned(), Ok(text.as_bytes().to_vec()))
}

/// What follows from these reports of a gate that promised reports.
fn of_reports(reports: &[Report], ended_well: bool) -> Evidence {
    let promises = Promises { reports: vec!["out/*.xml".into()], ..Promises::default() };
    let written = ChangedLines::default();
    let (root, output) = ("/w", "said 12");
    let left =
        Left { reports, coverage: None, root, written: &written, changed: &[], output, ended_well };
    evidence(&promises, left)
}

/// What follows from this coverage where so much of the lines and of the changed lines is asked.
fn of_coverage(text: &str, least: &[(Measure, u32)]) -> Evidence {
    let least: BTreeMap<Measure, u32> = least.iter().copied().collect();
    let rule = CoverageRule { file: "lcov.info".into(), least, files: BTreeMap::new() };
    let promises = Promises { coverage: Some(rule), ..Promises::default() };
    let coverage = Ok(text.as_bytes().to_vec());
    let mut written = ChangedLines::default();
    written.0.insert("src/a.rs".into(), [2, 3, 9].into_iter().collect());
    let left = Left {
        reports: &[],
        coverage: Some(&coverage),
        root: "/w",
        written: &written,
        changed: &[],
        output: "",
        ended_well: true,
    };
    evidence(&promises, left)
}

#[test]
fn good_reports_of_both_formats_are_counted_together() {
    let found = of_reports(&[report(GOOD), report("TAP version 13\n1..1\nok 1 - z\n")], true);
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(found.tests, Some(Tests { passed: 2, skipped: 1, ..Tests::default() }));
    assert_eq!(found.digest, None);
}

#[test]
fn reports_that_say_nothing_or_no_fail_a_gate_that_ended_well() {
    let none = "<testsuite name='a' tests='0'/>";
    let failed = "<testsuite name='a'><testcase name='x'><failure/></testcase></testsuite>";
    let liar = "<testsuite name='a' tests='9'><testcase name='x'/></testsuite>";
    for (reports, said) in [
        (
            vec![("out/*.xml".to_owned(), Err(Unusable::Missing))],
            "out/*.xml: the report is missing",
        ),
        (
            vec![("out/a.xml".to_owned(), Err(Unusable::Stale { older_ms: 7 }))],
            "out/a.xml: the report is 7 ms older than the start of the gate",
        ),
        (vec![report(none)], "its reports count no test that ran"),
        (vec![report(failed)], "1 tests did not pass: a x"),
        (vec![report("<testsuite")], "the report out/a.xml cannot be read"),
        (vec![report(liar)], "claims 9 tests"),
    ] {
        let found = of_reports(&reports, true);
        assert!(found.problems.iter().any(|problem| problem.contains(said)), "{said}: {found:?}");
        assert!(found.digest.is_some());
    }
}

#[test]
fn gate_that_broke_before_its_tests_owes_no_report() {
    let found = of_reports(&[("out/*.xml".to_owned(), Err(Unusable::Missing))], false);
    assert_eq!((found.problems, found.tests), (Vec::new(), None));
    assert!(found.digest.is_some());
}

#[test]
fn coverage_is_judged_by_total_and_by_what_the_change_wrote() {
    let fine = of_coverage(LCOV, &[(Measure::Lines, 6_600), (Measure::ChangedLines, 5_000)]);
    assert_eq!(fine.problems, Vec::<String>::new());
    assert_eq!(fine.coverage[&Measure::Lines], Share { hit: 2, found: 3 });
    assert_eq!(fine.coverage[&Measure::ChangedLines], Share { hit: 1, found: 2 });
    assert_eq!(fine.coverage[&Measure::Lines].percent(), "66.66 %");
    for (text, least, said) in [
        (
            LCOV,
            (Measure::Lines, 6_667),
            "at least 66.67 % are asked: src/a.rs 66.66 % (2/3), lines 2",
        ),
        (LCOV, (Measure::Branches, 1), "the report counts no branches"),
        (LCOV, (Measure::ChangedLines, 5_001), "changed lines: 50.00 % (1/2)"),
        ("SF:a\nend_of_record\n", (Measure::Lines, 0), "covers nothing"),
        ("", (Measure::Lines, 0), "covers nothing"),
    ] {
        let found = of_coverage(text, &[least]);
        assert!(found.problems.iter().any(|problem| problem.contains(said)), "{said}: {found:?}");
    }
}

#[test]
fn coverage_without_a_minimum_must_still_cover_something() {
    assert_eq!(of_coverage(LCOV, &[]).problems, Vec::<String>::new());
    assert!(of_coverage("SF:a\nend_of_record\n", &[]).problems[0].contains("covers nothing"));
}

#[test]
fn changed_files_of_the_commit_fail_a_gate_unless_it_may_change_them() {
    let written = ChangedLines::default();
    let changed: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let left = Left {
        reports: &[],
        coverage: None,
        root: "/w",
        written: &written,
        changed: &changed,
        output: "",
        ended_well: true,
    };
    let found = evidence(&Promises::default(), left);
    assert!(found.problems[0].contains("f0, f1, f2, f3, f4 and 25 more"), "{:?}", found.problems);
    assert_eq!(found.changed.len(), 20);
    let may = Promises { may_change: true, ..Promises::default() };
    assert_eq!(evidence(&may, left).problems, Vec::<String>::new());
    let broke = Left { ended_well: false, ..left };
    assert_eq!(evidence(&Promises::default(), broke).problems, Vec::<String>::new());
}
