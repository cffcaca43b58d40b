//! Giving a snapshot back: as a worktree again, or as plain files. It must not know who asks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tidegate_core::ids::Oid;

use super::blobs::{Keep, Scratch};
use super::collect::Gate;
use super::entries::{Entries, Entry, GITLINK, IndexEntry, LINK, index_entries};
use super::index_copy::IndexCopy;
use super::metadata::{LeftOut, Metadata};
use super::stat_cache::StatCache;
use super::take::{FILE_BYTES_MAX, SnapshotOutcome, SnapshotRequest};
use super::transfer::Wanted;
use super::vault::{Listed, Vault};
use super::walk::Walk;
use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};
use crate::remove_tree::remove_tree;
use crate::repo::Repo;
use crate::worktree::WorktreeRequest;

/// What a snapshot says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The commit that the branch was made from.
    pub base: Option<Oid>,
    /// The commit that was checked out.
    pub head: Option<Oid>,
    /// Full name of the branch that was checked out; `None` when the head was detached.
    pub branch: Option<String>,
    /// Where the feature's branch stood.
    pub tip: Option<Oid>,
    /// What git had begun there and not ended; that is not given back.
    pub operation: Option<String>,
    /// Whether something was staged.
    pub is_staged: bool,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
    /// How many more are not in it.
    pub left_out_more: u64,
}

/// What to give back. Nothing runs in the worktree.
#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// Which snapshot of the series.
    pub number: u32,
    /// Where to, and what is captured there before.
    pub capture: SnapshotRequest,
    /// The worktree, should it have to be made again.
    pub worktree: WorktreeRequest,
    /// The beginning of refs in the user's repository for commits of the branch that the snapshot does not have.
    pub keep_tips_below: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreOutcome {
    /// The worktree, with symbolic links resolved.
    pub path: PathBuf,
    /// What was captured before anything was changed.
    pub captured: SnapshotOutcome,
    /// What the snapshot says of itself.
    pub contents: Contents,
}

impl Vault {
    /// The snapshot with this number.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is none.
    pub fn find_snapshot(&self, series: &str, number: Option<u32>) -> Result<Listed> {
        let all = self.list(series)?;
        let mut of_series = all.into_iter().filter(|listed| listed.series == series);
        let found = match number {
            Some(number) => of_series.find(|listed| listed.number == number),
            None => of_series.next_back(),
        };
        found.ok_or_else(|| GitError::Missing {
            what: number.map_or_else(
                || format!("a snapshot of {series}"),
                |number| format!("snapshot {number} of {series}"),
            ),
        })
    }

    /// What a snapshot says of itself.
    ///
    /// # Errors
    /// What a call can give.
    pub fn read_snapshot(&self, snapshot: &Listed) -> Result<Contents> {
        self.metadata_of(&snapshot.commit).map(|metadata| Contents::of(&metadata))
    }

    fn metadata_of(&self, commit: &Oid) -> Result<Metadata> {
        let unparsable = || GitError::Unparsable { doing: "reading a snapshot" };
        let (_, parents) = self.links_of(commit)?;
        let (tree, _) = self.links_of(parents.last().ok_or_else(unparsable)?)?;
        Metadata::decode(&self.flat_files(&tree)?).ok_or_else(unparsable)
    }

    /// Writes the files of a snapshot to a folder that is empty, or not there yet.
    ///
    /// # Errors
    /// [`GitError::Refused`] when there is something in the folder; what a call can give.
    pub fn restore_files(&self, snapshot: &Listed, folder: &Path) -> Result<Contents> {
        fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        let mut inside = fs::read_dir(folder).map_err(GitError::io("list", folder))?;
        if inside.next().is_some() {
            let stderr = format!("{} is not empty", folder.display());
            return Err(GitError::Refused { doing: "restoring a snapshot", stderr });
        }
        let gate = Gate::of(&self.dir);
        let _shared = gate.shared();
        let metadata = self.metadata_of(&snapshot.commit)?;
        let (tree, _) = self.links_of(&snapshot.commit)?;
        self.materialize(folder, &self.list_files(&tree)?, &Entries::new(), &metadata.empty)?;
        Ok(Contents::of(&metadata))
    }

