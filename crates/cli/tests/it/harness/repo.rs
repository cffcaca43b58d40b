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
        std::fs::create_dir_all(root).unwrap();
        let repo = Self { root: root.to_owned() };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.git(&["config", "user.name", "harbour"]);
        repo.git(&["config", "user.email", "harbour@example.org"]);
        repo.git(&["config", "gc.auto", "0"]);
        repo.write("README.md", "harbour\n");
        repo.git(&["add", "--all"]);
        repo.git(&["commit", "--quiet", "--message", "first"]);
        repo
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

    /// Runs git in it and gives what it prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.root).args(arguments).stdin(Stdio::null());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}
