//! The private repository of a project's snapshots. It must not know what a snapshot is made of.
//!
//! It has no alternates file: a collection of garbage in a repository that has one drops every object that the other one
//! has too, and the other one may drop it next. What a snapshot borrows from the user's repository is lent to single
//! calls, by the environment.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use super::entries::quoted;
use super::locks;
use crate::error::{GitError, Result};
use crate::git::{Git, RepoMutex};
use crate::invocation::{Access, Invocation, Place};
use crate::repo::Repo;

/// Says that the repository was made as a whole.
const READY: &str = "tidegate-ready";
/// Where the stat caches stand.
const CACHES: &str = "tidegate-stat";
/// The common beginning of all refs here.
const REFS: &str = "refs/tidegate/snap/";

/// The private repository of one project's snapshots, beside the user's repository that it borrows from.
#[derive(Debug, Clone)]
pub struct Vault {
    pub(super) git: Git,
    pub(super) dir: PathBuf,
    /// The common dir of the user's repository.
    source: PathBuf,
}

/// A snapshot by its ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its series: `<run>/<feature>`.
    pub series: String,
    /// Its number within the series, from 1.
    pub number: u32,
    /// Its commit, in the private repository.
    pub commit: Oid,
    /// When it was taken, in Unix seconds.
    pub when_unix_s: i64,
    /// Why it was taken.
    pub reason: String,
}

