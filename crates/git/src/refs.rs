//! Refs and commits: reading them, and writing those that are ours. It must not know worktrees.

use std::fs;

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::repo::Repo;

/// The branch that a repository works on when nobody says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultBranch {
    /// Full name, `refs/heads/...`.
    pub refname: String,
    /// Its commit; `None` when the branch is still unborn.
    pub tip: Option<Oid>,
}

impl Repo {
    /// The commit that a ref, an object name or an expression leads to; `None` when there is none.
    ///
    /// Full ref names are safe; a short one can be ambiguous with a tag.
    ///
    /// # Errors
    /// What a call can give.
    pub fn resolve(&self, name: &str) -> Result<Option<Oid>> {
        let doing = "resolving a ref";
        let done = self
            .read(doing)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{name}^{{commit}}"))
            .done()?;
        if !done.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&done.stdout);
        Oid::new(text.trim_end()).map(Some).ok_or(GitError::Unparsable { doing })
    }

    /// Whether a ref with this full name exists, even if it leads nowhere.
    ///
    /// # Errors
    /// What a call can give.
    pub fn ref_exists(&self, refname: &str) -> Result<bool> {
        self.read("looking for a ref")
            .args(["show-ref", "--verify", "--quiet", "--"])
            .arg(refname)
            .answer()
    }

    /// Full names of the local branches.
    ///
    /// # Errors
    /// What a call can give.
    pub fn branches(&self) -> Result<Vec<String>> {
        let listed = self
            .read("listing branches")
            .args(["for-each-ref", "--format=%(refname)", "refs/heads/"])
            .bytes()?;
        let names = listed.split(|byte| *byte == b'\n').filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is no such commit.
    pub fn tree_of(&self, commit: &Oid) -> Result<Oid> {
        let doing = "reading a tree";
        let done = self
            .read(doing)
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{commit}^{{tree}}"))
            .done()?;
        if !done.success() {
            return Err(GitError::Missing { what: format!("the commit {commit}") });
        }
        let text = String::from_utf8_lossy(&done.stdout);
        Oid::new(text.trim_end()).ok_or(GitError::Unparsable { doing })
    }

    /// Whether `ancestor` is `descendant` or lies in its history.
    ///
    /// # Errors
    /// [`GitError::Refused`] when one of them does not exist.
    pub fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool> {
        if ancestor == descendant {
            return Ok(true);
        }
        self.read("comparing two commits")
            .args(["merge-base", "--is-ancestor", ancestor.as_str(), descendant.as_str()])
            .answer()
    }

    /// Whether `commit` has landed on the ref `target`: it is its tip or lies in its history.
    ///
    /// # Errors
    /// [`GitError::Missing`] when the target does not exist.
    pub fn has_landed(&self, commit: &Oid, target: &str) -> Result<bool> {
        let tip = self
            .resolve(target)?
            .ok_or_else(|| GitError::Missing { what: format!("the ref {target}") })?;
        self.is_ancestor(commit, &tip)
    }

    /// The branch to take when none is named: the one that the remote `origin` calls its default, if it exists here
    /// too; else the one that the main worktree is on. `None` on a detached head: a person must say.
    ///
    /// # Errors
    /// What a call can give.
    pub fn default_branch(&self) -> Result<Option<DefaultBranch>> {
        if let Some(remote) = self.symbolic_ref("refs/remotes/origin/HEAD")?
            && let Some(short) = remote.strip_prefix("refs/remotes/origin/")
        {
            let refname = format!("refs/heads/{short}");
            if let Some(tip) = self.resolve(&refname)? {
                return Ok(Some(DefaultBranch { refname, tip: Some(tip) }));
            }
        }
        let Some(refname) = self.symbolic_ref("HEAD")? else { return Ok(None) };
        let tip = self.resolve(&refname)?;
        Ok(Some(DefaultBranch { refname, tip }))
    }

    fn symbolic_ref(&self, name: &str) -> Result<Option<String>> {
        let doing = "reading a symbolic ref";
        let done = self.read(doing).args(["symbolic-ref", "--quiet", name]).done()?;
        if !done.success() {
            return Ok(None);
        }
        let text = String::from_utf8(done.stdout).map_err(|_| GitError::Unparsable { doing })?;
        Ok(Some(text.trim_end().to_owned()))
    }

    /// Creates a ref of ours at `commit`. It is fine if it is there already; then its commit is returned.
    ///
    /// The caller holds the metadata mutex.
    pub(crate) fn ensure_ref(&self, refname: &str, commit: &Oid) -> Result<Oid> {
        if let Some(found) = self.resolve(refname)? {
            return Ok(found);
        }
        fail::fail_point!("git.ref.before_create");
        let zero = "0".repeat(commit.as_str().len());
        let update = || {
            self.write("creating a ref")
                .args(["update-ref", refname, commit.as_str(), &zero])
                .bytes()
                .map(drop)
        };
        let outcome = match update() {
            Err(GitError::LockBusy { .. }) if self.reclaim_ref_lock(refname)? => update(),
            other => other,
        };
        if let Err(error) = outcome {
            return match self.blocking_ref(refname)? {
                Some(by) => Err(GitError::RefBlocked { refname: refname.to_owned(), by }),
                None => Err(error),
            };
        }
        fail::fail_point!("git.ref.after_create");
        Ok(commit.clone())
    }

    /// Sets a ref below `refs/tidegate/`, wherever it was.
    ///
    /// # Errors
    /// [`GitError::Refused`] for a ref that is not ours.
    pub fn set_own_ref(&self, refname: &str, commit: &Oid) -> Result<()> {
        own(refname)?;
        let _metadata = self.lock_metadata();
        self.overwrite_own_ref(refname, commit)
    }

    /// The caller holds the metadata mutex.
    pub(crate) fn overwrite_own_ref(&self, refname: &str, commit: &Oid) -> Result<()> {
        fail::fail_point!("git.own_ref.before_set");
        let update = || {
            self.write("setting a ref of ours")
                .args(["update-ref", refname, commit.as_str()])
                .bytes()
        };
        match update() {
            Err(GitError::LockBusy { .. }) if self.reclaim_ref_lock(refname)? => update(),
            other => other,
        }?;
        fail::fail_point!("git.own_ref.after_set");
        Ok(())
    }

    /// Removes a ref below `refs/tidegate/`; it is fine if there is none.
    ///
    /// # Errors
    /// [`GitError::Refused`] for a ref that is not ours.
    pub fn delete_own_ref(&self, refname: &str) -> Result<()> {
        own(refname)?;
        let _metadata = self.lock_metadata();
        fail::fail_point!("git.own_ref.before_delete");
        let delete =
            || self.write("removing a ref of ours").args(["update-ref", "-d", refname]).bytes();
        match delete() {
            Err(GitError::LockBusy { .. }) if self.reclaim_ref_lock(refname)? => delete(),
            other => other,
        }?;
        fail::fail_point!("git.own_ref.after_delete");
        Ok(())
    }

    /// Removes the lock file of a ref that only this home writes, after it has outlasted the patience: nobody can be at
    /// work under it, so its writer was killed.
    pub(crate) fn reclaim_ref_lock(&self, refname: &str) -> Result<bool> {
        let ours =
            refname.starts_with("refs/heads/tidegate/") || refname.starts_with("refs/tidegate/");
        if !ours {
            return Ok(false);
        }
        let path = self.common_dir().join(format!("{refname}.lock"));
        remove_if_there(&path)
    }

    /// A ref whose name is a folder of `refname`, or lies below it as in a folder.
    fn blocking_ref(&self, refname: &str) -> Result<Option<String>> {
        let below = self
            .read("listing refs")
            .args(["for-each-ref", "--count=1", "--format=%(refname)"])
            .arg(format!("{refname}/"))
            .text()?;
        if let Some(first) = below.lines().next() {
            return Ok(Some(first.to_owned()));
        }
        let mut folder = refname;
        while let Some((parent, _)) = folder.rsplit_once('/') {
            folder = parent;
            if folder.contains('/') && self.ref_exists(folder)? {
                return Ok(Some(folder.to_owned()));
            }
        }
        Ok(None)
    }
}

fn own(refname: &str) -> Result<()> {
    if refname.starts_with("refs/tidegate/") {
        return Ok(());
    }
    let stderr = format!("{refname} is not a ref of Tidegate");
    Err(GitError::Refused { doing: "writing a ref of ours", stderr })
}

/// Removes a file; `false` when it was not there.
pub(crate) fn remove_if_there(path: &std::path::Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(GitError::Io { doing: "remove", path: path.to_owned(), source }),
    }
}
