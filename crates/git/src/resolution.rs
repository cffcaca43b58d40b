//! Checking what a reconciler made of a conflict, and giving it up. It must not know who the reconciler is.

use std::collections::BTreeSet;
use std::path::PathBuf;

use tidegate_core::ids::Oid;

use crate::admin_dir::{AdminDir, Operation};
use crate::conflict::merge_head;
use crate::error::{GitError, Result};
use crate::line_diff::lines;
use crate::merge::Trees;
use crate::repo::Repo;
use crate::snapshot::Vault;
use crate::status::{Change, Scope};

/// What to check. The caller guarantees that no job runs in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolutionCheck {
    /// Root of the feature's worktree.
    pub worktree: PathBuf,
    /// Short name of its branch.
    pub branch: String,
    /// Where the branch was before.
    pub feature: Oid,
    /// The commit of the target that was to be merged.
    pub target: Oid,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The branch is at a commit that joins both, and nothing is left of the conflict.
    Resolved {
        /// Where the branch is.
        commit: Oid,
        /// Paths that differ from git's own merge although they were in no conflict: to look at, not wrong by itself.
        outside: Vec<PathBuf>,
    },
    /// It is not done.
    Flawed {
        /// Why not.
        flaws: Vec<Flaw>,
    },
}

/// Something that is wrong with a resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// Another branch, or none, is checked out in the worktree.
    LeftBranch {
        /// Full name of the branch; `None` for a detached head.
        found: Option<String>,
    },
    /// Paths that git still has as conflicts.
    Unmerged {
        /// The paths.
        paths: Vec<PathBuf>,
    },
    /// Changes that are in no commit.
    Uncommitted {
        /// The paths.
        paths: Vec<PathBuf>,
    },
    /// The merge, or something else that git began there, is not ended.
    InProgress(Operation),
    /// No merge commit on the branch has the feature on one side and the target on the other.
    NoMerge,
    /// Markers of the conflict that are in the commit.
    Markers {
        /// The file.
        path: PathBuf,
        /// The lines, from 1.
        lines: Vec<usize>,
    },
}

/// Giving a resolution up. The caller guarantees that no job runs in the worktree, and recorded the snapshot before.
#[derive(Debug, Clone, Copy)]
pub struct AbandonRequest<'a> {
    /// Root of the feature's worktree.
    pub worktree: &'a std::path::Path,
    /// Short name of its branch, `tidegate/<run>/<feature>`.
    pub branch: &'a str,
    /// The commit to go back to.
    pub feature: &'a Oid,
    /// Where the snapshot is.
    pub vault: &'a Vault,
    /// Its series.
    pub series: &'a str,
    /// Its number.
    pub number: u32,
}

/// How giving up ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbandonOutcome {
    /// The worktree is at the feature's commit, by this call.
    Abandoned,
    /// It was so already.
    AlreadyThere,
    /// The snapshot does not exist, or is not of what is there now. Nothing was done.
    NotCaptured,
}

impl Repo {
    /// Checks the branch and the worktree. Writes nothing.
    ///
    /// # Errors
    /// [`GitError::Missing`], [`GitError::ForeignWorktree`]; what a call can give.
    pub fn check_resolution(&self, check: &ResolutionCheck) -> Result<Resolution> {
        let ResolutionCheck { worktree, branch, feature, target } = check;
        let admin = AdminDir::of(self, worktree)?;
        let refname = format!("refs/heads/{branch}");
        let head = self.resolve(&refname)?.ok_or(GitError::Missing { what: refname.clone() })?;
        let mut flaws = self.flaws_of_worktree(check, &admin, &refname)?;
        if !self.joins(&head, feature, target)? {
            flaws.push(Flaw::NoMerge);
            return Ok(Resolution::Flawed { flaws });
        }
        let (tree, conflicted) = match self.merge_trees(feature, target)? {
            Trees::Conflict { tree, paths, .. } => (tree, paths.into_iter().collect()),
            Trees::Clean(tree) => (tree, BTreeSet::new()),
            Trees::Unrelated => return Ok(Resolution::Flawed { flaws: vec![Flaw::NoMerge] }),
        };
        let differing = self.tree_diff(&tree, &head)?.into_iter().map(|entry| entry.path);
        let outside: Vec<_> = differing.filter(|path| !conflicted.contains(path)).collect();
        let suspects: Vec<_> = conflicted.iter().chain(&outside).cloned().collect();
        flaws.extend(self.markers(&suspects, &head, [feature, target])?);
        if flaws.is_empty() {
            return Ok(Resolution::Resolved { commit: head, outside });
        }
        Ok(Resolution::Flawed { flaws })
    }

