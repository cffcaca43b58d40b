//! The state of a folder, down to bytes, modes and times of writing: equal digests mean that nobody
//! wrote. Times of change are left out: SQLite gives its files to their owner again when root reads.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Every entry below `root` with what identifies its state.
pub(crate) fn digest(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    visit(root, root, &mut found);
    found
}

fn visit(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // What vanishes meanwhile is seen by the time of its folder.
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let times = (meta.mtime(), meta.mtime_nsec());
        let (mode, ino, size) = (meta.mode(), meta.ino(), meta.len());
        let mut state = format!("{mode:o} {ino} {size} {times:?}");
        if meta.is_file() {
            let mut hasher = DefaultHasher::new();
            std::fs::read(&path).unwrap_or_default().hash(&mut hasher);
            state = format!("{state} {:x}", hasher.finish());
        }
        found.insert(path.strip_prefix(root).unwrap().to_owned(), state);
        if meta.is_dir() {
            visit(root, &path, found);
        }
    }
}

/// Asserts that nothing below `root` differs from its digest of before.
pub(crate) fn is_as_before(root: &Path, before: &BTreeMap<PathBuf, String>) {
    let now = digest(root);
    let names = before.keys().chain(now.keys()).filter(|name| before.get(*name) != now.get(*name));
    let differ: Vec<_> = names.map(|name| (name, before.get(name), now.get(name))).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}
