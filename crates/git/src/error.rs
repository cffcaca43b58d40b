//! What can go wrong when git is called, sorted by who can act. It must not know what the caller was trying to achieve.

use std::io;
use std::path::{Path, PathBuf};

use crate::repo_lock::Holder;
use crate::version::Version;

/// Result of everything in this crate.
pub type Result<T, E = GitError> = std::result::Result<T, E>;

/// A call to git, or the file work around it, did not do its job.
///
/// Expected endings (a conflict, a dirty target, a refusing hook) are not errors: they are variants of the outcome that
/// the operation returns.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The directory belongs to no repository. The user can act.
    #[error("{} is not inside a git repository", path.display())]
    NotARepository {
        /// The directory that was asked about.
        path: PathBuf,
    },
    /// The program is not on the PATH that was given. The user can act.
    #[error("the git program was not found on the PATH")]
    NoProgram,
    /// The program is older than this crate can work with. The user can act.
    #[error("git {found} is too old, {needed} or newer is needed")]
    TooOld {
        /// What `git version` said.
        found: Version,
        /// The oldest version that works.
        needed: Version,
    },
    /// A lock file of git stayed for longer than the patience. Worth another try later.
    #[error("{} is held by another git process, or was left behind by one", path.display())]
    LockBusy {
        /// The lock file.
        path: PathBuf,
    },
    /// Another home serves this repository. Worth another try later.
    #[error("the repository is in use by {by}")]
    Held {
        /// Who wrote the lock.
        by: Holder,
    },
    /// A ref, object or directory that must exist does not. A person has to look.
    #[error("{what} does not exist")]
    Missing {
        /// The thing, as the caller named it.
        what: String,
    },
    /// The user's repository holds a submodule, but not the commit of it that is wanted. A person can bring it.
    #[error(
        "the submodule {} is not ready: its commit {commit} is not in your repository; `git submodule update --init --recursive` in your checkout brings it",
        path.display()
    )]
    SubmoduleNotReady {
        /// Its path in the checkout.
        path: PathBuf,
        /// The commit.
        commit: String,
    },
    /// The content of files in Git LFS could not be fetched. A person has to look.
    #[error("the files of Git LFS could not be fetched: {}", output.trim_end())]
    LfsFailed {
        /// The end of what it printed.
        output: String,
    },
    /// A ref cannot be created because another one has the name of its folder (or the other way round).
    #[error("the ref {refname} cannot be created while {by} exists")]
    RefBlocked {
        /// The ref that was wanted.
        refname: String,
        /// The ref that stands in the way.
        by: String,
    },
    /// A branch of ours is checked out in another worktree. The user can act.
    #[error("the branch {branch} is checked out in {}", worktree.display())]
    BranchInUse {
        /// Short name of the branch.
        branch: String,
        /// Where it is checked out.
        worktree: PathBuf,
    },
    /// A branch of ours does not contain the commit that it was made from. A person has to look.
    #[error("the branch {branch} is at {found}, which does not contain its base {base}")]
    Diverged {
        /// Short name of the branch.
        branch: String,
        /// The recorded base.
        base: String,
        /// Where the branch is.
        found: String,
    },
    /// The worktree's `.git` belongs to another repository, or is not readable as one.
    #[error("{} is not a worktree of this repository", path.display())]
    ForeignWorktree {
        /// The worktree.
        path: PathBuf,
    },
    /// Git said no, for a reason that has no variant of its own.
    #[error("git failed while {doing}: {}", stderr.trim_end())]
    Refused {
        /// What was being done.
        doing: &'static str,
        /// The end of what git printed.
        stderr: String,
    },
    /// Git was killed by a signal. Worth another try.
    #[error("git was killed by signal {signal} while {doing}")]
    Killed {
        /// What was being done.
        doing: &'static str,
        /// Number of the signal.
        signal: i32,
    },
    /// The call took longer than its limit and was ended. Worth another try.
    #[error("git did not finish in time while {doing}")]
    Timeout {
        /// What was being done.
        doing: &'static str,
    },
    /// Git printed something that this version of the crate does not understand. Our bug.
    #[error("git printed something unexpected while {doing}")]
    Unparsable {
        /// What was being done.
        doing: &'static str,
    },
    /// The operating system failed.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl GitError {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::LockBusy { .. }
            | Self::Held { .. }
            | Self::Killed { .. }
            | Self::Timeout { .. } => true,
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::Interrupted
                    | io::ErrorKind::WouldBlock
                    | io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::OutOfMemory
            ),
            Self::NotARepository { .. }
            | Self::NoProgram
            | Self::TooOld { .. }
            | Self::Missing { .. }
            | Self::RefBlocked { .. }
            | Self::BranchInUse { .. }
            | Self::Diverged { .. }
            | Self::ForeignWorktree { .. }
            | Self::SubmoduleNotReady { .. }
            | Self::LfsFailed { .. }
            | Self::Refused { .. }
            | Self::Unparsable { .. } => false,
        }
    }

    /// Whether the refusal is of this moment: the same call, made again at once, finds another state of the repository.
    ///
    /// Besides what is [retryable](Self::is_retryable) this is the race with a `git gc` of the user, which removes the
    /// folders of loose objects that have become empty, just when git was about to put an object there.
    pub fn is_transient(&self) -> bool {
        if let Self::Refused { stderr, .. } = self {
            return is_race_with_gc(stderr);
        }
        self.is_retryable()
    }

    /// Wraps an operating system error of one file.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

/// What git prints when the folder of an object is taken away between its look and its write.
fn is_race_with_gc(stderr: &str) -> bool {
    const WRITING: [&str; 4] = [
        "unable to create temporary file: ",
        "unable to write file ",
        "unable to write loose object file",
        "unable to set permission to",
    ];
    stderr.lines().any(|line| {
        line.contains("No such file or directory")
            && WRITING.iter().any(|words| line.contains(words))
    })
}
