//! What a commit would change on a target: the merge of both, made where nobody keeps it, and the
//! difference. It changes nothing in the repository: objects of the merge stand in a folder of the
//! moment. It must not know who looks at it, or what for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::invocation::Invocation;
use crate::merge::{Trees, parse_trees};
use crate::repo::Repo;

/// Longest difference that is handed out, in bytes.
pub const PATCH_BYTES_MAX: usize = 16 << 20;

/// What a commit would change on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Whether they merge without a conflict.
    pub merges: Merges,
    /// What the difference begins at: the target, or the common ancestor when they do not merge.
    pub from: Oid,
    /// The files that differ.
    pub files: Vec<PreviewFile>,
    /// The difference, as `git diff` says it.
    pub patch: Vec<u8>,
    /// Whether the difference was cut off at [`PATCH_BYTES_MAX`].
    pub is_cut: bool,
}

/// Whether a commit merges with a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merges {
    /// Cleanly.
    Cleanly,
    /// With conflicts in these paths.
    WithConflicts(Vec<PathBuf>),
    /// They have no common history.
    Unrelated,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewFile {
    /// Its path.
    pub path: PathBuf,
    /// Its path before, where it was renamed or copied.
    pub was: Option<PathBuf>,
    /// git's letter: `A`, `D`, `M`, `R`, `C`, `T`.
    pub status: char,
    /// Lines that came; `None` for a binary file.
    pub added: Option<u64>,
    /// Lines that went; `None` for a binary file.
    pub removed: Option<u64>,
}

const DOING: &str = "comparing a commit with its target";

impl Repo {
    /// What landing `commit` on `target` would change there.
    ///
    /// # Errors
    /// [`GitError`] when git refuses, or there is no room for the objects of the moment.
    pub fn preview(&self, target: &Oid, commit: &Oid) -> Result<Preview> {
        let scratch = tempfile::Builder::new().prefix("tidegate-review-").tempdir();
        let temp = std::env::temp_dir();
        let scratch = scratch.map_err(GitError::io("make a folder in", &temp))?;
        let objects = scratch.path();
        let (merges, from, to) = match self.trees_of(target, commit, objects)? {
            Trees::Clean(tree) => (Merges::Cleanly, target.clone(), tree),
            Trees::Conflict { paths, .. } => {
                let base = self.common_ancestor(target, commit)?;
                (Merges::WithConflicts(paths), base, commit.clone())
            }
            Trees::Unrelated => (Merges::Unrelated, target.clone(), commit.clone()),
        };
        let files = self.files_between(&from, &to, objects)?;
        let compare = self.aside(objects).args(["diff", "-p", "--no-color", "--no-ext-diff"]);
        let compare = compare.args(["--no-textconv", "-M", from.as_str(), to.as_str(), "--"]);
        let mut patch = compare.bytes()?;
        let is_cut = patch.len() > PATCH_BYTES_MAX;
        patch.truncate(PATCH_BYTES_MAX);
        Ok(Preview { merges, from, files, patch, is_cut })
    }

    /// A reading call whose new objects stand in `objects`.
    fn aside(&self, objects: &Path) -> Invocation<'_> {
        let own = self.common_dir().join("objects");
        self.read(DOING)
            .env("GIT_OBJECT_DIRECTORY", objects)
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", own)
    }

    fn trees_of(&self, target: &Oid, commit: &Oid, objects: &Path) -> Result<Trees> {
        let call = self.aside(objects).args(["merge-tree", "--write-tree", "-z", "--messages"]);
        let call = call.args([target.as_str(), commit.as_str()]);
        parse_trees(&call, &call.done()?, [target, commit])
    }

    fn common_ancestor(&self, target: &Oid, commit: &Oid) -> Result<Oid> {
        self.read(DOING).args(["merge-base", target.as_str(), commit.as_str()]).oid()
    }

    fn files_between(&self, from: &Oid, to: &Oid, objects: &Path) -> Result<Vec<PreviewFile>> {
        let ask = |how: &str| {
            let call = self.aside(objects).args(["diff", "-z", "-M", "--no-ext-diff", how]);
            call.args([from.as_str(), to.as_str(), "--"]).bytes()
        };
        let (names, counts) = (ask("--name-status")?, ask("--numstat")?);
        parse(&names, &counts).ok_or(GitError::Unparsable { doing: DOING })
    }
}

/// Reads `letter NUL path NUL` beside `added TAB removed TAB path NUL`, in the same order; a rename
/// has two paths in the first, and `NUL path NUL path NUL` in the second.
fn parse(names: &[u8], counts: &[u8]) -> Option<Vec<PreviewFile>> {
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let mut names = fields(names);
    let mut counts = fields(counts);
    let mut files = Vec::new();
    while let Some(letter) = names.next() {
        let status = char::from(*letter.first()?);
        let first = path(names.next()?);
        let (was, path) = match status {
            'R' | 'C' => (Some(first), path(names.next()?)),
            _ => (None, first),
        };
        let mut count = counts.next()?.split(|byte| *byte == b'\t');
        let (added, removed) = (count.next()?, count.next()?);
        if was.is_some() {
            counts.nth(1)?;
        }
        let (added, removed) = (number(added).ok()?, number(removed).ok()?);
        files.push(PreviewFile { path, was, status, added, removed });
    }
    Some(files)
}

fn fields(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.strip_suffix(b"\0").into_iter().flat_map(|bytes| bytes.split(|byte| *byte == 0))
}

/// A count of lines; `-` is told of binary files.
fn number(text: &[u8]) -> std::result::Result<Option<u64>, std::num::ParseIntError> {
    match text {
        b"-" => Ok(None),
        digits => String::from_utf8_lossy(digits).parse().map(Some),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_their_files_renames_and_binaries_included() {
        let names = b"M\0a\0R090\0b\0c\0A\0d\0";
        let counts = b"1\t2\ta\0" as &[u8];
        let counts = [counts, b"3\t0\t\0b\0c\0", b"-\t-\td\0"].concat();
        let files = parse(names, &counts).unwrap();
        let told: Vec<_> = files
            .iter()
            .map(|f| (f.status, f.path.to_str().unwrap(), f.added, f.removed))
            .collect();
        let all =
            [('M', "a", Some(1), Some(2)), ('R', "c", Some(3), Some(0)), ('A', "d", None, None)];
        assert_eq!(told, all);
        assert_eq!(files[1].was.as_deref(), Some(Path::new("b")));
        assert_eq!(parse(b"", b""), Some(Vec::new()));
    }
}
