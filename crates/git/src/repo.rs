//! A repository: where it is, and the calls that concern it as a whole. It must not know any operation of ours.

use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use crate::error::{GitError, Result};
use crate::git::{Git, RepoMutex};
use crate::invocation::{Access, Invocation, Place};

/// A repository of a user. Cheap to clone; all handles of one common dir share one mutex for metadata.
#[derive(Debug, Clone)]
pub struct Repo {
    git: Git,
    common_dir: PathBuf,
    worktree: Option<PathBuf>,
    metadata: RepoMutex,
    landing: RepoMutex,
}

impl Repo {
    /// Finds the repository that `cwd` lies in, as git itself would.
    ///
    /// # Errors
    /// [`GitError::NotARepository`], [`GitError::TooOld`], [`GitError::NoProgram`]; [`GitError::Missing`] when there is
    /// no such directory; [`GitError::Refused`] among others when the directory belongs to another user.
    pub fn discover(git: &Git, cwd: &Path) -> Result<Self> {
        git.version()?;
        let doing = "looking for a repository";
        let done = Invocation::new(git, doing, Place::Cwd(cwd), Access::Read)
            .args(["rev-parse", "--path-format=absolute", "--git-common-dir"])
            .done()?;
        if !done.success() {
            let text = String::from_utf8_lossy(&done.stderr);
            if text.contains("not a git repository") {
                return Err(GitError::NotARepository { path: cwd.to_owned() });
            }
            return Err(GitError::Refused { doing, stderr: text.into_owned() });
        }
        let common_dir = one_path(&done.stdout);
        let top = Invocation::new(git, doing, Place::Cwd(cwd), Access::Read)
            .args(["rev-parse", "--show-toplevel"])
            .done()?;
        // A bare repository has no top; neither has the inside of a `.git`.
        let worktree = top.success().then(|| one_path(&top.stdout));
        let mut repo = Self::open(git, &common_dir)?;
        repo.worktree = worktree.filter(|path| !path.as_os_str().is_empty());
        Ok(repo)
    }

    /// Opens the repository with this common dir, for instance one that was registered before.
    ///
    /// # Errors
    /// [`GitError::NotARepository`] when it is not there any more; [`GitError::Io`].
    pub fn open(git: &Git, common_dir: &Path) -> Result<Self> {
        let there = common_dir.join("objects").is_dir() && common_dir.join("HEAD").exists();
        if !there {
            return Err(GitError::NotARepository { path: common_dir.to_owned() });
        }
        let common_dir = common_dir.canonicalize().map_err(GitError::io("resolve", common_dir))?;
        let metadata = RepoMutex::of(&common_dir, "metadata");
        let landing = RepoMutex::of(&common_dir, "landing");
        Ok(Self { git: git.clone(), common_dir, worktree: None, metadata, landing })
    }

    /// The directory that all worktrees of the repository share; its key.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The root of the worktree that was stood in, if any.
    pub fn worktree(&self) -> Option<&Path> {
        self.worktree.as_deref()
    }

    /// Whether history is cut off, so that merge bases may be out of sight.
    pub fn is_shallow(&self) -> bool {
        self.common_dir.join("shallow").exists()
    }

    /// The program behind it.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// A name for the project: the folder that holds the repository, without a `.git` at its end.
    pub fn folder_name(&self) -> String {
        let is_dot_git = self.common_dir.file_name().is_some_and(|name| name == ".git");
        let named = if is_dot_git { self.common_dir.parent() } else { Some(&*self.common_dir) };
        let name = named.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        name.strip_suffix(".git").unwrap_or(&name).to_owned()
    }

    /// Serialises writes to what all worktrees share. Never held while files are checked out.
    pub(crate) fn lock_metadata(&self) -> MutexGuard<'_, ()> {
        self.metadata.lock()
    }

    /// Serialises landings, whose checkouts may take long. Taken before the metadata mutex, never after it.
    pub(crate) fn lock_landing(&self) -> MutexGuard<'_, ()> {
        self.landing.lock()
    }

    /// A reading call on the common dir.
    pub(crate) fn read(&self, doing: &'static str) -> Invocation<'_> {
        Invocation::new(&self.git, doing, Place::Common(&self.common_dir), Access::Read)
    }

    /// A writing call on the common dir.
    pub(crate) fn write(&self, doing: &'static str) -> Invocation<'_> {
        Invocation::new(&self.git, doing, Place::Common(&self.common_dir), Access::Write)
    }

    /// A reading call in a worktree.
    pub(crate) fn read_in<'a>(&'a self, worktree: &'a Path, doing: &'static str) -> Invocation<'a> {
        Invocation::new(&self.git, doing, Place::Worktree(worktree), Access::Read)
    }

    /// A writing call in a worktree.
    pub(crate) fn write_in<'a>(
        &'a self,
        worktree: &'a Path,
        doing: &'static str,
    ) -> Invocation<'a> {
        Invocation::new(&self.git, doing, Place::Worktree(worktree), Access::Write)
    }
}

fn one_path(stdout: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let bytes = stdout.strip_suffix(b"\n").unwrap_or(stdout);
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
