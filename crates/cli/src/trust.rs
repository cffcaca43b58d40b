//! Trust in the commands of a repository's settings: by the hash of the exact file, in the home.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tidegate_protocol::ErrorCode;

use crate::error::CliError;
use crate::home::Home;
use crate::inside::is_inside_job;

/// Notes that the user trusts a file with exactly these bytes; gives their hash.
///
/// # Errors
/// When the home cannot be written.
pub(crate) fn trust(home: &Home, bytes: &[u8]) -> Result<String, CliError> {
    let (hash, path) = place(home, bytes);
    let failed = |source: io::Error| CliError::io("write", &path, &source);
    let folder = path.parent().unwrap_or(home.path());
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
    file.and_then(|file| file.sync_all()).map_err(failed)?;
    Ok(hash)
}

/// Whether a file with exactly these bytes is trusted.
pub(crate) fn is_trusted(home: &Home, bytes: &[u8]) -> bool {
    place(home, bytes).1.exists()
}

/// Whether the file as it is now is trusted; one that cannot be read is not.
pub(crate) fn is_trusted_file(home: &Home, path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| is_trusted(home, &bytes))
}

/// Refuses what only the user may do, when a job of this home asks for it.
///
/// # Errors
/// `forbidden_scope`.
pub(crate) fn refuse_inside_job(home: &Home) -> Result<(), CliError> {
    if is_inside_job(home) {
        return Err(CliError::new(
            ErrorCode::ForbiddenScope,
            "a process inside a job may not decide what is trusted",
        ));
    }
    Ok(())
}

/// Reads a file that may be trusted.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(crate) fn read_config(path: &Path) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            CliError::new(ErrorCode::NotFound, format!("there is no {}", path.display()))
                .hint("`tidegate init` writes one")
        }
        _ => CliError::io("read", path, &error),
    })
}

fn place(home: &Home, bytes: &[u8]) -> (String, PathBuf) {
    let hash = tidegate_config::blob_id(bytes).to_string();
    let path = home.path().join("trusted").join(&hash);
    (hash, path)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn trust_is_in_exact_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(&dir.path().join("home"))).unwrap();
        assert!(!is_trusted(&home, b"a = 1"));
        let hash = trust(&home, b"a = 1").unwrap();
        assert_eq!(trust(&home, b"a = 1").unwrap(), hash);
        assert!(is_trusted(&home, b"a = 1"));
        assert!(!is_trusted(&home, b"a = 2"));
    }
}
