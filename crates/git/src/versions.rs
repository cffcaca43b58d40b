//! Files as commits have them: pairing them across renames, and reading many at once. It must not know what for.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// Longer files are taken as a whole.
const LINES_UP_TO: usize = 4 << 20;

/// A path in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) path: PathBuf,
    /// In octal, as git writes it: `100644`.
    pub(crate) mode: String,
    pub(crate) oid: Oid,
}

impl Version {
    /// Whether it may have lines at all: a link and a submodule have not.
    pub(crate) fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }

    pub(crate) fn same_file(&self, other: &Self) -> bool {
        self.oid == other.oid && self.mode == other.mode
    }
}

/// Two versions of one file; a rename, if they are like each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) old: Option<Version>,
    pub(crate) new: Option<Version>,
}

/// Contents by object name; `None` for what is not text.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashMap<Oid, Option<Vec<u8>>>);

impl Texts {
    /// The text of a version; the empty one if there is no version. `None` when it is not text.
    pub(crate) fn of(&self, version: Option<&Version>) -> Option<&[u8]> {
        match version {
            None => Some(&[]),
            Some(version) => self.0.get(&version.oid)?.as_deref(),
        }
    }
}

const DOING: &str = "comparing two trees";

impl Repo {
    /// All files in which two commits differ, renames paired.
    pub(crate) fn pairs(&self, old: &Oid, new: &Oid) -> Result<Vec<Pair>> {
        let bytes = self
            .read(DOING)
            .args(["diff-tree", "-r", "-z", "--raw", "-M", "-l2000", "--no-abbrev"])
            .args([old.as_str(), new.as_str()])
            .bytes()?;
        parse_pairs(&bytes).ok_or(GitError::Unparsable { doing: DOING })
    }

    /// What a commit has at some paths.
    pub(crate) fn versions_at(
        &self,
        commit: &Oid,
        paths: &[&Path],
    ) -> Result<BTreeMap<PathBuf, Version>> {
        let doing = "reading a tree";
        let mut found = BTreeMap::new();
        for some in paths.chunks(200) {
            let call = self.read(doing).global("--literal-pathspecs");
            let call = call.args(["ls-tree", "-z", "--full-tree", commit.as_str(), "--"]);
            let bytes = call.args(some).bytes()?;
            for line in bytes.split(|b| *b == 0).filter(|line| !line.is_empty()) {
                let version = parse_entry(line).ok_or(GitError::Unparsable { doing })?;
                found.insert(version.path.clone(), version);
            }
        }
        Ok(found)
    }

    /// The texts of some files, by one call.
    pub(crate) fn texts<'a>(
        &self,
        versions: impl IntoIterator<Item = &'a Version>,
    ) -> Result<Texts> {
        let doing = "reading files of commits";
        let mut wanted: Vec<_> =
            versions.into_iter().filter(|v| v.is_file()).map(|v| v.oid.clone()).collect();
        wanted.sort();
        wanted.dedup();
        let mut texts = Texts::default();
        // What has no lines for us is not read at all: it may be of any size.
        let (wanted, large) = self.apart_by_size(wanted)?;
        texts.0.extend(large.into_iter().map(|oid| (oid, None)));
        if wanted.is_empty() {
            return Ok(texts);
        }
        let input = wanted.iter().map(Oid::as_str).collect::<Vec<_>>().join("\n") + "\n";
        let bytes = self.read(doing).args(["cat-file", "--batch"]).stdin(input).bytes()?;
        let mut rest = &*bytes;
        for oid in wanted {
            let (text, after) = parse_blob(rest).ok_or(GitError::Unparsable { doing })?;
            rest = after;
            let is_text = !text[..text.len().min(8000)].contains(&0);
            texts.0.insert(oid, is_text.then(|| text.to_vec()));
        }
        Ok(texts)
    }

    /// Those whose lines are looked at, and those that are too large for it.
    fn apart_by_size(&self, oids: Vec<Oid>) -> Result<(Vec<Oid>, Vec<Oid>)> {
        let doing = "asking for sizes";
        if oids.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let input = oids.iter().map(Oid::as_str).collect::<Vec<_>>().join("\n") + "\n";
        let call = self.read(doing).args(["cat-file", "--batch-check=%(objectsize)"]);
        let sizes = call.stdin(input).text()?;
        let sizes: Option<Vec<usize>> = sizes.lines().map(|size| size.parse().ok()).collect();
        let sizes = sizes.filter(|sizes| sizes.len() == oids.len());
        let sizes = sizes.ok_or(GitError::Unparsable { doing })?;
        let (small, large): (Vec<_>, Vec<_>) =
            oids.into_iter().zip(sizes).partition(|(_, size)| *size <= LINES_UP_TO);
        let names = |some: Vec<(Oid, usize)>| some.into_iter().map(|(oid, _)| oid).collect();
        Ok((names(small), names(large)))
    }
}

