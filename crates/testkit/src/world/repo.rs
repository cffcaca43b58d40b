//! A repository that is played: commits, refs, branches with their worktrees, and the checkouts of
//! targets. It must not know what a run is.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::ids::{FeatureId, Oid, RunId};

use super::merging::{Tree, merge};

/// Names a feature's branch.
pub(super) type BranchName = (RunId, FeatureId);

/// A commit.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    pub(super) parents: Vec<Oid>,
    pub(super) tree: Tree,
    /// Rises with every commit: an ancestor has a lower one.
    number: u64,
}

/// A feature's branch, and its worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) base: Oid,
    pub(super) tip: Oid,
    /// Changes that are not committed.
    pub(super) dirty: Tree,
    /// Whether its worktree is on another branch.
    pub(super) elsewhere: bool,
    /// How often its worktree was made.
    pub(super) making: u32,
}

/// A repository.
#[derive(Debug)]
pub(super) struct Repo {
    commits: BTreeMap<Oid, Commit>,
    pub(super) refs: BTreeMap<String, Oid>,
    pub(super) branches: BTreeMap<BranchName, Branch>,
    /// What was captured of each branch and its worktree, the oldest first.
    pub(super) snapshots: BTreeMap<BranchName, Vec<Branch>>,
    /// Targets whose checkout has work of its user.
    pub(super) dirty: BTreeSet<String>,
    /// Whether another home serves it.
    pub(super) held: bool,
    /// Commits of rivals, with the target that they were pushed to.
    pub(super) rivals: Vec<(String, Oid)>,
    /// What each merged commit was made of: the commit of the feature.
    pub(super) made_of: BTreeMap<Oid, Oid>,
}

impl Repo {
    /// A repository with one commit on each of `targets`.
    pub(super) fn new(targets: &[&str]) -> Self {
        let mut repo = Self {
            commits: BTreeMap::new(),
            refs: BTreeMap::new(),
            branches: BTreeMap::new(),
            snapshots: BTreeMap::new(),
            dirty: BTreeSet::new(),
            held: false,
            rivals: Vec::new(),
            made_of: BTreeMap::new(),
        };
        let tree = Tree::from([("readme".to_owned(), "good 0".to_owned())]);
        let first = repo.commit(Vec::new(), tree);
        for target in targets {
            repo.refs.insert((*target).to_owned(), first.clone());
        }
        repo
    }

    /// Makes a commit.
    pub(super) fn commit(&mut self, parents: Vec<Oid>, tree: Tree) -> Oid {
        let number = self.commits.len() as u64 + 1;
        let oid = oid(number);
        self.commits.insert(oid.clone(), Commit { parents, tree, number });
        oid
    }

    pub(super) fn get(&self, oid: &Oid) -> Option<&Commit> {
        self.commits.get(oid)
    }

    pub(super) fn tree(&self, oid: &Oid) -> Tree {
        self.get(oid).map(|commit| commit.tree.clone()).unwrap_or_default()
    }

    /// The object id of a commit's tree: the same content has the same.
    pub(super) fn tree_id(&self, of: &Oid) -> Oid {
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        for (path, text) in self.get(of).into_iter().flat_map(|commit| &commit.tree) {
            for byte in path.bytes().chain([0]).chain(text.bytes()).chain([1]) {
                sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        oid(sum | 1 << 63)
    }

    /// Whether every gate finds the commit well.
    pub(super) fn is_good(&self, of: &Oid) -> bool {
        self.get(of).is_some_and(|commit| !commit.tree.values().any(|t| t.starts_with("bad")))
    }

    /// All commits that `tip` reaches, itself included.
    fn reach(&self, tip: &Oid) -> BTreeSet<Oid> {
        let mut seen = BTreeSet::new();
        let mut open = vec![tip.clone()];
        while let Some(oid) = open.pop() {
            if let Some(commit) = self.commits.get(&oid)
                && seen.insert(oid)
            {
                open.extend(commit.parents.iter().cloned());
            }
        }
        seen
    }

    pub(super) fn is_ancestor(&self, of: &Oid, tip: &Oid) -> bool {
        of == tip || self.reach(tip).contains(of)
    }

    /// Merges two commits' trees; the paths in conflict when that does not work.
    pub(super) fn merge_trees(&self, ours: &Oid, theirs: &Oid) -> Result<Tree, Vec<String>> {
        let (left, right) = (self.reach(ours), self.reach(theirs));
        let number = |oid: &&Oid| self.commits.get(*oid).map_or(0, |commit| commit.number);
        let base = left.intersection(&right).max_by_key(number);
        let base = base.map(|base| self.tree(base)).unwrap_or_default();
        merge(&base, &self.tree(ours), &self.tree(theirs))
    }

    /// Writes a file of a branch's worktree.
    pub(super) fn write(&mut self, name: &BranchName, path: &str, text: &str) {
        if let Some(branch) = self.branches.get_mut(name) {
            branch.dirty.insert(path.to_owned(), text.to_owned());
        }
    }

    /// Moves a worktree to its own branch, or to another one.
    pub(super) fn switch(&mut self, name: &BranchName, own: bool) {
        if let Some(branch) = self.branches.get_mut(name) {
            branch.elsewhere = !own;
        }
    }

    /// Commits what a worktree has.
    pub(super) fn commit_leftovers(&mut self, name: &BranchName) {
        let Some(branch) = self.branches.get_mut(name) else { return };
        if branch.dirty.is_empty() || branch.elsewhere {
            return;
        }
        let (tip, dirty) = (branch.tip.clone(), std::mem::take(&mut branch.dirty));
        let mut tree = self.tree(&tip);
        tree.extend(dirty);
        let made = self.commit(vec![tip], tree);
        if let Some(branch) = self.branches.get_mut(name) {
            branch.tip = made;
        }
    }

    /// Someone else pushes a commit to `target`.
    pub(super) fn push_rival(&mut self, target: &str, path: &str, text: &str) {
        let Some(tip) = self.refs.get(target).cloned() else { return };
        let mut tree = self.tree(&tip);
        tree.insert(path.to_owned(), text.to_owned());
        let made = self.commit(vec![tip], tree);
        self.refs.insert(target.to_owned(), made.clone());
        self.rivals.push((target.to_owned(), made));
    }

    /// A person merges the target into a branch, and keeps the branch's side of a conflict.
    pub(super) fn resolve_conflict(&mut self, name: &BranchName, target: &str) {
        self.commit_leftovers(name);
        let Some(branch) = self.branches.get(name) else { return };
        let Some(target) = self.refs.get(target).cloned() else { return };
        let tip = branch.tip.clone();
        let tree = self.merge_trees(&tip, &target).unwrap_or_else(|_| {
            let mut tree = self.tree(&target);
            tree.extend(self.tree(&tip));
            tree
        });
        let made = self.commit(vec![tip, target], tree);
        if let Some(branch) = self.branches.get_mut(name) {
            branch.tip = made;
        }
    }
}

fn oid(number: u64) -> Oid {
    Oid::new(format!("{number:040x}")).unwrap_or_else(|| unreachable!("BUG: forty hex digits"))
}
