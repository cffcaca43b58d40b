//! The git work of features: worktrees, commits, merges, and moving the target.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_core::ids::{FeatureId, Oid};
use tidegate_core::plan::{CommitRule, Strategy};
use tidegate_core::run::{
    CommitOutcome, ConflictOutcome, MergeOutcome, Merged, Tested, UpdateOutcome,
};
use tidegate_git as git;
use tidegate_git::{GitError, Repo};

use super::context::{Shared, text};
use super::obstacle::{texts, told};
use super::repos::Repos;
use crate::clock;
use crate::engine::Target;

/// One piece of git work.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) ctx: Shared,
    pub(super) repos: Arc<Repos>,
    pub(super) target: Target,
    pub(super) feature: FeatureId,
}

impl Work {
    /// Short name of the feature's branch.
    pub(super) fn branch(&self) -> String {
        format!("tidegate/{}/{}", self.target.run.id, self.feature)
    }

    /// A ref of ours for the feature.
    pub(super) fn keep(&self, what: &str) -> String {
        format!("refs/tidegate/{what}/{}/{}", self.target.run.id, self.feature)
    }

    pub(super) fn refname(&self) -> Result<&str, GitError> {
        let spec = self.target.run.plan().map(|(spec, _)| spec.target.as_str());
        spec.ok_or_else(|| GitError::Missing { what: "the plan's target".to_owned() })
    }

    /// Lays the conflict with the target out in the worktree. No plan names a reconciler yet.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "git's half is to come")]
    pub(super) fn prepare_conflict(&self) -> Result<ConflictOutcome, GitError> {
        let detail = "conflicts are laid out by a later version".to_owned();
        Ok(ConflictOutcome::Failed { detail })
    }

