//! A git repository of a test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository with one commit on `main`.
#[derive(Debug, Clone)]
pub(crate) struct Repo {
    root: PathBuf,
}

impl Repo {
    /// Makes it at `root`.
    pub(crate) fn make(root: &Path) -> Self {
        let repo = Self::empty(root);
        repo.write("README.md", "harbour\n");
        repo.commit("first");
        repo
    }

    /// Makes one without a commit, whose unborn branch is `main`.
    pub(crate) fn empty(root: &Path) -> Self {
        std::fs::create_dir_all(root).unwrap();
        let repo = Self::at(root);
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.named();
        repo
    }

    /// The one that lies at `root`.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Gives it its user, and no collection of garbage by itself.
    pub(crate) fn named(&self) {
        self.git(&["config", "user.name", "harbour"]);
        self.git(&["config", "user.email", "harbour@example.org"]);
        self.git(&["config", "gc.auto", "0"]);
    }

    /// Commits everything in its checkout.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Its root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file of it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Whether git does it.
    pub(crate) fn can(&self, arguments: &[&str]) -> bool {
        self.command(arguments).output().unwrap().status.success()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.root).args(arguments).stdin(Stdio::null());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git
    }

    /// Runs git in it and gives what it prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = self.command(arguments);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}
