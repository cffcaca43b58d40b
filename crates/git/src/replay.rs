//! Replaying the commits of a branch onto a target, one after the other, without any worktree. It must not know refs, nor
//! what the result is for.
//!
//! Merge commits are not replayed: what they brought in is on the target, or is replayed by itself. One that says more
//! than git's own merge of its parents (a conflict that somebody resolved) cannot be left out, and neither can the
//! commits before it be replayed without the same conflict. So everything up to the newest such merge becomes one commit.

use std::path::PathBuf;

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::merge::{MergeRequest, NoChangeReason, Trees};
use crate::raw_commit::RawCommit;
use crate::repo::Repo;

/// A commit of the branch, and what it has become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The commit of the branch.
    pub original: Oid,
    /// The commit on the target; the same one when it lay there already.
    pub commit: Oid,
}

/// How a rebase ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RebaseOutcome {
    /// The commits exist; no ref but the keeping one leads to them.
    Rebased {
        /// The last of them.
        commit: Oid,
        /// Its tree.
        tree: Oid,
        /// All of them, oldest first.
        replayed: Vec<Replayed>,
        /// Commits of the branch that change nothing on this target.
        dropped: Vec<Oid>,
    },
    /// One of them does not apply; a person or a reconciler is needed.
    Conflict {
        /// The commit of the branch.
        commit: Oid,
        /// Its first line.
        subject: String,
        /// All paths that take part; sorted.
        paths: Vec<PathBuf>,
        /// What git says about them, one line each.
        notes: Vec<String>,
    },
    /// There is nothing to land.
    NoChange {
        /// Why.
        why: NoChangeReason,
    },
    /// The two share no history, or a shallow clone hides it.
    Unrelated,
}

/// One commit to make again: what it changed, from where.
struct Step {
    original: Oid,
    raw: RawCommit,
    /// The commit that its change is relative to.
    parent: Oid,
}

impl Repo {
    /// Replays the commits that the branch has beyond the target, oldest first, onto the target.
    ///
    /// Authors, their times and messages stay; the committer is the one of the request. A commit that lies on the target
    /// already is taken as it is, as git does. The strategy and the message of the request do not matter here.
    ///
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist, else what a call can give.
    pub fn rebase(&self, request: &MergeRequest) -> Result<RebaseOutcome> {
        let MergeRequest { target_tip, branch_tip, .. } = request;
        self.require_commits(&[target_tip, branch_tip])?;
        if self.is_ancestor(branch_tip, target_tip)? {
            return Ok(RebaseOutcome::NoChange { why: NoChangeReason::AlreadyMerged });
        }
        let Some(steps) = self.steps(target_tip, branch_tip)? else {
            return Ok(RebaseOutcome::Unrelated);
        };
        let (mut tip, mut tree) = (target_tip.clone(), self.tree_of(target_tip)?);
        let (mut replayed, mut dropped) = (Vec::new(), Vec::new());
        for step in steps {
            let new_tree = match self.apply(&step, &tip, &tree)? {
                Trees::Clean(new_tree) => new_tree,
                Trees::Unrelated => return Ok(RebaseOutcome::Unrelated),
                Trees::Conflict { paths, notes, .. } => {
                    let subject = step.raw.subject();
                    return Ok(RebaseOutcome::Conflict {
                        commit: step.original,
                        subject,
                        paths,
                        notes,
                    });
                }
            };
            if new_tree == tree {
                dropped.push(step.original);
                continue;
            }
            let kept = step.raw.parents.as_slice() == [tip.clone()];
            tip = if kept {
                step.original.clone()
            } else {
                let committer = (&request.identity, request.when_unix_s);
                self.rewrite_commit(&step.raw, &new_tree, &tip, committer)?
            };
            tree = new_tree;
            replayed.push(Replayed { original: step.original, commit: tip.clone() });
        }
        if replayed.is_empty() || tree == self.tree_of(target_tip)? {
            return Ok(RebaseOutcome::NoChange { why: NoChangeReason::EmptyDiff });
        }
        if let Some(refname) = &request.keep_as {
            self.set_own_ref(refname, &tip)?;
        }
        Ok(RebaseOutcome::Rebased { commit: tip, tree, replayed, dropped })
    }

