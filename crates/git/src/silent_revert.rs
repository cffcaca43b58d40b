//! The guard against silent reverts: what a landing would take away from the target although nobody meant to. It must not
//! know what is done about it.
//!
//! A stale copy of a file, a conflict that was resolved by keeping one side, a revert of what others landed: all of them
//! merge cleanly. What is looked for are changes of `base..target` that the merged tree has lost: because the place looks
//! as it did before the change, or because a merge on the branch lost it outside of what the branch itself had changed.
//! A line that a commit of the branch changed further, with the target's change in view, is the author's own work.

use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::error::Result;
use crate::repo::Repo;
use crate::revert_search::Search;
use crate::versions::{Pair, Version};

/// A landing to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevertCheck {
    /// The commit that the branch was made from. A later commit of the target that the branch contains narrows the look
    /// to what landed after it.
    pub base: Oid,
    /// The target before the landing.
    pub target: Oid,
    /// The tip of the branch.
    pub feature: Oid,
    /// What is to become of the target, by whatever strategy.
    pub merged: Oid,
}

/// Something that had landed on the target since the base and would be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilentRevert {
    /// Where, as the target names it (as the base does, for what the target had removed).
    pub path: PathBuf,
    /// How it was lost.
    pub kind: RevertKind,
    /// The lines, if it is text.
    pub lines: Vec<LostLine>,
    /// The commits of the target whose change it is; not always known.
    pub commits: Vec<Oid>,
}

/// A line that would be gone, or back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostLine {
    /// Its number, from 1, in the target's file; in the base's file for [`RevertKind::Resurrected`].
    pub number: usize,
    /// The line, cut to 200 characters.
    pub text: String,
}

/// How a change was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RevertKind {
    /// The place, or the whole file, is again as it was before the change.
    Restored,
    /// A merge on the branch lost it, at a place that the branch had not touched.
    Dropped,
    /// A merge on the branch kept the branch's side alone where both had changed the same.
    ResolvedToOurs,
    /// What the target had removed is back.
    Resurrected,
    /// A file that the target had added or changed is not there.
    FileRemoved,
    /// The mode that the target had changed is back, for instance a script is not executable any more.
    ModeRestored,
    /// A file that the target had renamed has its old name again.
    RenameUndone,
}

/// A file that the target changed since the base, and that the landing changes too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) base: Option<Version>,
    pub(crate) target: Option<Version>,
    pub(crate) merged: Option<Version>,
}

impl Suspect {
    pub(crate) fn path(&self) -> PathBuf {
        let version = self.target.as_ref().or(self.base.as_ref());
        version.map(|version| version.path.clone()).unwrap_or_default()
    }

    pub(crate) fn versions(&self) -> impl Iterator<Item = &Version> {
        [&self.base, &self.target, &self.merged].into_iter().flatten()
    }

    /// The whole finding, if it can be told without looking into the file.
    fn as_a_whole(&self) -> Option<RevertKind> {
        match (&self.base, &self.target, &self.merged) {
            (Some(base), None, Some(merged)) => {
                base.same_file(merged).then_some(RevertKind::Resurrected)
            }
            (None, Some(_), None) => Some(RevertKind::FileRemoved),
            (Some(base), Some(target), Some(merged)) => {
                if base.path != target.path && merged.path == base.path {
                    Some(RevertKind::RenameUndone)
                } else if base.oid != target.oid && merged.oid == base.oid {
                    Some(RevertKind::Restored)
                } else if base.mode != target.mode && merged.mode == base.mode {
                    Some(RevertKind::ModeRestored)
                } else {
                    None
                }
            }
            (_, None, _) | (Some(_), Some(_), None) | (None, Some(_), Some(_)) => None,
        }
    }

    /// Whether there may be more to find inside of the file.
    fn has_inside(&self) -> bool {
        let oid = |version: &Option<Version>| version.as_ref().map(|version| version.oid.clone());
        self.target.is_some()
            && oid(&self.base) != oid(&self.target)
            && oid(&self.merged) != oid(&self.target)
    }
}

impl Repo {
    /// What the landing would take away from the target. Empty is the rule, and found out by two calls of git.
    ///
    /// # Errors
    /// [`crate::GitError::Missing`] when a commit does not exist, else what a call can give.
    pub fn silent_reverts(&self, check: &RevertCheck) -> Result<Vec<SilentRevert>> {
        let RevertCheck { base, target, feature, merged } = check;
        self.require_commits(&[base, target, feature, merged])?;
        if base == target {
            return Ok(Vec::new());
        }
        let landed = self.pairs(base, target)?;
        let changes = self.pairs(target, merged)?;
        let suspects = join(landed, &changes);
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let search = Search::new(self, check, changes, &suspects)?;
        let mut found = Vec::new();
        for suspect in &suspects {
            match suspect.as_a_whole() {
                Some(kind) => found.extend(search.whole(suspect, kind)?),
                None if suspect.has_inside() => search.inside(suspect, &mut found)?,
                None => {}
            }
        }
        Ok(found)
    }
}

/// The files of which the target has another version since the base, and the landing changes that.
fn join(landed: Vec<Pair>, changes: &[Pair]) -> Vec<Suspect> {
    let merged_of = |landed: &Pair| {
        let at = |version: &Option<Version>, path: &Path| {
            version.as_ref().is_some_and(|version| version.path == path)
        };
        match (&landed.old, &landed.new) {
            (_, Some(target)) => changes.iter().find(|pair| at(&pair.old, &target.path)),
            (Some(base), None) => changes.iter().find(|pair| at(&pair.new, &base.path)),
            (None, None) => None,
        }
    };
    let suspects = landed.into_iter().filter_map(|landed| {
        let merged = merged_of(&landed)?.new.clone();
        Some(Suspect { base: landed.old, target: landed.new, merged })
    });
    suspects.collect()
}
