//! What is in the way of a landing: in the words of a block, and whether they still hold.

use std::path::PathBuf;

use tidegate_core::ids::Oid;
use tidegate_git as git;
use tidegate_git::GitError;

use super::context::text;
use super::features::Work;

impl Work {
    /// What the last landing of the feature would find in its way now: paths, and why.
    pub(super) fn in_the_way(
        &self,
        commit: &Oid,
    ) -> Result<Option<(Vec<String>, String)>, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let refname = self.refname()?.to_owned();
        // The merged commit is kept from the attempt that was blocked; without it the branch
        // itself brings the same paths.
        let new = repo.resolve(&self.keep("merge"))?.unwrap_or_else(|| commit.clone());
        let Some(old) = repo.resolve(&refname)? else { return Ok(None) };
        let request = git::UpdateRequest { target: refname, old, new };
        Ok(repo.target_obstacle(&request)?.map(|dirty| told(&dirty)))
    }

    /// Whether the feature's block says just that.
    pub(super) fn is_told(&self, now: &[String], why_now: &str) -> bool {
        let plan = self.target.run.plan();
        let feature = plan.and_then(|(_, plan)| plan.features.get(&self.feature));
        let told = feature.and_then(|feature| feature.state.block()?.obstacle());
        told == Some((now, why_now))
    }
}

/// What is in the way of a landing: paths, and why.
pub(super) fn told(dirty: &git::Dirty) -> (Vec<String>, String) {
    let why = format!("{}: {}", dirty.worktree.display(), why(&dirty.why));
    (texts(&dirty.paths), why)
}

/// What is in the way of a landing, for people.
fn why(reason: &git::DirtyReason) -> String {
    match reason {
        git::DirtyReason::TrackedChanges => "uncommitted changes".to_owned(),
        git::DirtyReason::InProgress(operation) => {
            format!("a {} is in progress", operation.as_str())
        }
        git::DirtyReason::WouldOverwrite => "files that are not tracked are in the way".to_owned(),
        git::DirtyReason::Locked { lock } => format!("git is at work there ({})", lock.display()),
        git::DirtyReason::CheckedOutTwice => "the branch is checked out more than once".to_owned(),
        git::DirtyReason::Unreachable => "the worktree cannot be reached".to_owned(),
        git::DirtyReason::GitRefused { stderr } => format!("git refused: {}", stderr.trim_end()),
    }
}

/// Paths as text.
pub(super) fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| text(path)).collect()
}
