//! Numbers and levels in configuration that were lowered: coverage, lints, time limits.

use std::collections::BTreeMap;

use super::change::ChangedFile;
use super::conventions::Conventions;
use super::finding::{Finding, Kind};
use super::gate_file::Gates;
use super::language::Language;
use super::lexer::lex;

/// Keys of which less is weaker.
const FLOORS: &[&str] = &[
    "fail_under",
    "fail-under",
    "failunder",
    "threshold",
    "branches",
    "functions",
    "statements",
    "lines",
    "minimum",
    "min_coverage",
    "mincoverage",
    "minimum_coverage",
    "target",
];
/// Keys of which more is weaker.
const CEILINGS: &[&str] =
    &["max-warnings", "max_warnings", "maxwarnings", "retries", "max-complexity", "complexity"];

/// Findings over one file.
pub(super) fn compare(
    file: &ChangedFile,
    conventions: &Conventions,
    gates: &Gates,
) -> Vec<Finding> {
    let path = file.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    if Language::of(path, file.new_text()) == Some(Language::Rust) {
        return rust_lints(file);
    }
    let judges =
        ["package.json", "pyproject.toml", "setup.cfg", "Cargo.toml", "Makefile", "pom.xml"];
    let judges = judges.contains(&name)
        || conventions.is_config(path)
        || conventions.is_ci(path)
        || conventions.is_hook(path)
        || gates.runs(path);
    if !judges || file.old.is_none() || file.new.is_none() {
        return Vec::new();
    }
    let mut findings = numbers(file);
    findings.extend(levels(file));
    findings
}

/// A key with its numbers in order, each with its line.
type Numbers = BTreeMap<String, Vec<(u64, u32, String)>>;

fn read_numbers(text: &str) -> Numbers {
    let mut found = Numbers::new();
    for (line, number) in text.lines().zip(1_u32..) {
        let lower = line.to_ascii_lowercase();
        let keys = FLOORS.iter().chain(CEILINGS).chain(&["timeout"]);
        for key in keys {
            let Some(at) = lower.find(key) else { continue };
            let rest = &lower[at + key.len()..];
            if rest.starts_with(|c: char| c.is_alphabetic() && c != 's') && *key != "timeout" {
                continue;
            }
            let digits: String = rest
                .chars()
                .skip_while(|c| !c.is_ascii_digit())
                .take_while(|c| c.is_ascii_digit() || *c == '.')
                .collect();
            let between = rest.len() - rest.trim_start_matches(|c: char| !c.is_ascii_digit()).len();
            if between > 16 {
                continue;
            }
            if let Some(value) = hundredths(&digits) {
                found.entry((*key).to_owned()).or_default().push((value, number, line.to_owned()));
            }
        }
    }
    found
}

/// A decimal number times a hundred.
fn hundredths(digits: &str) -> Option<u64> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let part: String = part.chars().chain("00".chars()).take(2).collect();
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(part.parse().ok()?)
}

fn numbers(file: &ChangedFile) -> Vec<Finding> {
    let (old, new) = (read_numbers(file.old_text()), read_numbers(file.new_text()));
    let path = file.path();
    let mut findings = Vec::new();
    for (key, was) in old {
        let is = new.get(&key).map_or(&[][..], Vec::as_slice);
        for (index, (before, line, text)) in was.iter().enumerate() {
            let Some((after, line, text)) = is.get(index) else {
                if is.len() < was.len() && FLOORS.contains(&key.as_str()) {
                    findings.push(Finding::new(Kind::LoweredThreshold, path, *line, text));
                }
                break;
            };
            let weaker =
                if CEILINGS.contains(&key.as_str()) { after > before } else { after < before };
            if key == "timeout" {
                if after != before {
                    findings.push(Finding::new(Kind::ChangedTimeout, path, *line, text));
                }
            } else if weaker {
                findings.push(Finding::new(Kind::LoweredThreshold, path, *line, text));
            }
        }
    }
    findings
}

