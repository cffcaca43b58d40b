//! Sabotage that no diff shows: reports that are old, foreign, missing or empty.

use tidegate_core::ids::Oid;
use tidegate_core::time::WallMs;
use tidegate_evidence::{Expected, Supplied, counts, coverage, threshold, usable};

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

#[test]
fn report_of_an_older_run_or_another_tree_fails_its_gate() {
    let (tree, amended) = (oid('1'), oid('2'));
    let report = b"SF:src/a.rs\nDA:1,1\nend_of_record\n";
    let expected = Expected { started: WallMs(500), tree: &tree };
    let found = |written, tree| Supplied { bytes: report, written: WallMs(written), tree };
    let rules = threshold::Rules { changed_lines: Some(9_000), ..threshold::Rules::default() };
    for supplied in [None, Some(found(499, &tree)), Some(found(500, &amended))] {
        let why = usable(supplied, expected).unwrap_err();
        assert!(!threshold::Verdict::without_report(why).is_pass());
    }
    let coverage =
        coverage::parse_lcov(usable(Some(found(500, &tree)), expected).unwrap()).unwrap();
    let changed = threshold::ChangedLines::default();
    let measured = threshold::Measured { coverage: &coverage, base: None, changed: &changed };
    assert!(threshold::judge(&rules, measured).is_pass());
}

#[test]
fn gate_that_ran_no_test_is_no_success() {
    // Run in the wrong directory, most runners find nothing and end well.
    let nothing = b"<testsuites tests=\"0\"><testsuite name=\"pytest\" tests=\"0\"/></testsuites>";
    assert!(!counts::parse_junit(nothing).unwrap().is_success());
}
