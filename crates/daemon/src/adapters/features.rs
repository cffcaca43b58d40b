//! The git work of features on their branches: commits, and the names of everything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_core::ids::{FeatureId, Oid};
use tidegate_core::plan::{CommitRule, FeatureSpec, PlanSpec};
use tidegate_core::run::{CommitOutcome, Tested};
use tidegate_git as git;
use tidegate_git::GitError;

use super::context::{Shared, text};
use super::obstacle::texts;
use super::ports::Ports;
use super::repos::Repos;
use crate::clock;
use crate::engine::Target;

/// One piece of git work.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) ctx: Shared,
    pub(super) repos: Arc<Repos>,
    pub(super) ports: Arc<Ports>,
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

    fn commit_request(
        &self,
        worktree: PathBuf,
        base: &Oid,
        spec: &PlanSpec,
        feature: &FeatureSpec,
    ) -> git::CommitRequest {
        git::CommitRequest {
            worktree,
            branch: self.branch(),
            base: base.clone(),
            message: feature.title.clone(),
            trailers: vec![
                ("Tidegate-Run".to_owned(), self.target.run.id.to_string()),
                ("Tidegate-Feature".to_owned(), self.feature.to_string()),
            ],
            when_unix_s: seconds(),
            mode: match spec.commit {
                CommitRule::Auto => git::CommitMode::Auto,
                CommitRule::Agent => git::CommitMode::Agent,
            },
        }
    }

    /// Commits what the builder left.
    pub(super) fn commit(
        &self,
        base: &Oid,
        conflict: Option<&[String]>,
    ) -> Result<CommitOutcome, GitError> {
        let repo = self.repos.serve_to_commit(&self.target)?;
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
        if conflict.is_some() {
            let left = repo.stage_resolved(&worktree)?;
            if !left.is_empty() {
                return Ok(CommitOutcome::Unresolved { paths: texts(&left) });
            }
        }
        let request = self.commit_request(worktree, base, spec, feature_spec);
        let tested = |oid: Oid| -> Result<Tested, GitError> {
            Ok(Tested { tree: repo.tree_of(&oid)?, commit: oid })
        };
        let outcome = repo.commit_leftovers(&request)?;
        if let Some(paths) = conflict
            && let Some(unresolved) = self.unresolved(&repo, paths)?
        {
            return Ok(unresolved);
        }
        Ok(match outcome {
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
