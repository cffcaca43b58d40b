//! Which home a command speaks about, and where its files are. It reads no file and starts nothing.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// One state directory: its path is absolute, and nothing says that it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    path: PathBuf,
}

impl Home {
    /// `--home`, else `$TIDEGATE_HOME`, else `$XDG_STATE_HOME/tidegate`, else
    /// `~/.local/state/tidegate`. An empty variable counts as unset, a relative
    /// `$XDG_STATE_HOME` too (its specification says so).
    ///
    /// # Errors
    /// When no variable says where the user's home directory is.
    pub(crate) fn resolve(flag: Option<&Path>) -> Result<Self, CliError> {
        Self::resolve_in(flag, |name| std::env::var_os(name), std::env::home_dir())
    }

    fn resolve_in(
        flag: Option<&Path>,
        variable: impl Fn(&str) -> Option<OsString>,
        user: Option<PathBuf>,
    ) -> Result<Self, CliError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = || set("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let user = || user.filter(|path| path.is_absolute()).map(|path| path.join(".local/state"));
        let path = match (flag, set("TIDEGATE_HOME")) {
            (Some(flag), _) => flag.to_owned(),
            (None, Some(path)) => path,
            (None, None) => match state().or_else(user) {
                Some(state) => state.join("tidegate"),
                None => return Err(no_place()),
            },
        };
        let absolute = std::path::absolute(&path);
        let path = absolute.map_err(|source| CliError::io("resolve", &path, &source))?;
        if path.as_os_str().as_bytes().iter().any(u8::is_ascii_control) {
            return Err(odd_place(&path));
        }
        Ok(Self { path })
    }

    /// The home whose job directory is `job` (`<home>/jobs/<job id>`); `None` for another shape.
    pub(crate) fn of_job(job: &Path) -> Option<Self> {
        let jobs = job.parent().filter(|jobs| jobs.ends_with("jobs"))?;
        let path = jobs.parent().filter(|path| path.is_absolute())?;
        Some(Self { path: path.to_owned() })
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the daemon listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("daemon.sock")
    }

    /// Where a detached daemon's own output goes.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("daemon.log")
    }
}

/// Git and the kernel list paths line by line: worktrees below such a one could not be told apart.
fn odd_place(path: &Path) -> CliError {
    let shown = path.to_string_lossy().escape_debug().to_string();
    let message = "the path of the home has a line break or another control character";
    CliError::refused(format!("{message}: {shown}"))
        .hint("name another one with `--home DIR` or TIDEGATE_HOME")
}

fn no_place() -> CliError {
    CliError::refused("cannot tell where the home is: neither TIDEGATE_HOME nor HOME is set")
        .hint("name it with `--home DIR`")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn resolve(flag: Option<&str>, set: &[(&str, &str)], user: Option<&str>) -> String {
        let variable = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let home = Home::resolve_in(flag.map(Path::new), variable, user.map(PathBuf::from));
        home.unwrap().path().display().to_string()
    }

    #[test]
    fn home_of_each_source_is_taken_in_order() {
        let all = [("TIDEGATE_HOME", "/t"), ("XDG_STATE_HOME", "/x")];
        assert_eq!(resolve(Some("/f"), &all, Some("/u")), "/f");
        assert_eq!(resolve(None, &all, Some("/u")), "/t");
        assert_eq!(resolve(None, &all[1..], Some("/u")), "/x/tidegate");
        assert_eq!(resolve(None, &[], Some("/u")), "/u/.local/state/tidegate");
    }

    #[test]
    fn home_variable_that_is_empty_or_relative_is_passed_over() {
        let set = [("TIDEGATE_HOME", ""), ("XDG_STATE_HOME", "state")];
        assert_eq!(resolve(None, &set, Some("/u")), "/u/.local/state/tidegate");
    }

    #[test]
    fn home_with_a_line_break_in_its_path_is_refused_by_name() {
        for path in ["/h/a\nb", "/h/a\tb", "/h/\u{1b}[2J"] {
            let error = Home::resolve_in(Some(Path::new(path)), |_| None, None).unwrap_err();
            assert!(error.to_string().contains("control character"), "{error}");
            assert!(!error.to_string().contains(path), "{error}");
        }
        Home::resolve_in(Some(Path::new("/h/ä b")), |_| None, None).unwrap();
    }

    #[test]
    fn home_without_any_place_is_refused() {
        assert!(Home::resolve_in(None, |_| None, None).is_err());
    }

    #[test]
    fn home_of_a_job_directory_is_two_above_it() {
        let home = Home::of_job(Path::new("/h/jobs/r0000010000-1")).unwrap();
        assert_eq!(home.path(), Path::new("/h"));
        assert_eq!(Home::of_job(Path::new("/h/other/x")), None);
        assert_eq!(Home::of_job(Path::new("jobs/x")), None);
    }
}
