//! Making the worktree of a feature, or finding it again after a crash. It must not know agents.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::forward_recovery::Locks;
use crate::furnish::{Furnished, Furnishing};
use crate::remove_tree::remove_tree;
use crate::repo::Repo;
use crate::status::{DirtyPath, Scope};
use crate::sync::{SyncOutcome, SyncRequest};
use crate::worktree_list::Listed;

/// Says, in the administrative directory, that the files are older than the registration.
const KEPT: &str = "tidegate-kept";

/// What is wanted. The caller guarantees that no job runs in the worktree.
#[derive(Debug, Clone)]
pub struct WorktreeRequest {
    /// Where; stays the same for the worktree's life.
    pub path: PathBuf,
    /// Short name of its branch, `tidegate/<run>/<feature>`.
    pub branch: String,
    /// The recorded commit to make the branch from.
    pub base: Oid,
    /// A ref below `refs/tidegate/base/` that keeps `base` for the life of the run.
    pub keep_base_as: String,
    /// A commit of the target to merge into the branch, if the worktree is clean.
    pub sync: Option<SyncRequest>,
    /// What it gets beside the files of its commit, when it is made.
    pub furnishing: Furnishing,
    /// The making that is to be thrown away, if it is still that: nobody was ever let into it.
    pub discard: Option<String>,
}

/// A worktree that is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedWorktree {
    /// Where, with symbolic links resolved.
    pub path: PathBuf,
    /// The commit that is checked out.
    pub head: Oid,
    /// Full name of the branch that is checked out; an earlier agent may have left ours. `None` when detached.
    pub branch: Option<String>,
    /// Whether this call made it (again), as opposed to finding it complete.
    pub made: bool,
    /// Uncommitted changes, which are left alone: the next attempt goes on with them.
    pub dirty: Vec<DirtyPath>,
    /// What came of [`WorktreeRequest::sync`].
    pub sync: SyncOutcome,
    /// What it was made with.
    pub furnished: Furnished,
}

impl Repo {
    /// Makes the worktree, or completes or finds what an earlier call began.
    ///
    /// Never resets or removes a worktree that was handed out before. A directory whose registration was lost is taken
    /// back with all its files; a registration whose directory was lost gets a new checkout of the branch.
    ///
    /// # Errors
    /// [`GitError::RefBlocked`], [`GitError::Diverged`], [`GitError::ForeignWorktree`], [`GitError::Missing`] for
    /// `base`; what a call can give.
    pub fn prepare_worktree(&self, request: &WorktreeRequest) -> Result<PreparedWorktree> {
        let path = canonical_target(&request.path)?;
        if let Some(making) = &request.discard {
            self.discard_making(&path, making)?;
        }
        let (made, admin) = self.ensure_registered(request, &path)?;
        admin.remove_own_locks()?;
        self.recover_forward(&admin, Locks::Reclaim)?;
        let furnished = match Furnished::read(&admin)? {
            Some(furnished) => furnished,
            None => self.fill(&path, &admin, &request.furnishing)?,
        };
        let branch = self.branch_in(&path)?;
        let sync = match &request.sync {
            None => SyncOutcome::NotAsked,
            Some(sync) => self.sync_worktree(&path, &admin, branch.as_deref(), sync)?,
        };
        let head = self
            .read_in(&path, "reading the head of a worktree")
            .args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .oid()?;
        let dirty = self.status(&path, Scope::All)?;
        Ok(PreparedWorktree { path, head, branch, made, dirty, sync, furnished })
    }

    /// Removes the files of a making that nobody was let into; with what may be of an earlier one, nothing is done.
    fn discard_making(&self, path: &Path, making: &str) -> Result<()> {
        let Ok(admin) = AdminDir::of(self, path) else { return Ok(()) };
        let found = Furnished::read(&admin)?;
        if found.is_some_and(|found| found.made == making && !found.kept_files) {
            fail::fail_point!("git.worktree.before_remake");
            remove_tree(path)?;
            fail::fail_point!("git.worktree.after_remake");
        }
        Ok(())
    }

