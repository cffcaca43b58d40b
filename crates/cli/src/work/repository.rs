//! The repository that a verb speaks about: its root, and files below it. It runs no git; the
//! daemon looks again, with git, at what is submitted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use tidegate_config::{NamedFile, ReadError, SPEC_BYTES_MAX};
use tidegate_protocol::ErrorCode;

use crate::error::CliError;

/// Name of the settings file in a repository's root.
pub(crate) const CONFIG_NAME: &str = "tidegate.toml";
/// Bytes of a plan or of settings that are read; what is longer is refused by its parser.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// A worktree of a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that `directory` lies in.
    ///
    /// # Errors
    /// `not_a_repository`.
    pub(crate) fn of(directory: &Path) -> Result<Self, CliError> {
        let directory = std::path::absolute(directory)
            .and_then(std::fs::canonicalize)
            .map_err(|source| CliError::io("look at", directory, &source))?;
        let root = directory.ancestors().find(|path| is_root(path));
        match root {
            Some(root) => Ok(Self { root: root.to_owned() }),
            None => Err(CliError::new(
                ErrorCode::NotARepository,
                format!("{} is in no git repository", directory.display()),
            )
            .hint("go into one, or make one with `git init`")),
        }
    }

    /// The repository of the working directory.
    ///
    /// # Errors
    /// As [`Repository::of`].
    pub(crate) fn here() -> Result<Self, CliError> {
        Self::of(Path::new("."))
    }

    /// Its root directory, without links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Path of its settings file.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.root.join(CONFIG_NAME)
    }

    /// Its settings file, where there is one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub(crate) fn config(&self) -> Result<Option<NamedFile>, CliError> {
        let path = self.config_path();
        match read_file(&path) {
            Ok(bytes) => Ok(Some(NamedFile { path: CONFIG_NAME.to_owned(), bytes })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CliError::io("read", &path, &error)),
        }
    }

    /// The branch that is checked out, where the worktree's HEAD names one.
    pub(crate) fn branch(&self) -> Option<String> {
        let git = self.root.join(".git");
        let directory = match std::fs::read_to_string(&git) {
            // A linked worktree: its `.git` is a file that names its directory.
            Ok(text) => self.root.join(text.strip_prefix("gitdir:")?.trim()),
            Err(_) => git,
        };
        let head = std::fs::read_to_string(directory.join("HEAD")).ok()?;
        let branch = head.trim().strip_prefix("ref: refs/heads/")?;
        tidegate_config::branch_ref(branch).is_ok().then(|| branch.to_owned())
    }

    /// Reads a plan. Its name is its path from the root where it lies inside, else it is absolute.
    ///
    /// # Errors
    /// `not_found` when it is missing or cannot be read: the same again would not help.
    pub(crate) fn plan(&self, path: &Path) -> Result<NamedFile, CliError> {
        let failed = |source: io::Error| {
            let message = match source.kind() {
                io::ErrorKind::NotFound => format!("there is no plan {}", path.display()),
                _ => format!("read the plan {}: {source}", path.display()),
            };
            CliError::new(ErrorCode::NotFound, message)
        };
        let real = std::fs::canonicalize(path).map_err(failed)?;
        let bytes = read_file(&real).map_err(failed)?;
        let inside = real.strip_prefix(&self.root).unwrap_or(&real);
        Ok(NamedFile { path: inside.to_string_lossy().into_owned(), bytes })
    }

    /// Reads a spec file by its path from the root.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) fn spec(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let relative = Path::new(path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(plain) {
            return Err(ReadError::Outside);
        }
        let real = std::fs::canonicalize(self.root.join(relative)).map_err(|e| reason(&e))?;
        if !real.starts_with(&self.root) {
            return Err(ReadError::Outside);
        }
        let meta = std::fs::metadata(&real).map_err(|error| reason(&error))?;
        if !meta.is_file() {
            return Err(ReadError::NotAFile);
        }
        if meta.len() > SPEC_BYTES_MAX as u64 {
            return Err(ReadError::TooLarge { bytes: meta.len() });
        }
        read_file(&real).map_err(|error| reason(&error))
    }
}

/// Whether a directory has a `.git` that git would take: a directory with a HEAD, or a file that
/// names one.
fn is_root(directory: &Path) -> bool {
    let git = directory.join(".git");
    match std::fs::metadata(&git) {
        Ok(meta) if meta.is_dir() => git.join("HEAD").symlink_metadata().is_ok(),
        Ok(meta) => meta.is_file(),
        Err(_) => false,
    }
}

fn reason(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound,
        _ => ReadError::Failed { reason: error.to_string() },
    }
}

/// Reads a regular file, never more than the limit and one byte. A pipe or a device is refused:
/// it might never end.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs;

    fn repository() -> (tempfile::TempDir, Repository) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("repo");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(root.join("specs/deep")).unwrap();
        fs::write(root.join("specs/a.md"), "A").unwrap();
        fs::write(dir.path().join("secret"), "S").unwrap();
        let repository = Repository::of(&root.join("specs/deep")).unwrap();
        (dir, repository)
    }

    #[test]
    fn repository_of_a_folder_below_is_found() {
        let (dir, repository) = repository();
        assert_eq!(repository.root(), fs::canonicalize(dir.path().join("repo")).unwrap());
    }

    #[test]
    fn repository_of_another_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let error = Repository::of(dir.path()).unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::NotARepository));
    }

    #[test]
    fn branch_is_what_head_names() {
        let (_dir, repository) = repository();
        assert_eq!(repository.branch(), Some("main".to_owned()));
        fs::write(repository.root().join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(repository.branch(), None);
    }

    #[test]
    fn spec_that_leads_out_is_refused() {
        let (dir, repository) = repository();
        let link = repository.root().join("specs/out.md");
        std::os::unix::fs::symlink(dir.path().join("secret"), link).unwrap();
        assert_eq!(repository.spec("specs/a.md").unwrap(), b"A");
        assert_eq!(repository.spec("specs/out.md"), Err(ReadError::Outside));
        assert_eq!(repository.spec("../secret"), Err(ReadError::Outside));
        assert_eq!(repository.spec("/etc/passwd"), Err(ReadError::Outside));
        assert_eq!(repository.spec("specs"), Err(ReadError::NotAFile));
        assert_eq!(repository.spec("specs/none.md"), Err(ReadError::NotFound));
    }

    #[test]
    fn plan_inside_is_named_from_the_root() {
        let (dir, repository) = repository();
        fs::write(repository.root().join("plan.toml"), "title = 'x'").unwrap();
        let inside = repository.plan(&repository.root().join("specs/../plan.toml")).unwrap();
        assert_eq!(inside.path, "plan.toml");
        let outside = repository.plan(&dir.path().join("secret")).unwrap();
        assert!(Path::new(&outside.path).is_absolute());
        assert!(repository.plan(Path::new("/dev/zero")).is_err());
    }
}
