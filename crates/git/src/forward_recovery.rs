//! Undoing a fast-forward whose git was killed in the middle. It must not know why the fast-forward was made.
//!
//! Git checks everything first, then writes the files, then the index, then the ref. So while the ref is still the old
//! one, either the index is the new one and so are all files, or the index is the old one and the files that the two
//! commits differ in are old, gone, new, or a beginning of the new. A file that is anything else was touched by the user:
//! then nothing is changed at all.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tidegate_core::ids::Oid;

use crate::admin_dir::AdminDir;
use crate::at_work::{LockIdentity, may_have_owner};
use crate::error::{GitError, Result};
use crate::forward_record::ForwardRecord;
use crate::refs::remove_if_there;
use crate::repo::Repo;
use crate::tree_diff::{Entry, EntryKind};

/// What to do with lock files in the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// They may be a user's.
    Leave,
    /// Git of ours may have left them: remove them when no git is at work there.
    Reclaim,
}

/// How to undo.
enum Rollback {
    /// Index and files are new.
    Index,
    /// Only files are new.
    Files {
        /// To remove.
        added: Vec<PathBuf>,
        /// To take from the index again, each ended by NUL.
        restore: Vec<u8>,
    },
}

impl Repo {
    /// Looks for a fast-forward that was begun and not ended, and undoes it if it has not reached the ref.
    pub(crate) fn recover_forward(&self, admin: &AdminDir, locks: Locks) -> Result<()> {
        let Some(record) = ForwardRecord::read(admin)? else { return Ok(()) };
        if !record.worktree.is_dir() {
            return record.close(admin);
        }
        if locks == Locks::Reclaim {
            self.reclaim_locks(admin, &record)?;
        }
        if self.resolve(&record.refname)?.as_ref() != Some(&record.old)
            || self.branch_in(&record.worktree)?.as_deref() != Some(&record.refname)
        {
            // It was finished, or the user went on from there.
            return record.close(admin);
        }
        // Without a plan the record stays: the user may take the edits back, and then it can be undone.
        let Some(plan) = self.rollback_plan(&record)? else { return Ok(()) };
        fail::fail_point!("git.forward.before_recover");
        let recovered = match plan {
            Rollback::Index => self.roll_back_index(&record)?,
            Rollback::Files { added, restore } => {
                self.roll_back_files(&record.worktree, &added, restore)?;
                true
            }
        };
        fail::fail_point!("git.forward.after_recover");
        if recovered { record.close(admin) } else { Ok(()) }
    }

    /// Whether a fast-forward of this branch was killed in the middle here, and would be undone. Writes nothing.
    pub(crate) fn is_recoverable(&self, admin: &AdminDir, refname: &str) -> Result<bool> {
        let record = ForwardRecord::read(admin)?.filter(|record| record.refname == refname);
        match record {
            Some(record) => Ok(self.rollback_plan(&record)?.is_some()),
            None => Ok(false),
        }
    }

    fn rollback_plan(&self, record: &ForwardRecord) -> Result<Option<Rollback>> {
        if self.index_is(&record.worktree, &record.old)? {
            self.plan_files(record)
        } else if self.index_is(&record.worktree, &record.new)? {
            Ok(Some(Rollback::Index))
        } else {
            Ok(None)
        }
    }

    /// The branch that is checked out in a worktree, by its full name.
    pub(crate) fn branch_in(&self, worktree: &Path) -> Result<Option<String>> {
        let call = self.read_in(worktree, "reading the head of a worktree");
        let done = call.args(["symbolic-ref", "--quiet", "HEAD"]).done()?;
        let text = String::from_utf8_lossy(&done.stdout);
        Ok(done.success().then(|| text.trim_end().to_owned()))
    }

    /// Whether the index of a worktree holds exactly the tree of a commit.
    pub(crate) fn index_is(&self, worktree: &Path, commit: &Oid) -> Result<bool> {
        self.read_in(worktree, "comparing an index")
            .args(["diff-index", "--cached", "--quiet", "--ignore-submodules=none"])
            .args([commit.as_str(), "--"])
            .answer()
    }

    /// Index and files are new, the ref is old. Git refuses by itself if a file was edited since.
    fn roll_back_index(&self, record: &ForwardRecord) -> Result<bool> {
        let done = self
            .write_in(&record.worktree, "undoing a fast-forward")
            .args(["read-tree", "-m", "-u", record.new.as_str(), record.old.as_str()])
            .done()?;
        Ok(done.success())
    }

    /// Index and ref are old, some of the files may be new.
    fn plan_files(&self, record: &ForwardRecord) -> Result<Option<Rollback>> {
        let worktree = &record.worktree;
        let edited = self.edited_paths(worktree)?;
        let mut added = Vec::new();
        // Only what is seen to be ours: an edit that the index hides from git must not be written over.
        let mut restore = Vec::new();
        for entry in self.tree_diff(&record.old, &record.new)? {
            let on_disk = worktree.join(&entry.path);
            let touched = if entry.old.is_some() {
                edited.contains(&entry.path)
            } else {
                fs::symlink_metadata(&on_disk).is_ok()
            };
            if !touched {
                continue;
            }
            if !self.is_beginning_of_new(worktree, &entry)? {
                return Ok(None);
            }
            if entry.old.is_none() {
                added.push(on_disk);
            } else {
                restore.extend_from_slice(entry.path.as_os_str().as_bytes());
                restore.push(0);
            }
        }
        Ok(Some(Rollback::Files { added, restore }))
    }

