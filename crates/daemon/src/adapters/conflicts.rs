//! Lays a conflict with the target out for a reconciler, and looks at what became of it.

use std::path::PathBuf;

use tidegate_core::ids::Oid;
use tidegate_core::run::{CommitOutcome, ConflictOutcome, Feature};
use tidegate_git as git;
use tidegate_git::{Flaw, GitError, Repo};

use super::features::{Work, short};
use super::obstacle::texts;

impl Work {
    fn conflict_ref(&self) -> String {
        self.keep("conflict")
    }

    fn known(&self) -> Option<&Feature> {
        self.target.run.plan().and_then(|(_, plan)| plan.features.get(&self.feature))
    }

    /// Merges the target into the branch, in its worktree, with markers where the two conflict.
    pub(super) fn prepare_conflict(&self) -> Result<ConflictOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let missing = || GitError::Missing { what: format!("feature {}", self.feature) };
        let feature = self.known().ok_or_else(missing)?;
        let known = feature.conflict.clone().unwrap_or_default();
        let (Some(commit), Some(worktree)) = (self.branch_tip(&repo, feature)?, &feature.worktree)
        else {
            return Err(missing());
        };
        // What was laid out before stays the question, wherever the target has gone since.
        let begun = repo.resolve(&self.conflict_ref())?;
        let Some(target) = begun.map_or_else(|| repo.resolve(self.refname()?), |t| Ok(Some(t)))?
        else {
            return Ok(ConflictOutcome::TargetMissing);
        };
        repo.set_own_ref(&self.conflict_ref(), &target)?;
        let request = git::ConflictRequest {
            worktree: PathBuf::from(worktree),
            branch: self.branch(),
            feature: commit,
            target,
            message: format!("Merge {} into {}", short(self.refname()?), self.branch()),
        };
        let outcome = match repo.prepare_conflict(&request)? {
            git::ConflictOutcome::Prepared { files, .. } => {
                let paths: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
                ConflictOutcome::Prepared { paths: texts(&paths) }
            }
            // The last attempt committed, and left something that does not stand.
            git::ConflictOutcome::AlreadyMerged { .. } => {
                ConflictOutcome::Prepared { paths: known }
            }
            git::ConflictOutcome::Clean => ConflictOutcome::Clean,
            git::ConflictOutcome::Dirty { paths } => {
                failed(format!("changes are not committed: {}", texts(&paths).join(", ")))
            }
            git::ConflictOutcome::LeftBranch { found } => failed(format!(
                "the worktree is on {}",
                found.unwrap_or_else(|| "a detached head".to_owned())
            )),
            git::ConflictOutcome::Moved { head } => {
                failed(format!("the branch has moved to {head}"))
            }
            git::ConflictOutcome::InProgress(operation) => {
                failed(format!("a {} is in progress in the worktree", operation.as_str()))
            }
            git::ConflictOutcome::Unrelated => {
                failed("the branch and its target share no history".to_owned())
            }
        };
        if outcome == ConflictOutcome::Clean {
            repo.delete_own_ref(&self.conflict_ref())?;
        }
        Ok(outcome)
    }

    /// The commit that the branch was at when the conflict was found.
    fn branch_tip(&self, repo: &Repo, feature: &Feature) -> Result<Option<Oid>, GitError> {
        match &feature.tested {
            Some(tested) => Ok(Some(tested.commit.clone())),
            None => repo.resolve(&format!("refs/heads/{}", self.branch())),
        }
    }

    /// What is wrong with a commit that was to resolve a conflict; `None` when nothing is.
    pub(super) fn unresolved(
        &self,
        repo: &Repo,
        known: &[String],
    ) -> Result<Option<CommitOutcome>, GitError> {
        let (Some(feature), Some(target)) = (self.known(), repo.resolve(&self.conflict_ref())?)
        else {
            return Ok(None);
        };
        let (Some(commit), Some(worktree)) = (self.branch_tip(repo, feature)?, &feature.worktree)
        else {
            return Ok(None);
        };
        let check = git::ResolutionCheck {
            worktree: PathBuf::from(worktree),
            branch: self.branch(),
            feature: commit,
            target,
        };
        let flaws = match repo.check_resolution(&check)? {
            git::Resolution::Resolved { .. } => {
                repo.delete_own_ref(&self.conflict_ref())?;
                return Ok(None);
            }
            git::Resolution::Flawed { flaws } => flaws,
        };
        let mut paths: Vec<String> = flaws.iter().flat_map(paths_of).collect();
        paths.sort();
        paths.dedup();
        if paths.is_empty() {
            // The merge itself is what is missing.
            paths = known.to_vec();
        }
        Ok(Some(CommitOutcome::Unresolved { paths }))
    }
}

fn failed(detail: String) -> ConflictOutcome {
    ConflictOutcome::Failed { detail }
}

fn paths_of(flaw: &Flaw) -> Vec<String> {
    match flaw {
        Flaw::Unmerged { paths } | Flaw::Uncommitted { paths } => texts(paths),
        Flaw::Markers { path, .. } => texts(std::slice::from_ref(path)),
        Flaw::LeftBranch { .. } | Flaw::InProgress(_) | Flaw::NoMerge => Vec::new(),
    }
}