    /// Sees to branch, keeping ref and registration. Gives whether the files are still to be checked out.
    fn ensure_registered(
        &self,
        request: &WorktreeRequest,
        path: &Path,
    ) -> Result<(bool, AdminDir)> {
        let _metadata = self.lock_metadata();
        self.ensure_branch(request)?;
        let all = self.worktrees()?;
        refuse_branch_in_use(&all, request, path)?;
        let listed = all.into_iter().find(|listed| listed.path == path);
        match (listed, DirState::of(path)?) {
            (listed, DirState::Absent | DirState::Empty) => {
                self.register(request, path, listed.as_ref())
            }
            (Some(listed), DirState::Linked | DirState::Unlinked) => {
                let admin = self.relink(path)?;
                if Furnished::is_ready(&admin) || admin.join("index").exists() {
                    return Ok((false, admin));
                }
                // A checkout that was killed before it was complete; nobody was ever let in.
                fail::fail_point!("git.worktree.before_discard");
                remove_tree(path)?;
                fail::fail_point!("git.worktree.after_discard");
                self.register(request, path, Some(&listed))
            }
            (None, DirState::Linked | DirState::Unlinked) => {
                self.readopt(request, path).map(|admin| (true, admin))
            }
        }
    }

    fn ensure_branch(&self, request: &WorktreeRequest) -> Result<()> {
        let base = &request.base;
        if self.resolve(base.as_str())?.is_none() {
            return Err(GitError::Missing { what: format!("the commit {base}") });
        }
        if self.ensure_ref(&request.keep_base_as, base)? != *base {
            self.overwrite_own_ref(&request.keep_base_as, base)?;
        }
        let found = self.ensure_ref(&format!("refs/heads/{}", request.branch), base)?;
        if self.is_ancestor(base, &found)? {
            return Ok(());
        }
        Err(GitError::Diverged {
            branch: request.branch.clone(),
            base: base.to_string(),
            found: found.to_string(),
        })
    }

    /// Registers the worktree, without any files in it.
    fn register(
        &self,
        request: &WorktreeRequest,
        path: &Path,
        stale: Option<&Listed>,
    ) -> Result<(bool, AdminDir)> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
        }
        self.add_worktree(path, WorktreeHead::Branch(&request.branch), stale)?;
        AdminDir::of(self, path).map(|admin| (true, admin))
    }

    /// `worktree add --no-checkout`, over a stale registration of the same path if there is one.
    pub(crate) fn add_worktree(
        &self,
        path: &Path,
        head: WorktreeHead<'_>,
        stale: Option<&Listed>,
    ) -> Result<()> {
        // Once for a missing directory, or a branch that is checked out elsewhere; twice for a locked registration.
        let force = match stale {
            Some(listed) if listed.locked => 2,
            _ => 1,
        };
        let (detach, name) = match head {
            WorktreeHead::Branch(name) => (0, name),
            WorktreeHead::Detached(commit) => (1, commit.as_str()),
        };
        fail::fail_point!("git.worktree.before_add");
        self.write("registering a worktree")
            .args(["worktree", "add", "--no-checkout", "--quiet"])
            .args(std::iter::repeat_n("--force", force))
            .args(std::iter::repeat_n("--detach", detach))
            .arg("--")
            .arg(path)
            .arg(name)
            .bytes()?;
        fail::fail_point!("git.worktree.after_add");
        Ok(())
    }

    /// Checks the files out, or completes what was not, and marks the worktree as handed out.
    fn fill(&self, path: &Path, admin: &AdminDir, furnishing: &Furnishing) -> Result<Furnished> {
        let mut record = Furnished::begin(admin.join(KEPT).exists());
        let like = furnishing.like.as_deref();
        if record.kept_files {
            record.sparse = admin.is_sparse();
        } else {
            record.sparse = self.take_sparse_over(admin, like)?;
        }
        if !admin.join("index").exists() {
            fail::fail_point!("git.worktree.before_checkout");
            self.write_in(path, "checking out a worktree")
                .without_sync()
                .with_lfs(furnishing.lfs)
                .args(["reset", "--hard", "--quiet", "--no-recurse-submodules"])
                .bytes()?;
            fail::fail_point!("git.worktree.after_checkout");
        }
        if furnishing.submodules && !record.kept_files {
            self.fill_submodules(path, &mut record)?;
        }
        self.fill_lfs(path, furnishing.lfs, &mut record)?;
        if let Some(user) = like.filter(|_| furnishing.include) {
            self.include_files(user, path, &mut record)?;
        }
        record.write(admin)?;
        Ok(record)
    }

    /// Takes back a directory that has files but no registration (any more): none of its files is changed.
    fn readopt(&self, request: &WorktreeRequest, path: &Path) -> Result<AdminDir> {
        let link = path.join(".git");
        if link.is_dir() {
            return Err(GitError::ForeignWorktree { path: path.to_owned() });
        }
        let beside = beside(path);
        let stale = self.worktrees()?.into_iter().find(|listed| listed.path == beside);
        remove_tree(&beside)?;
        self.add_worktree(&beside, WorktreeHead::Branch(&request.branch), stale.as_ref())?;
        fail::fail_point!("git.worktree.before_readopt");
        fs::rename(beside.join(".git"), &link).map_err(GitError::io("rename", &link))?;
        fail::fail_point!("git.worktree.after_readopt");
        self.write("repairing a worktree").args(["worktree", "repair"]).arg(path).bytes()?;
        remove_tree(&beside)?;
        let admin = AdminDir::of(self, path)?;
        let kept = admin.join(KEPT);
        fs::write(&kept, b"").map_err(GitError::io("write", &kept))?;
        // The index is that of the branch; what the files have beyond it shows as changes.
        self.write_in(path, "making an index").args(["read-tree", "HEAD"]).bytes()?;
        Ok(admin)
    }

    /// The administrative directory of a registered worktree; writes the worktree's `.git` again if that was lost.
    fn relink(&self, path: &Path) -> Result<AdminDir> {
        let link = path.join(".git");
        match AdminDir::of(self, path) {
            Err(GitError::Missing { .. }) => {}
            Err(GitError::ForeignWorktree { .. }) if link.is_file() => {}
            other => return other,
        }
        let admin = AdminDir::all(self)?.into_iter().skip(1).find(|a| a.worktree() == path);
        let admin = admin.ok_or_else(|| GitError::ForeignWorktree { path: path.to_owned() })?;
        let mut bytes = b"gitdir: ".to_vec();
        bytes.extend_from_slice(admin.path().as_os_str().as_bytes());
        bytes.push(b'\n');
        fs::write(&link, bytes).map_err(GitError::io("write", &link))?;
        AdminDir::of(self, path)
    }
}