    /// Gives a snapshot back as the worktree that it was taken of: files, index, head and branch. What is there is
    /// captured first. Can be repeated after a crash.
    ///
    /// # Errors
    /// [`GitError::Missing`] when there is no such snapshot; what making a worktree can give.
    pub fn restore_worktree(
        &self,
        repo: &Repo,
        request: &RestoreRequest,
    ) -> Result<RestoreOutcome> {
        let gate = Gate::of(&self.dir);
        let _shared = gate.shared();
        let snapshot = self.find_snapshot(&request.capture.series, Some(request.number))?;
        let captured = self.take_sparing(repo, &request.capture, Some(request.number))?;
        let metadata = self.metadata_of(&snapshot.commit)?;
        self.give_objects(repo, request, &metadata)?;
        if let Some(tip) = metadata.tip.as_ref().or(metadata.head.as_ref()) {
            move_branch(repo, request, tip)?;
        }
        let prepared = repo.prepare_worktree(&request.worktree)?;
        let (tree, _) = self.links_of(&snapshot.commit)?;
        let wanted = self.list_files(&tree)?;
        let present = self.present(repo, &request.capture.series, &prepared.path)?;
        self.materialize(&prepared.path, &wanted, &present, &metadata.empty)?;
        restore_index(repo, request, &prepared.path, &metadata)?;
        let contents = Contents::of(&metadata);
        Ok(RestoreOutcome { path: prepared.path, captured, contents })
    }

    fn give_objects(&self, repo: &Repo, request: &RestoreRequest, of: &Metadata) -> Result<()> {
        let mut objects: BTreeSet<Oid> = BTreeSet::new();
        objects.extend(of.head.iter().chain(&of.tip).cloned());
        // Removals have the mode 0.
        let staged = index_entries(&of.staged)?;
        let is_blob = |entry: &IndexEntry| entry.mode != 0 && entry.mode != GITLINK;
        objects.extend(staged.into_iter().filter(is_blob).map(|entry| entry.oid));
        let base = request.worktree.base.clone();
        objects.remove(&base);
        self.give_back(repo, &Wanted { objects, without: vec![base] })
    }

    /// What is captured of a worktree at the moment, by object.
    fn present(&self, repo: &Repo, series: &str, worktree: &Path) -> Result<Entries> {
        let scratch = Scratch::new()?;
        let index = IndexCopy::of(repo, worktree, &scratch)?;
        let tracked = index.entries()?;
        let last_commit = self.find_snapshot(series, None)?.commit;
        let cache = StatCache::load(&self.cache_path(series), &last_commit);
        let walk = Walk {
            root: worktree,
            index: &index,
            tracked: &tracked,
            cache: &cache,
            file_bytes_max: FILE_BYTES_MAX,
        };
        // Nothing but the rules of the moment counts.
        let walked = walk.run("")?;
        let mut present = Entries::new();
        let mut unknown = Vec::new();
        for (path, stat) in walked.files {
            match cache.files.get(&path) {
                Some((then, oid)) if *then == stat => {
                    present.insert(path, Entry { mode: stat.mode, oid: oid.clone() });
                }
                // Links are cheap to write again: another object than any wanted one stands for it.
                Some(_) | None if stat.mode == LINK => {
                    let oid = last_commit.clone();
                    present.insert(path, Entry { mode: LINK, oid });
                }
                Some(_) | None => unknown.push((path, stat.mode)),
            }
        }
        let place = |(path, _): &(Vec<u8>, u32)| {
            worktree.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path))
        };
        let places: Vec<PathBuf> = unknown.iter().map(place).collect();
        for ((path, mode), oid) in
            unknown.into_iter().zip(self.hash_files(&places, Keep::NameOnly)?)
        {
            if let Some(oid) = oid {
                present.insert(path, Entry { mode, oid });
            }
        }
        Ok(present)
    }
}

