//! Trace files as gcov, llvm-cov, istanbul and lcov 2 write them, and broken ones.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::measure::{Measure, Ratio};
use super::parse;
use crate::error::Problem;

fn ratio(hit: u64, found: u64) -> Ratio {
    Ratio { hit, found }
}

#[test]
fn every_record_of_every_section_counts() {
    // One section per test: the first leaves lines uncovered that the second reaches.
    let text = "TN:unit\nSF:src/a.c\nVER:9f3\nFN:1,open\nFN:8,close\nFNDA:2,open\nFNDA:0,close\n\
        FNF:2\nFNH:1\nBRDA:3,0,0,2\nBRDA:3,0,1,-\nBRF:2\nBRH:1\nDA:1,2,Q2hlY2s\nDA:3,2\nDA:9,0\n\
        LF:3\nLH:2\nend_of_record\nTN:system\nSF:src/a.c\nFN:8,close\nFNDA:1,close\n\
        BRDA:3,0,1,0\nDA:9,1\nDA:11,0\nend_of_record\nTN:\nSF:src/b.c\nDA:1,0\nend_of_record\n";
    let coverage = parse(text.as_bytes()).unwrap();
    assert_eq!(coverage.files.len(), 2);
    let first = &coverage.files["src/a.c"];
    assert_eq!(first.ratio(Measure::Lines), ratio(3, 4));
    assert_eq!(first.ratio(Measure::Branches), ratio(1, 2));
    assert_eq!(first.ratio(Measure::Functions), ratio(2, 2));
    assert_eq!(first.lines[&1], 2);
    assert_eq!(first.missed_lines().collect::<Vec<_>>(), [11]);
    assert_eq!(coverage.ratio(Measure::Lines), ratio(3, 5));
    assert!(coverage.mismatches.is_empty());
}

#[test]
fn records_of_lcov_2_are_understood() {
    let text = "# made by a tool\nSF:/b/a.cc\nFNL:0,3,9\nFNA:0,0,_Z3fooi\nFNA:0,4,_Z3food\n\
        FN:12,15,bar\nFNDA:0,bar\nBRDA:4,e0,1,-\nBRDA:5,0,a < f(b, c),3\nMCDC:4,2,t,1,0,a\n\
        MCF:1\nMCH:0\nDA:3,4\nend_of_record\r\n";
    let coverage = parse(text.as_bytes()).unwrap();
    let file = &coverage.files["/b/a.cc"];
    assert_eq!(file.ratio(Measure::Functions), ratio(1, 2));
    assert_eq!(file.ratio(Measure::Branches), ratio(1, 2));
    assert!(file.functions.contains_key("bar"));
}

#[test]
fn totals_that_claim_more_than_the_entries_are_named_and_do_not_count() {
    let text = "SF:a.js\nDA:1,0\nLF:10\nLH:10\nend_of_record\n";
    let coverage = parse(text.as_bytes()).unwrap();
    assert_eq!(coverage.ratio(Measure::Lines), ratio(0, 1));
    let found: Vec<_> = coverage.mismatches.iter().map(|m| (m.line, m.what, m.counted)).collect();
    assert_eq!(found, [(3, "found", 1), (4, "hit", 0)]);
}

#[test]
fn broken_files_are_refused_with_their_line() {
    let line_of = |text: &str| parse(text.as_bytes()).unwrap_err().at.line;
    assert_eq!(line_of("SF:a\nDA:1,x\nend_of_record\n"), 2);
    assert_eq!(line_of("SF:a\nDA:1,-3\nend_of_record\n"), 2);
    assert_eq!(line_of("TN:\nDA:1,1\n"), 2);
    assert_eq!(line_of("SF:a\nSF:b\n"), 2);
    assert_eq!(line_of("SF:a\nend_of_record\n<html>\n"), 3);
    assert_eq!(line_of("end_of_record\n"), 1);
    let cut = parse(b"SF:a\nDA:1,1\n").unwrap_err();
    assert_eq!(cut.problem, Problem::Truncated("`end_of_record`"));
    assert!(parse(b"").unwrap().is_empty());
}
