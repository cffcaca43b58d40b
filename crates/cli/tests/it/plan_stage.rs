//! What tests of plan runs stand on: a repository with a config and a crew of scripts, bells to hold
//! and release agents and gates, and what a run left in its documents, events and commits.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Home, Repo, is_gone};

/// The config, before a test changes words of it.
pub(crate) const CONFIG: &str = r#"
target = "main"
on_failure = "stop"

[agent.scribe]
argv = ["sh", "-c", "exec sh \"$T/agent.sh\""]
prompt = "stdin"

[role.builder]
agent = "scribe"

[gate.test]
run = "sh check.sh"

[review]
policy = "auto"

[landing]
strategy = "merge"
merge_gates = ["test"]

[limits]
max_attempts = 3

[env]
pass = ["T"]
"#;

/// What every agent does first: it counts itself and keeps its prompt.
const PREAMBLE: &str = r#"
set -eu
feature=$TIDEGATE_FEATURE
echo "$feature $TIDEGATE_RUN_TAG" >>"$T/starts"
prompt=$(cat)
printf '%s\n' "$prompt" >"$T/prompt.$feature.$TIDEGATE_ATTEMPT"
"#;

/// A home whose repository has a config, a gate and a crew.
pub(crate) struct Stage {
    /// The home.
    pub(crate) home: Home,
}

impl Stage {
    /// A stage whose agent is the shell script `agent` and whose gate is the script `check`.
    pub(crate) fn new(agent: &str, check: &str) -> Self {
        Self::with(agent, check, &[])
    }

    /// The same, with words of the config replaced.
    pub(crate) fn with(agent: &str, check: &str, words: &[(&str, &str)]) -> Self {
        let stage = Self { home: Home::new() };
        stage.agent(agent);
        let repo = stage.home.repo();
        // A user may keep both out of the repository; its state is then told by `git status` alone.
        repo.write(".git/info/exclude", "/tidegate.toml\n/plan.toml\n/plan.md\n/specs\n");
        repo.write("check.sh", check);
        repo.git(&["add", "--all"]);
        repo.git(&["commit", "--quiet", "--message", "check"]);
        stage.config(words);
        stage
    }

    /// A stage on a repository that `make` leaves in the folder beside the home. Nothing is committed to it; config
    /// and plan are files that its user keeps out of it.
    pub(crate) fn on(
        make: impl FnOnce(&Path) -> Repo,
        agent: &str,
        words: &[(&str, &str)],
    ) -> Self {
        let stage = Self { home: Home::with(make) };
        stage.agent(agent);
        let repo = stage.home.repo();
        let common = repo.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
        let exclude = Path::new(&common).join("info/exclude");
        std::fs::create_dir_all(exclude.parent().unwrap()).unwrap();
        std::fs::write(exclude, "/tidegate.toml\n/plan.toml\n").unwrap();
        stage.config(words);
        stage
    }

    /// Writes the config with words replaced, and trusts it.
    pub(crate) fn config(&self, words: &[(&str, &str)]) {
        let mut text = CONFIG.to_owned();
        for (old, new) in words {
            assert!(text.contains(old), "the config has no `{old}`");
            text = text.replacen(old, new, 1);
        }
        self.home.repo().write("tidegate.toml", &text);
        self.home.run(&["config", "trust"]).ends_with(0);
    }

    /// Writes the script of the crew.
    pub(crate) fn agent(&self, script: &str) {
        std::fs::write(self.home.beside("agent.sh"), format!("{PREAMBLE}{script}\n")).unwrap();
    }

    /// Submits a plan; its run.
    pub(crate) fn submit(&self, plan: &str) -> String {
        self.home.repo().write("plan.toml", plan);
        let data = self.home.data(&["submit", "plan.toml"]);
        data["runId"].as_str().unwrap().to_owned()
    }

    /// A line of text per start of a feature's agent.
    pub(crate) fn starts(&self, feature: &str) -> usize {
        let text = std::fs::read_to_string(self.home.beside("starts")).unwrap_or_default();
        text.lines().filter(|line| line.split(' ').next() == Some(feature)).count()
    }

    /// The prompt of the n-th agent of a feature.
    pub(crate) fn prompt(&self, feature: &str, attempt: u32) -> String {
        let path = self.home.beside(&format!("prompt.{feature}.{attempt}"));
        std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    }

    /// Something that a script waits for: `read _ <"$T/NAME"`.
    pub(crate) fn bell(&self, name: &str) -> Bell {
        Bell::new(&self.home.beside(name))
    }

    /// Waits for the end of a run that must be this one; its document.
    pub(crate) fn ends(&self, run: &str, status: &str) -> Value {
        // What a person was needed for may have been mended a moment ago.
        let words = ["wait", run, "--timeout", "60s", "--ignore-attention"];
        let output = self.home.json(&words);
        let text = output.text();
        assert!([0, 10, 11].contains(&output.code), "{text}\n{}", self.story(run));
        let document = output.data();
        assert_eq!(document["status"], status, "{document:#}\n{}", self.story(run));
        document
    }

