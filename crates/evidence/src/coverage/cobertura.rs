//! Cobertura XML, as coverage.py, gcovr, jest, coverlet and cargo-llvm-cov write it.

use crate::error::{Problem, ReportError, text_of};
use crate::xml::{Element, Step, Walk};

use super::file::{BranchId, FileCoverage};
use super::total::Coverage;

/// Lines that are read at most.
const LINES_MAX: usize = 20_000_000;
/// Ways out of one decision that are believed.
const WAYS_MAX: u32 = 10_000;

/// Reads a report. Rates are not read: they are recomputed from the lines.
///
/// How many ways out of a line's decisions were taken is written, not which: merged reports count
/// the most of one report, which is never too much.
///
/// # Errors
/// Bytes that are too many, not XML, hostile, or not of this kind.
pub fn parse(bytes: &[u8]) -> Result<Coverage, ReportError> {
    let text = text_of(bytes)?;
    let mut reading = Reading { walk: Walk::new(text), ..Reading::new(text) };
    reading.document(text)?;
    Ok(reading.coverage)
}

struct Reading<'a> {
    walk: Walk<'a>,
    coverage: Coverage,
    /// Names of the elements that are open.
    open: Vec<String>,
    /// File of the class that is open.
    file: Option<String>,
    /// Method that is open: name, and whether a line of it ran.
    method: Option<(String, u64)>,
    lines: usize,
}

impl<'a> Reading<'a> {
    fn new(text: &'a str) -> Self {
        let (walk, coverage) = (Walk::new(text), Coverage::default());
        Self { walk, coverage, open: Vec::new(), file: None, method: None, lines: 0 }
    }

    fn document(&mut self, text: &str) -> Result<(), ReportError> {
        loop {
            match self.walk.next()? {
                Step::Open(element) => {
                    if self.open.is_empty() && element.name != "coverage" {
                        let (found, offset) = (element.name, element.offset);
                        let problem = Problem::Unexpected { found, expected: "`coverage`" };
                        return Err(self.walk.error(problem, offset));
                    }
                    self.begin(&element)?;
                    self.open.push(element.name);
                }
                Step::Close => self.end(),
                Step::End if self.coverage.files.is_empty() && text.trim().is_empty() => {
                    return Err(self.walk.error(Problem::Truncated("`coverage`"), text.len()));
                }
                Step::End => return Ok(()),
            }
        }
    }

    fn begin(&mut self, element: &Element) -> Result<(), ReportError> {
        match element.name.as_str() {
            "coverage" if self.open.is_empty() && element.get("lines-valid").is_none() => {
                // Clover has the same root and none of these.
                let rate = element.get("line-rate").map(|_| ());
                rate.ok_or_else(|| self.lacks("coverage", "line-rate", element))
            }
            "class" => {
                let name = element.get("filename").filter(|name| !name.is_empty());
                let name = name.ok_or_else(|| self.lacks("class", "filename", element))?;
                self.coverage.files.entry(name.to_owned()).or_default();
                self.file = Some(name.to_owned());
                Ok(())
            }
            "method" => {
                let name = element.get("name").unwrap_or_default();
                let name = format!("{name}{}", element.get("signature").unwrap_or_default());
                self.method = Some((name, 0));
                Ok(())
            }
            "line" => self.line(element),
            _ => Ok(()),
        }
    }

    fn line(&mut self, element: &Element) -> Result<(), ReportError> {
        self.lines += 1;
        if self.lines > LINES_MAX {
            return Err(self.walk.error(Problem::TooMany(LINES_MAX), element.offset));
        }
        let number = self.value(element, "number")?;
        let hits = self.value(element, "hits")?;
        let line = u32::try_from(number).map_err(|_| self.bad("number", "line", element))?;
        if let Some((_, reached)) = &mut self.method {
            *reached = (*reached).max(hits);
        }
        let conditions = match element.get("condition-coverage") {
            Some(text) => Some(
                conditions(text)
                    .ok_or_else(|| self.bad("condition-coverage", "`N% (TAKEN/ALL)`", element))?,
            ),
            None => None,
        };
        let Some(file) = self.file.as_ref().and_then(|file| self.coverage.files.get_mut(file))
        else {
            let (found, expected) = ("line".to_owned(), "`class` around it");
            let problem = Problem::Unexpected { found, expected };
            return Err(self.walk.error(problem, element.offset));
        };
        // A line of a method stands a second time in its class.
        let count = file.lines.entry(line).or_default();
        *count = (*count).max(hits);
        if let Some((taken, all)) = conditions {
            take_ways(file, line, taken, all);
        }
        Ok(())
    }

