//! The peer, `@chllming/wave-orchestration`, measured on the same machine: its status, its way from submit to launcher,
//! its way from a launcher's exit to the recorded end.
//!
//! It polls every two seconds, so its rounds are spread over that period. Telemetry and its update check are off, and
//! its HOME is empty, because it starts everything through a login shell.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::job::now;
use super::samples::{Samples, time};
use crate::site::poll;
use crate::site::quietly;

const PACKAGE: &str = "@chllming/wave-orchestration";
const VERSION: &str = "0.9.15";
const PERIOD: Duration = Duration::from_secs(2);
const ROUNDS: u32 = 8;

/// The installed peer.
pub(super) struct Peer {
    package: PathBuf,
}

impl Peer {
    /// Installs it below `target` through npm, once.
    pub(super) fn install(target: &Path) -> Result<Self> {
        let folder = target.join("peer");
        let package = folder.join("node_modules").join(PACKAGE);
        if !package.join("scripts/wave.mjs").is_file() {
            std::fs::create_dir_all(&folder)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
            quietly(npm.arg(&folder).arg(format!("{PACKAGE}@{VERSION}")))?;
        }
        Ok(Self { package })
    }

    /// `wave status --json` of a finished run.
    pub(super) fn status(&self, scratch: &Path) -> Result<Samples> {
        let site = Site::new(self, scratch)?;
        site.put("run-1-aaaa", &finished("run-1-aaaa"))?;
        let words = ["status", "--run-id", "run-1-aaaa", "--project", "app", "--lane", "main"];
        Samples::take(15, || time(|| quietly(site.wave(&words).arg("--json"))))
    }

    /// From the start of `wave submit` to its `launcher-started`, with its daemon running.
    pub(super) fn submit(&self, scratch: &Path) -> Result<Samples> {
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let site = Site::new(self, scratch)?;
            let _daemon = site.supervise(round)?;
            let begun = now()?;
            let words = ["submit", "--project", "app", "--lane", "main", "--no-dashboard"];
            let output = site.wave(&words).args(["--no-telemetry", "--json"]).output()?;
            let answer: Value = serde_json::from_slice(&output.stdout).context("wave submit")?;
            let run = answer["runId"].as_str().context("no run id of the peer")?;
            poll("the peer's launcher", || {
                let pid = site.state(run).map(|state| state["launcherPid"].clone());
                Ok(pid.filter(|pid| !pid.is_null()).map(|_| ()))
            })?;
            times.push(now()?.saturating_sub(begun));
        }
        Samples::of(times)
    }

    /// From the appearance of a launcher's exit record to the run's recorded end.
    pub(super) fn end(&self, scratch: &Path) -> Result<Samples> {
        let site = Site::new(self, scratch)?;
        let _daemon = site.supervise(0)?;
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            std::thread::sleep(PERIOD * round / ROUNDS);
            let run = format!("run-{}-bench", now()?.as_millis());
            let mut pending = base(&run);
            pending["launcherArgs"] = json!([
                "--project",
                "app",
                "--lane",
                "main",
                "--reconcile-status",
                "--no-telemetry"
            ]);
            site.put(&run, &pending)?;
            let record = site.run(&run).join("launcher-status.json");
            poll("the peer's exit record", || Ok(record.exists().then_some(())))?;
            let begun = now()?;
            poll("the peer's end", || {
                let state = site.state(&run).is_some_and(|state| state["status"] == "completed");
                Ok(state.then_some(()))
            })?;
            times.push(now()?.saturating_sub(begun));
        }
        Samples::of(times)
    }
}

/// A repository that the peer accepts.
struct Site<'p> {
    peer: &'p Peer,
    folder: tempfile::TempDir,
}

impl<'p> Site<'p> {
    fn new(peer: &'p Peer, scratch: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("peer-").tempdir_in(scratch)?;
        let site = Self { peer, folder };
        let root = site.folder.path();
        quietly(Command::new("git").args(["init", "--quiet"]).arg(root))?;
        site.write("wave.config.json", &config().to_string())?;
        site.write("docs/plans/waves/wave-0.md", WAVE)?;
        let none = json!({"description": "none", "libraries": []});
        let bundles = json!({"version": 1, "defaultBundle": "none", "laneDefaults": {}, "bundles": {"none": none}});
        site.write("docs/context7/bundles.json", &bundles.to_string())?;
        site.write(".wave/projects/app/project-profile.json", &profile().to_string())?;
        let role = "docs/agents/wave-cont-qa-role.md";
        site.write(role, &std::fs::read_to_string(peer.package.join(role))?)?;
        std::fs::create_dir(root.join("empty-home"))?;
        Ok(site)
    }

    fn wave(&self, words: &[&str]) -> Command {
        let mut wave = Command::new("node");
        wave.arg(self.peer.package.join("scripts/wave.mjs")).args(words);
        wave.current_dir(self.folder.path()).stdin(Stdio::null()).stderr(Stdio::null());
        wave.env("HOME", self.folder.path().join("empty-home")).env("WAVE_SKIP_UPDATE_CHECK", "1");
        wave
    }

