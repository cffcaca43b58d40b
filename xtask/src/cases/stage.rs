//! One case in a folder of its own: home, user, repository and agents; afterwards the store is looked at and nothing that
//! was started there lives on.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Terms;
use super::case::{Case, folder};
use super::verdict::Verdict;

/// What the doctor is asked about afterwards.
const CHECKS: [&str; 4] = ["store", "audit", "jobs", "daemon"];
/// Limits of a scenario's single waits that its whole time may take.
const WAITS_MAX: u32 = 5;

/// Plays one case and tells what it came to.
pub(super) fn play(case: &Case, terms: &Terms, scratch: &Path) -> Result<Verdict> {
    if case.namespace && !rustix::process::geteuid().is_root() {
        return Ok(Verdict::Unsupported("it mounts, which root alone may do".to_owned()));
    }
    let prefix = format!("case-{}-", case.id);
    let stage = Stage(tempfile::Builder::new().prefix(&prefix).tempdir_in(scratch)?);
    stage.set(case)?;
    let mut scenario = stage.call(case, terms)?.spawn().context("cannot start bash")?;
    let Some(status) = wait(&mut scenario, terms.limit * WAITS_MAX)? else {
        return Ok(Verdict::Fails(format!(
            "not over within {} s",
            (terms.limit * WAITS_MAX).as_secs()
        )));
    };
    let verdict = Verdict::read(stage.path(), status.code());
    Ok(match verdict {
        Verdict::Holds | Verdict::Refused(_) => stage.audit(&terms.binary)?.unwrap_or(verdict),
        Verdict::Unsupported(_) | Verdict::Fails(_) => verdict,
    })
}

/// The folder of one case.
struct Stage(tempfile::TempDir);

impl Stage {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// Copies the agents and writes the scenario, with what it speaks in before it.
    fn set(&self, case: &Case) -> Result<()> {
        let agents = self.path().join("agents");
        std::fs::create_dir(&agents)?;
        std::fs::create_dir(self.path().join("user"))?;
        for entry in folder().join("agents").read_dir()? {
            let entry = entry?;
            std::fs::copy(entry.path(), agents.join(entry.file_name()))?;
        }
        let lib = folder().join("lib");
        let mut text = std::fs::read_to_string(lib.join("facts.sh"))?;
        text.push_str(&std::fs::read_to_string(lib.join("verbs.sh"))?);
        text.push_str("plain \"$REPO\"\n");
        text.push_str(&case.script);
        std::fs::write(self.path().join("case.sh"), text)?;
        Ok(())
    }

    fn call(&self, case: &Case, terms: &Terms) -> Result<Command> {
        let mut call = if case.namespace {
            let mut call = Command::new("unshare");
            call.args(["--mount", "--propagation", "private", "bash"]);
            call
        } else {
            Command::new("bash")
        };
        call.arg(self.path().join("case.sh"));
        self.place(&mut call);
        call.env("CASE", self.path())
            .env("CASES", folder())
            .env("TIDEGATE", &terms.binary)
            .env("LIMIT", terms.limit.as_secs().to_string())
            .stdout(File::create(self.path().join("out"))?)
            .stderr(File::create(self.path().join("err"))?);
        Ok(call)
    }

    /// The environment of a user who has nothing but this folder.
    fn place(&self, call: &mut Command) {
        let user = self.path().join("user");
        call.env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", &user)
            .env("XDG_CONFIG_HOME", user.join("config"))
            .env("XDG_STATE_HOME", user.join("state"))
            .env("LANG", "C.UTF-8")
            .env("USER", "keeper")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("TIDEGATE_HOME", self.home())
            .current_dir(self.path())
            .stdin(Stdio::null());
    }

    /// Whether the log of events is whole, the rows are what it tells, and what must hold of every home does,
    /// whatever the case was about.
    fn audit(&self, binary: &Path) -> Result<Option<Verdict>> {
        if !self.home().join("store.db").exists() {
            return Ok(None);
        }
        let mut doctor = Command::new(binary);
        self.place(doctor.args(["doctor", "--verify", "--audit", "--json"]));
        let output = doctor.output().context("cannot start the doctor")?;
        let answer: Value =
            serde_json::from_slice(&output.stdout).context("the doctor's answer")?;
        let checks = answer["data"]["checks"].as_array().cloned().unwrap_or_default();
        // Whether the machine and its disk are good is no case's question.
        let ours =
            |check: &&Value| check["name"].as_str().is_some_and(|name| CHECKS.contains(&name));
        let ours: Vec<&Value> = checks.iter().filter(ours).collect();
        let wrong = ours.iter().find(|check| check["severity"] == "wrong");
        Ok(match (ours.is_empty(), wrong) {
            (true, _) => Some(Verdict::Fails("the doctor says nothing of the home".to_owned())),
            (false, Some(check)) => Some(Verdict::Fails(format!("the home afterwards: {check}"))),
            (false, None) => None,
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let left = crate::site::sweep(&self.path().display().to_string());
        if !left.is_empty() {
            println!("cannot be ended: {left:?}");
        }
    }
}

/// The end of a scenario; `None` when its time is over.
fn wait(scenario: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(status) = scenario.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    scenario.kill()?;
    scenario.wait()?;
    Ok(None)
}
