//! The files that a change touched, with both contents. It must not know what is looked for in them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tidegate_core::ids::Oid;

use crate::error::Result;
use crate::line_diff::{hunks, lines};
use crate::repo::Repo;
use crate::versions::{Texts, Version};

/// A file that was added, changed, moved or deleted between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Before; `None` when it was added.
    pub old: Option<FileSide>,
    /// After; `None` when it was deleted.
    pub new: Option<FileSide>,
}

/// One side of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSide {
    /// Its path below the root.
    pub path: PathBuf,
    /// Its bytes; `None` for what is no text, for links and for submodules.
    pub text: Option<Vec<u8>>,
}

impl ChangedFile {
    /// The lines of the new side, from 1, that the old side does not have there.
    pub fn written_lines(&self) -> BTreeSet<u32> {
        let text = |side: &Option<FileSide>| {
            side.as_ref().and_then(|side| side.text.clone()).unwrap_or_default()
        };
        let (old, new) = (text(&self.old), text(&self.new));
        let found = hunks(&lines(&old), &lines(&new));
        let numbers = found.into_iter().flat_map(|hunk| hunk.new);
        numbers.filter_map(|index| u32::try_from(index + 1).ok()).collect()
    }
}

impl Repo {
    /// What `new` has otherwise than `old`, renames paired, in order of path.
    ///
    /// # Errors
    /// What a call can give.
    pub fn changed_files(&self, old: &Oid, new: &Oid) -> Result<Vec<ChangedFile>> {
        let pairs = self.pairs(old, new)?;
        let texts = self.texts(pairs.iter().flat_map(|pair| [&pair.old, &pair.new]).flatten())?;
        let side = |version: &Version| side_of(version, &texts);
        let file = |pair: &crate::versions::Pair| ChangedFile {
            old: pair.old.as_ref().map(side),
            new: pair.new.as_ref().map(side),
        };
        Ok(pairs.iter().map(file).collect())
    }
}

fn side_of(version: &Version, texts: &Texts) -> FileSide {
    let text = if version.is_file() { texts.of(Some(version)) } else { None };
    FileSide { path: version.path.clone(), text: text.map(<[u8]>::to_vec) }
}
