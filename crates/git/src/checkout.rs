//! Clean checkouts of exact commits for gates, in slots that are used again. It must not know gates.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::Result;
use crate::furnish::{Furnished, Furnishing};
use crate::remove_tree::remove_tree;
use crate::repo::Repo;
use crate::worktree::{WorktreeHead, canonical_target};

/// How a slot is made clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutMode {
    /// The slot's files are reset; ignored and untracked ones are removed, but for what lies below these paths.
    Reuse {
        /// Caches to keep, relative to the root.
        keep: Vec<PathBuf>,
    },
    /// The slot's files are reset, and everything that is not in the commit is removed. Use slots of their own for it, as
    /// it empties caches. Files that are right already are not written again: on ext4, making as many files as were
    /// just deleted takes time by the square of their number.
    Fresh,
}

/// A clean checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Its root, with symbolic links resolved.
    pub path: PathBuf,
    /// The commit that is checked out, with a detached head.
    pub commit: Oid,
    /// The tree of the commit.
    pub tree: Oid,
    /// Those of the caches to keep that were there.
    pub kept: Vec<PathBuf>,
}

/// The checkouts of one project, in the folder `<home>/checkouts/<project>`, one folder for each slot.
#[derive(Debug, Clone)]
pub struct CheckoutPool {
    repo: Repo,
    root: PathBuf,
    furnishing: Furnishing,
}

impl CheckoutPool {
    /// The pool in this folder, which need not exist.
    pub fn new(repo: Repo, root: PathBuf) -> Self {
        Self { repo, root, furnishing: Furnishing::default() }
    }

    /// The same, whose checkouts get this beside the files of their commit. Files of the user are not among it.
    #[must_use]
    pub fn furnished(mut self, furnishing: Furnishing) -> Self {
        self.furnishing = furnishing;
        self
    }

    /// Makes a slot a clean checkout of a commit. Only one caller uses a slot at a time; nothing runs in it.
    ///
    /// # Errors
    /// [`crate::GitError::Missing`] when there is no such commit; what a call can give.
    pub fn acquire(&self, slot: &str, commit: &Oid, mode: &CheckoutMode) -> Result<Checkout> {
        let tree = self.repo.tree_of(commit)?;
        let path = canonical_target(&self.root.join(slot))?;
        let keep: &[PathBuf] = match mode {
            CheckoutMode::Reuse { keep } => keep,
            CheckoutMode::Fresh => &[],
        };
        let reused = self.reuse(&path, commit, keep)?;
        if !reused {
            self.make(&path, commit)?;
        }
        let mut record = Furnished::default();
        if self.furnishing.submodules {
            self.repo.fill_submodules(&path, &mut record)?;
        }
        self.repo.fill_lfs(&path, self.furnishing.lfs, &mut record)?;
        let there = |cache: &&PathBuf| reused && path.join(cache).symlink_metadata().is_ok();
        let kept = keep.iter().filter(there).cloned().collect();
        Ok(Checkout { path, commit: commit.clone(), tree, kept })
    }

    /// Resets what is there. `false` when it is not fit for use and has to be made anew.
    fn reuse(&self, path: &Path, commit: &Oid, keep: &[PathBuf]) -> Result<bool> {
        let Ok(admin) = AdminDir::of(&self.repo, path) else { return Ok(false) };
        if admin.path() == self.repo.common_dir() || !admin.join("index").exists() {
            return Ok(false);
        }
        admin.remove_own_locks()?;
        if self.has_flagged_entries(path)? || is_reconfigured(&admin) {
            return Ok(false);
        }
        fail::fail_point!("git.checkout.before_reset");
        let detach = self.call(path, "resetting a checkout");
        // A branch that a gate switched to must not move with the reset.
        let detached =
            detach.args(["update-ref", "--no-deref", "HEAD", commit.as_str()]).done()?.success();
        if !detached {
            return Ok(false);
        }
        let reset = self.call(path, "resetting a checkout");
        let reset = reset.args(["reset", "--hard", "--quiet", "--no-recurse-submodules"]).done()?;
        fail::fail_point!("git.checkout.after_reset");
        if !reset.success() {
            return Ok(false);
        }
        let mut clean = self.call(path, "cleaning a checkout").args(["clean", "-ffdxq"]);
        for cache in keep {
            clean = clean.arg("-e").arg(exclusion(cache));
        }
        fail::fail_point!("git.checkout.before_clean");
        let cleaned = clean.done()?;
        fail::fail_point!("git.checkout.after_clean");
        Ok(cleaned.success())
    }

    fn make(&self, path: &Path, commit: &Oid) -> Result<()> {
        fail::fail_point!("git.checkout.before_remove");
        remove_tree(path)?;
        fail::fail_point!("git.checkout.after_remove");
        {
            let _metadata = self.repo.lock_metadata();
            let stale = self.repo.worktrees()?.into_iter().find(|listed| listed.path == path);
            self.repo.add_worktree(path, WorktreeHead::Detached(commit), stale.as_ref())?;
        }
        // A gate sees the whole commit, whatever part of it the user has.
        AdminDir::of(&self.repo, path)?.forget_sparse()?;
        fail::fail_point!("git.checkout.before_fill");
        self.call(path, "filling a checkout")
            .args(["reset", "--hard", "--quiet", "--no-recurse-submodules"])
            .bytes()?;
        fail::fail_point!("git.checkout.after_fill");
        Ok(())
    }

    fn call<'a>(
        &'a self,
        path: &'a Path,
        doing: &'static str,
    ) -> crate::invocation::Invocation<'a> {
        self.repo
            .write_in(path, doing)
            .without_sync()
            .with_lfs(self.furnishing.lfs)
            .global("-c")
            .global("core.sparseCheckout=false")
            .global("-c")
            .global("core.untrackedCache=false")
    }

    /// Whether the index tells git to take files for unchanged without looking: a reset would trust that.
    fn has_flagged_entries(&self, path: &Path) -> Result<bool> {
        let call = self.repo.read_in(path, "reading an index");
        let done = call.args(["ls-files", "-v", "-z"]).done()?;
        let mut entries = done.stdout.split(|b| *b == 0).filter(|entry| !entry.is_empty());
        // `H` is an ordinary entry; what is unmerged goes with the reset.
        Ok(!done.success() || entries.any(|entry| entry[0] != b'H' && entry[0] != b'M'))
    }
}

/// Whether a gate left something that changes what git does in this worktree only.
fn is_reconfigured(admin: &AdminDir) -> bool {
    ["config.worktree", "info"].iter().any(|name| {
        let path = admin.join(name);
        fs::metadata(&path).is_ok_and(|meta| meta.is_dir() || meta.len() > 0)
    })
}

/// A pattern of `git clean -e` for exactly this path.
fn exclusion(cache: &Path) -> OsString {
    let mut pattern = b"/".to_vec();
    for byte in cache.as_os_str().as_bytes() {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\' | b' ' | b'!' | b'#') {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    while pattern.ends_with(b"/") {
        pattern.pop();
    }
    OsString::from_vec(pattern)
}