    /// What to replay, oldest first; `None` without a common history.
    fn steps(&self, target: &Oid, branch: &Oid) -> Result<Option<Vec<Step>>> {
        let Some(base) = self.merge_base(target, branch)? else { return Ok(None) };
        let mut steps = Vec::new();
        let telling = self.telling_merge(target, branch)?;
        if let Some(merge) = &telling {
            let parent = self.merge_base(target, merge)?.unwrap_or(base);
            let raw = self.raw_commit(merge)?;
            steps.push(Step { original: merge.clone(), raw, parent });
        }
        let mut excluded = vec![target];
        excluded.extend(telling.as_ref());
        for original in self.commits(branch, &excluded, "--no-merges")?.into_iter().rev() {
            let raw = self.raw_commit(&original)?;
            // A root commit that is not on the target belongs to another history.
            let Some(parent) = raw.parents.first().cloned() else { return Ok(None) };
            steps.push(Step { original, raw, parent });
        }
        Ok(Some(steps))
    }

    /// The newest merge on the branch whose tree is not what git makes of its parents.
    fn telling_merge(&self, target: &Oid, branch: &Oid) -> Result<Option<Oid>> {
        for merge in self.commits(branch, &[target], "--merges")? {
            let raw = self.raw_commit(&merge)?;
            let plain = match raw.parents.as_slice() {
                [ours, theirs] => match self.merge_trees(ours, theirs)? {
                    Trees::Clean(tree) => tree == raw.tree,
                    Trees::Conflict { .. } | Trees::Unrelated => false,
                },
                _ => false,
            };
            if !plain {
                return Ok(Some(merge));
            }
        }
        Ok(None)
    }

    /// The tree of the tip with the change of one commit.
    fn apply(&self, step: &Step, tip: &Oid, tip_tree: &Oid) -> Result<Trees> {
        if step.parent == *tip {
            return Ok(Trees::Clean(step.raw.tree.clone()));
        }
        // Two commits whose only merge base is the parent: so it works with every version of git.
        let ours = self.stand_in(tip_tree, &step.parent)?;
        let theirs = self.stand_in(&step.raw.tree, &step.parent)?;
        self.merge_trees(&ours, &theirs)
    }

    /// A commit that stands for a tree on a parent; the same one each time, and nobody's work.
    fn stand_in(&self, tree: &Oid, parent: &Oid) -> Result<Oid> {
        self.write("writing a commit to merge")
            .args(["commit-tree", tree.as_str(), "-p", parent.as_str(), "-m", "tidegate"])
            .env("GIT_AUTHOR_NAME", "Tidegate")
            .env("GIT_AUTHOR_EMAIL", "tidegate@localhost")
            .env("GIT_AUTHOR_DATE", "@1 +0000")
            .env("GIT_COMMITTER_NAME", "Tidegate")
            .env("GIT_COMMITTER_EMAIL", "tidegate@localhost")
            .env("GIT_COMMITTER_DATE", "@1 +0000")
            .oid()
    }

    /// A best common ancestor; `None` when there is none.
    ///
    /// # Errors
    /// What a call can give.
    pub fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>> {
        let doing = "looking for a merge base";
        let call = self.read(doing).args(["merge-base", one.as_str(), other.as_str()]);
        let done = call.done()?;
        match done.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&done.stdout);
                Oid::new(text.trim_end()).map(Some).ok_or(GitError::Unparsable { doing })
            }
            Some(1) => Ok(None),
            _ => Err(call.refused(&done)),
        }
    }

    /// The commits that `tip` has beyond all of `excluded`, of one kind; newest first, no parent before its child.
    pub(crate) fn commits(&self, tip: &Oid, excluded: &[&Oid], kind: &str) -> Result<Vec<Oid>> {
        let doing = "listing commits";
        let call = self.read(doing).args(["rev-list", "--topo-order", kind, tip.as_str()]);
        let text = call.args(excluded.iter().map(|commit| format!("^{commit}"))).text()?;
        let names = text.lines().map(|line| Oid::new(line).ok_or(GitError::Unparsable { doing }));
        names.collect()
    }

    /// [`GitError::Missing`] for the first that does not exist.
    pub(crate) fn require_commits(&self, commits: &[&Oid]) -> Result<()> {
        // One call for all; which one is missing is asked only when one is.
        let names = commits.iter().map(|commit| format!("{commit}^{{commit}}"));
        let call = self.read("looking for commits").args(["rev-parse", "--quiet"]).args(names);
        if call.done()?.success() {
            return Ok(());
        }
        for commit in commits {
            if self.resolve(commit.as_str())?.is_none() {
                return Err(GitError::Missing { what: format!("the commit {commit}") });
            }
        }
        Ok(())
    }
}
