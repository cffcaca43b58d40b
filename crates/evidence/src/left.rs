//! All that a gate left, put together: counts, shares, and why the gate does not pass in spite of
//! its exit code. What was promised and is not there fails the gate, however it ended.

use std::collections::BTreeMap;

use tidegate_core::evidence::{CoverageRule, Evidence, Measure as Asked, Promises, Share, Tests};

use crate::counts::{CaseOutcome, TestReport, parse_junit, parse_tap};
use crate::coverage::{Coverage, Measure, Ratio, parse_cobertura, parse_lcov};
use crate::error::ReportError;
use crate::fingerprint::fingerprint;
use crate::freshness::Unusable;
use crate::threshold::{
    ChangedLines, Measured, Minimum, PathRule, Rules, Shortfall, WorstFile, judge,
};

/// Failed tests and files below a minimum that are named in one problem.
const NAMED_MAX: usize = 5;
/// Problems that are kept of one gate.
const PROBLEMS_MAX: usize = 50;
/// Files that a gate changed which are kept by name.
const CHANGED_MAX: usize = 20;

/// What was found of a gate, as bytes.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// The test reports by path, or by pattern where no file matches it.
    pub reports: &'a [(String, Result<Vec<u8>, Unusable>)],
    /// The coverage report, when one was promised.
    pub coverage: Option<&'a Result<Vec<u8>, Unusable>>,
    /// The directory that the gate ran in.
    pub root: &'a str,
    /// The lines that the change wrote.
    pub written: &'a ChangedLines,
    /// Files of the commit that differ in the checkout now.
    pub changed: &'a [String],
    /// The end of its output.
    pub output: &'a str,
    /// Whether it ended with code 0.
    pub ended_well: bool,
}

/// What a gate left, and what is wrong with it.
pub fn evidence(promises: &Promises, left: Left<'_>) -> Evidence {
    let mut problems = Vec::new();
    let tests = tests(left, &mut problems);
    let coverage = match (&promises.coverage, left.coverage) {
        (Some(rule), Some(report)) => coverage(rule, report, left, &mut problems),
        (Some(_) | None, _) => BTreeMap::new(),
    };
    if left.ended_well && !promises.may_change && !left.changed.is_empty() {
        let names = named(left.changed.iter().map(String::as_str));
        problems.push(format!("it changed files of the commit that it is to judge: {names}"));
    }
    problems.truncate(PROBLEMS_MAX);
    let changed = left.changed.iter().take(CHANGED_MAX).cloned().collect();
    let passes = left.ended_well && problems.is_empty();
    let digest = (!passes).then(|| fingerprint(left.output, left.root));
    Evidence { tests, coverage, changed, problems, digest }
}

fn tests(left: Left<'_>, problems: &mut Vec<String>) -> Option<Tests> {
    let mut all: Option<TestReport> = None;
    for (path, bytes) in left.reports {
        let read = match bytes {
            Ok(bytes) => {
                report(bytes).map_err(|why| format!("the report {path} cannot be read: {why}"))
            }
            // A gate that broke before its tests has said enough.
            Err(_) if !left.ended_well => continue,
            Err(why) => Err(format!("{path}: {why}")),
        };
        match read {
            Ok(report) => all.get_or_insert_default().merge(report),
            Err(why) => problems.push(why),
        }
    }
    let all = all?;
    let counts = all.counts;
    if counts.ran() == 0 && left.ended_well {
        problems.push("its reports count no test that ran".to_owned());
    }
    if counts.failed + counts.errored > 0 {
        let failed = all.failures.iter().map(|failure| {
            let how = if failure.outcome == CaseOutcome::Errored { " (broke)" } else { "" };
            format!("{}{how}", failure.name)
        });
        let failed: Vec<String> = failed.collect();
        let names = named(failed.iter().map(String::as_str));
        problems.push(format!("{} tests did not pass: {names}", counts.failed + counts.errored));
    }
    problems.extend(all.contradictions.iter().take(NAMED_MAX).map(ToString::to_string));
    Some(Tests {
        passed: counts.passed,
        failed: counts.failed,
        errored: counts.errored,
        skipped: counts.skipped,
        flaky: counts.flaky,
    })
}

/// The XML of `JUnit`, else TAP: told by the first character.
fn report(bytes: &[u8]) -> Result<TestReport, ReportError> {
    if is_xml(bytes) { parse_junit(bytes) } else { parse_tap(bytes) }
}

fn is_xml(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    text.trim_ascii_start().starts_with(b"<")
}