/// Git lets a branch be checked out only once, for a good reason: the other worktree would seem to revert each commit.
fn refuse_branch_in_use(all: &[Listed], request: &WorktreeRequest, path: &Path) -> Result<()> {
    let refname = format!("refs/heads/{}", request.branch);
    let elsewhere = all.iter().find(|listed| {
        listed.branch.as_ref() == Some(&refname)
            && listed.path != path
            && listed.path != beside(path)
            && listed.path.join(".git").exists()
    });
    elsewhere.map_or(Ok(()), |listed| {
        Err(GitError::BranchInUse { branch: request.branch.clone(), worktree: listed.path.clone() })
    })
}

/// Where a registration is made for a directory that has lost its own.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".adopt");
    PathBuf::from(name)
}

/// What a new worktree stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WorktreeHead<'a> {
    /// A branch, by its short name.
    Branch(&'a str),
    Detached(&'a Oid),
}

/// What lies at the path of a worktree.
enum DirState {
    Absent,
    Empty,
    /// It has a `.git`.
    Linked,
    /// It has files, but no `.git`.
    Unlinked,
}

impl DirState {
    fn of(path: &Path) -> Result<Self> {
        let mut entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Absent),
            Err(source) => {
                return Err(GitError::Io { doing: "list", path: path.to_owned(), source });
            }
        };
        if path.join(".git").symlink_metadata().is_ok() {
            return Ok(Self::Linked);
        }
        Ok(if entries.next().is_some() { Self::Unlinked } else { Self::Empty })
    }
}

/// The path with the symbolic links of its parent resolved, as git records it.
pub(crate) fn canonical_target(path: &Path) -> Result<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(GitError::Missing { what: format!("a name in {}", path.display()) });
    };
    fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
    Ok(parent.canonicalize().map_err(GitError::io("resolve", parent))?.join(name))
}
