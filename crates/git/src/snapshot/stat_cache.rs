//! What the last snapshot of a series saw of each file, so that the next one reads only what changed. It may be lost at any
//! time: the next snapshot then reads everything.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_core::ids::Oid;

use super::entries::split;
use crate::error::{GitError, Result};

const VERSION: &str = "tidegate stat cache 1";
/// A file that changed this shortly before it was read may change again within the same tick of its times.
const TICK: Duration = Duration::from_millis(100);

/// By what it is seen that a file has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    /// As git has it.
    pub(super) mode: u32,
    size: u64,
    inode: u64,
    modified_ns: i128,
    changed_ns: i128,
}

impl Stat {
    pub(super) fn of(meta: &Metadata, mode: u32) -> Self {
        let ns = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Self {
            mode,
            size: meta.len(),
            inode: meta.ino(),
            modified_ns: ns(meta.mtime(), meta.mtime_nsec()),
            changed_ns: ns(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether the bytes are the same, whatever the mode.
    pub(super) fn is_same_content(&self, other: &Self) -> bool {
        Self { mode: 0, ..*self } == Self { mode: 0, ..*other }
    }

    /// Whether a change after `since` (nanoseconds of the wall clock) would show in its times.
    fn is_settled(&self, since_ns: i128) -> bool {
        let tick = i128::try_from(TICK.as_nanos()).unwrap_or(0);
        self.changed_ns < since_ns - tick
    }
}

/// The state of a worktree at its last snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StatCache {
    /// The snapshot's commit.
    pub(super) commit: Option<Oid>,
    pub(super) index_stamp: Option<String>,
    pub(super) exclude_stamp: String,
    pub(super) head: Option<Oid>,
    pub(super) tip: Option<Oid>,
    pub(super) files: BTreeMap<Vec<u8>, (Stat, Oid)>,
    pub(super) empty: Vec<Vec<u8>>,
    /// What was ignored.
    pub(super) ignored: HashSet<Vec<u8>>,
    /// What else was left out.
    pub(super) left: Vec<Vec<u8>>,
    /// The folders of all files, and the empty ones.
    pub(super) folders: HashSet<Vec<u8>>,
}

/// Nanoseconds of the wall clock, which is what the times of files are made of.
pub(super) fn now_ns() -> i128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(now.as_nanos()).unwrap_or(0)
}

impl StatCache {
    /// The cache of the snapshot `commit`; an empty one when it is of another snapshot, or does not read.
    pub(super) fn load(path: &Path, commit: &Oid) -> Self {
        let Ok(bytes) = fs::read(path) else { return Self::default() };
        let cache = Self::decode(&bytes).unwrap_or_default();
        if cache.commit.as_ref() == Some(commit) { cache } else { Self::default() }
    }

    /// Fills what follows from the rest.
    pub(super) fn with_folders(mut self) -> Self {
        for path in self.files.keys() {
            let (mut folder, _) = split(path);
            while !folder.is_empty() && self.folders.insert(folder.to_vec()) {
                (folder, _) = split(folder);
            }
        }
        self.folders.extend(self.empty.iter().cloned());
        self
    }

    /// Writes it; files that may change unseen since `since_ns` are left out.
    pub(super) fn save(&self, path: &Path, since_ns: i128) -> Result<()> {
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        let mut file = tempfile::NamedTempFile::new_in(folder)
            .map_err(GitError::io("create a file in", folder))?;
        let written =
            file.write_all(&self.encode(since_ns)).and_then(|()| file.as_file().sync_all());
        written.map_err(GitError::io("write", path))?;
        fail::fail_point!("git.stat_cache.before_rename");
        file.persist(path).map_err(|error| GitError::Io {
            doing: "rename",
            path: path.to_owned(),
            source: error.error,
        })?;
        fail::fail_point!("git.stat_cache.after_rename");
        Ok(())
    }

    fn encode(&self, since_ns: i128) -> Vec<u8> {
        let text = |oid: &Option<Oid>| oid.as_ref().map(Oid::to_string).unwrap_or_default();
        let mut out = Vec::with_capacity(self.files.len() * 160);
        let mut put = |record: &[u8]| {
            out.extend_from_slice(record);
            out.push(0);
        };
        put(VERSION.as_bytes());
        put(text(&self.commit).as_bytes());
        put(self.index_stamp.as_deref().unwrap_or_default().as_bytes());
        put(self.exclude_stamp.as_bytes());
        put(text(&self.head).as_bytes());
        put(text(&self.tip).as_bytes());
        for (path, (stat, oid)) in &self.files {
            let inode = if stat.is_settled(since_ns) { stat.inode } else { 0 };
            let (modified, changed) = (stat.modified_ns, stat.changed_ns);
            let head =
                format!("f{:o} {} {inode} {modified} {changed} {oid} ", stat.mode, stat.size);
            put(&[head.as_bytes(), path].concat());
        }
        self.empty.iter().for_each(|path| put(&[b"e", &path[..]].concat()));
        self.ignored.iter().for_each(|path| put(&[b"i", &path[..]].concat()));
        self.left.iter().for_each(|path| put(&[b"l", &path[..]].concat()));
        put(b"z");
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut records = bytes.split(|b| *b == 0);
        let mut text = || String::from_utf8(records.next()?.to_vec()).ok();
        if text()? != VERSION {
            return None;
        }
        let commit = Oid::new(text()?);
        let stamp = text()?;
        let mut cache = Self {
            commit,
            index_stamp: (!stamp.is_empty()).then_some(stamp),
            exclude_stamp: text()?,
            head: Oid::new(text()?),
            tip: Oid::new(text()?),
            ..Self::default()
        };
        for record in records {
            match *record.first()? {
                b'f' => {
                    let (path, seen) = file(&record[1..])?;
                    cache.files.insert(path, seen);
                }
                b'z' => return Some(cache.with_folders()),
                b'e' => cache.empty.push(record[1..].to_vec()),
                b'i' => drop(cache.ignored.insert(record[1..].to_vec())),
                b'l' => cache.left.push(record[1..].to_vec()),
                _ => return None,
            }
        }
        // Its end is missing.
        None
    }
}

fn file(record: &[u8]) -> Option<(Vec<u8>, (Stat, Oid))> {
    let mut fields = record.splitn(7, |b| *b == b' ');
    let mut text = || str::from_utf8(fields.next()?).ok();
    let stat = Stat {
        mode: u32::from_str_radix(text()?, 8).ok()?,
        size: text()?.parse().ok()?,
        inode: text()?.parse().ok()?,
        modified_ns: text()?.parse().ok()?,
        changed_ns: text()?.parse().ok()?,
    };
    let oid = Oid::new(text()?.to_owned())?;
    Some((fields.next()?.to_vec(), (stat, oid)))
}
