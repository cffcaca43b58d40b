//! Filling the submodules of a checkout from what the user's repository holds of them: without any network, and without
//! a change of the user's settings. It must not know what the checkout is for.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use tidegate_core::ids::Oid;

use crate::error::{GitError, Result};
use crate::furnish::Furnished;
use crate::remove_tree::remove_tree;
use crate::repo::Repo;

/// Says, in the git directory of a submodule, that it is complete.
const COMPLETE: &str = "tidegate-complete";
/// Submodules in submodules in submodules: deeper than this, something is wrong.
const DEPTH_MAX: u32 = 16;

/// A submodule that a commit names.
struct Submodule {
    /// Its name in `.gitmodules`: where its git directory lies.
    name: PathBuf,
    /// Relative to the root of the checkout that it is in.
    path: PathBuf,
    commit: Oid,
}

impl Repo {
    /// Fills the submodules of a checkout whose index is that of its commit. One that the user's repository does not
    /// hold stays empty, as in the user's checkout.
    ///
    /// # Errors
    /// [`GitError::SubmoduleNotReady`] when the user's repository holds a submodule, but not the commit that is wanted.
    pub(crate) fn fill_submodules(&self, top: &Path, record: &mut Furnished) -> Result<()> {
        let held = self.common_dir().join("modules");
        self.fill_level(top, Path::new(""), &held, DEPTH_MAX, record)
    }

    fn fill_level(
        &self,
        top: &Path,
        prefix: &Path,
        held: &Path,
        depth: u32,
        record: &mut Furnished,
    ) -> Result<()> {
        if depth == 0 {
            return Ok(());
        }
        for submodule in self.submodules_of(top)? {
            let shown = prefix.join(&submodule.path);
            let source = held.join(&submodule.name);
            let is_plain = submodule.name.components().all(|c| matches!(c, Component::Normal(_)));
            if !is_plain || !source.join("HEAD").exists() {
                record.empty_submodules.push(shown);
                continue;
            }
            self.fill_one(top, &submodule, &source, &shown)?;
            let inner = top.join(&submodule.path);
            record.submodules.push(shown.clone());
            self.fill_level(&inner, &shown, &source.join("modules"), depth - 1, record)?;
        }
        Ok(())
    }

    fn submodules_of(&self, top: &Path) -> Result<Vec<Submodule>> {
        if top.join(".gitmodules").symlink_metadata().is_err() {
            return Ok(Vec::new());
        }
        let listed = self
            .read_in(top, "reading the list of submodules")
            .args(["config", "-z", "--blob", "HEAD:.gitmodules"])
            .args(["--get-regexp", r"^submodule\..*\.path$"])
            .done()?;
        let mut names = Vec::new();
        for entry in listed.stdout.split(|byte| *byte == 0) {
            let Some(gap) = entry.iter().position(|byte| *byte == b'\n') else { continue };
            let key = entry[..gap].strip_prefix(b"submodule.");
            let name = key.and_then(|key| key.strip_suffix(b".path"));
            let path = entry[gap + 1..].strip_suffix(b"/").unwrap_or(&entry[gap + 1..]);
            names.extend(name.map(|name| (name.to_vec(), path.to_vec())));
        }
        let index = self.read_in(top, "reading an index").args(["ls-files", "-s", "-z"]).bytes()?;
        let mut found = Vec::new();
        for entry in index.split(|byte| *byte == 0).filter(|e| e.starts_with(b"160000 ")) {
            let tab = entry.iter().position(|byte| *byte == b'\t');
            let Some((head, path)) = tab.map(|tab| (&entry[..tab], &entry[tab + 1..])) else {
                continue;
            };
            let commit = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            let commit = Oid::new(String::from_utf8_lossy(commit));
            let name = names.iter().find(|(_, of)| of == path).map(|(name, _)| name);
            if let (Some(name), Some(commit)) = (name, commit) {
                let part = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
                found.push(Submodule { name: part(name), path: part(path), commit });
            }
        }
        Ok(found)
    }

    fn fill_one(&self, top: &Path, one: &Submodule, source: &Path, shown: &Path) -> Result<()> {
        let at = top.join(&one.path);
        if !self.is_complete(&at)? {
            // A clone that was killed; nobody was ever let in.
            if let Some(own) = self.git_dir_of(top)?.map(|dir| dir.join("modules").join(&one.name))
            {
                remove_tree(&own)?;
            }
            remove_tree(&at)?;
        }
        let key = |what: &str| {
            let mut key = b"submodule.".to_vec();
            key.extend_from_slice(one.name.as_os_str().as_bytes());
            key.push(b'.');
            key.extend_from_slice(what.as_bytes());
            OsStr::from_bytes(&key).to_owned()
        };
        fail::fail_point!("git.submodule.before_update");
        let done = self
            .write_in(top, "filling a submodule")
            .without_sync()
            // The one address that it may use is a folder of the user's own repository.
            .env("GIT_CONFIG_COUNT", "3")
            .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
            .env("GIT_CONFIG_VALUE_0", "always")
            .env("GIT_CONFIG_KEY_1", key("url"))
            .env("GIT_CONFIG_VALUE_1", source)
            .env("GIT_CONFIG_KEY_2", key("active"))
            .env("GIT_CONFIG_VALUE_2", "true")
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("GIT_TEMPLATE_DIR", "")
            .args(["submodule", "--quiet", "update", "--checkout", "--force"])
            .args(["--no-recommend-shallow", "--"])
            .arg(&one.path)
            .done()?;
        fail::fail_point!("git.submodule.after_update");
        if !done.success() {
            return Err(GitError::SubmoduleNotReady {
                path: shown.to_owned(),
                commit: one.commit.to_string(),
            });
        }
        self.settle(&at, source)
    }

    /// Cleans what an earlier user of the checkout left in it, and gives it the address that the user's own has.
    fn settle(&self, at: &Path, source: &Path) -> Result<()> {
        self.write_in(at, "cleaning a submodule")
            .without_sync()
            .args(["clean", "-ffdxq"])
            .bytes()?;
        let Some(dir) = self.git_dir_of(at)? else { return Ok(()) };
        if dir.join(COMPLETE).exists() {
            return Ok(());
        }
        let url = self
            .read_in(at, "reading an address")
            .args(["config", "--file"])
            .arg(source.join("config"))
            .args(["--get", "remote.origin.url"])
            .done()?;
        if url.success() {
            let url = String::from_utf8_lossy(&url.stdout).trim_end().to_owned();
            self.write_in(at, "writing an address")
                .args(["config", "remote.origin.url", &url])
                .bytes()?;
        }
        let complete = dir.join(COMPLETE);
        fs::write(&complete, b"").map_err(GitError::io("write", &complete))
    }

    fn is_complete(&self, at: &Path) -> Result<bool> {
        if at.join(".git").symlink_metadata().is_err() {
            return Ok(false);
        }
        Ok(self.git_dir_of(at)?.is_some_and(|dir| dir.join(COMPLETE).exists()))
    }

    /// The git directory of a checkout; `None` when it has none that works.
    fn git_dir_of(&self, top: &Path) -> Result<Option<PathBuf>> {
        let done = self
            .read_in(top, "looking for a git directory")
            .args(["rev-parse", "--absolute-git-dir"])
            .done()?;
        let line = done.stdout.strip_suffix(b"\n").unwrap_or(&done.stdout);
        Ok(done.success().then(|| PathBuf::from(OsStr::from_bytes(line))))
    }
}
