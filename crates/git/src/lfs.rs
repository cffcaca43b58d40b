//! Files whose content Git LFS keeps elsewhere: which of them are pointers, and fetching them. It must not know what the
//! checkout is for.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{GitError, Result};
use crate::furnish::{Furnished, Lfs, paths};
use crate::invocation::{Invocation, tail};
use crate::repo::Repo;

/// What every pointer begins with.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

impl Invocation<'_> {
    /// Keeps the filter of Git LFS from fetching anything.
    pub(crate) fn with_lfs(self, lfs: Lfs) -> Self {
        match lfs {
            Lfs::Off => self.env("GIT_LFS_SKIP_SMUDGE", "1"),
            Lfs::Pull => self,
        }
    }
}

impl Repo {
    /// Fetches the content of pointers, where that is wanted, and notes those that stay.
    ///
    /// # Errors
    /// [`GitError::LfsFailed`].
    pub(crate) fn fill_lfs(&self, top: &Path, lfs: Lfs, record: &mut Furnished) -> Result<()> {
        let listed = self
            .read_in(top, "looking for files in Git LFS")
            .args(["ls-files", "-z", "--", ":(attr:filter=lfs)"])
            .bytes()?;
        let mut pointers = paths(&listed).filter(|path| is_pointer(&top.join(path))).peekable();
        if lfs == Lfs::Pull && pointers.peek().is_some() {
            fail::fail_point!("git.lfs.before_pull");
            let done =
                self.write_in(top, "fetching files of Git LFS").args(["lfs", "pull"]).done()?;
            fail::fail_point!("git.lfs.after_pull");
            if !done.success() {
                return Err(GitError::LfsFailed { output: tail(&done.stderr) });
            }
            let left = paths(&listed).find(|path| is_pointer(&top.join(path)));
            if let Some(left) = left {
                let output = format!("{} is still a pointer", left.display());
                return Err(GitError::LfsFailed { output });
            }
            return Ok(());
        }
        record.pointers = pointers.map(Path::to_owned).collect();
        Ok(())
    }
}

fn is_pointer(path: &Path) -> bool {
    let mut begin = [0; POINTER.len()];
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == POINTER
}
