//! What belongs to a snapshot beside its files: where git stood, what was staged, what was left out. It must not know how
//! that was found.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use tidegate_core::ids::Oid;

use super::entries::{Entries, GITLINK, IndexEntry, records};

/// Left-out paths that are named; of the rest only the number is kept.
const NAMED_MAX: usize = 2_000;

/// Why something in a worktree is not in its snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyLeftOut {
    /// The repository ignores it.
    Ignored,
    /// It is larger than the limit.
    TooLarge,
    /// The records of a repository inside of the worktree; its files are captured.
    NestedRecords,
    /// Neither a file nor a link nor a folder.
    Special,
    /// It could not be read.
    Unreadable,
}

/// Something in a worktree that is not in its snapshot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Relative to the root of the worktree; a folder stands for all in it.
    pub path: PathBuf,
    /// Why.
    pub why: WhyLeftOut,
}

const WORDS: [(WhyLeftOut, &str); 5] = [
    (WhyLeftOut::Ignored, "ignored"),
    (WhyLeftOut::TooLarge, "too_large"),
    (WhyLeftOut::NestedRecords, "nested_records"),
    (WhyLeftOut::Special, "special"),
    (WhyLeftOut::Unreadable, "unreadable"),
];

impl WhyLeftOut {
    /// Its word in records and documents.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(why, _)| *why == self).map_or("", |(_, word)| word)
    }

    pub(super) fn parse(word: &[u8]) -> Option<Self> {
        WORDS.iter().find(|(_, known)| known.as_bytes() == word).map(|(why, _)| *why)
    }
}

/// What belongs to a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Metadata {
    pub(super) base: String,
    pub(super) head: Option<Oid>,
    pub(super) branch: Option<String>,
    /// Where the feature's own branch stood.
    pub(super) tip: Option<Oid>,
    pub(super) operation: Option<String>,
    /// The index as a difference to the head, as `update-index --index-info` reads it.
    pub(super) staged: Vec<u8>,
    /// What a sparse checkout leaves out, each path ended by NUL.
    pub(super) skipped: Vec<u8>,
    /// Folders without anything that is captured.
    pub(super) empty: Vec<Vec<u8>>,
    pub(super) left: Vec<LeftOut>,
    /// How many more were left out.
    pub(super) left_more: u64,
}

impl Metadata {
    /// Names the first of what was left out, and counts the rest.
    pub(super) fn leave_out(&mut self, mut left: Vec<LeftOut>) {
        left.sort();
        let more = left.len().saturating_sub(NAMED_MAX);
        self.left_more = u64::try_from(more).unwrap_or(u64::MAX);
        left.truncate(NAMED_MAX);
        self.left = left;
    }

    /// The files that it is kept in.
    pub(super) fn encode(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut about = format!("version 1\nbase {}\n", self.base);
        let pairs = [
            ("head", self.head.as_ref().map(Oid::to_string)),
            ("branch", self.branch.clone()),
            ("tip", self.tip.as_ref().map(Oid::to_string)),
            ("operation", self.operation.clone()),
            ("more", (self.left_more > 0).then(|| self.left_more.to_string())),
        ];
        for (key, value) in pairs {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = writeln!(about, "{key} {value}");
            }
        }
        let mut left = Vec::new();
        for each in &self.left {
            left.extend_from_slice(each.why.word().as_bytes());
            left.push(b' ');
            left.extend_from_slice(each.path.as_os_str().as_bytes());
            left.push(0);
        }
        let empty = self.empty.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
        let mut files = vec![("about", about.into_bytes()), ("empty", empty), ("left", left)];
        // Not in a snapshot of an older version.
        if !self.skipped.is_empty() {
            files.push(("skipped", self.skipped.clone()));
        }
        files.push(("staged", self.staged.clone()));
        files
    }

    /// Reads them; `None` when they are of another version.
    pub(super) fn decode(files: &BTreeMap<String, Vec<u8>>) -> Option<Self> {
        let text = str::from_utf8(files.get("about")?).ok()?;
        let about: BTreeMap<&str, &str> = text.lines().filter_map(|l| l.split_once(' ')).collect();
        if about.get("version") != Some(&"1") {
            return None;
        }
        let text = |key: &str| about.get(key).map(|value| (*value).to_owned());
        let left = |record: &[u8]| {
            let space = record.iter().position(|b| *b == b' ')?;
            let path = PathBuf::from(OsString::from_vec(record[space + 1..].to_vec()));
            Some(LeftOut { path, why: WhyLeftOut::parse(&record[..space])? })
        };
        Some(Self {
            base: text("base")?,
            head: text("head").and_then(Oid::new),
            branch: text("branch"),
            tip: text("tip").and_then(Oid::new),
            operation: text("operation"),
            staged: files.get("staged")?.clone(),
            skipped: files.get("skipped").cloned().unwrap_or_default(),
            empty: records(files.get("empty")?).map(<[u8]>::to_vec).collect(),
            left: records(files.get("left")?).filter_map(left).collect(),
            left_more: text("more").and_then(|more| more.parse().ok()).unwrap_or(0),
        })
    }
}

/// What a sparse checkout leaves out, each path ended by NUL.
pub(super) fn skipped(index: &[IndexEntry]) -> Vec<u8> {
    let skipped = index.iter().filter(|entry| entry.stage == 0 && entry.is_skipped);
    skipped.flat_map(|entry| entry.path.iter().copied().chain([0])).collect()
}

/// The index as a difference to the files of a commit, and the blobs that it needs beyond them.
pub(super) fn staged(index: &[IndexEntry], head: &Entries) -> (Vec<u8>, Vec<Oid>) {
    let mut text = Vec::new();
    let mut blobs = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for entry in index {
        if entry.stage == 0 {
            seen.insert(&entry.path[..]);
        }
        let same = head.get(&entry.path);
        let is_same = same.is_some_and(|same| same.mode == entry.mode && same.oid == entry.oid);
        if entry.stage == 0 && is_same {
            continue;
        }
        if entry.mode != GITLINK {
            blobs.push(entry.oid.clone());
        }
        let line = format!("{:06o} {} {}\t", entry.mode, entry.oid, entry.stage);
        text.extend(line.into_bytes());
        text.extend_from_slice(&entry.path);
        text.push(0);
    }
    let mut gone = Vec::new();
    // A path in conflict has no line of its own in the head's index either.
    for (path, entry) in head.iter().filter(|(path, _)| !seen.contains(&path[..])) {
        gone.extend(format!("0 {} 0\t", "0".repeat(entry.oid.as_str().len())).into_bytes());
        gone.extend_from_slice(path);
        gone.push(0);
    }
    // Removals first: a folder may have taken the place of a file.
    gone.extend(text);
    (gone, blobs)
}
