//! Making the worktree of a feature, or bringing it up to date.

use tidegate_core::ids::Oid;
use tidegate_core::run::WorktreeOutcome;
use tidegate_git as git;
use tidegate_git::{GitError, Repo};

use super::context::text;
use super::features::{Work, seconds, short};
use super::obstacle::texts;

impl Work {
    /// What a worktree gets beside the files of its commit.
    pub(super) fn furnishing(&self) -> git::Furnishing {
        git::Furnishing {
            submodules: true,
            lfs: git::Lfs::Off,
            like: Some(self.target.place.root.clone().into()),
        }
    }

    /// Makes the worktree, or brings it up to date.
    pub(super) fn prepare(
        &self,
        base: Option<&Oid>,
        sync: Option<&Oid>,
    ) -> Result<WorktreeOutcome, GitError> {
        let repo = self.repos.serve(&self.target)?;
        let keep_base_as = self.keep("base");
        // A daemon that died before it could report may have chosen the base already.
        let base = match base {
            Some(base) => base.clone(),
            None => match repo.resolve(&keep_base_as)? {
                Some(base) => base,
                None => match repo.resolve(self.refname()?)? {
                    Some(tip) => tip,
                    None => return Ok(WorktreeOutcome::TargetMissing),
                },
            },
        };
        let run = &self.target.run;
        let sync = sync.map(|target| self.sync_request(&repo, target)).transpose()?;
        let request = git::WorktreeRequest {
            path: self
                .ctx
                .worktrees(&run.queue.project)
                .join(format!("{}-{}", self.feature, run.id)),
            branch: self.branch(),
            base: base.clone(),
            keep_base_as,
            sync,
            furnishing: self.furnishing(),
            discard: None,
        };
        let prepared = repo.prepare_worktree(&request)?;
        Ok(match prepared.sync {
            git::SyncOutcome::Conflict { paths, .. } => {
                WorktreeOutcome::SyncConflict { paths: texts(&paths) }
            }
            git::SyncOutcome::NotAsked
            | git::SyncOutcome::AlreadyIn
            | git::SyncOutcome::Merged { .. }
            | git::SyncOutcome::Dirty { .. }
            | git::SyncOutcome::OffBranch
            | git::SyncOutcome::Unrelated => {
                WorktreeOutcome::Ready { path: text(&prepared.path), base }
            }
        })
    }

    fn sync_request(&self, repo: &Repo, target: &Oid) -> Result<git::SyncRequest, GitError> {
        Ok(git::SyncRequest {
            target: target.clone(),
            message: format!("Merge {} into {}", short(self.refname()?), self.branch()),
            when_unix_s: seconds(),
            identity: repo.identity()?,
        })
    }
}
