//! A home and a repository for one measurement, and the product's verbs on them. Its daemon ends with it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Longest time that anything here is waited for.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// A home, a repository with one commit, and the binary.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    binary: PathBuf,
}

impl Place {
    /// Makes both.
    pub(crate) fn new(binary: &Path, scratch: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("place-").tempdir_in(scratch)?;
        let place = Self { folder, binary: binary.to_path_buf() };
        std::fs::create_dir(place.repository())?;
        std::fs::write(place.file("README.md"), "bench\n")?;
        place.git(&["init", "--quiet", "--initial-branch=main"])?;
        place.git(&["config", "user.name", "bench"])?;
        place.git(&["config", "user.email", "bench@example.org"])?;
        place.git(&["config", "gc.auto", "0"])?;
        place.git(&["add", "--all"])?;
        place.git(&["commit", "--quiet", "--message", "first"])?;
        Ok(place)
    }

    /// The repository.
    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// A file of the repository.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.repository().join(path)
    }

    /// The home.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A path beside both.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs git in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<()> {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.repository()).args(arguments);
        quietly(&mut git)
    }

    /// A call of the product in the repository, not yet started.
    pub(crate) fn call(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut call = Command::new(&self.binary);
        call.arg("--home").arg(self.home()).arg("--json").args(words);
        call.current_dir(self.repository()).stdin(Stdio::null());
        call
    }

    /// What a verb answers.
    pub(crate) fn verb(&self, words: &[impl AsRef<OsStr>]) -> Result<Value> {
        let mut call = self.call(words);
        let output = call.stderr(Stdio::piped()).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        let answer: Value = serde_json::from_str(&text)
            .with_context(|| format!("{call:?} answered {text:?}, said {said:?}"))?;
        ensure!(answer["ok"] == true, "{call:?}: {}", answer["error"]);
        Ok(answer["data"].clone())
    }

    /// Submits a launcher, in a queue of its own where `queue` names one, and gives the run's id.
    pub(crate) fn submit(&self, queue: Option<&str>, argv: &[&str]) -> Result<String> {
        let mut words = vec!["submit"];
        words.extend(queue.iter().flat_map(|queue| ["--adhoc-run", queue]));
        words.push("--");
        words.extend(argv);
        run_id(&self.verb(&words)?)
    }

    /// Waits until a run has ended.
    pub(crate) fn wait(&self, run: &str) -> Result<()> {
        self.verb(&["wait", run, "--timeout", "120s"]).map(|_| ())
    }

    /// Process id of the daemon, started when there is none.
    pub(crate) fn daemon(&self) -> Result<u32> {
        self.verb(&["daemon", "start"])?;
        let status = self.verb(&["daemon", "status"])?;
        let pid = status["pid"].as_u64().context("no pid of the daemon")?;
        Ok(u32::try_from(pid)?)
    }

    /// Process id of the daemon, if one runs. Starts none.
    pub(crate) fn living_daemon(&self) -> Result<Option<u32>> {
        let status = self.verb(&["daemon", "status"])?;
        let pid = status["pid"].as_u64().filter(|_| status["running"] == true);
        Ok(pid.map(u32::try_from).transpose()?)
    }

    /// Epoch of the daemon that runs in the home; 0 when none does.
    pub(crate) fn epoch(&self) -> Result<u64> {
        Ok(self.verb(&["daemon", "status"])?["epoch"].as_u64().unwrap_or(0))
    }

    /// Stops the daemon.
    pub(crate) fn stop(&self) -> Result<()> {
        self.verb(&["daemon", "stop"]).map(|_| ())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.call(&["daemon", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// The id in a submit's answer.
pub(crate) fn run_id(answer: &Value) -> Result<String> {
    Ok(answer["runId"].as_str().context("no run id")?.to_owned())
}

/// Runs a program silently; its output is not looked at.
pub(crate) fn quietly(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Polls until `look` finds something.
pub(crate) fn poll<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            bail!("{what}: not within {} s", LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// The text of a file, once it is there. Whoever writes it renames it into place.
pub(crate) fn appears(path: &Path) -> Result<String> {
    poll(&path.display().to_string(), || Ok(std::fs::read_to_string(path).ok()))
}
