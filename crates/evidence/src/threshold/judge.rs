//! Compares coverage with what is asked. What is not known fails: nothing passes for want of data.

use std::collections::BTreeSet;

use crate::coverage::{Coverage, FileCoverage, Measure, Ratio};

use super::changed::ChangedLines;
use super::rule::{PathRule, Rules};
use super::verdict::{Shortfall, Verdict, WorstFile};

const WORST_MAX: usize = 5;
const MISSED_LINES_MAX: usize = 10;
const MEASURES: [Measure; 3] = [Measure::Lines, Measure::Branches, Measure::Functions];

/// What was measured. Paths of all parts are relative to the repository's root.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// Coverage of the tree that is judged.
    pub coverage: &'a Coverage,
    /// Coverage of the base, where it is known.
    pub base: Option<&'a Coverage>,
    /// The lines that the change wrote.
    pub changed: &'a ChangedLines,
}

/// Compares what was measured with what is asked.
pub fn judge(rules: &Rules, measured: Measured<'_>) -> Verdict {
    let coverage = measured.coverage;
    let totals = MEASURES.map(|measure| (measure, coverage.ratio(measure)));
    let changed = measured.changed.covered(coverage);
    let mut verdict = Verdict {
        totals: totals.into_iter().filter(|(_, ratio)| ratio.found > 0).collect(),
        changed_lines: (changed.found > 0).then_some(changed),
        unmeasured: unmeasured(measured),
        shortfalls: Vec::new(),
    };
    if coverage.is_empty() && !rules.is_empty() {
        verdict.shortfalls.push(Shortfall::NothingCovered);
        return verdict;
    }
    verdict.shortfalls.extend(total(rules, coverage));
    for rule in &rules.files {
        verdict.shortfalls.extend(files(rule, coverage));
    }
    verdict.shortfalls.extend(fallen(rules, measured));
    verdict.shortfalls.extend(changed_lines(rules, measured, changed));
    verdict
}

fn total(rules: &Rules, coverage: &Coverage) -> Vec<Shortfall> {
    let mut found = Vec::new();
    for minimum in &rules.total {
        let (measure, ratio) = (minimum.measure, coverage.ratio(minimum.measure));
        if ratio.found == 0 {
            found.push(Shortfall::NotCounted { measure });
        } else if !ratio.is_at_least(minimum.basis_points) {
            let minimum = minimum.basis_points;
            let worst = worst(coverage, |_, file| file.ratio(measure));
            found.push(Shortfall::Total { measure, ratio, minimum, worst });
        }
    }
    found
}

fn files(rule: &PathRule, coverage: &Coverage) -> Vec<Shortfall> {
    let pattern = rule.pattern().to_owned();
    let matching = || coverage.files.iter().filter(|(path, _)| rule.matches(path));
    if matching().next().is_none() {
        return vec![Shortfall::NoSuchFiles { pattern }];
    }
    let mut found = Vec::new();
    for minimum in &rule.minimums {
        let measure = minimum.measure;
        let below = matching().filter(|(_, file)| {
            let ratio = file.ratio(measure);
            ratio.found > 0 && !ratio.is_at_least(minimum.basis_points)
        });
        let mut files: Vec<WorstFile> =
            below.map(|(path, file)| worst_file(path, file, file.ratio(measure))).collect();
        if files.is_empty() {
            continue;
        }
        files.sort_by_key(|file| file.ratio.basis_points());
        let (minimum, pattern) = (minimum.basis_points, pattern.clone());
        found.push(Shortfall::Files { measure, pattern, minimum, files });
    }
    found
}

fn fallen(rules: &Rules, measured: Measured<'_>) -> Vec<Shortfall> {
    let mut found = Vec::new();
    for allowed in &rules.may_fall {
        let (measure, may_fall) = (allowed.measure, allowed.basis_points);
        let ratio = measured.coverage.ratio(measure);
        let base = measured.base.map(|base| base.ratio(measure)).filter(|base| base.found > 0);
        let (Some(base), Some(before)) = (base, measured.base) else {
            found.push(Shortfall::NoBase { measure });
            continue;
        };
        if ratio.found == 0 {
            found.push(Shortfall::NotCounted { measure });
        } else if ratio.falls_below(base, may_fall) {
            let mut worst = worst(measured.coverage, |path, file| {
                let here = file.ratio(measure);
                let there = before.files.get(path).map(|file| file.ratio(measure));
                let lost = there.is_none_or(|there| here.falls_below(there, 0));
                if lost { here } else { Ratio::default() }
            });
            worst.truncate(WORST_MAX);
            found.push(Shortfall::Fell { measure, ratio, base, may_fall, worst });
        }
    }
    found
}

fn changed_lines(rules: &Rules, measured: Measured<'_>, ratio: Ratio) -> Option<Shortfall> {
    let minimum = rules.changed_lines?;
    if let Some(example) = elsewhere(measured.coverage) {
        return Some(Shortfall::PathsElsewhere { example });
    }
    // A change that touches no line with code has nothing to cover.
    if ratio.found == 0 || ratio.is_at_least(minimum) {
        return None;
    }
    let nothing = BTreeSet::new();
    let lines_of = |path: &str| measured.changed.0.get(path).unwrap_or(&nothing);
    let mut worst = worst(measured.coverage, |path, _| {
        ChangedLines::of_file(measured.coverage, path, lines_of(path))
    });
    for file in &mut worst {
        let lines = lines_of(&file.path);
        let missed = measured.coverage.files[&file.path].missed_lines();
        file.missed_lines =
            missed.filter(|line| lines.contains(line)).take(MISSED_LINES_MAX).collect();
    }
    Some(Shortfall::ChangedLines { ratio, minimum, worst })
}

/// An example of the report's paths when none lies in the repository.
fn elsewhere(coverage: &Coverage) -> Option<String> {
    let absolute = |path: &String| path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let example = coverage.files.keys().next()?;
    coverage.files.keys().all(absolute).then(|| example.clone())
}

/// Changed files that the report does not name though it names others of their kind.
fn unmeasured(measured: Measured<'_>) -> Vec<String> {
    let files = &measured.coverage.files;
    let extension = |path: &str| path.rsplit_once('.').map(|(_, kind)| kind.to_owned());
    let kinds: BTreeSet<_> = files.keys().filter_map(|path| extension(path)).collect();
    let unknown = |path: &&String| {
        !files.contains_key(*path) && extension(path).is_some_and(|kind| kinds.contains(&kind))
    };
    measured.changed.0.keys().filter(unknown).cloned().collect()
}

/// Files with the most that was missed by what `ratio` says of them.
fn worst(coverage: &Coverage, ratio: impl Fn(&str, &FileCoverage) -> Ratio) -> Vec<WorstFile> {
    let missed = |ratio: Ratio| ratio.found - ratio.hit;
    let all = coverage.files.iter().map(|(path, file)| (path, file, ratio(path, file)));
    let mut all: Vec<_> = all.filter(|(_, _, ratio)| missed(*ratio) > 0).collect();
    all.sort_by_key(|(_, _, ratio)| std::cmp::Reverse(missed(*ratio)));
    all.truncate(WORST_MAX);
    all.into_iter().map(|(path, file, ratio)| worst_file(path, file, ratio)).collect()
}

fn worst_file(path: &str, file: &FileCoverage, ratio: Ratio) -> WorstFile {
    let missed_lines = file.missed_lines().take(MISSED_LINES_MAX).collect();
    WorstFile { path: path.to_owned(), ratio, missed_lines }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
