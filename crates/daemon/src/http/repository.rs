//! Which repository a directory lies in: asked of git, or known already.

use std::path::Path;

use tidegate_core::home::Place;
use tidegate_git::{Git, GitError, Repo};
use tidegate_protocol::{ErrorCode, Problem, ProjectDoc};

use crate::host::place_of;

/// The repository of `cwd`, found by git.
pub(super) fn find_place(git: &Git, cwd: &Path) -> Result<Place, Problem> {
    if !cwd.is_absolute() {
        return Err(Problem::invalid_input("the directory is not an absolute path"));
    }
    if cwd.to_str().is_none() {
        return Err(Problem::invalid_input("the path of the repository is not UTF-8"));
    }
    place_of(git, cwd).map_err(|error| git_problem(&error))
}

/// The repository of `cwd` among the registered ones, without asking git: the nearest directory
/// upwards that has a `.git` is the root of one of them, and that `.git` is its common directory.
pub(super) fn known_place(projects: &[ProjectDoc], cwd: &Path) -> Option<Place> {
    let cwd = cwd.canonicalize().ok()?;
    let root = cwd.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())?;
    let dot_git = root.join(".git");
    let known = projects.iter().find(|known| Path::new(&known.root) == root)?;
    let same = Path::new(&known.common_dir) == dot_git && dot_git.is_dir();
    let is_repository = dot_git.join("HEAD").exists() && dot_git.join("objects").is_dir();
    (same && is_repository)
        .then(|| Place { root: known.root.clone(), common_dir: known.common_dir.clone() })
}

/// Opens the repository of a place.
pub(super) fn open(git: &Git, place: &Place) -> Result<Repo, Problem> {
    Repo::open(git, Path::new(&place.common_dir)).map_err(|error| git_problem(&error))
}

/// What git says, for a client.
pub(super) fn git_problem(error: &GitError) -> Problem {
    let message = error.to_string();
    match error {
        GitError::NotARepository { .. } => Problem::new(ErrorCode::NotARepository, message)
            .hint("run it inside a git repository, or `git init` first"),
        GitError::Missing { .. } => Problem::new(ErrorCode::NotFound, message),
        GitError::Held { .. } | GitError::LockBusy { .. } => {
            Problem::new(ErrorCode::RepoBusy, message)
        }
        GitError::NoProgram
        | GitError::TooOld { .. }
        | GitError::RefBlocked { .. }
        | GitError::BranchInUse { .. }
        | GitError::Diverged { .. }
        | GitError::ForeignWorktree { .. }
        | GitError::SubmoduleNotReady { .. }
        | GitError::LfsFailed { .. }
        | GitError::Refused { .. }
        | GitError::Killed { .. }
        | GitError::Timeout { .. }
        | GitError::Unparsable { .. }
        | GitError::Io { .. } => {
            Problem::new(ErrorCode::Io, message).retryable(error.is_retryable())
        }
    }
}
