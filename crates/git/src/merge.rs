//! Merging two commits without any worktree. It must not know refs, nor what the result is for.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use tidegate_core::ids::Oid;

use crate::conflict_kind::{ConflictKind, Kinds};
use crate::error::{GitError, Result};
use crate::exec::Done;
use crate::identity::Identity;
use crate::invocation::Invocation;
use crate::replay::RebaseOutcome;
use crate::repo::Repo;
use crate::version::Version;

/// How a branch is put on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// A commit with two parents, even where a fast-forward were possible.
    Merge,
    /// One commit with the target as its only parent.
    Squash,
    /// Each commit of the branch again, on top of the target; see [`Repo::rebase`]. The message is not used.
    Rebase,
}

/// What to merge. The same request gives the same object name, however often it is made.
#[derive(Debug, Clone)]
pub struct MergeRequest {
    /// First parent.
    pub target_tip: Oid,
    /// The commit to land.
    pub branch_tip: Oid,
    /// How.
    pub strategy: Strategy,
    /// Message of the new commit.
    pub message: String,
    /// Time of author and committer, in Unix seconds; recorded with the intent, so that it stays the same.
    pub when_unix_s: i64,
    /// Author and committer.
    pub identity: Identity,
    /// A ref below `refs/tidegate/` that keeps the commit from garbage collection until it has landed.
    pub keep_as: Option<String>,
}

/// How a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The commit exists; no ref but the keeping one leads to it.
    Merged {
        /// The new commit.
        commit: Oid,
        /// Its tree.
        tree: Oid,
    },
    /// A person or a reconciler is needed.
    Conflict {
        /// The commit of the branch that does not apply, when its commits are replayed.
        commit: Option<Oid>,
        /// All paths that take part, old and new names of renames included; sorted.
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

/// Why a merge would change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChangeReason {
    /// The branch lies in the target's history.
    AlreadyMerged,
    /// The merged tree is the target's tree.
    EmptyDiff,
}

impl Repo {
    /// Merges by git's own strategy and writes the commit, without touching a worktree or a branch.
    ///
    /// # Errors
    /// [`GitError::Missing`] when a commit does not exist, else what a call can give.
    pub fn merge(&self, request: &MergeRequest) -> Result<MergeOutcome> {
        let MergeRequest { target_tip, branch_tip, .. } = request;
        let parents: &[&Oid] = match request.strategy {
            Strategy::Merge => &[target_tip, branch_tip],
            Strategy::Squash => &[target_tip],
            Strategy::Rebase => return self.rebase(request).map(MergeOutcome::from),
        };
        self.require_commits(&[target_tip, branch_tip])?;
        if self.is_ancestor(branch_tip, target_tip)? {
            return Ok(MergeOutcome::NoChange { why: NoChangeReason::AlreadyMerged });
        }
        let tree = match self.merge_trees(target_tip, branch_tip)? {
            Trees::Clean(tree) => tree,
            Trees::Conflict { paths, notes, .. } => {
                return Ok(MergeOutcome::Conflict { commit: None, paths, notes });
            }
            Trees::Unrelated => return Ok(MergeOutcome::Unrelated),
        };
        if tree == self.tree_of(target_tip)? {
            return Ok(MergeOutcome::NoChange { why: NoChangeReason::EmptyDiff });
        }
        let commit = self.commit_tree(&tree, parents, request)?;
        if let Some(refname) = &request.keep_as {
            self.set_own_ref(refname, &commit)?;
        }
        Ok(MergeOutcome::Merged { commit, tree })
    }

    /// Git's own merge of two commits, as a tree.
    pub(crate) fn merge_trees(&self, ours: &Oid, theirs: &Oid) -> Result<Trees> {
        fail::fail_point!("git.merge.before_tree");
        let mut call = self.write("merging");
        if self.git().version()? >= Version::ATTR_SOURCE {
            // Without it the merge drivers that the target declares would not count.
            call = call.global(format!("--attr-source={ours}"));
        }
        let call = call.args(["merge-tree", "--write-tree", "-z", "--messages"]);
        let call = call.args([ours.as_str(), theirs.as_str()]);
        let done = call.done()?;
        fail::fail_point!("git.merge.after_tree");
        parse_trees(&call, &done, [ours, theirs])
    }