    fn flaws_of_worktree(
        &self,
        check: &ResolutionCheck,
        admin: &AdminDir,
        refname: &str,
    ) -> Result<Vec<Flaw>> {
        let mut flaws = Vec::new();
        let found = self.branch_in(&check.worktree)?;
        if found.as_deref() != Some(refname) {
            flaws.push(Flaw::LeftBranch { found });
        }
        let (unmerged, uncommitted): (Vec<_>, Vec<_>) = self
            .status(&check.worktree, Scope::All)?
            .into_iter()
            .partition(|dirty| dirty.change == Change::Unmerged);
        let paths = |all: Vec<crate::status::DirtyPath>| -> Vec<PathBuf> {
            all.into_iter().map(|dirty| dirty.path).collect()
        };
        if !unmerged.is_empty() {
            flaws.push(Flaw::Unmerged { paths: paths(unmerged) });
        }
        if !uncommitted.is_empty() {
            flaws.push(Flaw::Uncommitted { paths: paths(uncommitted) });
        }
        flaws.extend(admin.operation().map(Flaw::InProgress));
        Ok(flaws)
    }

    /// Whether some merge in `head` has the feature on its first side and the target on another.
    fn joins(&self, head: &Oid, feature: &Oid, target: &Oid) -> Result<bool> {
        if !self.is_ancestor(feature, head)? || !self.is_ancestor(target, head)? {
            return Ok(false);
        }
        for merge in self.commits(head, &[feature, target], "--merges")? {
            let parents = self.raw_commit(&merge)?.parents;
            let Some((first, others)) = parents.split_first() else { continue };
            if others.contains(target) && self.is_ancestor(feature, first)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lines of files that look like markers, and stand in neither side.
    fn markers(&self, paths: &[PathBuf], head: &Oid, sides: [&Oid; 2]) -> Result<Vec<Flaw>> {
        let names: Vec<_> = paths.iter().map(PathBuf::as_path).collect();
        let result = self.versions_at(head, &names)?;
        let [feature, target] = sides;
        let (ours, theirs) =
            (self.versions_at(feature, &names)?, self.versions_at(target, &names)?);
        let all = [&result, &ours, &theirs].into_iter().flat_map(|side| side.values());
        let texts = self.texts(all)?;
        let mut flaws = Vec::new();
        for (path, version) in &result {
            let Some(text) = texts.of(Some(version)) else { continue };
            let known: BTreeSet<&[u8]> = [ours.get(path), theirs.get(path)]
                .into_iter()
                .filter_map(|side| texts.of(side))
                .flat_map(lines)
                .filter(|line| is_marker(line))
                .collect();
            let found = lines(text).into_iter().enumerate();
            let found = found.filter(|(_, line)| is_marker(line) && !known.contains(line));
            let lines: Vec<_> = found.map(|(at, _)| at + 1).collect();
            if !lines.is_empty() {
                flaws.push(Flaw::Markers { path: path.clone(), lines });
            }
        }
        Ok(flaws)
    }

    /// Returns the worktree and its branch to the feature's commit, if a snapshot has what is lost by that.
    ///
    /// # Errors
    /// [`GitError::Missing`], [`GitError::ForeignWorktree`]; [`GitError::Refused`] for a branch that is not ours; what a
    /// call can give.
    pub fn abandon_resolution(&self, request: &AbandonRequest<'_>) -> Result<AbandonOutcome> {
        let AbandonRequest { worktree, branch, feature, vault, series, number } = *request;
        let refname = format!("refs/heads/{branch}");
        if !branch.starts_with("tidegate/") {
            let stderr = format!("{refname} is not a branch of Tidegate");
            return Err(GitError::Refused { doing: "giving up a resolution", stderr });
        }
        self.require_commits(&[feature])?;
        let admin = AdminDir::of(self, worktree)?;
        admin.remove_own_locks()?;
        let tip = self.resolve(&refname)?;
        let on_branch = self.branch_in(worktree)?.as_ref() == Some(&refname);
        let is_there = on_branch
            && tip.as_ref() == Some(feature)
            && admin.operation().is_none()
            && self.status(worktree, Scope::All)?.is_empty();
        if is_there {
            return Ok(AbandonOutcome::AlreadyThere);
        }
        let head = self.read_in(worktree, "reading the head of a worktree");
        let head = head.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).oid()?;
        let lost: Vec<&Oid> = tip.iter().chain([&head]).collect();
        if !self.is_captured(vault, series, number, feature, &lost)? {
            return Ok(AbandonOutcome::NotCaptured);
        }
        fail::fail_point!("git.resolution.before_abandon");
        self.end_operation(worktree, &admin)?;
        self.write_in(worktree, "returning to a branch")
            .args(["symbolic-ref", "-m", "tidegate: give up", "HEAD", &refname])
            .bytes()?;
        self.reset_worktree(worktree, feature)?;
        fail::fail_point!("git.resolution.after_abandon");
        Ok(AbandonOutcome::Abandoned)
    }

    /// Whether the snapshot has all commits that the feature has not.
    fn is_captured(
        &self,
        vault: &Vault,
        series: &str,
        number: u32,
        feature: &Oid,
        lost: &[&Oid],
    ) -> Result<bool> {
        let Some(parents) = vault.parents_of(series, number)? else { return Ok(false) };
        for commit in lost {
            if !parents.contains(commit) && !self.is_ancestor(commit, feature)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Forgets what git has begun, without touching any file.
    fn end_operation(&self, worktree: &std::path::Path, admin: &AdminDir) -> Result<()> {
        let arguments: &[&str] = match admin.operation() {
            Some(Operation::Rebase) => &["rebase", "--quit"],
            Some(Operation::CherryPick) => &["cherry-pick", "--quit"],
            Some(Operation::Revert) => &["revert", "--quit"],
            Some(Operation::Merge) if merge_head(admin).is_some() => &["merge", "--quit"],
            Some(Operation::Bisect) => &["bisect", "reset", "HEAD"],
            Some(Operation::Merge) | None => return Ok(()),
        };
        // The reset that follows ends what is left of it.
        self.write_in(worktree, "ending what git began").args(arguments).done().map(drop)
    }
}

/// Whether a line is what git writes around the sides of a conflict, nested ones of any length included.
fn is_marker(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some(sign) = line.first().copied().filter(|sign| b"<>|=".contains(sign)) else {
        return false;
    };
    let length = line.iter().take_while(|b| **b == sign).count();
    let rest = &line[length..];
    length >= 7 && (rest.is_empty() || (rest[0] == b' ' && sign != b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_of_all_kinds_are_known_and_other_lines_are_not() {
        for line in
            ["<<<<<<< HEAD", "||||||| base", "=======", ">>>>>>> x", "<<<<<<<<<<< n", "=======\r"]
        {
            assert!(is_marker(line.as_bytes()), "{line}");
        }
        for line in
            ["<<<<<<", "<<<<<<<x", "======= title", " =======", "", "--------", "a <<<<<<< b"]
        {
            assert!(!is_marker(line.as_bytes()), "{line}");
        }
    }
}
