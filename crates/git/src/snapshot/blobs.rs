//! Contents of files as objects of the private repository. It must not know trees.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tidegate_core::ids::Oid;

use super::entries::quoted;
use super::vault::Vault;
use crate::error::{GitError, Result};
use crate::exec::Ending;

/// Files of one call at the most.
const BATCH: usize = 20_000;

/// Whether the objects are written, or only named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Write,
    NameOnly,
}

impl Vault {
    /// The object of each file's bytes, without any filter; `None` for a file that cannot be read (any more).
    pub(super) fn hash_files(&self, files: &[PathBuf], keep: Keep) -> Result<Vec<Option<Oid>>> {
        let mut all = Vec::with_capacity(files.len());
        while all.len() < files.len() {
            let end = files.len().min(all.len() + BATCH);
            let oids = self.hash_some(&files[all.len()..end], keep)?;
            let complete = all.len() + oids.len() == end;
            all.extend(oids.into_iter().map(Some));
            if !complete {
                // git ends at the first file that it cannot read; those before it are done.
                all.push(None);
            }
        }
        Ok(all)
    }

    fn hash_some(&self, files: &[PathBuf], keep: Keep) -> Result<Vec<Oid>> {
        let doing = "storing contents of files";
        let mut paths = Vec::new();
        for file in files {
            paths.extend(quoted(file.as_os_str().as_bytes()));
            paths.push(b'\n');
        }
        let call = match keep {
            Keep::Write => self.write(doing),
            Keep::NameOnly => self.read(doing),
        };
        let call = call
            .args(["hash-object", "--no-filters", "--stdin-paths"])
            .args((keep == Keep::Write).then_some("-w"))
            .stdin(paths);
        fail::fail_point!("git.snapshot.before_blobs");
        let done = call.done()?;
        fail::fail_point!("git.snapshot.after_blobs");
        let text = String::from_utf8_lossy(&done.stdout);
        let oids: Option<Vec<Oid>> = text.lines().map(|line| Oid::new(line.to_owned())).collect();
        let oids = oids.ok_or(GitError::Unparsable { doing })?;
        let unreadable = || {
            let text = String::from_utf8_lossy(&done.stderr);
            ["could not open", "Cannot open", "annot read", "hort read", "unable to hash"]
                .iter()
                .any(|sign| text.contains(sign))
        };
        match done.ending {
            Ending::Exited(0) if oids.len() == files.len() => Ok(oids),
            Ending::Exited(_) if oids.len() < files.len() && unreadable() => Ok(oids),
            Ending::Exited(_) | Ending::Signalled(_) => Err(call.refused(&done)),
        }
    }

    /// The objects of bytes that stand in no file.
    pub(super) fn hash_bytes(&self, all: &[Vec<u8>]) -> Result<Vec<Oid>> {
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let doing = "storing bytes";
        let scratch = Scratch::new()?;
        let mut paths = Vec::new();
        for (number, bytes) in all.iter().enumerate() {
            let path = scratch.path().join(number.to_string());
            fs::write(&path, bytes).map_err(GitError::io("write", &path))?;
            paths.push(path);
        }
        let oids: Option<Vec<Oid>> = self.hash_files(&paths, Keep::Write)?.into_iter().collect();
        oids.ok_or(GitError::Unparsable { doing })
    }
}

/// A folder for the files of one snapshot at work.
pub(super) struct Scratch(TempDir);

impl Scratch {
    pub(super) fn new() -> Result<Self> {
        let doing = "create a temporary folder in";
        tempfile::tempdir().map(Self).map_err(GitError::io(doing, &std::env::temp_dir()))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}