    /// Its daemon, once it holds its lock, at a point of its period that depends on the round.
    fn supervise(&self, round: u32) -> Result<Daemon> {
        let mut daemon = self.wave(&["supervise", "--project", "app", "--lane", "main"]);
        let daemon = Daemon(daemon.stdout(Stdio::null()).spawn()?);
        let lock = self.control().join("daemon.lock");
        poll("the peer's daemon", || Ok(lock.exists().then_some(())))?;
        std::thread::sleep(Duration::from_millis(300) + PERIOD * round / ROUNDS);
        Ok(daemon)
    }

    fn control(&self) -> PathBuf {
        self.folder.path().join(".tmp/projects/app/main-wave-launcher/control/supervisor")
    }

    fn run(&self, run: &str) -> PathBuf {
        self.control().join("runs").join(run)
    }

    fn put(&self, run: &str, state: &Value) -> Result<()> {
        let folder = self.run(run);
        std::fs::create_dir_all(folder.join("agents"))?;
        for name in ["request.json", "state.json"] {
            std::fs::write(folder.join(name), state.to_string())?;
        }
        std::fs::write(folder.join("events.jsonl"), "")?;
        Ok(())
    }

    fn state(&self, run: &str) -> Option<Value> {
        serde_json::from_slice(&std::fs::read(self.run(run).join("state.json")).ok()?).ok()
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().context("a path without a folder")?)?;
        std::fs::write(path, text)?;
        Ok(())
    }
}

/// Everything that works in the site's folder ends with it: the peer starts its launchers detached.
impl Drop for Site<'_> {
    fn drop(&mut self) {
        let Ok(processes) = Path::new("/proc").read_dir() else { return };
        for process in processes.flatten() {
            let here = std::fs::read_link(process.path().join("cwd"))
                .is_ok_and(|folder| folder.starts_with(self.folder.path()));
            let pid = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            if let Some(pid) = pid.filter(|_| here).and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const WAVE: &str = "\
# Wave 0 - Bench

**Commit message**: `Feat: bench`

## Agent A0: cont-QA

### Role prompts

- docs/agents/wave-cont-qa-role.md

### Prompt

```text
Judge it.

File ownership (only touch these paths):
- docs/plans/waves/reviews/wave-0-cont-qa.md
```

## Agent A1: Builder

### Deliverables

- src/bench.js

### Exit contract

- completion: contract
- durability: none
- proof: unit
- doc-impact: owned

### Prompt

```text
Build it.

File ownership (only touch these paths):
- src/bench.js
```
";

fn config() -> Value {
    let off = Value::Null;
    json!({
        "version": 1, "projectName": "bench", "defaultProject": "app",
        "waveControl": {"enabled": false, "reportMode": "disabled"},
        "executors": {"default": "local"},
        "validation": {
            "requiredPromptReferences": [],
            "requireDocumentationStewardFromWave": off, "requireContext7DeclarationsFromWave": off,
            "requireExitContractsFromWave": off, "requireIntegrationStewardFromWave": off,
            "requireComponentPromotionsFromWave": off, "requireAgentComponentsFromWave": off,
        },
        "projects": {"app": {"rootDir": ".", "lanes": {"main": {}}}},
    })
}

fn profile() -> Value {
    let time = "2026-01-01T00:00:00.000Z";
    json!({
        "schemaVersion": 1, "initializedAt": time, "updatedAt": time, "newProject": false,
        "defaultOversightMode": "oversight", "defaultTerminalSurface": "tmux",
        "deployEnvironments": [], "plannerDefaults": {"template": "implementation", "lane": "main"},
        "source": {"projectId": "app", "projectName": "bench", "configPath": "wave.config.json"},
    })
}

fn base(run: &str) -> Value {
    let time = "2026-01-01T00:00:00.000Z";
    json!({
        "runId": run, "project": "app", "lane": "main", "adhocRunId": null, "status": "pending",
        "submittedAt": time, "updatedAt": time,
        "launcherArgs": ["--project", "app", "--lane", "main", "--start-wave", "0", "--end-wave", "0"],
        "launcherPid": null, "exitCode": null, "activeWave": 0, "terminalDisposition": "pending",
        "agentRuntimeSummary": [], "sessionBackend": "process", "recoveryState": "pending",
        "resumeAction": null, "resumeAttempts": 0,
    })
}

fn finished(run: &str) -> Value {
    let mut state = base(run);
    let time = state["submittedAt"].clone();
    for (key, value) in [
        ("status", json!("completed")),
        ("exitCode", json!(0)),
        ("completedAt", time.clone()),
        ("startedAt", time),
        ("terminalDisposition", json!("completed")),
        ("recoveryState", json!("healthy")),
    ] {
        state[key] = value;
    }
    state
}
