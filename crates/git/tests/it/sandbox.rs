//! A repository in a temporary folder, with a home and a configuration of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tidegate_git::{
    Environment, Exec, Furnishing, Git, Identity, IdentitySource, Limits, MergeOutcome,
    MergeRequest, Oid, Repo, StdExec, Strategy, UpdateRequest, WorktreeRequest,
};

pub(crate) const WHEN: i64 = 1_700_000_000;

/// What a path is and holds: mode and bytes, or the target of a link.
pub(crate) type Picture = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(crate) struct Sandbox {
    folder: TempDir,
    /// Root of the user's checkout, on the branch `main`.
    pub(crate) user: PathBuf,
}

impl Sandbox {
    /// A repository with one commit: `a.txt` of twenty lines, and `src/lib.txt`.
    pub(crate) fn new() -> Self {
        let sandbox = Self::empty();
        let lines = (1..=20).map(|n| n.to_string() + "\n").collect::<String>();
        sandbox.write("a.txt", lines);
        sandbox.write("src/lib.txt", "library\n");
        sandbox.commit_all("base");
        sandbox
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let user = root.join("user repo");
        fs::create_dir_all(root.join("home")).unwrap();
        let config =
            "[user]\nname = Ada\nemail = ada@example.invalid\n[init]\ndefaultBranch = main\n";
        fs::write(root.join("gitconfig"), config).unwrap();
        let sandbox = Self { folder, user };
        fs::create_dir_all(&sandbox.user).unwrap();
        sandbox.git(&["init", "-q", "-b", "main"]);
        sandbox
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let root = self.root();
        vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOME".into(), root.join("home").into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_CONFIG_GLOBAL".into(), root.join("gitconfig").into()),
        ]
    }

    pub(crate) fn output_in(&self, cwd: &Path, args: &[&str]) -> Output {
        let date = format!("@{WHEN} +0000");
        Command::new("git")
            .args(args)
            .current_dir(cwd)
            .env_clear()
            .envs(self.variables())
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap()
    }

    pub(crate) fn git_in(&self, cwd: &Path, args: &[&str]) -> String {
        let output = self.output_in(cwd, args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.user, args)
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        write(&self.user.join(path), content);
    }

    pub(crate) fn commit_all(&self, message: &str) -> Oid {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.oid("HEAD")
    }

    pub(crate) fn oid(&self, name: &str) -> Oid {
        Oid::new(self.git(&["rev-parse", "--verify", name])).unwrap()
    }

    /// Makes a branch from `from` with these files, by a temporary worktree; gives its tip.
    pub(crate) fn branch(&self, name: &str, from: &str, files: &[(&str, Option<&str>)]) -> Oid {
        let path = self.root().join("making");
        let text = path.to_str().unwrap();
        self.git(&["worktree", "add", "-q", "-b", name, text, from]);
        for (file, content) in files {
            if let Some(content) = content {
                write(&path.join(file), content);
            } else {
                fs::remove_file(path.join(file)).unwrap();
                // Fails, rightly, if something is left in the folder.
                let _ = fs::remove_dir(path.join(file).parent().unwrap());
            }
        }
        self.git_in(&path, &["add", "-A"]);
        self.git_in(&path, &["commit", "-q", "--allow-empty", "-m", name]);
        self.git(&["worktree", "remove", "--force", text]);
        self.oid(name)
    }

    pub(crate) fn handle(&self, exec: Arc<dyn Exec>) -> Git {
        let limits = Limits { lock_patience: Duration::from_millis(150), ..Limits::default() };
        Git::new(exec).with_environment(Environment::of(self.variables())).with_limits(limits)
    }

    pub(crate) fn repo(&self) -> Repo {
        self.repo_through(Arc::new(StdExec))
    }

    pub(crate) fn repo_through(&self, exec: Arc<dyn Exec>) -> Repo {
        Repo::open(&self.handle(exec), &self.user.join(".git")).unwrap()
    }

    /// Lands nothing yet: the merge of `branch` into the present `main`, and the request to move it.
    pub(crate) fn merged(&self, branch: &Oid) -> UpdateRequest {
        let old = self.oid("refs/heads/main");
        match self.repo().merge(&merge_request(&old, branch)).unwrap() {
            MergeOutcome::Merged { commit, .. } => {
                UpdateRequest { target: "refs/heads/main".into(), old, new: commit }
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn worktree_request(&self, feature: &str, base: &Oid) -> WorktreeRequest {
        WorktreeRequest {
            path: self.root().join("state/worktrees").join(format!("{feature}-r1")),
            branch: format!("tidegate/r1/{feature}"),
            base: base.clone(),
            keep_base_as: format!("refs/tidegate/base/r1/{feature}"),
            sync: None,
            furnishing: Furnishing::default(),
            discard: None,
        }
    }

    /// The user's files, and all of `.git` but what the work of others may add there.
    pub(crate) fn picture(&self) -> Picture {
        let mut all = picture(&self.user);
        for added in [".git/objects", ".git/worktrees", ".git/refs/tidegate"] {
            all.retain(|path, _| !path.starts_with(added));
        }
        all
    }
}

pub(crate) fn merge_request(target: &Oid, branch: &Oid) -> MergeRequest {
    MergeRequest {
        target_tip: target.clone(),
        branch_tip: branch.clone(),
        strategy: Strategy::Merge,
        message: "Land it".into(),
        when_unix_s: WHEN,
        identity: Identity {
            name: "Ada".into(),
            email: "ada@example.invalid".into(),
            source: IdentitySource::Configured,
        },
        keep_as: None,
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn hook(sandbox: &Sandbox, name: &str, script: &str) {
    let path = sandbox.user.join(".git/hooks").join(name);
    write(&path, format!("#!/bin/sh\n{script}\n"));
    make_executable(&path);
}

/// All below a folder, by relative path.
pub(crate) fn picture(root: &Path) -> Picture {
    let mut all = Picture::new();
    collect(root, Path::new(""), &mut all);
    all
}

fn collect(root: &Path, below: &Path, all: &mut Picture) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = below.join(entry.file_name());
        let meta = fs::symlink_metadata(entry.path()).unwrap();
        let bytes = if meta.is_symlink() {
            fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else if meta.is_file() {
            fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        all.insert(path.clone(), (meta.mode(), bytes));
        if meta.is_dir() {
            collect(root, &path, all);
        }
    }
}

/// The names of the paths that differ.
pub(crate) fn difference(before: &Picture, after: &Picture) -> Vec<PathBuf> {
    let mut names: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

pub(crate) fn os(bytes: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}
