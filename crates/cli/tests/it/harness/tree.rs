//! The state of a folder, down to bytes, modes and times: equal digests mean that nobody wrote.

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
        let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
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
