//! Puts all findings over a change together, in order of place.

use super::change::{Change, ChangedFile};
use super::conventions::{Conventions, InvalidConvention};
use super::finding::{Finding, Kind};
use super::gate_file::Gates;
use super::{compare, config_file, script_line, threshold_line, touched};

/// Comments that leave code out of coverage.
const EXCLUSIONS: &[&str] = &[
    "pragma: no cover",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "LCOV_EXCL",
    "GCOV_EXCL",
    "coverage(off)",
    "nocov",
    "tarpaulin_include",
    "tarpaulin::skip",
];

/// What a change did to the checks that judge it, the same for the same change.
///
/// # Errors
/// A declared path that is no pattern.
pub fn inspect(
    change: &Change,
    conventions: &Conventions,
) -> Result<Vec<Finding>, InvalidConvention> {
    let gates = Gates::of(&change.gates);
    let mut findings = touched::touched(change, conventions, &gates)?;
    findings.extend(compare::compare(change, conventions));
    for file in change.files.iter().filter(|file| file.differs()) {
        findings.extend(config_file::compare(file, conventions, &gates));
        findings.extend(script_line::compare(file, conventions, &gates));
        findings.extend(threshold_line::compare(file, conventions, &gates));
        findings.extend(exclusions(file));
    }
    findings.sort();
    findings.dedup();
    Ok(findings)
}

fn exclusions(file: &ChangedFile) -> Option<Finding> {
    let marked = |text: &str| -> usize {
        text.lines().filter(|line| EXCLUSIONS.iter().any(|mark| line.contains(mark))).count()
    };
    let (old, new) = (marked(file.old_text()), marked(file.new_text()));
    let lines = file.new_text().lines().zip(1_u32..);
    let mut found = lines.filter(|(line, _)| EXCLUSIONS.iter().any(|mark| line.contains(mark)));
    let (text, line) = found.next().filter(|_| new > old)?;
    Some(Finding::new(Kind::ExcludedFromCoverage, file.path(), line, text))
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