fn coverage(
    rule: &CoverageRule,
    report: &Result<Vec<u8>, Unusable>,
    left: Left<'_>,
    problems: &mut Vec<String>,
) -> BTreeMap<Asked, Share> {
    let file = &rule.file;
    let read = match report {
        Ok(bytes) if is_xml(bytes) => parse_cobertura(bytes),
        Ok(bytes) => parse_lcov(bytes),
        Err(_) if !left.ended_well => return BTreeMap::new(),
        Err(why) => {
            problems.push(format!("{file}: {why}"));
            return BTreeMap::new();
        }
    };
    let coverage = match read {
        Ok(coverage) => coverage.relative_to(left.root),
        Err(why) => {
            problems.push(format!("the coverage {file} cannot be read: {why}"));
            return BTreeMap::new();
        }
    };
    let rules = match rules(rule) {
        Ok(rules) => rules,
        Err(why) => {
            problems.push(why);
            return BTreeMap::new();
        }
    };
    if coverage.is_empty() && rules.is_empty() {
        problems.push(format!("{file}: {}", Shortfall::NothingCovered));
    }
    let measured = Measured { coverage: &coverage, base: None, changed: left.written };
    let verdict = judge(&rules, measured);
    problems.extend(verdict.shortfalls.iter().map(|shortfall| told(file, shortfall)));
    shares(&coverage, verdict.changed_lines)
}

fn shares(coverage: &Coverage, changed: Option<Ratio>) -> BTreeMap<Asked, Share> {
    let of = |ratio: Ratio| Share { hit: ratio.hit, found: ratio.found };
    let measures = [
        (Asked::Lines, Measure::Lines),
        (Asked::Branches, Measure::Branches),
        (Asked::Functions, Measure::Functions),
    ];
    let totals = measures.map(|(asked, measure)| (asked, coverage.ratio(measure)));
    let totals = totals.into_iter().filter(|(_, ratio)| ratio.found > 0);
    let changed = changed.map(|ratio| (Asked::ChangedLines, ratio));
    totals.chain(changed).map(|(asked, ratio)| (asked, of(ratio))).collect()
}

fn rules(rule: &CoverageRule) -> Result<Rules, String> {
    let total = rule.least.iter().filter_map(|(asked, points)| {
        let measure = match asked {
            Asked::Lines => Measure::Lines,
            Asked::Branches => Measure::Branches,
            Asked::Functions => Measure::Functions,
            Asked::ChangedLines => return None,
        };
        Some(Minimum { measure, basis_points: *points })
    });
    let files = rule.files.iter().map(|(pattern, points)| {
        let minimum = Minimum { measure: Measure::Lines, basis_points: *points };
        PathRule::new(pattern, vec![minimum]).map_err(|error| error.to_string())
    });
    Ok(Rules {
        total: total.collect(),
        files: files.collect::<Result<_, _>>()?,
        may_fall: Vec::new(),
        changed_lines: rule.least.get(&Asked::ChangedLines).copied(),
    })
}

/// A shortfall with the files that cause it.
fn told(file: &str, shortfall: &Shortfall) -> String {
    let worst: &[WorstFile] = match shortfall {
        Shortfall::Total { worst, .. }
        | Shortfall::Fell { worst, .. }
        | Shortfall::ChangedLines { worst, .. } => worst,
        Shortfall::Files { files, .. } => files,
        Shortfall::NoReport(_)
        | Shortfall::Unreadable(_)
        | Shortfall::NothingCovered
        | Shortfall::NoBase { .. }
        | Shortfall::NotCounted { .. }
        | Shortfall::NoSuchFiles { .. }
        | Shortfall::PathsElsewhere { .. } => &[],
    };
    let told = worst.iter().map(|file| {
        let lines: Vec<String> = file.missed_lines.iter().map(u32::to_string).collect();
        match lines.as_slice() {
            [] => format!("{} {}", file.path, file.ratio),
            lines => format!("{} {}, lines {}", file.path, file.ratio, lines.join(" ")),
        }
    });
    let told: Vec<String> = told.take(NAMED_MAX).collect();
    match told.as_slice() {
        [] => format!("{file}: {shortfall}"),
        told => format!("{file}: {shortfall}: {}", told.join("; ")),
    }
}

/// The first of some names, and how many more there are.
fn named<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    let shown: Vec<&str> = names.clone().take(NAMED_MAX).collect();
    match names.count().saturating_sub(NAMED_MAX) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
#[path = "left_tests.rs"]
mod tests;