    /// Waits until a person is needed; the document.
    pub(crate) fn needs_person(&self, run: &str) -> Value {
        let output = self.home.json(&["wait", run, "--timeout", "60s"]);
        assert_eq!(output.code, 12, "{}\n{}", output.text(), self.story(run));
        output.data()
    }

    /// Waits until a feature is in a state; its document.
    pub(crate) fn until_feature(&self, run: &str, id: &str, state: &str) -> Value {
        let wanted = |document: &Value| feature(document, id)["state"] == state;
        let document = self.home.until(run, &format!("{id} {state}"), wanted);
        feature(&document, id).clone()
    }

    /// The numbers of all events of a kind about a feature.
    pub(crate) fn moments(&self, run: &str, kind: &str, feature: &str) -> Vec<u64> {
        let events = self.home.events_of(run, kind);
        let of = events.iter().filter(|event| event["feature"] == feature);
        of.map(|event| event["seq"].as_u64().unwrap()).collect()
    }

    /// All that happened, one fact a line.
    pub(crate) fn story(&self, run: &str) -> String {
        let events = self.home.events(run);
        let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }

    /// A file of the target's newest commit; `None` when it is not there.
    pub(crate) fn on_target(&self, path: &str) -> Option<String> {
        self.at("main", path)
    }

    /// A file of a commit; `None` when it is not there.
    pub(crate) fn at(&self, commit: &str, path: &str) -> Option<String> {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.home.repo().root()).args(["show", &format!("{commit}:{path}")]);
        let output = git.output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// The commit of the target.
    pub(crate) fn tip(&self) -> String {
        self.home.repo().git(&["rev-parse", "main"])
    }

    /// Asserts that the user's checkout is the newest commit of its branch, that nothing lies beside,
    /// and that the repository is whole.
    pub(crate) fn clean(&self) {
        assert_eq!(self.home.repo().git(&["status", "--porcelain", "--untracked-files=all"]), "");
        let head = self.home.repo().git(&["symbolic-ref", "HEAD"]);
        assert!(["refs/heads/main", "refs/heads/mine"].contains(&head.as_str()), "{head}");
        self.home.repo().git(&["fsck", "--no-dangling", "--strict"]);
    }

    /// Living processes of a run's jobs: by the tag of the run, or by a job directory that they name.
    pub(crate) fn left(run: &str) -> Vec<u32> {
        let (tag, jobs) = (format!(":{run}:"), format!("/jobs/{run}"));
        let names = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let says = |pid: u32, file: &str, text: &str| {
            let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        };
        let ours = |pid: &u32| says(*pid, "environ", &tag) || says(*pid, "cmdline", &jobs);
        pids.filter(ours).filter(|pid| !is_gone(*pid)).collect()
    }

    /// The end of a test whose runs have ended and whose user had no changes.
    pub(crate) fn close(self) {
        self.clean();
        self.home.close();
    }
}

/// A feature of a run's document.
pub(crate) fn feature<'a>(document: &'a Value, id: &str) -> &'a Value {
    let features = document["features"].as_array().unwrap();
    let found = features.iter().find(|feature| feature["id"] == id);
    found.unwrap_or_else(|| panic!("no feature {id}: {document:#}"))
}

/// A plan of one wave with these features, `a; gates = []` beside the rest.
pub(crate) fn one_wave(features: &[&str]) -> String {
    waves(&[features])
}

/// A plan of these waves. A feature is its id, then lines of TOML after a `;`.
pub(crate) fn waves(waves: &[&[&str]]) -> String {
    let mut lines = vec!["title = \"Harbour\"".to_owned()];
    for wave in waves {
        lines.push("[[wave]]".to_owned());
        for entry in *wave {
            let mut parts = entry.split(';').map(str::trim);
            lines.push("[[wave.feature]]".to_owned());
            lines.push(format!("id = \"{}\"", parts.next().unwrap()));
            if !entry.contains("spec = ") {
                lines.push("prompt = \"Do the work.\"".to_owned());
            }
            if !entry.contains("gates = ") {
                lines.push("gates = [\"test\"]".to_owned());
            }
            lines.extend(parts.map(str::to_owned));
        }
    }
    lines.join("\n")
}

/// A named pipe that holds scripts until it is rung.
pub(crate) struct Bell(File);

impl Bell {
    /// Hangs it up at a path that is free.
    pub(crate) fn new(path: &Path) -> Self {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        // Both ends: neither this open nor a script's waits for the other.
        Self(OpenOptions::new().read(true).write(true).open(path).unwrap())
    }

    /// Lets one script go on, now or when it comes.
    pub(crate) fn ring(&self) {
        (&self.0).write_all(b"go\n").unwrap();
    }
}
