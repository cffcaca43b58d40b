//! Rules for every text of the repository: the length of ARCHITECTURE.md, and no word about one machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Finding;

const ARCHITECTURE_LINES_MAX: usize = 300;

/// Places that exist on one machine only. Written in pieces, because this file is read too.
const PLACES: [(&str, &str); 3] =
    [(concat!("../", "shared"), ""), ("/wo", "rk/"), ("/tmp/", "issues")];

/// Pages that are too long, and texts that name a place of one machine.
pub(super) fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in files {
        let bytes = std::fs::read(root.join(path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if path == Path::new("ARCHITECTURE.md") && text.lines().count() > ARCHITECTURE_LINES_MAX {
            let message = format!("more than {ARCHITECTURE_LINES_MAX} lines: an overview is short");
            findings.push(Finding::new(path, 1, message));
        }
        for (number, line) in text.lines().enumerate() {
            if PLACES.iter().any(|place| names(line, &format!("{}{}", place.0, place.1))) {
                let message = "names a place that exists on one machine only";
                findings.push(Finding::new(path, number + 1, message));
            }
        }
    }
    Ok(findings)
}

/// Whether `line` has `place` as the start of a path, not as a part of a longer one.
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || "_.-}~$".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn place_is_found_as_a_path_of_its_own() {
        let place = format!("{}{}", "/wo", "rk/");
        assert!(names(&format!("cd {place}main"), &place));
        assert!(!names(&format!("$HOME{place}main"), &place));
        assert!(!names(&format!("a/b{place}main"), &place));
    }
}
