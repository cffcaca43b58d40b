//! Preparing a conflict for a reconciler: the target is merged in the feature's own worktree, with markers in the files.
//! It must not know who resolves it.

use std::path::PathBuf;

use tidegate_core::ids::Oid;

use crate::admin_dir::{AdminDir, Operation};
use crate::conflict_kind::{ConflictKind, Kinds};
use crate::conflict_record::ConflictRecord;
use crate::error::{GitError, Result};
use crate::merge::Trees;
use crate::repo::Repo;
use crate::status::Scope;

/// What to prepare. The caller guarantees that no job runs in the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictRequest {
    /// Root of the feature's worktree, which was prepared before.
    pub worktree: PathBuf,
    /// Short name of its branch, `tidegate/<run>/<feature>`.
    pub branch: String,
    /// The commit that the branch is at.
    pub feature: Oid,
    /// The commit of the target to merge.
    pub target: Oid,
    /// Message that the merge commit gets, unless the reconciler writes its own.
    pub message: String,
}

/// How the preparation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictOutcome {
    /// The merge is open in the worktree. The same answer to a repeated call, whatever was resolved meanwhile.
    Prepared {
        /// The paths in conflict; sorted.
        files: Vec<ConflictFile>,
        /// What git says about them, one line each.
        notes: Vec<String>,
    },
    /// The two merge without a conflict; nothing was done.
    Clean,
    /// The branch contains both already: it was resolved before.
    AlreadyMerged {
        /// Where the branch is.
        head: Oid,
    },
    /// Changes are not committed, or an ignored file lies where the target has one; nothing was done.
    Dirty {
        /// The paths.
        paths: Vec<PathBuf>,
    },
    /// Another branch, or none, is checked out there; nothing was done.
    LeftBranch {
        /// Full name of the branch; `None` for a detached head.
        found: Option<String>,
    },
    /// The branch is elsewhere; nothing was done.
    Moved {
        /// Where it is.
        head: Oid,
    },
    /// Git has begun something else there and not ended it; nothing was done.
    InProgress(Operation),
    /// The two share no history; nothing was done.
    Unrelated,
}

/// A path in conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictFile {
    /// The path; for renames each of the names is one.
    pub path: PathBuf,
    /// What kind of conflict it is in.
    pub kind: ConflictKind,
    /// What the feature did with it since the two parted; newest first.
    pub feature: Vec<Touch>,
    /// What the target did with it since; newest first.
    pub target: Vec<Touch>,
}

/// A commit that changed a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The commit.
    pub commit: Oid,
    /// Name of its author.
    pub author: String,
    /// Its first line.
    pub subject: String,
}

/// So many commits of each side are named for a path.
const TOUCHES_MAX: usize = 20;

/// Settings of the user that would resolve or hide something.
const OVERRIDES: [&str; 6] = [
    "merge.conflictStyle=zdiff3",
    "merge.autoStash=false",
    "merge.verifySignatures=false",
    "rerere.enabled=false",
    "rerere.autoUpdate=false",
    "submodule.recurse=false",
];

impl Repo {
    /// Opens the merge in the feature's worktree. A preparation that was killed in the middle is undone first; work of a
    /// reconciler never is.
    ///
    /// # Errors
    /// [`GitError::Missing`], [`GitError::ForeignWorktree`]; [`GitError::Refused`] for a branch that is not ours; what a
    /// call can give.
    pub fn prepare_conflict(&self, request: &ConflictRequest) -> Result<ConflictOutcome> {
        let ConflictRequest { worktree, feature, target, .. } = request;
        self.require_commits(&[feature, target])?;
        if !request.branch.starts_with("tidegate/") {
            let stderr = format!("{} is not a branch of Tidegate", request.branch);
            return Err(GitError::Refused { doing: "preparing a conflict", stderr });
        }
        let admin = AdminDir::of(self, worktree)?;
        admin.remove_own_locks()?;
        let refname = format!("refs/heads/{}", request.branch);
        let found = self.branch_in(worktree)?;
        if found.as_ref() != Some(&refname) {
            return Ok(ConflictOutcome::LeftBranch { found });
        }
        let head = self.resolve(&refname)?.ok_or(GitError::Missing { what: refname })?;
        self.undo_killed_preparation(request, &admin, &head)?;
        if head != *feature {
            let both = self.is_ancestor(feature, &head)? && self.is_ancestor(target, &head)?;
            let (merged, moved) = (
                ConflictOutcome::AlreadyMerged { head: head.clone() },
                ConflictOutcome::Moved { head },
            );
            return Ok(if both { merged } else { moved });
        }
        let (kinds, notes) = match self.merge_trees(feature, target)? {
            Trees::Conflict { kinds, notes, .. } => (kinds, notes),
            Trees::Clean(_) => return Ok(ConflictOutcome::Clean),
            Trees::Unrelated => return Ok(ConflictOutcome::Unrelated),
        };
        if merge_head(&admin).as_ref() != Some(target) {
            if let Some(operation) = admin.operation() {
                return Ok(ConflictOutcome::InProgress(operation));
            }
            let paths = self.in_the_way(request)?;
            if !paths.is_empty() {
                return Ok(ConflictOutcome::Dirty { paths });
            }
            self.open_merge(request, &admin)?;
        }
        let files = self.describe(feature, target, kinds)?;
        Ok(ConflictOutcome::Prepared { files, notes })
    }

