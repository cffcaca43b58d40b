//! Files that judge the change by what they are: CI, hooks, snapshots, gates; and paths outside of
//! those that the feature declared.

use super::change::{Change, ChangedFile};
use super::conventions::{Conventions, InvalidConvention, build};
use super::finding::{Finding, Kind};
use super::gate_file::Gates;
use super::language::Language;

pub(super) fn touched(
    change: &Change,
    conventions: &Conventions,
    gates: &Gates,
) -> Result<Vec<Finding>, InvalidConvention> {
    let patterns: Vec<&str> = change.declared.iter().map(String::as_str).collect();
    let declared = build(&patterns)?;
    let mut findings = Vec::new();
    for file in change.files.iter().filter(|file| file.differs()) {
        let paths = || [&file.old, &file.new].into_iter().flatten().map(|side| side.path.as_str());
        let path = file.path();
        let mut find = |kind| findings.push(Finding::new(kind, path, 0, path));
        let outside = |path: &str| !declared.is_match(path) && !conventions.is_lock(path);
        if !patterns.is_empty() && paths().any(outside) {
            find(Kind::OutsideDeclaredPaths);
        }
        if paths().any(|path| gates.runs(path) && !is_only_judged(path, conventions)) {
            find(Kind::ChangedGate);
        }
        if paths().any(|path| conventions.is_ci(path)) {
            find(Kind::ChangedCi);
        }
        if paths().any(|path| conventions.is_hook(path)) {
            find(Kind::ChangedHook);
        }
        if paths().any(|path| conventions.is_snapshot(path)) {
            let finding = Finding::new(Kind::ChangedSnapshot, path, 0, path);
            findings.push(if is_kept(file) { finding.noted() } else { finding });
        }
    }
    Ok(findings)
}

/// Whether a gate that names this file does so as what it judges: a test that is no script.
fn is_only_judged(path: &str, conventions: &Conventions) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let script = !name.contains('.') || Language::of(path, "") == Some(Language::Shell);
    conventions.is_test(path) && !script
}

/// Whether a snapshot was added or moved with its content as it was.
fn is_kept(file: &ChangedFile) -> bool {
    match (&file.old, &file.new) {
        (None, _) => true,
        (Some(old), Some(new)) => old.content.is_some() && old.content == new.content,
        (Some(_), None) => false,
    }
}
