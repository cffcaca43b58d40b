//! What features leave in a repository: branches, refs and worktrees of ours; looking at them, and removing what was
//! proved to be safe to remove. Whether that was proved is the caller's business.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::remove_tree::remove_tree;
use crate::repo::Repo;
use crate::status::Scope;

/// Where a worktree of ours stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeStand {
    /// Neither a folder nor a registration is there.
    Absent,
    /// Its folder is gone, git still knows of it.
    Registered,
    /// It is as its commit is.
    Clean {
        /// The commit that is checked out.
        head: Oid,
    },
    /// It has something that no commit has, or that is none of our business; said for people.
    Busy {
        /// What.
        why: String,
    },
}

impl Repo {
    /// The refs below `prefix`, full names with their commits. What does not lead to a commit is not among them.
    ///
    /// # Errors
    /// What a call can give.
    pub fn refs_below(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let doing = "listing refs";
        let format = "--format=%(refname)%00%(objectname)%00%(objecttype)";
        let listed = self.read(doing).args(["for-each-ref", format]).arg(prefix).bytes()?;
        let mut all = Vec::new();
        for line in listed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let mut fields = line.split('\0');
            let (name, oid) = (fields.next(), fields.next());
            if let (Some(name), Some(oid), Some("commit")) = (name, oid, fields.next()) {
                let oid = Oid::new(oid).ok_or(GitError::Unparsable { doing })?;
                all.push((name.to_owned(), oid));
            }
        }
        Ok(all)
    }

    /// The worktree that has this branch, a full name, checked out or is in the middle of a rebase of it.
    ///
    /// # Errors
    /// What a call can give.
    pub fn worktree_of_branch(&self, refname: &str) -> Result<Option<PathBuf>> {
        let listed = self.worktrees()?;
        let on_it = |branch: &Option<String>| branch.as_deref() == Some(refname);
        if let Some(found) = listed.into_iter().find(|listed| on_it(&listed.branch)) {
            return Ok(Some(found.path));
        }
        let mut all = AdminDir::all(self)?.into_iter();
        let held = |admin: &AdminDir| admin.branch_held().is_some_and(|(name, _)| name == refname);
        Ok(all.find(held).map(|admin| admin.worktree()))
    }

    /// How a worktree of ours stands. Writes nothing.
    ///
    /// # Errors
    /// What a call can give.
    pub fn worktree_stand(&self, path: &Path) -> Result<WorktreeStand> {
        let busy = |why: &str| Ok(WorktreeStand::Busy { why: why.to_owned() });
        let is_there = path.symlink_metadata().is_ok();
        let listed = self.worktrees()?.into_iter().find(|listed| same(&listed.path, path));
        if listed.as_ref().is_some_and(|listed| listed.locked) {
            return busy("somebody locked it (`git worktree unlock` frees it)");
        }
        if !is_there {
            let stand = listed.map_or(WorktreeStand::Absent, |_| WorktreeStand::Registered);
            return Ok(stand);
        }
        let admin = match AdminDir::of(self, path) {
            Ok(admin) if admin.path() != self.common_dir() => admin,
            Ok(_) | Err(GitError::Missing { .. } | GitError::ForeignWorktree { .. }) => {
                return busy("it is no worktree of the repository (any more)");
            }
            Err(error) => return Err(error),
        };
        if let Some(operation) = admin.operation() {
            return busy(&format!("a {} has begun in it and not ended", operation.as_str()));
        }
        let head = self
            .read_in(path, "reading the head of a worktree")
            .args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .done()?;
        let head = Oid::new(String::from_utf8_lossy(&head.stdout).trim_end());
        let Some(head) = head else { return busy("it has no commit checked out") };
        let dirty = self.status(path, Scope::All)?;
        if let Some(first) = dirty.first() {
            let first = first.path.display();
            let more = dirty.len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            return busy(&format!("uncommitted: {first}{more}"));
        }
        if let Some(name) = self.unpublished_submodule(&admin)? {
            return busy(&format!("the submodule {name} has a commit that no remote of it has"));
        }
        Ok(WorktreeStand::Clean { head })
    }

    /// A submodule whose git directory stands in the worktree's own and has commits that are nowhere else.
    fn unpublished_submodule(&self, admin: &AdminDir) -> Result<Option<String>> {
        let top = admin.join("modules");
        for dir in module_dirs(&top).map_err(GitError::io("list", &top))? {
            let call = self.read("looking for commits of a submodule");
            let call = call.global("--git-dir").global(dir.as_os_str());
            let done = call
                .args(["rev-list", "--max-count=50", "HEAD", "--branches", "--not", "--remotes"])
                .done()?;
            let own =
                self.common_dir().join("modules").join(dir.strip_prefix(&top).unwrap_or(&dir));
            let text = String::from_utf8_lossy(&done.stdout);
            let is_known = |line: &str| self.has_object(&own, line);
            if !done.success() || text.lines().count() >= 50 || !text.lines().all(is_known) {
                let name = dir.strip_prefix(&top).unwrap_or(&dir);
                return Ok(Some(name.display().to_string()));
            }
        }
        Ok(None)
    }

    /// Whether the user's own git directory of a submodule has a commit.
    fn has_object(&self, dir: &Path, commit: &str) -> bool {
        let call = self.read("looking for a commit of a submodule");
        let call = call.global("--git-dir").global(dir.as_os_str());
        let done = call.args(["cat-file", "-e", commit]).done();
        done.is_ok_and(|done| done.success())
    }

    /// Removes a worktree of ours: its folder goes to `trash` in one step, then git forgets it. Can be called again after
    /// it was killed at any point.
    ///
    /// # Errors
    /// What a call can give.
    pub fn remove_worktree(&self, path: &Path, trash: &Path) -> Result<()> {
        let _metadata = self.lock_metadata();
        let registered = self.worktrees()?.into_iter().find(|listed| same(&listed.path, path));
        remove_tree(trash)?;
        if let Some(parent) = trash.parent() {
            fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
        }
        fail::fail_point!("git.worktree.before_trash");
        match fs::rename(path, trash) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(GitError::Io { doing: "move away", path: path.to_owned(), source });
            }
        }
        fail::fail_point!("git.worktree.after_trash");
        if let Some(listed) = registered {
            fail::fail_point!("git.worktree.before_forget");
            self.write("forgetting a worktree")
                .args(["worktree", "remove", "--force", "--force", "--"])
                .arg(&listed.path)
                .bytes()?;
            fail::fail_point!("git.worktree.after_forget");
        }
        fail::fail_point!("git.worktree.before_empty_trash");
        remove_tree(trash)?;
        fail::fail_point!("git.worktree.after_empty_trash");
        Ok(())
    }

    /// Removes a ref of ours that is still at `commit`: a branch below `tidegate/`, or a ref below `refs/tidegate/`.
    /// `false` when it stands elsewhere; it is fine if there is none.
    ///
    /// # Errors
    /// [`GitError::Refused`] for a ref that is not ours; what a call can give.
    pub fn remove_ref(&self, refname: &str, commit: &Oid) -> Result<bool> {
        let doing = "removing a ref of ours";
        let ours =
            refname.starts_with("refs/heads/tidegate/") || refname.starts_with("refs/tidegate/");
        if !ours {
            let stderr = format!("{refname} is not a ref of Tidegate");
            return Err(GitError::Refused { doing, stderr });
        }
        let _metadata = self.lock_metadata();
        match self.resolve(refname)? {
            None => return Ok(true),
            Some(found) if found != *commit => return Ok(false),
            Some(_) => {}
        }
        fail::fail_point!("git.ref.before_remove");
        let delete = || {
            self.write(doing).args(["update-ref", "-d", refname, commit.as_str()]).bytes().map(drop)
        };
        match delete() {
            Err(GitError::LockBusy { .. }) if self.reclaim_ref_lock(refname)? => delete(),
            other => other,
        }?;
        fail::fail_point!("git.ref.after_remove");
        Ok(true)
    }
}

/// Whether a registration is about this path; the folder may be gone, its parent stands.
fn same(listed: &Path, path: &Path) -> bool {
    if listed == path {
        return true;
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
    parent.canonicalize().is_ok_and(|parent| parent.join(name) == listed)
}

/// Git directories of submodules, those in them included.
fn module_dirs(top: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let is_git_dir = folder != top && folder.join("HEAD").is_file();
        if is_git_dir {
            folders.push(folder.join("modules"));
            found.push(folder);
            continue;
        }
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(found)
}
