//! lcov trace files: every record of every section; sections of the same file are merged.

use lcov::Record;
use lcov::record::ParseRecordError;

use crate::error::{Problem, ReportError, text_of};

use super::file::{BranchId, FileCoverage, add};
use super::lcov2;
use super::measure::{Measure, Ratio};
use super::total::{Coverage, FileMismatch};

/// Entries that are read at most.
const ENTRIES_MAX: usize = 20_000_000;
/// Totals that disagree and are kept.
const MISMATCHES_MAX: usize = 100;

/// Reads a trace file. Totals are recomputed from the entries.
///
/// # Errors
/// Bytes that are too many, a line that is no record, a record outside of a file's section, a
/// section that does not end.
pub fn parse(bytes: &[u8]) -> Result<Coverage, ReportError> {
    let text = text_of(bytes)?;
    let mut reading = Reading { coverage: Coverage::default(), section: None, entries: 0 };
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim();
        if !content.is_empty() && !content.starts_with('#') {
            let taken = reading.line(content, index + 1);
            taken.map_err(|problem| ReportError::new(problem, text, offset))?;
        }
        offset += line.len();
    }
    if reading.section.is_some() {
        let problem = Problem::Truncated("`end_of_record`");
        return Err(ReportError::new(problem, text, text.len()));
    }
    Ok(reading.coverage)
}

/// What is read of one file until its `end_of_record`.
struct Section {
    path: String,
    file: FileCoverage,
    claims: Vec<(Measure, &'static str, u64, usize)>,
    names: lcov2::Names,
}

struct Reading {
    coverage: Coverage,
    section: Option<Section>,
    entries: usize,
}

impl Reading {
    fn line(&mut self, content: &str, line: usize) -> Result<(), Problem> {
        if lcov2::is_passed_over(content) {
            return Ok(());
        }
        if let Some(entry) = lcov2::entry(content)? {
            self.entries += 1;
            let section = self.section(content)?;
            section.names.take(entry, &mut section.file);
            return Ok(());
        }
        let record = content.parse::<Record>().map_err(|error| problem_of(content, &error))?;
        self.record(record, content, line)
    }

    fn section(&mut self, content: &str) -> Result<&mut Section, Problem> {
        if self.entries > ENTRIES_MAX {
            return Err(Problem::TooMany(ENTRIES_MAX));
        }
        let outside = || unexpected(content, "`SF` before it");
        self.section.as_mut().ok_or_else(outside)
    }

    fn record(&mut self, record: Record, content: &str, line: usize) -> Result<(), Problem> {
        if let Record::SourceFile { path } = record {
            return self.begin(path.to_string_lossy().into_owned());
        }
        if matches!(record, Record::EndOfRecord) {
            return self.end(content);
        }
        if matches!(record, Record::TestName { .. }) {
            return Ok(());
        }
        self.entry(record, content, line)
    }

    fn entry(&mut self, record: Record, content: &str, line: usize) -> Result<(), Problem> {
        self.entries += 1;
        let section = self.section(content)?;
        let file = &mut section.file;
        let mut claim = |measure, what, number: u32| {
            section.claims.push((measure, what, u64::from(number), line));
        };
        match record {
            Record::FunctionName { name, .. } => {
                file.functions.entry(lcov2::without_end_line(&name)).or_default();
            }
            Record::FunctionData { name, count } => {
                add(file.functions.entry(name).or_default(), count);
            }
            Record::BranchData { line, block, branch, taken } => {
                let (block, branch) = (block.to_string(), branch.to_string());
                let id = BranchId { line, block, branch };
                add(file.branches.entry(id).or_default(), taken.unwrap_or(0));
            }
            Record::LineData { line, count, .. } => add(file.lines.entry(line).or_default(), count),
            Record::FunctionsFound { found } => claim(Measure::Functions, "found", found),
            Record::FunctionsHit { hit } => claim(Measure::Functions, "hit", hit),
            Record::BranchesFound { found } => claim(Measure::Branches, "found", found),
            Record::BranchesHit { hit } => claim(Measure::Branches, "hit", hit),
            Record::LinesFound { found } => claim(Measure::Lines, "found", found),
            Record::LinesHit { hit } => claim(Measure::Lines, "hit", hit),
            Record::TestName { .. } | Record::SourceFile { .. } | Record::EndOfRecord => {}
        }
        Ok(())
    }

    fn begin(&mut self, path: String) -> Result<(), Problem> {
        if self.section.is_some() {
            return Err(unexpected("SF", "`end_of_record`"));
        }
        if path.is_empty() {
            return Err(unexpected("SF:", "a path"));
        }
        let (file, names) = (FileCoverage::default(), lcov2::Names::default());
        self.section = Some(Section { path, file, claims: Vec::new(), names });
        Ok(())
    }

    fn end(&mut self, content: &str) -> Result<(), Problem> {
        let ended = self.section.take().ok_or_else(|| unexpected(content, "`SF`"))?;
        for (measure, what, claimed, line) in ended.claims {
            let Ratio { hit, found } = ended.file.ratio(measure);
            let counted = if what == "hit" { hit } else { found };
            if claimed != counted && self.coverage.mismatches.len() < MISMATCHES_MAX {
                let file = ended.path.clone();
                let mismatch = FileMismatch { file, line, measure, what, claimed, counted };
                self.coverage.mismatches.push(mismatch);
            }
        }
        self.coverage.files.entry(ended.path).or_default().merge(ended.file);
        Ok(())
    }
}

fn unexpected(found: &str, expected: &'static str) -> Problem {
    Problem::Unexpected { found: found.chars().take(60).collect(), expected }
}

fn problem_of(content: &str, error: &ParseRecordError) -> Problem {
    match error {
        ParseRecordError::UnknownRecord => unexpected(content, "a record of lcov"),
        ParseRecordError::FieldNotFound(_)
        | ParseRecordError::TooManyFields
        | ParseRecordError::ParseIntError(..) => {
            let excerpt: String = content.chars().take(60).collect();
            Problem::Malformed(format!("`{excerpt}`: {error}"))
        }
    }
}

#[cfg(test)]
#[path = "lcov_tests.rs"]
mod tests;
