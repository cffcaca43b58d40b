//! The place of a demo: a repository with one commit, a crew beside it, a fresh home. Knows git, not the product.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::demo::files::{CREW, File, HARBOUR};
use crate::error::CliError;

/// The feature whose agent is killed.
pub(super) const HELD: &str = "cargo";

/// Everything that the demo makes, below one directory.
#[derive(Debug)]
pub(super) struct Stage {
    /// The directory.
    pub(super) place: PathBuf,
    /// The repository.
    pub(super) repository: PathBuf,
    /// The home of the product.
    pub(super) home: PathBuf,
    desk: PathBuf,
}

impl Stage {
    /// Makes it all below `place`, which must be new or empty.
    ///
    /// # Errors
    /// When `place` has something in it, or the disk or git refuses.
    pub(super) fn set(place: &Path) -> Result<Self, CliError> {
        let io =
            |doing: &'static str| move |source: std::io::Error| CliError::io(doing, place, &source);
        fs::create_dir_all(place).map_err(io("make"))?;
        let place = &place.canonicalize().map_err(io("find"))?;
        if place.read_dir().map_err(io("list"))?.next().is_some() {
            let message = format!("{} is not empty", place.display());
            return Err(CliError::refused(message).hint("give `--keep` a new directory"));
        }
        let stage = Self {
            place: place.clone(),
            repository: place.join("harbour"),
            home: place.join("home"),
            desk: place.join("desk"),
        };
        fs::create_dir(&stage.desk).map_err(io("make the desk in"))?;
        fs::write(stage.hold(), "").map_err(io("write the hold in"))?;
        let crew = place.join("crew");
        write_all(&crew, CREW, str::to_owned)?;
        write_all(&stage.repository, HARBOUR, |text| {
            let crew = text.replace("@CREW@", &quoted(&crew));
            crew.replace("@DESK@", &quoted(&stage.desk))
        })?;
        let program = stage.repository.join("bin/harbour");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&program, mode).map_err(io("make the board a program in"))?;
        stage.commit()?;
        Ok(stage)
    }

    /// Lets the held agent go on.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn let_go(&self) -> Result<(), CliError> {
        fs::remove_file(self.hold()).map_err(|source| CliError::io("remove", &self.hold(), &source))
    }

    /// Whether the held agent has said that it is in the middle of its work.
    pub(super) fn is_holding(&self) -> bool {
        self.desk.join(format!("holding-{HELD}")).exists()
    }

    /// How often each agent was started, as they count themselves: one line per start.
    pub(super) fn starts(&self, feature: &str) -> usize {
        let text = fs::read_to_string(self.desk.join("starts")).unwrap_or_default();
        text.lines().filter(|line| line.split(' ').next() == Some(feature)).count()
    }

    /// Whether the tests of the branch as it is now pass, and what they print.
    ///
    /// # Errors
    /// When no shell can be started.
    pub(super) fn test(&self) -> Result<(bool, String), CliError> {
        let output = Command::new("sh").arg("tests/run.sh").current_dir(&self.repository).output();
        let output = output.map_err(|source| CliError::io("start sh in", &self.place, &source))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((output.status.success(), text))
    }

    /// What the finished board shows at ten o'clock.
    pub(super) fn board(&self) -> Option<String> {
        let program = self.repository.join("bin/harbour");
        let output = Command::new(program).args(["notice", "10:00"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether `commit` is on the branch.
    pub(super) fn has(&self, commit: &str) -> bool {
        self.git(&["merge-base", "--is-ancestor", commit, "main"]).is_ok()
    }

    fn hold(&self) -> PathBuf {
        self.desk.join(format!("hold-{HELD}"))
    }

    fn commit(&self) -> Result<(), CliError> {
        self.git(&["init", "--quiet", "--initial-branch=main"])?;
        // Whatever the user's own settings say, this repository is the demo's.
        for (key, value) in [
            ("user.name", "Harbour master"),
            ("user.email", "harbour@example.org"),
            ("commit.gpgSign", "false"),
            ("core.hooksPath", ".git/hooks"),
            ("core.autocrlf", "false"),
        ] {
            self.git(&["config", key, value])?;
        }
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", "Open the harbour"])
    }

    fn git(&self, arguments: &[&str]) -> Result<(), CliError> {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.repository).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                git.env_remove(name);
            }
        }
        let output = git
            .output()
            .map_err(|source| CliError::io("start git in", &self.repository, &source))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(CliError::refused(format!("git {}: {}", arguments.join(" "), said.trim())))
    }
}

/// A path as it stands inside the quotes of a TOML string.
fn quoted(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")
}

fn write_all(below: &Path, files: &[File], fill: impl Fn(&str) -> String) -> Result<(), CliError> {
    for (path, text) in files {
        let path = below.join(path);
        let written = match path.parent() {
            Some(folder) => fs::create_dir_all(folder),
            None => Ok(()),
        }
        .and_then(|()| fs::write(&path, fill(text)));
        written.map_err(|source| CliError::io("write", &path, &source))?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn stage() -> (tempfile::TempDir, Stage) {
        let place = tempfile::tempdir().unwrap();
        let stage = Stage::set(&place.path().join("new")).unwrap();
        (place, stage)
    }

    fn work(stage: &Stage, feature: &str, task: &str) -> bool {
        let script =
            "printf '%s\\n' \"$1\" | HARBOUR_DESK=\"$2\" sh ../crew/agent.sh \"$3\" >/dev/null";
        let status = Command::new("sh")
            .args(["-c", script, "sh", task])
            .arg(&stage.desk)
            .arg(feature)
            .current_dir(&stage.repository)
            .status();
        status.unwrap().success()
    }

    #[test]
    fn stage_is_a_repository_whose_tests_pass() {
        let (_place, stage) = stage();
        let (passed, text) = stage.test().unwrap();
        assert!(passed, "{text}");
        assert!(stage.has("HEAD"));
        assert!(!stage.is_holding());
        let config = fs::read_to_string(stage.repository.join("tidegate.toml")).unwrap();
        assert!(!config.contains('@'), "{config}");
    }

    #[test]
    fn stage_in_a_used_directory_is_refused() {
        let (place, _stage) = stage();
        assert!(Stage::set(place.path()).is_err());
    }

    #[test]
    fn crew_builds_the_board_once_the_evidence_is_read() {
        let (_place, stage) = stage();
        stage.let_go().unwrap();
        for feature in ["berths", "tides", "cargo", "board", "keel", "notice"] {
            assert!(work(&stage, feature, &format!("harbour {feature} HH:MM")), "{feature}");
        }
        let (passed, text) = stage.test().unwrap();
        assert!(!passed, "the bug of the first draft is not caught: {text}");
        assert!(work(&stage, "tides", &format!("harbour tides HH:MM\n{text}")));
        let (passed, text) = stage.test().unwrap();
        assert!(passed, "{text}");
        assert_eq!(stage.starts("tides"), 2);
        assert!(stage.board().unwrap().contains("3035 t"));
    }

    #[test]
    fn crew_without_a_task_refuses() {
        let (_place, stage) = stage();
        assert!(!work(&stage, "berths", "something else"));
    }
}
