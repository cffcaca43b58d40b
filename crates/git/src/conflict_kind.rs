//! What kind of conflict a path is in, from git's own words for it. It must not know what is done about it.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The kind of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConflictKind {
    /// Both sides changed the same lines.
    Content,
    /// Both sides added the path, with different content.
    AddAdd,
    /// One side changed the file, the other removed it.
    ModifyDelete,
    /// Both sides renamed it, to different names (or two files to one name).
    RenameRename,
    /// One side renamed it, the other removed it.
    RenameDelete,
    /// What one side renamed or added lies where the other has something else.
    RenameCollision,
    /// The sides made things of different types of it: a file, a link, a submodule.
    Mode,
    /// One side has a file where the other has a folder.
    FileDirectory,
    /// Both sides changed a file that has no lines.
    Binary,
    /// Both sides moved a submodule.
    Submodule,
    /// One side moved a folder into which the other put something.
    DirectoryRename,
    /// A later version of git knows one more.
    Other,
}

impl ConflictKind {
    /// Short name, for people and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::AddAdd => "add/add",
            Self::ModifyDelete => "modify/delete",
            Self::RenameRename => "rename/rename",
            Self::RenameDelete => "rename/delete",
            Self::RenameCollision => "rename collision",
            Self::Mode => "distinct types",
            Self::FileDirectory => "file/directory",
            Self::Binary => "binary",
            Self::Submodule => "submodule",
            Self::DirectoryRename => "directory rename",
            Self::Other => "other",
        }
    }

    /// From the type that `git merge-tree -z` prints, which is the same in all versions and languages.
    pub(crate) fn of(kind: &[u8]) -> Self {
        let kind = kind.strip_prefix(b"CONFLICT (").unwrap_or_default();
        let kind = kind.strip_suffix(b")").unwrap_or(kind);
        match kind {
            b"contents" => Self::Content,
            b"binary" => Self::Binary,
            b"file/directory" => Self::FileDirectory,
            b"distinct modes" => Self::Mode,
            b"modify/delete" => Self::ModifyDelete,
            b"rename/rename" => Self::RenameRename,
            b"rename/delete" => Self::RenameDelete,
            b"rename involved in collision" => Self::RenameCollision,
            other if other.starts_with(b"submodule") => Self::Submodule,
            other if other.starts_with(b"directory rename") => Self::DirectoryRename,
            _ => Self::Other,
        }
    }
}

/// The kinds by path. Of several that concern a path the one that says most is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Kinds(pub(crate) BTreeMap<PathBuf, ConflictKind>);

impl Kinds {
    pub(crate) fn note(&mut self, path: PathBuf, kind: ConflictKind) {
        let known = self.0.entry(path).or_insert(kind);
        // That the lines conflict too is the least that can be said.
        if matches!(known, ConflictKind::Content | ConflictKind::Other) {
            *known = kind;
        }
    }

    /// Where no side had a common beginning, both added it.
    pub(crate) fn without_base(&mut self, has_base: impl Fn(&PathBuf) -> bool) {
        for (path, kind) in &mut self.0 {
            if *kind == ConflictKind::Content && !has_base(path) {
                *kind = ConflictKind::AddAdd;
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn kind_that_says_most_is_kept() {
        let mut kinds = Kinds::default();
        for kind in [&b"CONFLICT (contents)"[..], b"CONFLICT (binary)", b"CONFLICT (contents)"] {
            kinds.note("logo".into(), ConflictKind::of(kind));
        }
        kinds.note("new".into(), ConflictKind::of(b"CONFLICT (contents)"));
        kinds.without_base(|_| false);
        let of = |path: &str| kinds.0.get(std::path::Path::new(path)).copied().unwrap();
        assert_eq!((of("logo"), of("new")), (ConflictKind::Binary, ConflictKind::AddAdd));
        let later = ConflictKind::of(b"CONFLICT (submodule history not available)");
        assert_eq!(later, ConflictKind::Submodule);
        assert_eq!(ConflictKind::of(b"CONFLICT (of a new kind)"), ConflictKind::Other);
    }
}
