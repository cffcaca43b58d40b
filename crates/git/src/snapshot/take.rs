//! Taking a snapshot of a worktree. It must not know agents, nor when a snapshot is due.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tidegate_core::ids::Oid;

use super::blobs::{Keep, Scratch};
use super::collect::Gate;
use super::entries::{BaseTree, Entries, Entry, IndexEntry, LINK};
use super::index_copy::IndexCopy;
use super::metadata::{LeftOut, Metadata, WhyLeftOut, skipped, staged};
use super::stat_cache::{StatCache, now_ns};
use super::transfer::Wanted;
use super::vault::{Listed, Vault};
use super::walk::{Walk, Walked};
use crate::error::{GitError, Result};
use crate::identity::Identity;
use crate::repo::Repo;

/// Larger files are left out, in bytes.
pub const FILE_BYTES_MAX: u64 = 50 * 1024 * 1024;
/// Snapshots of one series that are kept.
pub const KEPT: usize = 20;
/// Up to how many files are stored without a look whether the base has them.
const FEW: usize = 64;

/// What to capture. An agent may be at work there.
#[derive(Debug, Clone)]
pub struct SnapshotRequest {
    /// Names the series: `<run>/<feature>`.
    pub series: String,
    /// Root of the worktree.
    pub worktree: PathBuf,
    /// The recorded commit that the branch was made from; a ref keeps it in the user's repository.
    pub base: Oid,
    /// Short name of the feature's branch.
    pub branch: String,
    /// When, in Unix seconds.
    pub when_unix_s: i64,
    /// Why, in one line.
    pub reason: String,
}

/// A snapshot that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its number within its series, from 1.
    pub number: u32,
    /// Its commit, in the private repository.
    pub commit: Oid,
    /// Files and links in it.
    pub files: usize,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
    /// How many more are not in it.
    pub left_out_more: u64,
    /// How long it took.
    pub cost: Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotOutcome {
    /// A new snapshot.
    Taken(Snapshot),
    /// Nothing has changed since the last one.
    Unchanged {
        /// The last one's number.
        number: u32,
        /// How long it took to see that.
        cost: Duration,
    },
    /// There is no worktree.
    NoWorktree,
}

/// A snapshot at work.
pub(super) struct Taking<'a> {
    vault: &'a Vault,
    repo: &'a Repo,
    request: &'a SnapshotRequest,
    last: Option<Listed>,
    cache: StatCache,
    base: BaseTree,
}

impl Vault {
    /// Captures a worktree: files, links, folders, and what git has staged there. Leaves it, its index included,
    /// as it is. Can be repeated: what a killed call left behind is garbage or a complete snapshot.
    ///
    /// # Errors
    /// What a call can give; nothing was recorded then.
    pub fn take(&self, repo: &Repo, request: &SnapshotRequest) -> Result<SnapshotOutcome> {
        let gate = Gate::of(&self.dir);
        let _shared = gate.shared();
        self.take_sparing(repo, request, None)
    }

    /// The same, within the gate; the snapshot `spared` is not removed to make room.
    pub(super) fn take_sparing(
        &self,
        repo: &Repo,
        request: &SnapshotRequest,
        spared: Option<u32>,
    ) -> Result<SnapshotOutcome> {
        let begun = Instant::now();
        let mutex = self.series_mutex(&request.series);
        let _one = mutex.lock();
        match fs::symlink_metadata(&request.worktree) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Ok(SnapshotOutcome::NoWorktree),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(SnapshotOutcome::NoWorktree);
            }
            Err(source) => {
                let path = request.worktree.clone();
                return Err(GitError::Io { doing: "look at", path, source });
            }
        }
        let all = self.list(&request.series)?;
        let last = all.last().cloned();
        let path = self.cache_path(&request.series);
        let cache = last.as_ref().map(|last| StatCache::load(&path, &last.commit));
        let cache = cache.unwrap_or_default();
        let taking = Taking { vault: self, repo, request, last, cache, base: BaseTree::default() };
        taking.run(begun, &all, spared)
    }
}

