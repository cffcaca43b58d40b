//! Looking into the files that a landing may have reverted: line by line, commit by commit, merge by merge. It must not
//! know which files are suspect, nor what is done about a finding.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use tidegate_core::ids::Oid;

use crate::error::Result;
use crate::line_diff::{has_word, hunks, lines};
use crate::lost_lines::{Inserted, Loss, Lost, lost_in_merge, undone};
use crate::merge::Trees;
use crate::repo::Repo;
use crate::silent_revert::{LostLine, RevertCheck, RevertKind, SilentRevert, Suspect};
use crate::versions::{Pair, Texts, Version};

/// So many of the target's commits on one file are looked at, newest first.
const COMMITS_PER_FILE: usize = 200;
/// Of a block of lines, this part has to stand elsewhere for it to count as moved.
const MOVED: f64 = 0.8;
const TEXT_UP_TO: usize = 200;

/// A merge on the branch that is not git's own of its parents.
struct HandMerge {
    base: Oid,
    ours: Oid,
    theirs: Oid,
    result: Oid,
}

/// One search over all suspects of a landing.
pub(crate) struct Search<'a> {
    repo: &'a Repo,
    check: &'a RevertCheck,
    changes: Vec<Pair>,
    texts: Texts,
    merges: OnceCell<Vec<HandMerge>>,
    /// Texts of all files that the landing changes, before and after.
    moved: OnceCell<Texts>,
}

/// The three texts of a suspect, as lines.
struct Three<'a> {
    base: Vec<&'a [u8]>,
    target: Vec<&'a [u8]>,
    merged: Vec<&'a [u8]>,
}

impl Three<'_> {
    /// Lines that the target has changed since the base and the landing removes.
    fn candidates(&self) -> Vec<usize> {
        let landed = hunks(&self.base, &self.target);
        let leaving = hunks(&self.target, &self.merged);
        (0..self.target.len())
            .filter(|at| landed.iter().any(|hunk| hunk.new.contains(at)))
            .filter(|at| leaving.iter().any(|hunk| hunk.old.contains(at)))
            .collect()
    }
}

/// What is known about the candidates of one file.
#[derive(Default)]
struct Explained(BTreeMap<RevertKind, Vec<usize>>);

