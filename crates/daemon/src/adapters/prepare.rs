//! Making the worktree of a feature, or bringing it up to date.

use tidegate_core::ids::{FeatureId, Oid, RunId};
use tidegate_core::run::{Feature, Job, WorktreeOutcome};
use tidegate_core::workplace::{Furnished, LfsPolicy, NotCopied, SubmodulePolicy, WorktreeSpec};
use tidegate_git as git;
use tidegate_git::{GitError, Repo};
use tidegate_store::Reader;

use super::context::text;
use super::features::{Work, seconds, short};
use super::obstacle::texts;
use super::ports::Wanted;

impl Work {
    /// What a worktree gets beside the files of its commit.
    pub(super) fn furnishing(&self) -> git::Furnishing {
        let spec = self.target.run.plan().map(|(spec, _)| spec.worktree.clone());
        let spec = spec.unwrap_or_default();
        git::Furnishing {
            like: Some(self.target.place.root.clone().into()),
            include: spec.include,
            ..furnishing(&spec)
        }
    }

    /// Makes the worktree, or brings it up to date.
    pub(super) fn prepare(
        &self,
        base: Option<&Oid>,
        sync: Option<&Oid>,
        discard: Option<&str>,
    ) -> Result<WorktreeOutcome, GitError> {
        let missing = || GitError::Missing { what: format!("feature {}", self.feature) };
        let (spec, plan) = self.target.run.plan().ok_or_else(missing)?;
        let feature = plan.features.get(&self.feature).ok_or_else(missing)?;
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
            discard: discard.map(str::to_owned),
        };
        let prepared = repo.prepare_worktree(&request)?;
        let Some(ports) = self.lease(&spec.worktree, &feature.furnished.ports)? else {
            let WorktreeSpec { ports, port_first, port_last, .. } = spec.worktree;
            let detail = format!(
                "{ports} ports are wanted, and {port_first}-{port_last} has fewer that are free"
            );
            return Ok(WorktreeOutcome::NoRoom { detail });
        };
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
                let furnished = furnished(&prepared.furnished, ports);
                WorktreeOutcome::Ready { path: text(&prepared.path), base, furnished }
            }
        })
    }

    /// Leases the feature's ports; `None` when there are not enough.
    fn lease(&self, spec: &WorktreeSpec, known: &[u32]) -> Result<Option<Vec<u32>>, GitError> {
        let holder = format!("{}/{}", self.target.run.id, self.feature);
        let wanted = Wanted {
            holder: &holder,
            count: usize::try_from(spec.ports).unwrap_or(usize::MAX),
            known,
            range: (spec.port_first, spec.port_last),
        };
        let path = self.ctx.home.join("ports");
        let leased = self.ports.lease(wanted, |holder| self.is_over(holder));
        leased.map_err(|source| GitError::Io { doing: "lease ports in", path, source })
    }

    /// Whether a feature has ended, with all that was to be run for it.
    fn is_over(&self, holder: &str) -> bool {
        let Some((run, feature)) = holder.split_once('/') else { return true };
        let (Ok(run), Ok(feature)) = (RunId::new(run), FeatureId::new(feature)) else {
            return true;
        };
        let read = Reader::open(&self.ctx.home).map_err(|error| error.to_string()).and_then(
            |mut reader| reader.read(|view| view.rebuild(&run)).map_err(|error| error.to_string()),
        );
        match read {
            Ok(Some(run)) => {
                let ended = run.plan().and_then(|(_, plan)| plan.features.get(&feature));
                let live =
                    |job: &Job| job.purpose.feature() == Some(&feature) && job.state.is_live();
                run.status.is_terminal()
                    || (ended.is_none_or(Feature::is_terminal) && !run.jobs.values().any(live))
            }
            Ok(None) => true,
            Err(error) => {
                tracing::warn!(holder, error, "cannot tell whether a lease is over");
                false
            }
        }
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

/// What checkouts get by the config, the user's own files aside.
pub(super) fn furnishing(spec: &WorktreeSpec) -> git::Furnishing {
    git::Furnishing {
        submodules: match spec.submodules {
            SubmodulePolicy::Off => false,
            SubmodulePolicy::Init => true,
        },
        lfs: match spec.lfs {
            LfsPolicy::Off => git::Lfs::Off,
            LfsPolicy::Pull => git::Lfs::Pull,
        },
        ..git::Furnishing::default()
    }
}

fn furnished(made: &git::Furnished, ports: Vec<u32>) -> Furnished {
    let not_copied = |(path, why): &(std::path::PathBuf, String)| NotCopied {
        path: text(path),
        why: why.clone(),
    };
    Furnished {
        making: made.made.clone(),
        ports,
        included: texts(&made.included),
        left_out: made.left_out.iter().map(not_copied).collect(),
        submodules: texts(&made.submodules),
        empty_submodules: texts(&made.empty_submodules),
        pointers: texts(&made.pointers),
        sparse: made.sparse,
    }
}