impl Vault {
    /// Opens the private repository at `dir`, and makes it when there is none.
    ///
    /// # Errors
    /// What a call can give.
    pub fn create(repo: &Repo, dir: &Path) -> Result<Self> {
        let vault = Self {
            git: repo.git().clone(),
            dir: dir.to_owned(),
            source: repo.common_dir().to_owned(),
        };
        let mutex = RepoMutex::of(dir, "vault");
        let _one = mutex.lock();
        let ready = dir.join(READY);
        if ready.exists() {
            locks::free_once(dir)?;
            return Ok(vault);
        }
        // Half made by a daemon that was killed: nothing was ever put into it.
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(GitError::Io { doing: "remove", path: dir.to_owned(), source: error });
            }
            Ok(()) | Err(_) => {}
        }
        let format = repo
            .read("asking for the object format")
            .args(["rev-parse", "--show-object-format"])
            .text()?;
        fs::create_dir_all(dir).map_err(GitError::io("create", dir))?;
        fail::fail_point!("git.vault.before_init");
        let doing = "making the repository of snapshots";
        Invocation::new(&vault.git, doing, Place::Cwd(dir), Access::Write)
            .args(["init", "--bare", "--quiet", "--template=", "--object-format"])
            .arg(&format)
            .arg("--")
            .arg(dir)
            .bytes()?;
        fail::fail_point!("git.vault.after_init");
        fs::write(&ready, b"").map_err(GitError::io("write", &ready))?;
        Ok(vault)
    }

    /// The private repository at `dir`, when there is one; `source` is the common dir that it borrows from, which need
    /// not be there for a list. Writes nothing.
    pub fn find(git: &Git, dir: &Path, source: &Path) -> Option<Self> {
        let vault = Self { git: git.clone(), dir: dir.to_owned(), source: source.to_owned() };
        dir.join(READY).exists().then_some(vault)
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// All snapshots whose series begins with `prefix` (`<run>/` or `<run>/<feature>`), oldest first in each series.
    ///
    /// # Errors
    /// What a call can give.
    pub fn list(&self, prefix: &str) -> Result<Vec<Listed>> {
        let doing = "listing snapshots";
        let text = self
            .read(doing)
            .args([
                "for-each-ref",
                "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)",
            ])
            .arg(format!("{REFS}{}", prefix.trim_end_matches('/')))
            .bytes()?;
        let mut all = Vec::new();
        for line in text.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let mut fields = line.split('\0');
            let listed = (|| {
                let (series, number) = fields.next()?.strip_prefix(REFS)?.rsplit_once('/')?;
                Some(Listed {
                    series: series.to_owned(),
                    number: number.parse().ok()?,
                    commit: Oid::new(fields.next()?.to_owned())?,
                    when_unix_s: fields.next()?.parse().ok()?,
                    reason: fields.next()?.to_owned(),
                })
            })();
            all.push(listed.ok_or(GitError::Unparsable { doing })?);
        }
        all.sort_by(|a, b| (&a.series, a.number).cmp(&(&b.series, b.number)));
        Ok(all)
    }

    /// Removes all snapshots of a series.
    ///
    /// # Errors
    /// What a call can give.
    pub fn forget(&self, series: &str) -> Result<()> {
        let mutex = self.series_mutex(series);
        let _one = mutex.lock();
        let cache = self.cache_path(series);
        crate::refs::remove_if_there(&cache)?;
        let all = self.list(series)?;
        self.delete_refs(all.iter().filter(|listed| listed.series == series))
    }

    /// Serialises all work on one series.
    pub(super) fn series_mutex(&self, series: &str) -> RepoMutex {
        RepoMutex::of(&self.dir.join(series), "snapshot")
    }

    pub(super) fn cache_path(&self, series: &str) -> PathBuf {
        self.dir.join(CACHES).join(series.replace('/', "+"))
    }

    pub(super) fn refname(series: &str, number: u32) -> String {
        format!("{REFS}{series}/{number}")
    }

    /// Creates the ref of a new snapshot; it must not exist.
    pub(super) fn create_ref(&self, series: &str, number: u32, commit: &Oid) -> Result<()> {
        let zero = "0".repeat(commit.as_str().len());
        let refname = Self::refname(series, number);
        let create = || {
            self.write("recording a snapshot")
                .args(["update-ref", &refname, commit.as_str(), &zero])
                .bytes()
        };
        fail::fail_point!("git.snapshot.before_ref");
        match create() {
            // Nobody else writes here, and this series is ours at the moment: its writer was killed.
            Err(GitError::LockBusy { path }) => {
                crate::refs::remove_if_there(&path)?;
                create()?
            }
            other => other?,
        };
        fail::fail_point!("git.snapshot.after_ref");
        Ok(())
    }

    pub(super) fn delete_refs<'a>(&self, all: impl Iterator<Item = &'a Listed>) -> Result<()> {
        let mut text = String::new();
        for listed in all {
            let refname = Self::refname(&listed.series, listed.number);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "delete {refname}");
        }
        if text.is_empty() {
            return Ok(());
        }
        fail::fail_point!("git.snapshot.before_prune");
        self.write("removing old snapshots").args(["update-ref", "--stdin"]).stdin(text).bytes()?;
        fail::fail_point!("git.snapshot.after_prune");
        Ok(())
    }

    /// Tree and parents of a commit here.
    pub(super) fn links_of(&self, commit: &Oid) -> Result<(Oid, Vec<Oid>)> {
        let doing = "reading a snapshot";
        let text = self.read(doing).args(["cat-file", "commit", commit.as_str()]).bytes()?;
        let text = String::from_utf8_lossy(&text);
        let oids = |key: &'static str| {
            text.lines()
                .take_while(|line| !line.is_empty())
                .filter_map(move |line| Oid::new(line.strip_prefix(key)?.to_owned()))
        };
        let tree = oids("tree ").next().ok_or(GitError::Unparsable { doing })?;
        Ok((tree, oids("parent ").collect()))
    }

    /// The commits that a snapshot was taken of: head and branch of its worktree; `None` without such a snapshot.
    pub(crate) fn parents_of(&self, series: &str, number: u32) -> Result<Option<Vec<Oid>>> {
        let listed = self.list(series)?.into_iter();
        let found = listed.into_iter().find(|l| l.series == series && l.number == number);
        found.map(|listed| self.links_of(&listed.commit).map(|(_, parents)| parents)).transpose()
    }

    /// A reading call.
    pub(super) fn read(&self, doing: &'static str) -> Invocation<'_> {
        Invocation::new(&self.git, doing, Place::Common(&self.dir), Access::Read)
    }

    /// A writing call. What it writes stands here, whatever the user's repository has.
    pub(super) fn write(&self, doing: &'static str) -> Invocation<'_> {
        Invocation::new(&self.git, doing, Place::Common(&self.dir), Access::Write)
    }

    /// Lets a call see the objects of the user's repository too.
    pub(super) fn lent<'a>(&self, call: Invocation<'a>) -> Invocation<'a> {
        let objects = self.source.join("objects");
        let value = OsString::from_vec(quoted(objects.as_os_str().as_bytes()));
        call.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", value)
    }
}
