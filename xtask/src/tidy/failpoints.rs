//! Fail points are named once, as literals, by one shape: `noun.before_verb` or `noun.after_verb`.
//!
//! The kill matrix enumerates them from the sources, so a name that is computed would never be tried.

use std::collections::BTreeMap;

use super::Finding;
use super::source::Source;

/// A fail point of the sources.
struct FailPoint {
    /// Its name; `None` when it is not a literal.
    name: Option<String>,
    line: usize,
}

/// The fail points of one file, in order.
fn of(source: &Source) -> Vec<FailPoint> {
    let code = &source.masked.code;
    code.match_indices("fail_point!(")
        .map(|(at, call)| {
            let start = at + call.len();
            let quote = start + code[start..].len() - code[start..].trim_start().len();
            let literal = source.masked.literals.iter().find(|literal| literal.offset == quote);
            let name = literal.map(|literal| literal.text.clone());
            FailPoint { name, line: source.line_of(at) }
        })
        .collect()
}

/// Names that are computed, misshapen or used twice.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut seen = BTreeMap::new();
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_in("crates")) {
        for point in of(source) {
            let Some(name) = point.name else {
                let message = "the name of a fail point is a literal";
                findings.push(Finding::new(&source.path, point.line, message));
                continue;
            };
            if !well_formed(&name) {
                let message = format!("`{name}`: a fail point is noun.before_verb or .after_verb");
                findings.push(Finding::new(&source.path, point.line, message));
            }
            let place = format!("{}:{}", source.path.display(), point.line);
            if let Some(first) = seen.insert(name.clone(), place) {
                let message = format!("fail point `{name}` exists already, at {first}");
                findings.push(Finding::new(&source.path, point.line, message));
            }
        }
    }
    findings
}

fn well_formed(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let word = |part: &&str| {
        part.starts_with(|letter: char| letter.is_ascii_lowercase())
            && part.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
    };
    let verb = parts
        .last()
        .and_then(|last| last.strip_prefix("before_").or_else(|| last.strip_prefix("after_")));
    (2..=3).contains(&parts.len())
        && parts.iter().all(word)
        && verb.is_some_and(|verb| !verb.is_empty())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, check};

    #[test]
    fn names_are_literal_well_formed_and_unique() {
        let text = "fail_point!(\"a.before_b\");\nfail_point!(\n  \"a.after_b\", |_| x);\n\
                    fail_point!(\"a.b\");\nfail_point!(name);\nfail::fail_point!(\"a.before_b\");\n";
        let source = Source::new(Path::new("crates/a/src/b.rs"), text.to_owned());
        let found: Vec<String> = check(&[source]).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("noun.before_verb"));
        assert!(found[1].contains("is a literal"));
        assert!(found[2].contains("exists already, at crates/a/src/b.rs:1"));
    }
}
