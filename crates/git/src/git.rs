//! The git program as this crate calls it: how it is spawned, with which environment and limits. It must not know any
//! single operation.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::environment::Environment;
use crate::error::{GitError, Result};
use crate::exec::Exec;
use crate::invocation::{Access, Invocation, Place};
use crate::version::Version;

/// How long calls may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// A call that only reads.
    pub read: Duration,
    /// A call that writes, checkouts of large trees included.
    pub write: Duration,
    /// A commit with the repository's hooks.
    pub hooks: Duration,
    /// A question to a remote, or a fetch from it. A push runs hooks, and has their limit.
    pub network: Duration,
    /// How long a lock file of somebody else is waited for, in total.
    pub lock_patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read: Duration::from_mins(2),
            write: Duration::from_mins(15),
            hooks: Duration::from_mins(15),
            network: Duration::from_mins(2),
            lock_patience: Duration::from_secs(2),
        }
    }
}

/// The git program. Cheap to clone; clones share nothing that changes but the version.
#[derive(Clone)]
pub struct Git {
    exec: Arc<dyn Exec>,
    environment: Arc<Environment>,
    limits: Limits,
    version: Arc<OnceLock<Version>>,
}

impl Git {
    /// Calls git through `exec`, as the user that this process runs as.
    pub fn new(exec: Arc<dyn Exec>) -> Self {
        Self {
            exec,
            environment: Arc::new(Environment::inherited()),
            limits: Limits::default(),
            version: Arc::default(),
        }
    }

    /// The same with another environment, for instance the one that was pinned at submit.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = Arc::new(environment);
        // Another PATH may lead to another git.
        self.version = Arc::default();
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The version of the program, asked for once.
    ///
    /// # Errors
    /// [`GitError::NoProgram`] and [`GitError::TooOld`] for the user; else what a call can give.
    pub fn version(&self) -> Result<Version> {
        let found = self.found_version()?;
        if found < Version::MINIMUM {
            return Err(GitError::TooOld { found, needed: Version::MINIMUM });
        }
        Ok(found)
    }

    fn found_version(&self) -> Result<Version> {
        if let Some(version) = self.version.get() {
            return Ok(*version);
        }
        let doing = "asking for its version";
        let line = Invocation::new(self, doing, Place::Cwd(Path::new("/")), Access::Read)
            .arg("version")
            .text()?;
        let version = Version::parse(&line).ok_or(GitError::Unparsable { doing })?;
        Ok(*self.version.get_or_init(|| version))
    }

    pub(crate) fn exec(&self) -> &dyn Exec {
        &*self.exec
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl std::fmt::Debug for Git {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Git").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// A mutex of one common dir, over all handles of this process.
#[derive(Debug, Clone)]
pub(crate) struct RepoMutex(Arc<Mutex<()>>);

impl RepoMutex {
    /// The one of `common_dir`, which must be canonical, for this purpose.
    pub(crate) fn of(common_dir: &Path, purpose: &'static str) -> Self {
        type All = HashMap<(PathBuf, &'static str), Arc<Mutex<()>>>;
        static ALL: OnceLock<Mutex<All>> = OnceLock::new();
        let mut all =
            ALL.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        Self(Arc::clone(all.entry((common_dir.to_owned(), purpose)).or_default()))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
