//! The registered repositories: whatever lies below this home belongs to a run of this home.
//!
//! It reads git's own entries and starts no git: a reader must not complete what it finds.

use std::path::{Path, PathBuf};

use super::Facts;
use super::finding::{Finding, Invariant};

pub(super) fn check(home: &Path, facts: &Facts, found: &mut Vec<Finding>) {
    let Ok(home) = home.canonicalize() else { return };
    for (project, place) in &facts.projects {
        let own = home.join("worktrees").join(project.as_str());
        for path in entries(Path::new(&place.common_dir)) {
            // Their names are `<feature>-<run>`.
            let Ok(rest) = path.strip_prefix(&own) else { continue };
            let name = rest.to_string_lossy();
            let known = facts.rows.iter().any(|row| name.ends_with(row.id.as_str()))
                || facts.corrupt.iter().any(|id| name.ends_with(id.as_str()));
            if !known {
                let about = path.display().to_string();
                let text = format!("a worktree of {project} that belongs to no run of this home");
                found.push(Finding::new(Invariant::I8, about, text));
            }
        }
    }
}

/// The worktrees that a repository has registered, but for its main one.
fn entries(common_dir: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(common_dir.join("worktrees")).into_iter().flatten().flatten();
    let files =
        folders.filter_map(|entry| std::fs::read_to_string(entry.path().join("gitdir")).ok());
    files.filter_map(|text| Some(Path::new(text.trim()).parent()?.to_owned())).collect()
}