impl Explained {
    /// Takes those of the open lines whose text is among the lost ones.
    fn take(&mut self, kind: RevertKind, lost: &[&[u8]], target: &[&[u8]], open: &mut Vec<usize>) {
        let (hit, rest) =
            std::mem::take(open).into_iter().partition(|at| lost.contains(&target[*at]));
        *open = rest;
        let hit: Vec<usize> = hit;
        if !hit.is_empty() {
            self.0.entry(kind).or_default().extend(hit);
        }
    }
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        repo: &'a Repo,
        check: &'a RevertCheck,
        changes: Vec<Pair>,
        suspects: &[Suspect],
    ) -> Result<Self> {
        let texts = repo.texts(suspects.iter().flat_map(Suspect::versions))?;
        Ok(Self { repo, check, changes, texts, merges: OnceCell::new(), moved: OnceCell::new() })
    }

    /// A finding about a whole file.
    pub(crate) fn whole(
        &self,
        suspect: &Suspect,
        kind: RevertKind,
    ) -> Result<Option<SilentRevert>> {
        let path = suspect.path();
        let lines = match (self.three(suspect), kind) {
            (Some(three), RevertKind::Restored | RevertKind::FileRemoved) => {
                let at = three.candidates();
                let lost: Vec<_> = at.iter().map(|at| three.target[*at].to_vec()).collect();
                let lines = numbered(&three.target, at);
                if self.is_moved(&lost)? {
                    return Ok(None);
                }
                lines
            }
            (Some(three), RevertKind::Resurrected) => numbered(&three.base, 0..three.base.len()),
            (
                _,
                RevertKind::Restored
                | RevertKind::FileRemoved
                | RevertKind::Resurrected
                | RevertKind::Dropped
                | RevertKind::ResolvedToOurs
                | RevertKind::ModeRestored
                | RevertKind::RenameUndone,
            ) => Vec::new(),
        };
        let commits = self.commits_on(&path)?;
        Ok(Some(SilentRevert { path, kind, lines, commits }))
    }

    /// Findings about parts of a file, or about a file that the branch removed or that has no lines.
    pub(crate) fn inside(&self, suspect: &Suspect, found: &mut Vec<SilentRevert>) -> Result<()> {
        let path = suspect.path();
        let Some(three) = self.three(suspect).filter(|_| suspect.merged.is_some()) else {
            if let Some(kind) = self.lost_as_a_whole(&path)? {
                let commits = self.commits_on(&path)?;
                found.push(SilentRevert { path, kind, lines: Vec::new(), commits });
            }
            return Ok(());
        };
        let mut open = three.candidates();
        let Three { base, target, merged } = three;
        let mut explained = Explained::default();
        for lost in undone(&base, &target, &merged) {
            if lost.loss == Loss::Resurrected {
                let lines = numbered(&base, lost.back);
                let commits = self.commits_on(&path)?;
                let kind = RevertKind::Resurrected;
                found.push(SilentRevert { path: path.clone(), kind, lines, commits });
                continue;
            }
            explained.take(RevertKind::Restored, &texts_of(&lost, &target), &target, &mut open);
        }
        if open.iter().any(|at| has_word(target[*at])) {
            self.by_commits(&path, &target, &merged, &mut open, &mut explained)?;
        }
        if open.iter().any(|at| has_word(target[*at])) {
            self.by_merges(&path, &target, &mut open, &mut explained)?;
        }
        for (kind, mut at) in explained.0 {
            at.sort_unstable();
            let lost: Vec<_> = at.iter().map(|at| target[*at].to_vec()).collect();
            if self.is_moved(&lost)? {
                continue;
            }
            let commits = self.repo.blame(self.check, &path, &at)?;
            let lines = numbered(&target, at);
            found.push(SilentRevert { path: path.clone(), kind, lines, commits });
        }
        Ok(())
    }

    fn three(&self, suspect: &Suspect) -> Option<Three<'_>> {
        let text = |version: &Option<Version>| self.texts.of(version.as_ref()).map(lines);
        Some(Three {
            base: text(&suspect.base)?,
            target: text(&suspect.target)?,
            merged: text(&suspect.merged)?,
        })
    }

    /// Lines whose single commit was undone, as by a revert of one of several landings side by side.
    fn by_commits(
        &self,
        path: &Path,
        target: &[&[u8]],
        merged: &[&[u8]],
        open: &mut Vec<usize>,
        explained: &mut Explained,
    ) -> Result<()> {
        let mut sides = Vec::new();
        for commit in self.commits_on(path)?.into_iter().take(COMMITS_PER_FILE) {
            let Some(parent) = self.repo.resolve(&format!("{commit}^"))? else { continue };
            let before = self.repo.versions_at(&parent, &[path])?.remove(path);
            let after = self.repo.versions_at(&commit, &[path])?.remove(path);
            sides.push((before, after));
        }
        let all = sides.iter().flat_map(|(before, after)| [before, after]).flatten();
        let texts = self.repo.texts(all)?;
        for (before, after) in &sides {
            let (Some(before), Some(after)) = (texts.of(before.as_ref()), texts.of(after.as_ref()))
            else {
                continue;
            };
            let (before, after) = (lines(before), lines(after));
            for lost in undone(&before, &after, merged) {
                explained.take(RevertKind::Restored, &texts_of(&lost, &after), target, open);
            }
        }
        Ok(())
    }

    /// Lines that a merge on the branch has lost.
    fn by_merges(
        &self,
        path: &Path,
        target: &[&[u8]],
        open: &mut Vec<usize>,
        explained: &mut Explained,
    ) -> Result<()> {
        for merge in self.hand_merges()? {
            let sides = self.repo.sides_of(merge, path)?;
            let texts = self.repo.texts(sides.iter().flatten())?;
            let [Some(base), Some(ours), Some(theirs), Some(result)] =
                sides.each_ref().map(|side| texts.of(side.as_ref()).map(lines))
            else {
                continue;
            };
            for lost in lost_in_merge(&base, &ours, &theirs, &result) {
                let kind = match lost.loss {
                    Loss::Restored | Loss::Dropped => RevertKind::Dropped,
                    Loss::ResolvedToOurs => RevertKind::ResolvedToOurs,
                    Loss::Resurrected => continue,
                };
                explained.take(kind, &texts_of(&lost, &theirs), target, open);
            }
        }
        Ok(())
    }

    /// How a merge on the branch lost the target's version of a file that has no lines, or is gone.
    fn lost_as_a_whole(&self, path: &Path) -> Result<Option<RevertKind>> {
        for merge in self.hand_merges()? {
            let [base, ours, theirs, result] = self.repo.sides_of(merge, path)?;
            if theirs == base || result != ours || result == theirs {
                continue;
            }
            let untouched = ours == base;
            return Ok(Some(match (untouched, result) {
                (true, None) => RevertKind::FileRemoved,
                (true, Some(_)) => RevertKind::Dropped,
                (false, _) => RevertKind::ResolvedToOurs,
            }));
        }
        Ok(None)
    }

    /// The merges of the branch, and the landing itself, that are not what git makes of their parents.
    fn hand_merges(&self) -> Result<&[HandMerge]> {
        if let Some(merges) = self.merges.get() {
            return Ok(merges);
        }
        let RevertCheck { target, feature, merged, .. } = self.check;
        let mut all = vec![(feature.clone(), target.clone(), merged.clone())];
        for merge in self.repo.commits(feature, &[target], "--merges")? {
            let parents = self.repo.raw_commit(&merge)?.parents;
            if let Some((ours, others)) = parents.split_first() {
                all.extend(others.iter().map(|o| (ours.clone(), o.clone(), merge.clone())));
            }
        }
        let mut merges = Vec::new();
        for (ours, theirs, result) in all {
            let tree = self.repo.tree_of(&result)?;
            let plain = match self.repo.merge_trees(&ours, &theirs)? {
                Trees::Clean(own) => own == tree,
                Trees::Conflict { .. } | Trees::Unrelated => false,
            };
            if plain {
                continue;
            }
            if let Some(base) = self.repo.merge_base(&ours, &theirs)? {
                merges.push(HandMerge { base, ours, theirs, result });
            }
        }
        Ok(self.merges.get_or_init(|| merges))
    }

    /// Whether lines that are gone stand elsewhere now: a block that was moved is not lost.
    fn is_moved(&self, lost: &[Vec<u8>]) -> Result<bool> {
        let lost: Vec<&[u8]> = lost.iter().map(|line| &**line).collect();
        if lost.iter().filter(|line| has_word(line)).count() < 2 {
            return Ok(false);
        }
        let texts = if let Some(texts) = self.moved.get() {
            texts
        } else {
            let all = self.changes.iter().flat_map(|pair| [&pair.old, &pair.new]).flatten();
            let texts = self.repo.texts(all)?;
            self.moved.get_or_init(|| texts)
        };
        let mut inserted = Inserted::default();
        for pair in &self.changes {
            let (Some(old), Some(new)) = (texts.of(pair.old.as_ref()), texts.of(pair.new.as_ref()))
            else {
                continue;
            };
            let (old, new) = (lines(old), lines(new));
            for hunk in hunks(&old, &new) {
                inserted.add(&new[hunk.new]);
            }
        }
        Ok(inserted.share(&lost) >= MOVED)
    }

    /// The commits of the target since the base that changed a path; newest first.
    fn commits_on(&self, path: &Path) -> Result<Vec<Oid>> {
        self.repo.commits_on(self.check, path)
    }
}

impl Repo {
    /// A path at the base, at both sides and in the result of a merge.
    fn sides_of(&self, merge: &HandMerge, path: &Path) -> Result<[Option<Version>; 4]> {
        let HandMerge { base, ours, theirs, result } = merge;
        let at = |commit| Ok(self.versions_at(commit, &[path])?.remove(path));
        Ok([at(base)?, at(ours)?, at(theirs)?, at(result)?])
    }
}

fn texts_of<'a>(lost: &Lost, target: &[&'a [u8]]) -> Vec<&'a [u8]> {
    lost.gone.iter().map(|at| target[*at]).collect()
}

/// Lines with their numbers, for people.
fn numbered(lines: &[&[u8]], at: impl IntoIterator<Item = usize>) -> Vec<LostLine> {
    at.into_iter()
        .map(|at| LostLine {
            number: at + 1,
            text: String::from_utf8_lossy(lines[at]).chars().take(TEXT_UP_TO).collect(),
        })
        .collect()
}
