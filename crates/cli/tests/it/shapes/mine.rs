//! All that is the user's in a repository, to be compared with itself.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::harness::Repo;

/// Refs that are not ours, stash, settings, operations under way, index and files of a checkout.
#[derive(Debug, PartialEq, Eq, Clone)]
pub(crate) struct Mine {
    refs: Vec<String>,
    head: Vec<u8>,
    files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    records: BTreeMap<PathBuf, Vec<u8>>,
    staged: String,
}

/// Records of git in the folder of a checkout that a user's state is made of.
const RECORDS: [&str; 8] = [
    "config",
    "index.lock",
    "MERGE_HEAD",
    "ORIG_HEAD",
    "logs/refs/stash",
    "rebase-merge",
    "rebase-apply",
    "modules",
];

impl Mine {
    /// Looks at the checkout.
    pub(crate) fn of(repo: &Repo) -> Self {
        let git = |what: &str| {
            PathBuf::from(repo.git(&["rev-parse", "--path-format=absolute", "--git-path", what]))
        };
        let mut files = BTreeMap::new();
        collect(repo.root(), &mut files, true);
        let mut records = BTreeMap::new();
        for name in RECORDS {
            let mut found = BTreeMap::new();
            let path = git(name);
            if path.is_dir() {
                collect(&path, &mut found, false);
            } else if let Ok(bytes) = std::fs::read(&path) {
                found.insert(path, (0, bytes));
            }
            records.extend(found.into_iter().map(|(path, (_, bytes))| (path, bytes)));
        }
        let refs = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let ours = |line: &&str| {
            line.starts_with("refs/tidegate/") || line.starts_with("refs/heads/tidegate/r")
        };
        Self {
            refs: refs.lines().filter(|line| !ours(line)).map(str::to_owned).collect(),
            head: std::fs::read(git("HEAD")).unwrap(),
            files,
            records,
            staged: repo.git(&["ls-files", "--stage", "-v"]),
        }
    }

    /// The same without what says where the branch `name` is: for a target that may have moved.
    pub(crate) fn but_for(mut self, name: &str) -> Self {
        let start = format!("refs/heads/{name} ");
        self.refs.retain(|line| !line.starts_with(&start));
        self
    }

    /// The same without a file that the test itself writes.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.files.retain(|path, _| !path.ends_with(name));
        self
    }
}

/// What of the user's is another than it was, for an assertion; empty when it is the same.
pub(crate) fn changed(before: &Mine, after: &Mine) -> Vec<String> {
    let mut found = Vec::new();
    for line in before.refs.iter().filter(|line| !after.refs.contains(line)) {
        found.push(format!("gone: {line}"));
    }
    for line in after.refs.iter().filter(|line| !before.refs.contains(line)) {
        found.push(format!("new: {line}"));
    }
    if before.head != after.head {
        found.push("HEAD".to_owned());
    }
    if before.staged != after.staged {
        found.push(format!("index:\n{}\nwas:\n{}", after.staged, before.staged));
    }
    let names = before.files.keys().chain(after.files.keys());
    found.extend(
        names
            .filter(|name| before.files.get(*name) != after.files.get(*name))
            .map(|name| format!("file {}", name.display())),
    );
    let names = before.records.keys().chain(after.records.keys());
    found.extend(
        names
            .filter(|name| before.records.get(*name) != after.records.get(*name))
            .map(|name| format!("record {}", name.display())),
    );
    found
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>, beside_git: bool) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if beside_git && path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() {
            collect(&path, files, beside_git);
        } else if meta.is_file() {
            files.insert(path.clone(), (meta.mode(), std::fs::read(&path).unwrap()));
        } else {
            let target = std::fs::read_link(&path).unwrap_or_default();
            files.insert(path, (meta.mode(), target.into_os_string().into_encoded_bytes()));
        }
    }
}
