//! The repositories that this home serves at the moment: each under its lock from the first write
//! until no run of its project is active.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};

use tidegate_core::ids::{GateName, Oid, RunId};
use tidegate_core::run::{Phase, Run};
use tidegate_git::{CheckoutMode, CheckoutPool, Environment, GitError, Holder, Repo, RepoLock};

use super::context::Shared;
use super::prepare::furnishing;
use super::variables::{self, Variable};
use crate::engine::Target;
use crate::environment;

/// The repositories in use.
#[derive(Debug)]
pub(super) struct Repos {
    ctx: Shared,
    served: Mutex<BTreeMap<String, Served>>,
    /// Taken for reading by who makes a checkout, for writing by who removes them.
    pool: RwLock<()>,
}

#[derive(Debug)]
struct Served {
    lock: RepoLock,
    runs: BTreeSet<RunId>,
}

impl Repos {
    pub(super) fn new(ctx: &Shared) -> Self {
        Self { ctx: std::sync::Arc::clone(ctx), served: Mutex::default(), pool: RwLock::default() }
    }

    fn served(&self) -> MutexGuard<'_, BTreeMap<String, Served>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target's repository, as its submitter sees it, served by this home from now on.
    ///
    /// # Errors
    /// [`GitError::Held`] when another home serves it; what opening can give.
    pub(super) fn serve(&self, target: &Target) -> Result<Repo, GitError> {
        let repo = self.open(target)?;
        self.hold(&target.place.common_dir, &target.run.id)?;
        Ok(repo)
    }

    /// Serves a repository until it is released by the same name.
    ///
    /// # Errors
    /// [`GitError::Held`] when another home serves it.
    pub(super) fn hold(&self, common_dir: &str, run: &RunId) -> Result<(), GitError> {
        let mut served = self.served();
        if let Some(known) = served.get_mut(common_dir) {
            known.runs.insert(run.clone());
            return Ok(());
        }
        let holder = Holder { home: self.ctx.home_id.clone(), pid: std::process::id() };
        let lock = RepoLock::take(Path::new(common_dir), &holder)?;
        let runs = BTreeSet::from([run.clone()]);
        served.insert(common_dir.to_owned(), Served { lock, runs });
        Ok(())
    }

    /// Keeps checkouts from being made while it is held.
    pub(super) fn close_pool(&self) -> RwLockWriteGuard<'_, ()> {
        self.pool.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target's repository, as its submitter sees it, for work that writes nothing there.
    ///
    /// # Errors
    /// What opening can give.
    pub(super) fn open(&self, target: &Target) -> Result<Repo, GitError> {
        let git = self.ctx.git.clone().with_environment(self.variables(&target.run)?);
        Repo::open(&git, Path::new(&target.place.common_dir))
    }

    /// The same for a commit of what an agent left: hooks of the repository, which the agent may have had a
    /// hand in, see no more of the user's environment than the agent does.
    ///
    /// # Errors
    /// As [`Repos::serve`].
    pub(super) fn serve_to_commit(&self, target: &Target) -> Result<Repo, GitError> {
        let named = target.run.plan().map(|(spec, _)| spec.env_pass.as_slice());
        let variables = variables::committing(self.pinned(&target.run)?, named.unwrap_or_default());
        let git = self.ctx.git.clone().with_environment(as_environment(variables));
        let repo = Repo::open(&git, Path::new(&target.place.common_dir))?;
        self.hold(&target.place.common_dir, &target.run.id)?;
        Ok(repo)
    }

    fn variables(&self, run: &Run) -> Result<Environment, GitError> {
        self.pinned(run).map(as_environment)
    }

    fn pinned(&self, run: &Run) -> Result<Vec<Variable>, GitError> {
        let pinned = self.ctx.pinned(&run.env);
        let pinned = pinned.map_err(|error| GitError::Missing { what: error.to_string() })?;
        Ok(environment::decode(&pinned))
    }

    /// A run has ended: its repository is given back when it was the last.
    pub(super) fn release(&self, run: &RunId) {
        let mut served = self.served();
        let free: Vec<String> = served
            .iter_mut()
            .filter_map(|(dir, served)| {
                served.runs.remove(run);
                served.runs.is_empty().then(|| dir.clone())
            })
            .collect();
        for dir in free {
            if let Some(served) = served.remove(&dir) {
                served.lock.release();
            }
        }
    }

    /// A clean checkout of exactly `commit` for a gate.
    ///
    /// # Errors
    /// What git gives.
    pub(super) fn checkout(
        &self,
        target: &Target,
        gate: &GateName,
        commit: &Oid,
        phase: Phase,
        slot: u32,
    ) -> Result<PathBuf, GitError> {
        let repo = self.serve(target)?;
        let plan = target.run.plan();
        let furnishing = plan.map(|(spec, _)| furnishing(&spec.worktree)).unwrap_or_default();
        let pool = CheckoutPool::new(repo, self.ctx.checkouts(&target.run.queue.project))
            .furnished(furnishing);
        let spec = target.run.plan().and_then(|(spec, _)| spec.gates.get(gate));
        // Merge gates are fresh, which would empty the caches of a shared slot.
        let (name, mode) = match phase {
            Phase::Branch => {
                let caches = spec.into_iter().flat_map(|gate| &gate.cache);
                let keep = caches.map(PathBuf::from).collect();
                (format!("branch-{slot}"), CheckoutMode::Reuse { keep })
            }
            Phase::Merge => (format!("merge-{slot}"), CheckoutMode::Fresh),
        };
        let _open = self.pool.read().unwrap_or_else(PoisonError::into_inner);
        let checkout = pool.acquire(&name, commit, &mode)?;
        Ok(checkout.path)
    }
}

fn as_environment(variables: Vec<Variable>) -> Environment {
    let text = |bytes: Vec<u8>| OsString::from_vec(bytes);
    Environment::of(variables.into_iter().map(|(name, value)| (text(name), text(value))))
}
