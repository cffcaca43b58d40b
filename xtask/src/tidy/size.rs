//! Files of at most 400 lines, functions of at most 70, tests included; what is longer stands in `tidy-allow.txt`.
//!
//! The list can only shrink: an entry names the length of today, and a file that got shorter lowers its entry.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;
use super::source::Source;

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;
const LIST: &str = "xtask/tidy-allow.txt";

type Allowed = BTreeMap<String, usize>;

/// Compares every length with its limit or its entry.
pub(super) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(root.join(LIST)).context("cannot read the allow-list")?;
    let allowed = parse(&text)?;
    let mut lengths = Allowed::new();
    let mut findings = Vec::new();
    for source in sources {
        for (name, line, lines, limit) in measures(source) {
            let length = lengths.entry(name.clone()).or_default();
            *length = lines.max(*length);
            let limit = allowed.get(&name).copied().unwrap_or(limit);
            if lines > limit {
                let message = format!("{lines} lines, at most {limit}: split it by noun");
                findings.push(Finding::new(&source.path, line, message));
            }
        }
    }
    for (name, limit) in &allowed {
        let length = lengths.get(name).copied().unwrap_or(0);
        if length < *limit {
            let message = format!("`{name}` is down to {length} lines: lower or remove its entry");
            findings.push(Finding::new(Path::new(LIST), 1, message));
        }
    }
    Ok(findings)
}

/// Name in the list, line, length and limit of a file and of each of its functions.
fn measures(source: &Source) -> Vec<(String, usize, usize, usize)> {
    let path = source.path.display().to_string();
    let mut all = vec![(path.clone(), 1, source.text.lines().count(), FILE_LINES_MAX)];
    all.extend(source.functions.iter().map(|function| {
        let name = format!("{path}#{}", function.name);
        (name, function.lines.0, function.length(), FUNCTION_LINES_MAX)
    }));
    all
}

/// Lines `LENGTH PATH` or `LENGTH PATH#FUNCTION`; `#` at the start begins a comment.
fn parse(text: &str) -> Result<Allowed> {
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (length, name) = line.split_once(' ').context("an entry is LENGTH NAME")?;
            Ok((name.trim().to_owned(), length.parse().context("an entry starts with a number")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, check};

    fn findings(list: &str, lines: usize) -> anyhow::Result<Vec<String>> {
        let root = tempfile::tempdir()?;
        std::fs::create_dir(root.path().join("xtask"))?;
        std::fs::write(root.path().join(super::LIST), list)?;
        let text = format!("fn long() {{\n{}}}\n", "    ();\n".repeat(lines - 2));
        let source = Source::new(Path::new("crates/a/src/b.rs"), text);
        Ok(check(root.path(), &[source])?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn lengths_over_a_limit_are_found_unless_listed() -> anyhow::Result<()> {
        assert!(findings("# none\n", 70)?.is_empty());
        assert_eq!(findings("", 71)?.len(), 1);
        assert_eq!(findings("", 401)?.len(), 2);
        assert!(findings("71 crates/a/src/b.rs#long\n", 71)?.is_empty());
        Ok(())
    }

    #[test]
    fn entry_above_the_length_is_found() -> anyhow::Result<()> {
        let found = findings("90 crates/a/src/b.rs#long\n", 80)?;
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("down to 80 lines"), "{found:?}");
        Ok(())
    }
}