    fn end(&mut self) {
        let name = self.open.pop();
        match name.as_deref() {
            Some("class") => self.file = None,
            Some("method") => {
                let file = self.file.as_ref().and_then(|file| self.coverage.files.get_mut(file));
                if let (Some((name, reached)), Some(file)) = (self.method.take(), file) {
                    let count = file.functions.entry(name).or_default();
                    *count = (*count).max(reached);
                }
            }
            _ => {}
        }
    }

    fn value(&self, element: &Element, name: &'static str) -> Result<u64, ReportError> {
        let value = element.get(name).ok_or_else(|| self.lacks("line", name, element))?;
        value.trim().parse().map_err(|_| self.bad(name, "number", element))
    }

    fn lacks(&self, what: &'static str, attribute: &'static str, at: &Element) -> ReportError {
        self.walk.error(Problem::NoAttribute { element: what, attribute }, at.offset)
    }

    fn bad(&self, name: &str, expected: &'static str, at: &Element) -> ReportError {
        let value = at.get(name).unwrap_or_default().chars().take(60).collect();
        let problem = Problem::BadValue { name: name.to_owned(), value, expected };
        self.walk.error(problem, at.offset)
    }
}

/// `50% (1/2)`: taken and all.
fn conditions(text: &str) -> Option<(u32, u32)> {
    let (_, counts) = text.split_once('(')?;
    let (taken, all) = counts.trim_end().strip_suffix(')')?.split_once('/')?;
    let (taken, all) = (taken.trim().parse().ok()?, all.trim().parse().ok()?);
    (taken <= all && all <= WAYS_MAX).then_some((taken, all))
}

fn take_ways(file: &mut FileCoverage, line: u32, taken: u32, all: u32) {
    for way in 0..all {
        let branch = format!("{way:05}");
        let id = BranchId { line, block: "0".to_owned(), branch };
        let count = file.branches.entry(id).or_default();
        *count = (*count).max(u64::from(way < taken));
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::parse;
    use crate::coverage::{Measure, Ratio};
    use crate::error::Problem;

    const HEAD: &str = "<?xml version=\"1.0\" ?>\n<!DOCTYPE coverage SYSTEM \
        'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>\n";

    fn report(classes: &str) -> String {
        format!(
            "{HEAD}<coverage line-rate=\"1\" branch-rate=\"1\" lines-valid=\"9\" version=\"7\">\
             <sources><source>/b</source></sources><packages><package name=\"p\"><classes>\
             {classes}</classes></package></packages></coverage>"
        )
    }

    #[test]
    fn lines_branches_and_methods_are_counted_once_per_file() {
        let text = report(
            "<class name='A' filename='src/a.py'><methods><method name='f' signature='()V'>\
             <lines><line number='2' hits='0'/></lines></method><method name='g' signature=''>\
             <lines><line number='5' hits='3'/></lines></method></methods><lines>\
             <line number='2' hits='0'/><line number='5' hits='3' branch='true' \
             condition-coverage='50% (1/2)'><conditions><condition number='0' type='jump' \
             coverage='50%'/></conditions></line></lines></class>\
             <class name='A$1' filename='src/a.py'><lines><line number='9' hits='1'/></lines>\
             </class>",
        );
        let coverage = parse(text.as_bytes()).unwrap();
        assert_eq!(coverage.files.len(), 1);
        assert_eq!(coverage.ratio(Measure::Lines), Ratio { hit: 2, found: 3 });
        assert_eq!(coverage.ratio(Measure::Branches), Ratio { hit: 1, found: 2 });
        assert_eq!(coverage.ratio(Measure::Functions), Ratio { hit: 1, found: 2 });
    }

    #[test]
    fn broken_and_hostile_reports_are_refused() {
        let problem = |text: &str| parse(text.as_bytes()).unwrap_err().problem;
        let hostile = "<!DOCTYPE coverage [<!ENTITY x SYSTEM 'file:///x'>]><coverage/>";
        assert_eq!(problem(hostile), Problem::Entities);
        let clover = "<coverage generated='1'><project/></coverage>";
        assert!(matches!(problem(clover), Problem::NoAttribute { .. }));
        let bad =
            report("<class filename='a'><lines><line number='1' hits='many'/></lines></class>");
        assert!(matches!(problem(&bad), Problem::BadValue { .. }));
        let more = "<line number='1' hits='1' condition-coverage='200% (4/2)'/>";
        assert!(matches!(
            problem(&report(&format!("<class filename='a'><lines>{more}</lines></class>"))),
            Problem::BadValue { .. }
        ));
        assert!(matches!(
            problem(&report("<line number='1' hits='1'/>")),
            Problem::Unexpected { .. }
        ));
        assert!(matches!(problem("<testsuites/>"), Problem::Unexpected { .. }));
        assert!(parse(b" ").is_err());
    }
}
