//! The counts of a test run, read from the lines that cargo's test harness prints. Starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Lines of a failed test's output that the end of the run repeats: so many of its first and of its last ones.
const REPEATED: (usize, usize) = (60, 60);

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: usize,
    ignored: usize,
    skips: Vec<Skip>,
    failures: BTreeSet<String>,
    outputs: BTreeMap<String, Vec<String>>,
    part: Part,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Skip {
    test: String,
    why: String,
}

/// Where in the harness's report a line stands.
#[derive(Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Progress,
    Successes {
        test: String,
    },
    Failures {
        test: String,
    },
}

impl Tally {
    /// Takes one line. False when it is the output of a test that passed, which nobody wants to read.
    pub(crate) fn read(&mut self, line: &str) -> bool {
        match line {
            "successes:" => self.part = Part::Successes { test: String::new() },
            "failures:" => self.part = Part::Failures { test: String::new() },
            _ => {}
        }
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.part = Part::Progress;
            self.count(counts);
            return true;
        }
        match &mut self.part {
            Part::Successes { test } => {
                if let Some(name) = header(line) {
                    name.clone_into(test);
                    return false;
                }
                let Some(why) = line.strip_prefix("skipped: ") else { return false };
                let skip = Skip { test: test.clone(), why: why.to_owned() };
                if !self.skips.contains(&skip) {
                    self.skips.push(skip);
                }
                true
            }
            Part::Progress => {
                if let Some(name) =
                    line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"))
                {
                    self.failures.insert(name.to_owned());
                }
                true
            }
            Part::Failures { test } => {
                if let Some(name) = header(line) {
                    name.clone_into(test);
                } else if !test.is_empty() {
                    self.outputs.entry(test.clone()).or_default().push(line.to_owned());
                }
                true
            }
        }
    }

    fn count(&mut self, counts: &str) {
        for part in counts.split(['.', ';']) {
            let Some((number, what)) = part.trim().split_once(' ') else { continue };
            let number = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    /// How many failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed
    }

    /// Skips whose test is not named at the start of a line of `allowed`.
    pub(crate) fn unexpected_skips(&self, allowed: &str) -> Vec<String> {
        let names: Vec<&str> =
            allowed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        self.skips
            .iter()
            .filter(|skip| !names.contains(&skip.test.as_str()))
            .map(|skip| format!("{}: {}", skip.test, skip.why))
            .collect()
    }
}

fn header(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Last in the log, where whoever has its end alone finds it.
        for (test, lines) in &self.outputs {
            writeln!(f, "output of {test}:")?;
            let (first, last) = REPEATED;
            let left_out = lines.len().saturating_sub(first + last);
            for line in lines.iter().take(first) {
                writeln!(f, "    {line}")?;
            }
            if left_out > 0 {
                writeln!(f, "    ... {left_out} lines, which stand above")?;
            }
            for line in lines.iter().skip(first.max(lines.len().saturating_sub(last))) {
                writeln!(f, "    {line}")?;
            }
        }
        for failure in &self.failures {
            writeln!(f, "failed: {failure}")?;
        }
        for Skip { test, why } in &self.skips {
            writeln!(f, "skipped: {test}: {why}")?;
        }
        let skipped = self.skips.len();
        let passed = self.passed.saturating_sub(skipped);
        write!(f, "{passed} passed, {} failed, {} skipped", self.failed, skipped + self.ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    const REPORT: &str = "\
running 3 tests
test a ... ok
test b ... ok
test c ... FAILED

successes:

---- b stdout ----
noise
skipped: no namespaces here

successes:
    a
    b

failures:

---- c stdout ----
kept

failures:
    c

test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn report_is_counted_and_the_noise_of_passed_tests_left_out() {
        let mut tally = Tally::default();
        let kept: Vec<&str> = REPORT.lines().filter(|line| tally.read(line)).collect();
        assert!(!kept.contains(&"noise"));
        assert!(kept.contains(&"kept"));
        assert!(kept.contains(&"test c ... FAILED"));
        let text = tally.to_string();
        assert!(text.ends_with("5 passed, 1 failed, 2 skipped"), "{text}");
        assert!(text.contains("skipped: b: no namespaces here"));
        assert!(text.contains("failed: c"));
        assert!(text.contains("output of c:\n    kept\n"), "{text}");
    }

    #[test]
    fn long_output_of_a_failure_is_repeated_from_both_its_ends() {
        let mut tally = Tally::default();
        for line in ["failures:", "---- c stdout ----"] {
            tally.read(line);
        }
        for line in 0..500 {
            tally.read(&format!("line {line}"));
        }
        let text = tally.to_string();
        assert!(
            text.contains("    line 59\n    ... 380 lines, which stand above\n    line 440\n"),
            "{text}"
        );
        assert!(text.contains("    line 499\n"));
    }

    #[test]
    fn skip_is_unexpected_unless_its_test_is_listed() {
        let mut tally = Tally::default();
        for line in REPORT.lines() {
            tally.read(line);
        }
        assert_eq!(tally.unexpected_skips("b needs namespaces\n"), Vec::<String>::new());
        assert_eq!(tally.unexpected_skips("c\n"), ["b: no namespaces here"]);
    }
}
