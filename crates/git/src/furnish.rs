//! What a new worktree has beside the files of its commit, and the record of it. It must not know who asked for it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::admin_dir::AdminDir;
use crate::error::{GitError, Result};

/// Says, in the administrative directory, that the worktree was handed out, and with what: from then on nothing there is
/// reset.
const READY: &str = "tidegate-ready";

/// What becomes of files that Git LFS keeps elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lfs {
    /// Their pointers are checked out; nothing is fetched.
    #[default]
    Off,
    /// Their content is fetched, by the user's own `git-lfs`.
    Pull,
}

/// What a checkout gets beside the files of its commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Furnishing {
    /// Whether submodules are filled, from what the repository itself holds of them; never from elsewhere.
    pub submodules: bool,
    /// What becomes of files in Git LFS.
    pub lfs: Lfs,
    /// The checkout of the user: its sparse patterns are taken over.
    pub like: Option<PathBuf>,
    /// Whether the files that the list in that checkout names are copied.
    pub include: bool,
}

/// What a worktree was handed out with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Furnished {
    /// Names this making of the worktree; another one has another name.
    pub made: String,
    /// Whether it may hold work of an earlier making: its registration was lost, and its files were kept.
    pub kept_files: bool,
    /// Files copied from the user's checkout. They are never committed by us.
    pub included: Vec<PathBuf>,
    /// Files that the list names and that were not copied, and why.
    pub left_out: Vec<(PathBuf, String)>,
    /// Submodules that have their files.
    pub submodules: Vec<PathBuf>,
    /// Submodules that are empty, as they are in the user's repository.
    pub empty_submodules: Vec<PathBuf>,
    /// Files that are pointers of Git LFS.
    pub pointers: Vec<PathBuf>,
    /// Whether only a part of the commit's files is checked out, as in the user's checkout.
    pub sparse: bool,
}

impl Furnished {
    /// The record of a making that begins now.
    pub(crate) fn begin(kept_files: bool) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let made = format!("{:x}-{:x}", now.as_nanos(), std::process::id());
        Self { made, kept_files, ..Self::default() }
    }

    /// Reads the record; `None` when the worktree was not handed out yet.
    pub(crate) fn read(admin: &AdminDir) -> Result<Option<Self>> {
        let path = admin.join(READY);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(Self::parse(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(GitError::Io { doing: "read", path, source }),
        }
    }

    /// Whether the worktree was handed out.
    pub(crate) fn is_ready(admin: &AdminDir) -> bool {
        admin.join(READY).exists()
    }

    /// Writes the record: all of it, or none.
    pub(crate) fn write(&self, admin: &AdminDir) -> Result<()> {
        let (path, new) = (admin.join(READY), admin.join("tidegate-ready.new"));
        fs::write(&new, self.bytes()).map_err(GitError::io("write", &new))?;
        fail::fail_point!("git.worktree.before_mark");
        fs::rename(&new, &path).map_err(GitError::io("rename", &path))?;
        fail::fail_point!("git.worktree.after_mark");
        Ok(())
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |kind: &str, value: &[u8]| {
            bytes.extend_from_slice(kind.as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(value);
            bytes.push(0);
        };
        put("made", self.made.as_bytes());
        for (kind, flag) in [("kept", self.kept_files), ("sparse", self.sparse)] {
            if flag {
                put(kind, b"");
            }
        }
        for (kind, paths) in [
            ("included", &self.included),
            ("submodule", &self.submodules),
            ("empty", &self.empty_submodules),
            ("pointer", &self.pointers),
        ] {
            for path in paths {
                put(kind, path.as_os_str().as_bytes());
            }
        }
        for (path, why) in &self.left_out {
            put("why", why.as_bytes());
            put("left", path.as_os_str().as_bytes());
        }
        bytes
    }

    /// An empty record is one of an earlier version.
    fn parse(bytes: &[u8]) -> Self {
        let mut read = Self::default();
        let mut why = String::new();
        for record in bytes.split(|byte| *byte == 0) {
            let Some(gap) = record.iter().position(|byte| *byte == b' ') else { continue };
            let (kind, value) = (&record[..gap], &record[gap + 1..]);
            let path = || PathBuf::from(OsStr::from_bytes(value));
            let text = || String::from_utf8_lossy(value).into_owned();
            match kind {
                b"made" => read.made = text(),
                b"kept" => read.kept_files = true,
                b"sparse" => read.sparse = true,
                b"included" => read.included.push(path()),
                b"submodule" => read.submodules.push(path()),
                b"empty" => read.empty_submodules.push(path()),
                b"pointer" => read.pointers.push(path()),
                b"why" => why = text(),
                b"left" => read.left_out.push((path(), std::mem::take(&mut why))),
                _ => {}
            }
        }
        read
    }
}

/// The paths of a list that git ended with NULs.
pub(crate) fn paths(bytes: &[u8]) -> impl Iterator<Item = &Path> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| Path::new(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_with_odd_names_comes_back_unchanged() {
        let odd = PathBuf::from(OsStr::from_bytes(b"new\nline \xe9 and blanks"));
        let record = Furnished {
            made: "1-2".to_owned(),
            kept_files: true,
            included: vec![odd.clone(), ".env".into()],
            left_out: vec![(odd.clone(), "it is a symbolic link".to_owned())],
            submodules: vec!["third/a".into()],
            empty_submodules: vec!["third/b".into()],
            pointers: vec![odd],
            sparse: true,
        };
        assert_eq!(Furnished::parse(&record.bytes()), record);
        assert_eq!(Furnished::parse(b""), Furnished::default());
    }
}
