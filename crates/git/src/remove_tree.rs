//! Removing a directory of ours with everything in it. It must not know what it was.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::{GitError, Result};

/// Removes a directory, even if folders in it are read-only; it is fine if there is none. Symbolic links are not
/// followed.
pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Err(source) => return Err(GitError::Io { doing: "remove", path: path.to_owned(), source }),
    }
    // Package managers write-protect the folders of their caches.
    make_writable(path).map_err(GitError::io("unprotect", path))?;
    fs::remove_dir_all(path).map_err(GitError::io("remove", path))
}

fn make_writable(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}
