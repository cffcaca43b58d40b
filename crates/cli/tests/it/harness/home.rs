//! A home of its own for one test: its repository, its daemon, its verbs. Whatever the test leaves
//! behind ends with it.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use rustix::process::Signal;
use serde_json::Value;

use super::processes::{self, command_line};
use super::{Fence, Output, Repo, end, until};

const BINARY: &str = env!("CARGO_BIN_EXE_tidegate");

/// What scripts of tests have: `$T`, the folder beside the home; `await NAME` for a file there;
/// `mark NAME` to leave the script's pid there; `count NAME` to add a line there.
const PRELUDE: &str = r#"
await() { while [ ! -e "$T/$1" ]; do sleep 0.02; done; }
mark() { echo "${2:-$$}" > "$T/$1.new" && mv "$T/$1.new" "$T/$1"; }
count() { echo "$$" >> "$T/$1"; }
"#;

/// A home, and all that a test has beside it.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    repo: Repo,
    namespace: Mutex<Option<u32>>,
}

impl Home {
    /// Makes an empty one, on disk. Nothing runs yet.
    pub(crate) fn new() -> Self {
        Self::with(|folder| Repo::make(&folder.join("harbour")))
    }

    /// Makes an empty one whose repository is what `make` leaves in the folder beside it.
    pub(crate) fn with(make: impl FnOnce(&Path) -> Repo) -> Self {
        let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = tempfile::Builder::new().prefix("it-").tempdir_in(scratch).unwrap();
        let repo = make(folder.path());
        std::fs::create_dir(folder.path().join("user")).unwrap();
        Self { folder, repo, namespace: Mutex::default() }
    }

    /// The state directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The repository.
    pub(crate) fn repo(&self) -> &Repo {
        &self.repo
    }

    /// A path beside the home and the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The number of lines in a file beside the home: how often agents started, by their own count.
    pub(crate) fn lines(&self, name: &str) -> usize {
        std::fs::read_to_string(self.beside(name)).unwrap_or_default().lines().count()
    }

