//! Every file says at its top what it does and is named by a noun of the domain.

use super::Finding;
use super::source::Source;

const NAMELESS: [&str; 6] = ["utils", "util", "helpers", "common", "misc", "types"];

/// A missing `//!` at the top, and names that say nothing.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !source.text.starts_with("//!") {
        findings.push(Finding::new(&source.path, 1, "starts without `//!`: say what it does"));
    }
    for part in &source.path {
        let name = part.to_string_lossy();
        let name = name.strip_suffix(".rs").unwrap_or(&name).to_owned();
        if NAMELESS.contains(&name.as_str()) {
            let message = format!("`{name}` says nothing: name it by its noun");
            findings.push(Finding::new(&source.path, 1, message));
        }
    }
    findings
}
