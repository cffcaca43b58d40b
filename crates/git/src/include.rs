//! Copying files that git ignores, such as `.env`, from the user's checkout into a new worktree: those that
//! `.worktreeinclude` names. It must not know what the worktree is for.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::error::Result;
use crate::furnish::{Furnished, paths};
use crate::repo::Repo;

/// The list in a checkout's root: patterns as in `.gitignore`.
pub(crate) const LIST: &str = ".worktreeinclude";
/// Bytes of one file that are copied.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Bytes that are copied in all.
const ALL_BYTES_MAX: u64 = 256 << 20;
/// Files that are copied in all.
const FILES_MAX: usize = 10_000;
/// Files that are told to be left out.
const TOLD_MAX: usize = 1_000;

impl Repo {
    /// Copies what the list of the user's checkout names and git ignores. Files that a call which was killed copied in
    /// part are written anew.
    pub(crate) fn include_files(
        &self,
        user: &Path,
        top: &Path,
        record: &mut Furnished,
    ) -> Result<()> {
        let is_list = user.join(LIST).symlink_metadata().is_ok_and(|meta| meta.is_file());
        if !is_list || user == top {
            return Ok(());
        }
        let listed = self
            .read_in(user, "reading the list of files to copy")
            .args(["ls-files", "-z", "--others", "--ignored"])
            .arg(format!("--exclude-from={LIST}"))
            .bytes()?;
        let ignored = self.ignored_in(top, &listed)?;
        let mut budget = Budget::default();
        for path in paths(&listed).filter(|path| *path != Path::new(LIST)) {
            let copied = if ignored.binary_search_by(|known| known.as_path().cmp(path)).is_err() {
                Err("git does not ignore it, so it could get committed".to_owned())
            } else if record.kept_files && top.join(path).symlink_metadata().is_ok() {
                Ok(())
            } else {
                budget.take().and_then(|()| copy(user, top, path, &mut budget))
            };
            match copied {
                Ok(()) => record.included.push(path.to_owned()),
                Err(why) if record.left_out.len() < TOLD_MAX => {
                    record.left_out.push((path.to_owned(), why));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Those of the paths that git ignores in this worktree; a tracked one is never among them.
    fn ignored_in(&self, top: &Path, listed: &[u8]) -> Result<Vec<PathBuf>> {
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        let done = self
            .read_in(top, "looking for ignored paths")
            .args(["check-ignore", "-z", "--stdin"])
            .stdin(listed)
            .done()?;
        let mut ignored: Vec<PathBuf> = paths(&done.stdout).map(Path::to_owned).collect();
        ignored.sort();
        Ok(ignored)
    }
}

/// What may still be copied.
#[derive(Default)]
struct Budget {
    files: usize,
    bytes: u64,
}

impl Budget {
    fn take(&mut self) -> Result<(), String> {
        if self.files >= FILES_MAX {
            return Err(format!("more than {FILES_MAX} files are named"));
        }
        self.files += 1;
        Ok(())
    }

    fn allows(&mut self, bytes: u64) -> Result<(), String> {
        if bytes > FILE_BYTES_MAX {
            return Err(format!("it has more than {} MiB", FILE_BYTES_MAX >> 20));
        }
        if self.bytes + bytes > ALL_BYTES_MAX {
            return Err(format!("all together have more than {} MiB", ALL_BYTES_MAX >> 20));
        }
        self.bytes += bytes;
        Ok(())
    }
}

/// Copies one regular file, with its permissions. No symbolic link is followed, in neither tree.
fn copy(user: &Path, top: &Path, path: &Path, budget: &mut Budget) -> Result<(), String> {
    let failed = |doing: &str, why: &dyn std::fmt::Display| format!("cannot {doing} it: {why}");
    let (from, name) = descend(user, path, false).map_err(|why| failed("read", &why))?;
    // A pipe must not block the open.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = openat(&from, name, flags, Mode::empty()).map_err(|why| match why {
        Errno::LOOP => "it is a symbolic link".to_owned(),
        why => failed("read", &why),
    })?;
    let mut source = File::from(source);
    let meta = source.metadata().map_err(|why| failed("read", &why))?;
    if !meta.is_file() {
        return Err("it is no regular file".to_owned());
    }
    budget.allows(meta.len())?;
    let (into, name) = descend(top, path, true).map_err(|why| failed("write", &why))?;
    match unlinkat(&into, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(why) => return Err(failed("write", &why)),
    }
    // Private until it has its content and then its own permissions.
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let target = openat(&into, name, flags, Mode::RUSR | Mode::WUSR);
    let mut target = File::from(target.map_err(|why| failed("write", &why))?);
    let written = fill(&mut source, &mut target, meta.len())
        .and_then(|()| target.set_permissions(PermissionsExt::from_mode(meta.mode() & 0o777)));
    written.map_err(|why| {
        // Half a file is worse than none.
        let _ = unlinkat(&into, name, AtFlags::empty());
        failed("write", &why)
    })
}

/// Copies no more than the file had when it was looked at: it may be growing.
fn fill(source: &mut File, target: &mut File, bytes: u64) -> io::Result<()> {
    source.rewind()?;
    io::copy(&mut source.take(bytes), target)?;
    target.flush()
}

/// The folder that holds `path` below `root`, and its last part; every part of it is a real folder.
fn descend<'p>(root: &Path, path: &'p Path, make: bool) -> io::Result<(OwnedFd, &'p [u8])> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, root, flags, Mode::empty())?;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(part) = part else {
            return Err(io::Error::other("its path leads elsewhere"));
        };
        if parts.peek().is_none() {
            return Ok((folder, part.as_bytes()));
        }
        let part = part.as_bytes();
        if make {
            match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(why) => return Err(why.into()),
            }
        }
        folder = openat(&folder, part, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Err(io::Error::other("it has no name"))
}