/// Lints whose level fell: the same key with a weaker word.
fn levels(file: &ChangedFile) -> Vec<Finding> {
    let read = |text: &str| {
        let mut found: BTreeMap<String, (u8, u32, String)> = BTreeMap::new();
        for (line, number) in text.lines().zip(1_u32..) {
            let Some((key, value)) = line.split_once([':', '=']) else { continue };
            let value = value.trim_matches([' ', '"', '\'', ',', '[', ']', '{', '}']);
            let word = value.trim_start_matches("level").trim_matches([' ', '=', '"', '\'']);
            let word = word.split([' ', ',', '"', '\'']).next().unwrap_or_default();
            let level = match word {
                "deny" | "forbid" | "error" | "2" => 2,
                "warn" | "warning" | "1" => 1,
                "allow" | "off" | "0" => 0,
                _ => continue,
            };
            found.insert(key.trim().to_owned(), (level, number, line.to_owned()));
        }
        found
    };
    let (old, new) = (read(file.old_text()), read(file.new_text()));
    let lowered = old.iter().filter_map(|(key, (before, ..))| {
        let (after, line, text) = new.get(key)?;
        (after < before).then(|| Finding::new(Kind::LoweredLint, file.path(), *line, text))
    });
    lowered.collect()
}

/// `#![deny(...)]` that went, and `#![allow(...)]` that came.
fn rust_lints(file: &ChangedFile) -> Vec<Finding> {
    let count = |text: &str, words: &[&str]| {
        let tokens = lex(text, Language::Rust);
        let inner = tokens.windows(4).filter(|four| {
            four[0].is("#") && four[1].is("!") && four[2].is("[") && words.contains(&four[3].text)
        });
        let lines: Vec<u32> = inner.map(|four| four[0].line).collect();
        lines
    };
    let (old, new) = (file.old_text(), file.new_text());
    if file.old.is_none() || file.new.is_none() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let strict = ["deny", "forbid"];
    let (was, is) = (count(old, &strict), count(new, &strict));
    if is.len() < was.len() {
        let excerpt = "a `#![deny]` was removed";
        findings.push(Finding::new(Kind::LoweredLint, file.path(), 1, excerpt));
    }
    let (was, is) = (count(old, &["allow"]), count(new, &["allow"]));
    if let Some(line) = is.last().filter(|_| is.len() > was.len()) {
        let finding = Finding::new(Kind::LoweredLint, file.path(), *line, "`#![allow]` was added");
        findings.push(finding.noted());
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::{ChangedFile, Conventions, Gates, Kind, compare};

    fn stops(path: &str, old: &str, new: &str) -> Vec<Kind> {
        let file = ChangedFile::modified(path, old, new);
        let found = compare(&file, &Conventions::default(), &Gates::default());
        let stops = found.into_iter().filter(|finding| finding.severity == Severity::Stop);
        stops.map(|finding| finding.kind).collect()
    }

    #[test]
    fn lowered_numbers_are_found_and_raised_ones_are_not() {
        let jest = "coverageThreshold: { global: {\n branches: 80,\n lines: 90 } }";
        let lowered = [Kind::LoweredThreshold];
        assert_eq!(stops("jest.config.js", jest, &jest.replace("80", "60")), lowered);
        assert!(stops("jest.config.js", jest, &jest.replace("80", "85")).is_empty());
        assert_eq!(stops(".coveragerc", "fail_under = 92.5\n", "fail_under = 92\n"), lowered);
        assert_eq!(stops(".coveragerc", "fail_under = 92\n", "[run]\n"), lowered);
        assert_eq!(stops("package.json", "--max-warnings 0", "--max-warnings 50"), lowered);
    }

    #[test]
    fn lowered_lints_are_found() {
        let lowered = [Kind::LoweredLint];
        let cargo = "[lints.rust]\nunsafe_code = \"deny\"\n";
        assert_eq!(stops("Cargo.toml", cargo, &cargo.replace("deny", "allow")), lowered);
        let eslint = "rules: {\n 'no-eval': 'error',\n}";
        assert_eq!(stops(".eslintrc.js", eslint, &eslint.replace("error", "off")), lowered);
        let rust = "#![deny(warnings)]\nfn a() {}\n";
        assert_eq!(stops("src/lib.rs", rust, "// #![deny(warnings)]\nfn a() {}\n"), lowered);
    }
}
