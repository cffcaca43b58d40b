//! A worktree and its snapshots, as the tests of them need it.

use std::path::{Path, PathBuf};

use tidegate_git::{
    Furnishing, Repo, RestoreRequest, Snapshot, SnapshotOutcome, SnapshotRequest, Vault,
    WorktreeRequest,
};

use crate::sandbox::{Picture, Sandbox, WHEN, picture};

/// A feature's worktree, and the repository of its snapshots.
pub(crate) struct Scene {
    pub(crate) sandbox: Sandbox,
    pub(crate) repo: Repo,
    pub(crate) vault: Vault,
    pub(crate) request: SnapshotRequest,
    pub(crate) worktree: WorktreeRequest,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of(Sandbox::new())
    }

    pub(crate) fn of(sandbox: Sandbox) -> Self {
        Self::furnished(sandbox, Furnishing::default())
    }

    pub(crate) fn furnished(sandbox: Sandbox, furnishing: Furnishing) -> Self {
        let repo = sandbox.repo();
        let base = sandbox.oid("main");
        let worktree = WorktreeRequest { furnishing, ..sandbox.worktree_request("feat", &base) };
        let path = repo.prepare_worktree(&worktree).unwrap().path;
        let vault = Vault::create(&repo, &sandbox.root().join("state/snapshots/p.git")).unwrap();
        let request = SnapshotRequest {
            series: "r1/feat".into(),
            worktree: path,
            base,
            branch: worktree.branch.clone(),
            when_unix_s: WHEN,
            reason: "a test".into(),
        };
        Self { sandbox, repo, vault, request, worktree }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.request.worktree.join(name)
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.sandbox.git_in(&self.request.worktree, args)
    }

    pub(crate) fn take(&self) -> SnapshotOutcome {
        self.vault.take(&self.repo, &self.request).unwrap()
    }

    pub(crate) fn taken(&self) -> Snapshot {
        match self.take() {
            SnapshotOutcome::Taken(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn restore(&self, number: u32) -> SnapshotOutcome {
        let request = RestoreRequest {
            number,
            capture: self.request.clone(),
            worktree: self.worktree.clone(),
            keep_tips_below: "refs/tidegate/kept/r1/feat".into(),
        };
        self.vault.restore_worktree(&self.repo, &request).unwrap().captured
    }

    /// Files and folders, but for git's own records.
    pub(crate) fn files(&self) -> Picture {
        let mut all = picture(&self.request.worktree);
        all.retain(|path, _| !path.components().any(|part| part.as_os_str() == ".git"));
        // The mode of a folder is not kept, nor are those bits of a file that git does not have.
        for (mode, _) in all.values_mut() {
            *mode &= if *mode & 0o170_000 == 0o100_000 { 0o170_100 } else { 0o170_000 };
        }
        all
    }

    pub(crate) fn status(&self) -> String {
        self.git(&["--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z"])
    }
}
