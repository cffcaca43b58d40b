//! Whether all that a commit brings is on a target: by history, by patches, or by content. It must not know what is to
//! become of the commit.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// How a commit is proved to be on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LandedBy {
    /// It lies in the target's history.
    Ancestor,
    /// Each commit that it has beyond the target is there as a patch.
    PatchId,
    /// A commit of the target beyond their common ancestor has the same tree, or git's merge of it would change nothing.
    Tree,
}

/// Commits of the target whose trees are compared, newest first.
const TREES_MAX: &str = "--max-count=5000";

impl Repo {
    /// The proof that nothing is lost of `commit` when only the ref `target` stays; `None` when there is none. Writes
    /// nothing.
    ///
    /// # Errors
    /// What a call can give.
    pub fn landed_by(&self, commit: &Oid, target: &str) -> Result<Option<LandedBy>> {
        let Some(tip) = self.resolve(target)? else { return Ok(None) };
        if self.is_ancestor(commit, &tip)? {
            return Ok(Some(LandedBy::Ancestor));
        }
        let Some(base) = self.merge_base(commit, &tip)? else { return Ok(None) };
        if self.has_all_patches(commit, &tip)? {
            return Ok(Some(LandedBy::PatchId));
        }
        let tree = self.tree_of(commit)?;
        // What leads back to where it began has content to compare only in its history.
        if tree == self.tree_of(&base)? {
            return Ok(None);
        }
        let passed = self
            .read("listing trees")
            .args(["log", "--format=%T", TREES_MAX, tip.as_str()])
            .arg(format!("^{base}"))
            .text()?;
        if passed.lines().any(|line| line == tree.as_str()) {
            return Ok(Some(LandedBy::Tree));
        }
        let adds_nothing = self.merged_tree(&tip, commit)? == Some(self.tree_of(&tip)?);
        Ok(adds_nothing.then_some(LandedBy::Tree))
    }

    /// Whether each commit of `commit` beyond `tip` is there as a patch. A merge has no patch.
    fn has_all_patches(&self, commit: &Oid, tip: &Oid) -> Result<bool> {
        if !self.commits(commit, &[tip], "--merges")?.is_empty() {
            return Ok(false);
        }
        let call = self.read("comparing patches");
        let listed = call.args(["cherry", tip.as_str(), commit.as_str()]).text()?;
        Ok(!listed.is_empty() && listed.lines().all(|line| line.starts_with("- ")))
    }

    /// The tree of git's merge, `None` when there are conflicts. Its objects go to a folder of their own that is
    /// removed: a question leaves nothing behind.
    fn merged_tree(&self, ours: &Oid, theirs: &Oid) -> Result<Option<Oid>> {
        // Without a place for them nothing is proved.
        let Ok(scratch) = Scratch::make() else { return Ok(None) };
        let own = self.common_dir().join("objects");
        let own = crate::snapshot::quoted(own.as_os_str().as_bytes());
        let done = self
            .read("merging for comparison")
            .env("GIT_OBJECT_DIRECTORY", scratch.0.as_os_str())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(own))
            .args(["merge-tree", "--write-tree", "--no-messages", ours.as_str(), theirs.as_str()])
            .done()?;
        if !done.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&done.stdout);
        Ok(Oid::new(text.trim_end()))
    }
}

/// A folder for objects that nobody keeps.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tidegate-objects-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).map_err(GitError::io("create", &path))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