/// Puts the branch where the snapshot has it. Commits that only the branch has are kept by a ref.
fn move_branch(repo: &Repo, request: &RestoreRequest, tip: &Oid) -> Result<()> {
    let refname = format!("refs/heads/{}", request.worktree.branch);
    let found = repo.resolve(&refname)?;
    if found.as_ref() == Some(tip) {
        return Ok(());
    }
    let _metadata = repo.lock_metadata();
    if let Some(found) = &found
        && !repo.is_ancestor(found, tip)?
    {
        let keep = format!("{}/{}", request.keep_tips_below, found);
        repo.ensure_ref(&keep, found)?;
    }
    fail::fail_point!("git.restore.before_branch");
    let update = || {
        let call = repo.write("moving a branch back").args(["update-ref", &refname, tip.as_str()]);
        match &found {
            Some(found) => call.arg(found.as_str()).bytes(),
            None => call.bytes(),
        }
    };
    match update() {
        Err(GitError::LockBusy { .. }) if repo.reclaim_ref_lock(&refname)? => update(),
        other => other,
    }?;
    fail::fail_point!("git.restore.after_branch");
    Ok(())
}

/// Head and index as the snapshot has them.
fn restore_index(
    repo: &Repo,
    request: &RestoreRequest,
    worktree: &Path,
    of: &Metadata,
) -> Result<()> {
    let admin = AdminDir::of(repo, worktree)?;
    let Some(head) = &of.head else { return Ok(()) };
    for name in [
        "MERGE_HEAD",
        "MERGE_MSG",
        "MERGE_MODE",
        "AUTO_MERGE",
        "SQUASH_MSG",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
    ] {
        crate::refs::remove_if_there(&admin.join(name))?;
    }
    for name in ["rebase-merge", "rebase-apply", "sequencer"] {
        remove_tree(&admin.join(name))?;
    }
    let own = format!("refs/heads/{}", request.worktree.branch);
    let doing = "putting the head of a worktree back";
    fail::fail_point!("git.restore.before_index");
    if of.branch.as_ref() == Some(&own) {
        repo.write_in(worktree, doing).args(["symbolic-ref", "HEAD", &own]).bytes()?;
    } else {
        let detach = ["update-ref", "--no-deref", "HEAD", head.as_str()];
        repo.write_in(worktree, doing).args(detach).bytes()?;
    }
    repo.write_in(worktree, "restoring an index").args(["read-tree", head.as_str()]).bytes()?;
    if !of.staged.is_empty() {
        repo.write_in(worktree, "restoring an index")
            .args(["update-index", "-z", "--index-info"])
            .stdin(of.staged.clone())
            .bytes()?;
    }
    if !of.skipped.is_empty() {
        repo.write_in(worktree, "restoring an index")
            .args(["update-index", "-z", "--skip-worktree", "--stdin"])
            .stdin(of.skipped.clone())
            .bytes()?;
    }
    // Exit code 1: some files differ from the index.
    repo.write_in(worktree, "restoring an index")
        .args(["update-index", "-q", "--refresh"])
        .done()?;
    fail::fail_point!("git.restore.after_index");
    Ok(())
}

impl Contents {
    fn of(metadata: &Metadata) -> Self {
        Self {
            base: Oid::new(metadata.base.clone()),
            head: metadata.head.clone(),
            branch: metadata.branch.clone(),
            tip: metadata.tip.clone(),
            operation: metadata.operation.clone(),
            is_staged: !metadata.staged.is_empty(),
            left_out: metadata.left.clone(),
            left_out_more: metadata.left_more,
        }
    }
}