    fn roll_back_files(&self, worktree: &Path, added: &[PathBuf], restore: Vec<u8>) -> Result<()> {
        if added.is_empty() && restore.is_empty() {
            return Ok(());
        }
        for path in added {
            remove_with_empty_folders(worktree, path)?;
        }
        self.write_in(worktree, "restoring files")
            .args(["checkout-index", "--force", "--quiet", "-z", "--stdin"])
            .stdin(restore)
            .bytes()?;
        // Only times in the index change by this; it may fail for files that the user edited.
        self.write_in(worktree, "refreshing an index")
            .args(["update-index", "-q", "--refresh"])
            .done()?;
        Ok(())
    }

    /// Tracked paths whose files differ from the index.
    fn edited_paths(&self, worktree: &Path) -> Result<std::collections::BTreeSet<PathBuf>> {
        let bytes = self
            .read_in(worktree, "comparing files")
            .args(["diff", "--name-only", "-z", "--no-ext-diff", "--no-renames"])
            .arg("--ignore-submodules=all")
            .bytes()?;
        let paths = bytes.split(|b| *b == 0).filter(|path| !path.is_empty());
        Ok(paths.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path))).collect())
    }

    /// Whether the file is gone, or holds nothing but a beginning of what the new commit has there.
    fn is_beginning_of_new(&self, worktree: &Path, entry: &Entry) -> Result<bool> {
        let on_disk = worktree.join(&entry.path);
        let meta = match fs::symlink_metadata(&on_disk) {
            Ok(meta) => meta,
            Err(error) if is_absence(&error) => return Ok(true),
            Err(source) => return Err(GitError::Io { doing: "look at", path: on_disk, source }),
        };
        if meta.is_dir() {
            // Its files are entries of their own.
            return Ok(true);
        }
        let Some(new) = &entry.new else { return Ok(false) };
        let found = if meta.is_symlink() {
            let target = fs::read_link(&on_disk).map_err(GitError::io("read", &on_disk))?;
            target.into_os_string().into_encoded_bytes()
        } else if meta.is_file() {
            fs::read(&on_disk).map_err(GitError::io("read", &on_disk))?
        } else {
            return Ok(false);
        };
        let wanted = match new.kind {
            EntryKind::Submodule => return Ok(false),
            EntryKind::Symlink => self.blob(worktree, &new.oid, None)?,
            EntryKind::File => self.blob(worktree, &new.oid, Some(&entry.path))?,
        };
        let kind_fits = meta.is_symlink() == (new.kind == EntryKind::Symlink);
        Ok(kind_fits && wanted.starts_with(&found))
    }

    /// Content of a blob, as it would be written to `path`.
    fn blob(&self, worktree: &Path, oid: &Oid, path: Option<&Path>) -> Result<Vec<u8>> {
        let call = self.read_in(worktree, "reading a file of a commit").arg("cat-file");
        let call = match path {
            Some(path) => {
                let mut option = std::ffi::OsString::from("--path=");
                option.push(path);
                call.arg("--filters").arg(option)
            }
            None => call.arg("blob"),
        };
        call.arg(oid.as_str()).bytes()
    }

    fn reclaim_locks(&self, admin: &AdminDir, record: &ForwardRecord) -> Result<()> {
        let own = [admin.join("index.lock"), admin.join("HEAD.lock"), admin.join("ORIG_HEAD.lock")];
        let deadline = Instant::now() + self.git().limits().lock_patience;
        while let Some((path, seen)) = first_of(&own) {
            if may_have_owner(path, &record.worktree) {
                if Instant::now() >= deadline {
                    return Err(GitError::LockBusy { path: path.clone() });
                }
                std::thread::sleep(Duration::from_millis(20));
            } else if LockIdentity::of(path) == Some(seen) {
                // Nobody had it open, and it is still the one that was looked at: its git is dead.
                fail::fail_point!("git.forward.before_reclaim");
                remove_if_there(path)?;
                fail::fail_point!("git.forward.after_reclaim");
            }
        }
        self.reclaim_target_lock(&record.refname, &record.new).map(drop)
    }

    /// Removes the lock file of a ref that a killed git of ours left: it holds the object name that only we write there.
    pub(crate) fn reclaim_target_lock(&self, refname: &str, new: &Oid) -> Result<bool> {
        let path = self.common_dir().join(format!("{refname}.lock"));
        let ours = fs::read(&path).is_ok_and(|bytes| bytes.trim_ascii() == new.as_str().as_bytes());
        if ours { remove_if_there(&path) } else { Ok(false) }
    }
}

/// The first lock file that is there.
fn first_of(locks: &[PathBuf]) -> Option<(&PathBuf, LockIdentity)> {
    locks.iter().find_map(|path| LockIdentity::of(path).map(|seen| (path, seen)))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Removes a file that git has just written, and the folders that are empty then, as git does.
fn remove_with_empty_folders(root: &Path, path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    remove_if_there(path)?;
    let mut folder = path.parent();
    while let Some(dir) = folder.filter(|dir| *dir != root && dir.starts_with(root)) {
        // Not empty, which is where git stops too.
        if fs::remove_dir(dir).is_err() {
            break;
        }
        folder = dir.parent();
    }
    Ok(())
}