    /// Waits until a file beside the home has something in it, and gives it.
    pub(crate) fn appears(&self, name: &str) -> String {
        let path = self.beside(name);
        until(&path.display().to_string(), || {
            std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))
        })
    }

    /// Waits for a file with a pid in it.
    pub(crate) fn pid(&self, name: &str) -> u32 {
        self.appears(name).trim().parse().unwrap()
    }

    /// From now on every call is made in the mount namespace of this process, or in ours again.
    pub(crate) fn enter(&self, process: Option<u32>) {
        *self.namespace.lock().unwrap() = process;
    }

    /// A call in the repository, in an environment of its own, not yet started.
    pub(crate) fn call(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut call = match *self.namespace.lock().unwrap() {
            None => Command::new(BINARY),
            Some(process) => {
                // Entering a namespace leads to its root.
                let mut call = Command::new("nsenter");
                call.args(["--mount", "--target", &process.to_string(), "env", "-C"]);
                call.arg(self.repo.root()).arg(BINARY);
                call
            }
        };
        call.args(words);
        self.place(&mut call);
        call
    }

    /// Gives a program the environment and the place of a user of this home. `$T` is the folder
    /// beside the home.
    pub(crate) fn place(&self, call: &mut Command) {
        let programs = Path::new(BINARY).parent().unwrap().display();
        let user = self.folder.path().join("user");
        call.env_clear()
            .env(
                "PATH",
                format!("{}:{programs}:/usr/local/bin:/usr/bin:/bin", user.join("bin").display()),
            )
            .env("HOME", &user)
            .env("XDG_CONFIG_HOME", user.join("config"))
            .env("XDG_STATE_HOME", user.join("state"))
            .env("LANG", "C.UTF-8")
            .env("USER", "keeper")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("TIDEGATE_HOME", self.path())
            .env("T", self.folder.path())
            .current_dir(self.repo.root())
            .stdin(Stdio::null());
    }

    /// Calls the product and waits for its end.
    pub(crate) fn run(&self, words: &[impl AsRef<OsStr>]) -> Output {
        run(&mut self.call(words))
    }

    /// The data of a verb that must succeed.
    pub(crate) fn data(&self, words: &[impl AsRef<OsStr>]) -> Value {
        let mut call = self.call(&["--json"]);
        call.args(words);
        run(&mut call).ends_with(0).data()
    }

    /// Calls a verb for its JSON, whatever its end.
    pub(crate) fn json(&self, words: &[impl AsRef<OsStr>]) -> Output {
        let mut call = self.call(&["--json"]);
        call.args(words);
        run(&mut call)
    }

    /// Submits a launcher with these flags; its run.
    pub(crate) fn submit(&self, flags: &[&str], argv: &[impl AsRef<OsStr>]) -> String {
        let mut call = self.call(&["--json", "submit"]);
        call.args(flags).arg("--").args(argv);
        text(&run(&mut call).ends_with(0).data()["runId"])
    }

    /// Submits a shell script with [`PRELUDE`], with these flags; its run.
    pub(crate) fn script(&self, flags: &[&str], script: &str) -> String {
        self.submit(flags, &["sh", "-c", &format!("{PRELUDE}{script}")])
    }

    /// Makes a shell script with [`PRELUDE`] beside the home; its path.
    pub(crate) fn program(&self, name: &str, script: &str) -> String {
        let path = self.beside(name);
        std::fs::write(&path, format!("#!/bin/sh\n{PRELUDE}{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    /// Lets every script go on that awaits `name`.
    pub(crate) fn go(&self, name: &str) {
        std::fs::write(self.beside(name), "go\n").unwrap();
    }

    /// The document of a run.
    pub(crate) fn status(&self, run: &str) -> Value {
        self.data(&["status", run])
    }

    /// Waits until the document of a run is as wanted, and gives it.
    pub(crate) fn until(&self, run: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        until(&format!("{run}: {what}"), || {
            last = self.status(run);
            wanted(&last).then(|| last.clone())
        })
    }

    /// Waits for the recorded end of a run; its document.
    pub(crate) fn ended(&self, run: &str) -> Value {
        let output = self.json(&["wait", run, "--timeout", "60s"]);
        assert!([0, 10, 11].contains(&output.code), "{output:?}\n{}", self.log());
        output.data()
    }

    /// The events of a run, oldest first.
    pub(crate) fn events(&self, run: &str) -> Vec<Value> {
        self.data(&["events", run])["events"].as_array().unwrap().clone()
    }

    /// The events of a run of one kind.
    pub(crate) fn events_of(&self, run: &str, kind: &str) -> Vec<Value> {
        self.events(run).into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// What a run's jobs wrote.
    pub(crate) fn logs(&self, run: &str) -> Vec<u8> {
        self.run(&["logs", run]).ends_with(0).bytes
    }

    /// The pid of the daemon, if one holds the lock.
    pub(crate) fn daemon(&self) -> Option<u32> {
        let status = self.data(&["daemon", "status"]);
        let pid = status["pid"].as_u64().filter(|_| status["running"] == true);
        pid.map(|pid| u32::try_from(pid).unwrap())
    }

    /// Starts a daemon; its pid.
    pub(crate) fn start_daemon(&self) -> u32 {
        self.run(&["daemon", "start"]).ends_with(0);
        self.daemon().unwrap()
    }

    /// Runs a daemon with further environment, in a child of this process, until it answers.
    pub(crate) fn daemon_with(&self, environment: &[(&str, &str)]) -> Fence {
        let mut daemon = self.call(&["daemon", "run"]);
        daemon.envs(environment.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = Fence::start(&mut daemon);
        until("the daemon's socket", || {
            let note = self.data(&["daemon", "status"]);
            let own = note["pid"] == daemon.pid() && note["running"] == true;
            (own && self.path().join("daemon.sock").exists() || is_gone(&daemon)).then_some(())
        });
        daemon
    }

    /// Ends the daemon by `kill -9`, if there is one.
    pub(crate) fn kill_daemon(&self) {
        if let Some(pid) = self.daemon() {
            end(pid);
        }
    }

    /// The newest lines of the daemon's log.
    pub(crate) fn log(&self) -> String {
        let text = std::fs::read(self.path().join("daemon.log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    /// Asserts that the log of events is whole, the rows are what it tells, and what must hold of
    /// every home holds of this one.
    pub(crate) fn verify(&self) {
        let output = self.json(&["doctor", "--verify", "--audit"]);
        let checks = output.data()["checks"].as_array().unwrap().clone();
        // Whether the machine and the disk are good is not this test's question.
        let asked = ["store", "audit", "jobs", "daemon"];
        let odd: Vec<&Value> = checks
            .iter()
            .filter(|check| asked.contains(&check["name"].as_str().unwrap()))
            .filter(|check| check["severity"] == "wrong")
            .collect();
        assert!(odd.is_empty(), "{odd:#?}\n{}", self.log());
    }

    /// Asserts of the store alone that the log is whole and the rows are what it tells.
    #[cfg(feature = "failpoints")]
    pub(crate) fn verify_store(&self) {
        let checks = self.json(&["doctor", "--verify"]).data()["checks"].clone();
        let store = checks.as_array().unwrap().iter().find(|check| check["name"] == "store");
        assert_eq!(store.unwrap()["ok"], true, "{store:?}\n{}", self.log());
    }

    /// The end of a test whose runs have all ended: the store is sound, the daemon stops, and no
    /// process of the home is left without anybody having swept.
    pub(crate) fn close(self) {
        self.verify();
        self.run(&["daemon", "stop"]).ends_with(0);
        let path = self.folder.path().display().to_string();
        until("no process of the home", || {
            let left = processes::mentioning(&path);
            if left.is_empty() { Some(()) } else { None }
        });
    }

    /// Living processes of a run of this home, by their tag.
    #[expect(clippy::unused_self, reason = "the run is one of this home")]
    pub(crate) fn processes(&self, run: &str) -> Vec<u32> {
        processes::tagged(run)
    }

    /// Stops the daemon's process without ending it.
    pub(crate) fn freeze_daemon(&self) -> u32 {
        let pid = self.daemon().unwrap();
        assert!(processes::signal(pid, Signal::STOP));
        until("the daemon's stop", || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            stat.rsplit(')').next().unwrap().trim_start().starts_with('T').then_some(())
        });
        pid
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the daemon's log:\n{}", self.log());
        }
        let left = processes::sweep(&self.folder.path().display().to_string());
        let left: Vec<String> = left.iter().map(|pid| command_line(*pid)).collect();
        if !std::thread::panicking() {
            assert!(left.is_empty(), "cannot be ended: {left:?}");
        }
    }
}

/// Runs a command to its end.
fn run(call: &mut Command) -> Output {
    let output = call.output().unwrap();
    Output::new(format!("{call:?}"), output)
}

fn is_gone(daemon: &Fence) -> bool {
    super::is_gone(daemon.pid())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