    /// Puts the worktree back, where nobody was let in since it was found clean.
    fn undo_killed_preparation(
        &self,
        request: &ConflictRequest,
        admin: &AdminDir,
        head: &Oid,
    ) -> Result<()> {
        let Some(record) = ConflictRecord::read(admin)? else { return Ok(()) };
        let opened = merge_head(admin).as_ref() == Some(&record.target);
        if !opened && record.feature == *head {
            fail::fail_point!("git.conflict.before_undo");
            self.reset_worktree(&request.worktree, head)?;
            fail::fail_point!("git.conflict.after_undo");
        }
        ConflictRecord::close(admin)
    }

    /// Resets a worktree of ours to a commit, files that git does not know included; ignored ones stay.
    pub(crate) fn reset_worktree(&self, worktree: &std::path::Path, commit: &Oid) -> Result<()> {
        self.write_in(worktree, "resetting a worktree")
            .args(["reset", "--hard", "--quiet", "--no-recurse-submodules", commit.as_str()])
            .bytes()?;
        self.write_in(worktree, "cleaning a worktree").args(["clean", "-ffdq"]).bytes().map(drop)
    }

    fn in_the_way(&self, request: &ConflictRequest) -> Result<Vec<PathBuf>> {
        let ConflictRequest { worktree, feature, target, .. } = request;
        let status = self.status(worktree, Scope::All)?;
        if status.is_empty() {
            return self.overwritten(worktree, feature, target);
        }
        Ok(status.into_iter().map(|dirty| dirty.path).collect())
    }

    fn open_merge(&self, request: &ConflictRequest, admin: &AdminDir) -> Result<()> {
        let ConflictRequest { worktree, feature, target, message, .. } = request;
        ConflictRecord { feature: feature.clone(), target: target.clone() }.write(admin)?;
        let mut call = self.write_in(worktree, "opening a merge");
        for setting in OVERRIDES {
            call = call.global("-c").global(setting);
        }
        fail::fail_point!("git.conflict.before_merge");
        let call = call
            .env("GIT_REFLOG_ACTION", "tidegate")
            .args(["merge", "--no-ff", "--no-commit", "--no-squash", "--no-autostash", "--quiet"])
            .args(["--no-verify-signatures", "-m", message, target.as_str()]);
        let done = call.done()?;
        fail::fail_point!("git.conflict.after_merge");
        // 1 is the conflict that is wanted.
        if merge_head(admin).as_ref() != Some(target) {
            return Err(call.refused(&done));
        }
        ConflictRecord::close(admin)
    }

    fn describe(&self, feature: &Oid, target: &Oid, kinds: Kinds) -> Result<Vec<ConflictFile>> {
        let Some(base) = self.merge_base(feature, target)? else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        for (path, kind) in kinds.0 {
            let (feature, target) =
                (self.touches(&base, feature, &path)?, self.touches(&base, target, &path)?);
            files.push(ConflictFile { path, kind, feature, target });
        }
        Ok(files)
    }

    fn touches(&self, base: &Oid, tip: &Oid, path: &std::path::Path) -> Result<Vec<Touch>> {
        let doing = "asking who touched a file";
        let bytes = self
            .read(doing)
            .global("--literal-pathspecs")
            .args(["log", "--no-merges", "--no-show-signature", "--no-color", "--no-decorate"])
            .arg(format!("--max-count={TOUCHES_MAX}"))
            .args(["--format=%H%x09%an%x09%s", &format!("{base}..{tip}"), "--"])
            .arg(path)
            .bytes()?;
        let text = String::from_utf8_lossy(&bytes);
        let touch = |line: &str| {
            let mut fields = line.splitn(3, '\t');
            let commit = Oid::new(fields.next()?)?;
            let (author, subject) = (fields.next()?.to_owned(), fields.next()?.to_owned());
            Some(Touch { commit, author, subject })
        };
        text.lines().map(|line| touch(line).ok_or(GitError::Unparsable { doing })).collect()
    }
}

/// The commit that is being merged in a worktree, if there is exactly one.
pub(crate) fn merge_head(admin: &AdminDir) -> Option<Oid> {
    let text = std::fs::read_to_string(admin.join("MERGE_HEAD")).ok()?;
    Oid::new(text.trim_end())
}
