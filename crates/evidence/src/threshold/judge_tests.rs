//! Every rule met, missed by one, and without the data that it needs.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write;

use super::super::rule::Minimum;
use super::{ChangedLines, Coverage, Measure, Measured, PathRule, Rules, Shortfall, judge};
use crate::coverage::parse_lcov;
use crate::freshness::Unusable;
use crate::threshold::Verdict;

fn coverage(files: &[(&str, u32, u32)]) -> Coverage {
    let mut text = String::new();
    for (path, hit, found) in files {
        let count = |line| u32::from(line <= *hit);
        writeln!(text, "SF:{path}").unwrap();
        for line in 1..=*found {
            writeln!(text, "DA:{line},{}", count(line)).unwrap();
        }
        text.push_str("end_of_record\n");
    }
    parse_lcov(text.as_bytes()).unwrap()
}

fn lines(basis_points: u32) -> Minimum {
    Minimum { measure: Measure::Lines, basis_points }
}

fn verdict(rules: &Rules, here: &Coverage, base: Option<&Coverage>) -> Vec<Shortfall> {
    let changed = ChangedLines::default();
    judge(rules, Measured { coverage: here, base, changed: &changed }).shortfalls
}

#[test]
fn total_is_met_exactly_or_names_the_worst_files() {
    let here = coverage(&[("a", 8, 10), ("b", 10, 10), ("c", 2, 5)]);
    let rules = |points| Rules { total: vec![lines(points)], ..Rules::default() };
    assert_eq!(verdict(&rules(8_000), &here, None), []);
    let found = verdict(&rules(8_001), &here, None);
    let [Shortfall::Total { worst, minimum: 8_001, .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    let named: Vec<&str> = worst.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(named, ["c", "a"]);
    assert_eq!(worst[0].missed_lines, [3, 4, 5]);
}

#[test]
fn what_is_not_counted_fails() {
    let branches = Minimum { measure: Measure::Branches, basis_points: 0 };
    let rules = Rules { total: vec![branches], ..Rules::default() };
    let measure = Measure::Branches;
    let here = coverage(&[("a", 1, 1)]);
    assert_eq!(verdict(&rules, &here, None), [Shortfall::NotCounted { measure }]);
    assert_eq!(verdict(&rules, &Coverage::default(), None), [Shortfall::NothingCovered]);
    assert_eq!(verdict(&Rules::default(), &Coverage::default(), None), []);
    assert!(!Verdict::without_report(Unusable::Missing).is_pass());
}

#[test]
fn files_of_a_pattern_are_judged_one_by_one() {
    let rule = |pattern| PathRule::new(pattern, vec![lines(9_000)]).unwrap();
    let rules = |pattern| Rules { files: vec![rule(pattern)], ..Rules::default() };
    let here = coverage(&[("src/core/a.rs", 1, 2), ("src/core/b.rs", 9, 10), ("src/c.rs", 0, 9)]);
    let found = verdict(&rules("src/core/**"), &here, None);
    let [Shortfall::Files { files, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((files.len(), files[0].path.as_str()), (1, "src/core/a.rs"));
    let none = verdict(&rules("lib/**"), &here, None);
    assert!(matches!(none.as_slice(), [Shortfall::NoSuchFiles { .. }]));
    assert!(PathRule::new("src/{a", Vec::new()).is_err());
}

#[test]
fn fall_below_the_base_names_the_files_that_lost() {
    let base = coverage(&[("a", 10, 10), ("b", 0, 10)]);
    let here = coverage(&[("a", 9, 10), ("b", 0, 10)]);
    let rules = |points| Rules { may_fall: vec![lines(points)], ..Rules::default() };
    assert_eq!(verdict(&rules(0), &base, Some(&base)), []);
    assert_eq!(verdict(&rules(500), &here, Some(&base)), []);
    let found = verdict(&rules(499), &here, Some(&base));
    let [Shortfall::Fell { worst, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((worst.len(), worst[0].path.as_str()), (1, "a"));
    let measure = Measure::Lines;
    assert_eq!(verdict(&rules(0), &here, None), [Shortfall::NoBase { measure }]);
    assert_eq!(
        verdict(&rules(0), &here, Some(&Coverage::default())),
        [Shortfall::NoBase { measure }]
    );
}

#[test]
fn changed_lines_count_where_there_is_code() {
    let here = coverage(&[("a", 3, 6)]);
    let rules = Rules { changed_lines: Some(5_000), ..Rules::default() };
    let judged = |lines: &[u32]| {
        let set = lines.iter().copied().collect();
        let changed = ChangedLines([("a".to_owned(), set)].into_iter().collect());
        judge(&rules, Measured { coverage: &here, base: None, changed: &changed })
    };
    assert!(judged(&[3, 4, 90]).is_pass());
    assert!(judged(&[90]).is_pass());
    let elsewhere = coverage(&[("/build/a", 6, 6)]);
    let changed = ChangedLines([("a".to_owned(), [3].into())].into_iter().collect());
    let measured = Measured { coverage: &elsewhere, base: None, changed: &changed };
    let found = judge(&rules, measured).shortfalls;
    assert!(matches!(found.as_slice(), [Shortfall::PathsElsewhere { .. }]), "{found:?}");
    let found = judged(&[3, 4, 5]).shortfalls;
    let [Shortfall::ChangedLines { worst, .. }] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(worst[0].missed_lines, [4, 5]);
}