    /// Commits what the builder left.
    pub(super) fn commit(
        &self,
        base: &Oid,
        _conflict: Option<&[String]>,
    ) -> Result<CommitOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let run = &self.target.run;
        let missing = || GitError::Missing { what: format!("feature {}", self.feature) };
        let (spec, plan) = run.plan().ok_or_else(missing)?;
        let feature_spec = spec.features.get(&self.feature).ok_or_else(missing)?;
        let feature = plan.features.get(&self.feature).ok_or_else(missing)?;
        let worktree = PathBuf::from(feature.worktree.as_ref().ok_or_else(missing)?);
        if is_removed(&worktree) {
            // The next attempt gets a new one; no retry of a person could bring this one back.
            let found = "nowhere: its worktree was removed".to_owned();
            return Ok(CommitOutcome::LeftBranch { found });
        }
        let request = git::CommitRequest {
            worktree,
            branch: self.branch(),
            base: base.clone(),
            message: feature_spec.title.clone(),
            trailers: vec![
                ("Tidegate-Run".to_owned(), run.id.to_string()),
                ("Tidegate-Feature".to_owned(), self.feature.to_string()),
            ],
            when_unix_s: seconds(),
            mode: match spec.commit {
                CommitRule::Auto => git::CommitMode::Auto,
                CommitRule::Agent => git::CommitMode::Agent,
            },
        };
        let tested = |oid: Oid| -> Result<Tested, GitError> {
            Ok(Tested { tree: repo.tree_of(&oid)?, commit: oid })
        };
        Ok(match repo.commit_leftovers(&request)? {
            git::CommitOutcome::Committed { oid }
            | git::CommitOutcome::AlreadyCommitted { oid }
            | git::CommitOutcome::LeftOver { committed: Some(oid), .. } => {
                CommitOutcome::Commit(tested(oid)?)
            }
            git::CommitOutcome::NoChange | git::CommitOutcome::LeftOver { committed: None, .. } => {
                CommitOutcome::NoChange(tested(base.clone())?)
            }
            git::CommitOutcome::HookRefused { output } => CommitOutcome::HookRefused { output },
            git::CommitOutcome::LeftBranch { found } => CommitOutcome::LeftBranch {
                found: found.unwrap_or_else(|| "a detached head".to_owned()),
            },
            git::CommitOutcome::LeftBase { head } => CommitOutcome::LeftBranch {
                found: head.map_or_else(|| "an empty branch".to_owned(), |head| head.to_string()),
            },
            git::CommitOutcome::Uncommittable { paths, output } => {
                let paths: Vec<String> = paths.iter().map(|dirty| text(&dirty.path)).collect();
                CommitOutcome::HookRefused {
                    output: format!("cannot be committed: {}\n{output}", paths.join(", ")),
                }
            }
        })
    }

    /// Makes the merged commit.
    pub(super) fn merge(&self, commit: &Oid) -> Result<MergeOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let refname = self.refname()?;
        let Some(onto) = repo.resolve(refname)? else { return Ok(MergeOutcome::TargetMissing) };
        let strategy = self.target.run.plan().map(|(spec, _)| spec.landing.strategy);
        let (strategy, subject) = match strategy.unwrap_or(Strategy::Merge) {
            Strategy::Merge => (git::Strategy::Merge, format!("Merge feature {}", self.feature)),
            Strategy::Squash => (git::Strategy::Squash, self.title()),
        };
        let run = &self.target.run.id;
        let request = git::MergeRequest {
            target_tip: onto.clone(),
            branch_tip: commit.clone(),
            strategy,
            message: format!(
                "{subject}\n\nTidegate-Run: {run}\nTidegate-Feature: {}\n",
                self.feature
            ),
            when_unix_s: seconds(),
            identity: repo.identity()?,
            keep_as: Some(self.keep("merge")),
        };
        Ok(match repo.merge(&request)? {
            git::MergeOutcome::Merged { commit, tree } => {
                MergeOutcome::Merged(Merged { onto, commit, tree })
            }
            git::MergeOutcome::Conflict { paths, .. } => {
                MergeOutcome::Conflict { paths: texts(&paths) }
            }
            git::MergeOutcome::NoChange { .. } => MergeOutcome::AlreadyThere { commit: onto },
            git::MergeOutcome::Unrelated => MergeOutcome::Failed { detail: unrelated(&repo) },
        })
    }

    fn title(&self) -> String {
        let spec = self.target.run.plan().and_then(|(spec, _)| spec.features.get(&self.feature));
        spec.map_or_else(|| format!("Land feature {}", self.feature), |spec| spec.title.clone())
    }

    fn update_request(&self, merged: &Merged) -> Result<git::UpdateRequest, GitError> {
        Ok(git::UpdateRequest {
            target: self.refname()?.to_owned(),
            old: merged.onto.clone(),
            new: merged.commit.clone(),
        })
    }

    /// Moves the target.
    pub(super) fn update(&self, merged: &Merged) -> Result<UpdateOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let moved = match repo.update_target(&self.update_request(merged)?) {
            // Whatever went wrong afterwards: what is on the target has landed.
            Err(_) if repo.has_landed(&merged.commit, self.refname()?)? => {
                git::UpdateOutcome::AlreadyThere
            }
            other => other?,
        };
        Ok(match moved {
            git::UpdateOutcome::Updated | git::UpdateOutcome::AlreadyThere => {
                // The target keeps the commit from here on.
                if let Err(error) = repo.delete_own_ref(&self.keep("merge")) {
                    tracing::warn!(%error, "a ref of ours is left behind");
                }
                UpdateOutcome::Landed
            }
            git::UpdateOutcome::Moved { .. } => UpdateOutcome::Moved,
            git::UpdateOutcome::Dirty(dirty) => {
                let (paths, why) = told(&dirty);
                UpdateOutcome::Dirty { paths, why }
            }
            git::UpdateOutcome::Missing => UpdateOutcome::Missing,
        })
    }
}

/// Why two commits have no merge base, for people.
fn unrelated(repo: &Repo) -> String {
    if repo.is_shallow() {
        let what = "the clone is shallow, and where the branch and its target part is cut off";
        return format!("{what}: `git fetch --unshallow` brings it");
    }
    "the branch and its target share no history".to_owned()
}

/// Whether the folder is gone while that of all worktrees is there: not only out of reach.
fn is_removed(worktree: &Path) -> bool {
    let gone = |path: &Path| {
        path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    gone(worktree) && worktree.parent().is_some_and(|folder| !gone(folder))
}

pub(super) fn short(refname: &str) -> &str {
    refname.strip_prefix("refs/heads/").unwrap_or(refname)
}

/// Now, in Unix seconds.
pub(super) fn seconds() -> i64 {
    i64::try_from(clock::wall().0 / 1000).unwrap_or(i64::MAX)
}