impl Taking<'_> {
    fn run(
        mut self,
        begun: Instant,
        all: &[Listed],
        spared: Option<u32>,
    ) -> Result<SnapshotOutcome> {
        let since = now_ns();
        let scratch = Scratch::new()?;
        let index = IndexCopy::of(self.repo, &self.request.worktree, &scratch)?;
        let tracked = index.entries()?;
        let exclude_stamp = exclude_stamp(self.repo);
        let walk = Walk {
            root: &self.request.worktree,
            index: &index,
            tracked: &tracked,
            cache: &self.cache,
            file_bytes_max: FILE_BYTES_MAX,
        };
        let mut walked = walk.run(&exclude_stamp)?;
        let tip = self.repo.resolve(&format!("refs/heads/{}", self.request.branch))?;
        if let Some(last) = &self.last
            && self.is_unchanged(&walked, &index, tip.as_ref())
        {
            let number = last.number;
            return Ok(SnapshotOutcome::Unchanged { number, cost: begun.elapsed() });
        }
        let root = self.repo.tree_of(&self.request.base)?;
        self.base = BaseTree::parse(&root, &self.list_tree(&root)?)?;
        let files = self.store(&mut walked)?;
        let tree = self.vault.make_tree(&files, &self.base)?;
        let metadata = self.metadata(&index, &tracked, &walked, tip.clone())?;
        let commit = self.commit(&tree, &metadata)?;
        let seen = walked.files.iter().filter_map(|(path, stat)| {
            files.get(path).map(|entry| (path.clone(), (*stat, entry.oid.clone())))
        });
        let mut cache = StatCache {
            commit: Some(commit.clone()),
            index_stamp: index.stamp.clone(),
            exclude_stamp,
            head: index.head.clone(),
            tip,
            files: seen.collect(),
            empty: walked.empty.clone(),
            ..StatCache::default()
        };
        (cache.ignored, cache.left) = left_paths(&walked.left);
        let number = match &self.last {
            Some(last) if self.is_same(last, &commit)? => {
                cache.commit = Some(last.commit.clone());
                cache.save(&self.vault.cache_path(&self.request.series), since)?;
                let number = last.number;
                return Ok(SnapshotOutcome::Unchanged { number, cost: begun.elapsed() });
            }
            Some(last) => last.number + 1,
            None => 1,
        };
        self.vault.create_ref(&self.request.series, number, &commit)?;
        cache.save(&self.vault.cache_path(&self.request.series), since)?;
        let old = all.iter().take((all.len() + 1).saturating_sub(KEPT));
        self.vault.delete_refs(old.filter(|listed| Some(listed.number) != spared))?;
        Ok(SnapshotOutcome::Taken(Snapshot {
            number,
            commit,
            files: files.len(),
            left_out: metadata.left,
            left_out_more: metadata.left_more,
            cost: begun.elapsed(),
        }))
    }

    /// Whether everything that a snapshot is made of is as the cache has it.
    fn is_unchanged(&self, walked: &Walked, index: &IndexCopy<'_>, tip: Option<&Oid>) -> bool {
        let cache = &self.cache;
        let (ignored, left) = left_paths(&walked.left);
        cache.commit.is_some()
            && cache.index_stamp == index.stamp
            && cache.head == index.head
            && cache.tip.as_ref() == tip
            && cache.empty == walked.empty
            && cache.ignored == ignored
            && cache.left == left
            && cache.files.len() == walked.files.len()
            && cache
                .files
                .iter()
                .zip(&walked.files)
                .all(|((a, (then, _)), (b, now))| a == b && then == now)
    }

    fn list_tree(&self, tree: &Oid) -> Result<Vec<u8>> {
        self.repo
            .read("listing a tree")
            .args(["ls-tree", "-r", "-t", "-z", "--full-tree"])
            .arg(tree.as_str())
            .bytes()
    }

    /// Stores what changed; files that are gone by now are taken out of the walk.
    fn store(&self, walked: &mut Walked) -> Result<Entries> {
        let mut files = Entries::new();
        let mut fresh: Vec<(Vec<u8>, u32)> = Vec::new();
        let mut links: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (path, stat) in &walked.files {
            let known = self.cache.files.get(path);
            if let Some((_, oid)) = known.filter(|(then, _)| {
                then.is_same_content(stat) && (then.mode == LINK) == (stat.mode == LINK)
            }) {
                files.insert(path.clone(), Entry { mode: stat.mode, oid: oid.clone() });
            } else if stat.mode == LINK {
                // Gone by now, or no link any more: it is not in this snapshot.
                if let Ok(target) = fs::read_link(self.place(path)) {
                    links.push((path.clone(), target.as_os_str().as_bytes().to_vec()));
                }
            } else {
                fresh.push((path.clone(), stat.mode));
            }
        }
        let (paths, targets): (Vec<_>, Vec<_>) = links.into_iter().unzip();
        for (path, oid) in paths.into_iter().zip(self.vault.hash_bytes(&targets)?) {
            files.insert(path, Entry { mode: LINK, oid });
        }
        for ((path, mode), oid) in fresh.iter().zip(self.store_files(&fresh)?) {
            if let Some(oid) = oid {
                files.insert(path.clone(), Entry { mode: *mode, oid });
            } else if self.place(path).symlink_metadata().is_ok() {
                let path = PathBuf::from(std::ffi::OsStr::from_bytes(path));
                walked.left.push(LeftOut { path, why: WhyLeftOut::Unreadable });
            }
        }
        walked.files.retain(|path, _| files.contains_key(path));
        Ok(files)
    }

    /// The objects of these files: those that the base does not have are written.
    fn store_files(&self, fresh: &[(Vec<u8>, u32)]) -> Result<Vec<Option<Oid>>> {
        let paths: Vec<PathBuf> = fresh.iter().map(|(path, _)| self.place(path)).collect();
        if fresh.len() <= FEW {
            return self.vault.hash_files(&paths, Keep::Write);
        }
        let mut oids = self.vault.hash_files(&paths, Keep::NameOnly)?;
        let is_new = |oid: &Option<Oid>| oid.as_ref().is_some_and(|o| !self.base.oids.contains(o));
        let new: Vec<usize> = (0..oids.len()).filter(|at| is_new(&oids[*at])).collect();
        let paths: Vec<PathBuf> = new.iter().map(|at| paths[*at].clone()).collect();
        // What was written meanwhile is what counts.
        for (at, oid) in new.into_iter().zip(self.vault.hash_files(&paths, Keep::Write)?) {
            oids[at] = oid;
        }
        Ok(oids)
    }

    fn metadata(
        &self,
        index: &IndexCopy<'_>,
        tracked: &[IndexEntry],
        walked: &Walked,
        tip: Option<Oid>,
    ) -> Result<Metadata> {
        let mut metadata = Metadata {
            base: self.request.base.to_string(),
            head: index.head.clone(),
            branch: index.branch.clone(),
            tip,
            operation: index.operation.map(str::to_owned),
            empty: walked.empty.clone(),
            ..Metadata::default()
        };
        metadata.leave_out(walked.left.clone());
        let mut wanted =
            Wanted { objects: BTreeSet::new(), without: vec![self.request.base.clone()] };
        let commits = [&metadata.head, &metadata.tip];
        wanted
            .objects
            .extend(commits.into_iter().flatten().filter(|o| **o != self.request.base).cloned());
        if index.stamp.is_some() {
            let other = metadata.head.as_ref().filter(|head| **head != self.request.base);
            let head = match other {
                None if metadata.head.is_some() => self.base.files.clone(),
                None => Entries::new(),
                Some(head) => {
                    BaseTree::parse(head, &self.list_tree(&self.repo.tree_of(head)?)?)?.files
                }
            };
            let (text, blobs) = staged(tracked, &head);
            metadata.staged = text;
            metadata.skipped = skipped(tracked);
            wanted.objects.extend(blobs.into_iter().filter(|oid| !self.base.oids.contains(oid)));
        }
        let cache = &self.cache;
        let is_known = cache.commit.is_some()
            && (&cache.head, &cache.tip) == (&metadata.head, &metadata.tip)
            && cache.index_stamp == index.stamp;
        if !is_known {
            self.vault.take_in(self.repo, &wanted)?;
        }
        Ok(metadata)
    }

    /// The commit of the snapshot: its parents are the head and the branch, then what belongs to it.
    fn commit(&self, tree: &Oid, metadata: &Metadata) -> Result<Oid> {
        let files = metadata.encode();
        let bytes: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.clone()).collect();
        let names = files.iter().map(|(name, _)| *name);
        let blobs = names.zip(self.vault.hash_bytes(&bytes)?).collect();
        let about = self.vault.make_flat_tree(blobs)?;
        // The same facts give the same commit, so that two snapshots can be compared by it.
        let about = self.commit_tree(&about, &[], "What belongs to a snapshot", 0)?;
        let mut parents: Vec<&Oid> = Vec::new();
        for parent in [metadata.head.as_ref(), metadata.tip.as_ref(), Some(&about)] {
            parents.extend(parent.filter(|parent| !parents.contains(parent)));
        }
        self.commit_tree(tree, &parents, &self.request.reason, self.request.when_unix_s)
    }

    fn commit_tree(&self, tree: &Oid, parents: &[&Oid], message: &str, when: i64) -> Result<Oid> {
        // Parents may stand in the user's repository only; the commit itself does not exist there.
        let mut call = self
            .vault
            .lent(self.vault.write("making the commit of a snapshot"))
            .args(["commit-tree", "--no-gpg-sign", "-F", "-"])
            .stdin(format!("{message}\n"));
        for parent in parents {
            call = call.arg("-p").arg(parent.as_str());
        }
        for (name, value) in Identity::fallback().variables(when) {
            call = call.env(name, value);
        }
        fail::fail_point!("git.snapshot.before_commit");
        let oid = call.arg(tree.as_str()).oid();
        fail::fail_point!("git.snapshot.after_commit");
        oid
    }

    /// Whether a new snapshot would say the same as the last one.
    fn is_same(&self, last: &Listed, new: &Oid) -> Result<bool> {
        let of = |oid: &Oid| self.vault.links_of(oid);
        Ok(of(&last.commit)? == of(new)?)
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        self.request.worktree.join(std::ffi::OsStr::from_bytes(path))
    }
}

fn left_paths(left: &[LeftOut]) -> (std::collections::HashSet<Vec<u8>>, Vec<Vec<u8>>) {
    let bytes = |each: &LeftOut| each.path.as_os_str().as_bytes().to_vec();
    let (ignored, other): (Vec<&LeftOut>, Vec<&LeftOut>) =
        left.iter().partition(|each| each.why == WhyLeftOut::Ignored);
    let mut other: Vec<Vec<u8>> = other.into_iter().map(bytes).collect();
    other.sort();
    (ignored.into_iter().map(bytes).collect(), other)
}

/// Changes whenever the repository's own list of what is ignored does.
fn exclude_stamp(repo: &Repo) -> String {
    let path: &Path = &repo.common_dir().join("info/exclude");
    fs::metadata(path).map_or_else(
        |_| String::new(),
        |meta| format!("{} {} {} {}", meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()),
    )
}