/// Reads `oid type size LF content LF`.
fn parse_blob(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|b| *b == b'\n')?;
    let size: usize = std::str::from_utf8(&bytes[..end]).ok()?.rsplit(' ').next()?.parse().ok()?;
    let rest = &bytes[end + 1..];
    (rest.get(size) == Some(&b'\n')).then(|| (&rest[..size], &rest[size + 1..]))
}

/// Reads `mode type oid TAB path`.
fn parse_entry(line: &[u8]) -> Option<Version> {
    let tab = line.iter().position(|b| *b == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let (mode, _kind, oid) = (words.next()?, words.next()?, words.next()?);
    let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
    Some(Version { path, mode: mode.to_owned(), oid: Oid::new(oid)? })
}

/// Reads `:mode mode oid oid letter NUL path NUL`, with a second path for a rename.
fn parse_pairs(bytes: &[u8]) -> Option<Vec<Pair>> {
    let mut all = Vec::new();
    let mut fields = bytes.split(|b| *b == 0).filter(|field| !field.is_empty());
    while let Some(head) = fields.next() {
        let head = std::str::from_utf8(head.strip_prefix(b":")?).ok()?;
        let words: Vec<&str> = head.split(' ').collect();
        let [old_mode, new_mode, old, new, letter] = words[..] else { return None };
        let first = PathBuf::from(OsStr::from_bytes(fields.next()?));
        let second = if letter.starts_with(['R', 'C']) {
            PathBuf::from(OsStr::from_bytes(fields.next()?))
        } else {
            first.clone()
        };
        let side = |mode: &str, oid: &str, path| {
            Some(Version { path, mode: mode.to_owned(), oid: Oid::new(oid)? })
        };
        let (mut pair, absent) = (Pair { old: None, new: None }, "000000");
        if old_mode != absent {
            pair.old = Some(side(old_mode, old, first)?);
        }
        if new_mode != absent {
            pair.new = Some(side(new_mode, new, second)?);
        }
        all.push(pair);
    }
    Some(all)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn renames_additions_and_removals_are_paired() {
        let (a, b, z) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let text =
            format!(":100644 100755 {a} {b} R090\0old\0new\n\0:000000 120000 {z} {b} A\0link\0");
        let all = parse_pairs(text.as_bytes()).unwrap();
        assert_eq!(all[0].old.as_ref().unwrap().path, Path::new("old"));
        assert_eq!(all[0].new.as_ref().unwrap().path, Path::new("new\n"));
        assert!(all[1].old.is_none() && !all[1].new.as_ref().unwrap().is_file());
        assert!(parse_pairs(b"junk\0").is_none());
    }

    #[test]
    fn blob_with_line_ends_in_it_is_cut_by_its_size() {
        let (text, rest) = parse_blob(b"abc blob 4\nx\ny\n\nnext").unwrap();
        assert_eq!((text, rest), (&b"x\ny\n"[..], &b"next"[..]));
        assert!(parse_blob(b"abc missing\n").is_none());
    }
}