    fn commit_tree(&self, tree: &Oid, parents: &[&Oid], request: &MergeRequest) -> Result<Oid> {
        fail::fail_point!("git.merge.before_commit");
        let mut call = self
            .write("writing a merge commit")
            .global("-c")
            .global("i18n.commitEncoding=UTF-8")
            .args(["commit-tree", tree.as_str()]);
        for parent in parents {
            call = call.args(["-p", parent.as_str()]);
        }
        for (name, value) in request.identity.variables(request.when_unix_s) {
            call = call.env(name, value);
        }
        let mut message = request.message.trim_end().to_owned();
        message.push('\n');
        let commit = call.args(["-F", "-"]).stdin(message).oid()?;
        fail::fail_point!("git.merge.after_commit");
        Ok(commit)
    }
}

impl From<RebaseOutcome> for MergeOutcome {
    fn from(outcome: RebaseOutcome) -> Self {
        match outcome {
            RebaseOutcome::Rebased { commit, tree, .. } => Self::Merged { commit, tree },
            RebaseOutcome::Conflict { commit, subject, paths, mut notes } => {
                notes.insert(0, format!("while replaying {commit} ({subject})"));
                Self::Conflict { commit: Some(commit), paths, notes }
            }
            RebaseOutcome::NoChange { why } => Self::NoChange { why },
            RebaseOutcome::Unrelated => Self::Unrelated,
        }
    }
}

/// What git's merge makes of two commits.
pub(crate) enum Trees {
    Clean(Oid),
    Conflict {
        /// What git would leave in the files, markers included.
        tree: Oid,
        paths: Vec<PathBuf>,
        notes: Vec<String>,
        kinds: Kinds,
    },
    Unrelated,
}

/// Reads what `merge-tree --write-tree -z --messages` of two commits said.
pub(crate) fn parse_trees(call: &Invocation<'_>, done: &Done, sides: [&Oid; 2]) -> Result<Trees> {
    match done.code() {
        Some(0) => Ok(Trees::Clean(tree_name(&done.stdout)?)),
        Some(1) => parse_conflict(&done.stdout, sides),
        _ if String::from_utf8_lossy(&done.stderr).contains("unrelated histories") => {
            Ok(Trees::Unrelated)
        }
        _ => Err(call.refused(done)),
    }
}

const UNPARSABLE: GitError = GitError::Unparsable { doing: "merging" };

fn tree_name(stdout: &[u8]) -> Result<Oid> {
    let name = stdout.split(|b| *b == 0 || *b == b'\n').next().unwrap_or_default();
    Oid::new(String::from_utf8_lossy(name)).ok_or(UNPARSABLE)
}

/// Reads `tree NUL (mode SP name SP stage TAB path NUL)* NUL (count NUL path* type NUL text NUL)*`.
fn parse_conflict(stdout: &[u8], sides: [&Oid; 2]) -> Result<Trees> {
    let tree = tree_name(stdout)?;
    let mut kinds = Kinds::default();
    let mut with_base = BTreeSet::new();
    let mut fields = stdout.split(|b| *b == 0).skip(1);
    let mut paths = BTreeSet::new();
    for entry in fields.by_ref() {
        if entry.is_empty() {
            break;
        }
        let tab = entry.iter().position(|b| *b == b'\t').ok_or(UNPARSABLE)?;
        let path = real_path(&entry[tab + 1..], sides);
        if entry[..tab].ends_with(b" 1") {
            with_base.insert(path.clone());
        }
        paths.insert(path);
    }
    let mut notes = Vec::new();
    while let Some(count) = fields.next().filter(|field| !field.is_empty()) {
        let count = std::str::from_utf8(count).ok().and_then(|n| n.parse::<usize>().ok());
        let involved: Vec<_> = fields.by_ref().take(count.ok_or(UNPARSABLE)?).collect();
        let kind = fields.next().ok_or(UNPARSABLE)?;
        let text = fields.next().ok_or(UNPARSABLE)?;
        if kind.starts_with(b"CONFLICT") {
            for path in involved.into_iter().map(|path| real_path(path, sides)) {
                kinds.note(path.clone(), ConflictKind::of(kind));
                paths.insert(path);
            }
            notes.push(String::from_utf8_lossy(text).trim_end().to_owned());
        }
    }
    for path in &paths {
        kinds.note(path.clone(), ConflictKind::Content);
    }
    kinds.without_base(|path| with_base.contains(path));
    Ok(Trees::Conflict { tree, paths: paths.into_iter().collect(), notes, kinds })
}

/// The path without `~<commit>`, which git adds where two things of different types want the same name.
fn real_path(path: &[u8], sides: [&Oid; 2]) -> PathBuf {
    let cut = sides.iter().find_map(|side| {
        let mark = format!("~{side}");
        path.windows(mark.len()).position(|window| window == mark.as_bytes())
    });
    PathBuf::from(OsStr::from_bytes(&path[..cut.unwrap_or(path.len())]))
}
