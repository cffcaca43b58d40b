//! Entries of trees and indexes as git prints them. It must not know what they are compared for.

use std::collections::{BTreeMap, HashMap, HashSet};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};

/// A regular file.
pub(super) const FILE: u32 = 0o100_644;
/// A regular file that may be executed.
pub(super) const EXECUTABLE: u32 = 0o100_755;
/// A symbolic link.
pub(super) const LINK: u32 = 0o120_000;
/// A folder.
pub(super) const TREE: u32 = 0o040_000;
/// The commit of a submodule.
pub(super) const GITLINK: u32 = 0o160_000;

/// What stands behind a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: u32,
    pub(super) oid: Oid,
}

/// Paths relative to a root, with `/`, as bytes.
pub(super) type Entries = BTreeMap<Vec<u8>, Entry>;

/// One line of an index; a path in conflict has several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndexEntry {
    pub(super) path: Vec<u8>,
    pub(super) stage: u8,
    pub(super) mode: u32,
    pub(super) oid: Oid,
    /// Whether a sparse checkout leaves the file out.
    pub(super) is_skipped: bool,
}

/// The tree of a commit that is there for good.
#[derive(Debug, Default)]
pub(super) struct BaseTree {
    /// The folders: their own object, and what is in them by name.
    pub(super) folders: HashMap<Vec<u8>, (Oid, Entries)>,
    /// All files by path.
    pub(super) files: Entries,
    /// All objects.
    pub(super) oids: HashSet<Oid>,
}

impl BaseTree {
    /// Reads `ls-tree -r -t -z --full-tree`.
    pub(super) fn parse(root: &Oid, bytes: &[u8]) -> Result<Self> {
        let mut base = Self::default();
        base.oids.insert(root.clone());
        base.folders.insert(Vec::new(), (root.clone(), Entries::new()));
        for record in records(bytes) {
            let (entry, _, path) = tree_record(record)?;
            let (folder, name) = split(path);
            if let Some((_, inside)) = base.folders.get_mut(folder) {
                inside.insert(name.to_vec(), entry.clone());
            }
            base.oids.insert(entry.oid.clone());
            if entry.mode == TREE {
                base.folders.insert(path.to_vec(), (entry.oid, Entries::new()));
            } else {
                base.files.insert(path.to_vec(), entry);
            }
        }
        Ok(base)
    }
}

/// Folder and name of a path; the folder of a path at the top is empty.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|b| *b == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

/// `name` in `folder`.
pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = folder.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// What stands between the NUL bytes.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|b| *b == 0).filter(|record| !record.is_empty())
}

/// Reads `mode type oid [size]<TAB>path`; the size of a folder is none.
pub(super) fn tree_record(record: &[u8]) -> Result<(Entry, Option<u64>, &[u8])> {
    let unparsable = || GitError::Unparsable { doing: "listing a tree" };
    let tab = record.iter().position(|b| *b == b'\t').ok_or_else(unparsable)?;
    let head = str::from_utf8(&record[..tab]).map_err(|_| unparsable())?;
    let mut fields = head.split_ascii_whitespace();
    let mode = fields.next().and_then(|mode| u32::from_str_radix(mode, 8).ok());
    let oid = fields.nth(1).and_then(|oid| Oid::new(oid.to_owned()));
    let size = fields.next().and_then(|size| size.parse().ok());
    let entry = Entry { mode: mode.ok_or_else(unparsable)?, oid: oid.ok_or_else(unparsable)? };
    Ok((entry, size, &record[tab + 1..]))
}

/// Reads `ls-files -t --stage -z`: `[tag ]mode oid stage<TAB>path`.
pub(super) fn index_entries(bytes: &[u8]) -> Result<Vec<IndexEntry>> {
    let unparsable = || GitError::Unparsable { doing: "listing an index" };
    let entry = |record: &[u8]| {
        let tab = record.iter().position(|b| *b == b'\t')?;
        let head = str::from_utf8(&record[..tab]).ok()?;
        let (tag, head) = head
            .split_once(' ')
            .filter(|(tag, _)| tag.len() == 1 && *tag != "0")
            .unwrap_or(("", head));
        let mut fields = head.split(' ');
        Some(IndexEntry {
            is_skipped: tag == "S",
            mode: u32::from_str_radix(fields.next()?, 8).ok()?,
            oid: Oid::new(fields.next()?.to_owned())?,
            stage: fields.next()?.parse().ok()?,
            path: record[tab + 1..].to_vec(),
        })
    };
    records(bytes).map(|record| entry(record).ok_or_else(unparsable)).collect()
}

/// A path as git reads it between double quotes.
pub(crate) fn quoted(path: &[u8]) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            other => text.push(*other),
        }
    }
    text.push(b'"');
    text
}
