//! Merging trees of files, path by path, as git would.

use std::collections::{BTreeMap, BTreeSet};

/// Files by path.
pub(super) type Tree = BTreeMap<String, String>;

/// Merges two trees over their common base; the paths in conflict when both changed one.
pub(super) fn merge(base: &Tree, ours: &Tree, theirs: &Tree) -> Result<Tree, Vec<String>> {
    let paths: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let mut merged = Tree::new();
    let mut conflicts = Vec::new();
    for path in paths {
        let (old, our, their) = (base.get(path), ours.get(path), theirs.get(path));
        let kept = if our == their || their == old {
            our
        } else if our == old {
            their
        } else {
            conflicts.push(path.clone());
            continue;
        };
        if let Some(text) = kept {
            merged.insert(path.clone(), text.clone());
        }
    }
    if conflicts.is_empty() { Ok(merged) } else { Err(conflicts) }
}
