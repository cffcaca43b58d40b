//! A run whose agent is a real one, and whose model is a scripted one.

use std::process::Command;

use serde_json::Value;

use super::pinned::Pinned;
use super::settings;
use crate::harness::{in_own_network, until};
use crate::model::{Model, Script};
use crate::plan_stage::{Stage, feature, one_wave};

/// The agent that a test's config has before a real one takes its place.
const SCRIPT: &str = r#"argv = ["sh", "-c", "exec sh \"$T/agent.sh\""]
prompt = "stdin"
"#;

/// A run that has been submitted.
pub(super) struct Crew {
    pub(super) stage: Stage,
    pub(super) model: Model,
    pub(super) run: String,
    agent: Pinned,
}

impl Crew {
    /// Submits a feature for the agent `name` and gives it to `test`, in a network of loopback alone.
    pub(super) fn with(name: &str, script: Script, test: impl FnOnce(Self) + Send) {
        Self::asked(name, "", script, test);
    }

    /// The same, with further keys of the agent's entry.
    pub(super) fn asked(name: &str, keys: &str, script: Script, test: impl FnOnce(Self) + Send) {
        let program = match name {
            "claude_stream" => "claude",
            "codex_app_server" => "codex",
            other => other,
        };
        let agent = match Pinned::find(program) {
            Ok(agent) => agent,
            Err(why) => return println!("skipped: {why}"),
        };
        in_own_network(|| {
            let model = Model::serve(script);
            let manifest = settings::manifest(name, &model.address()) + keys;
            let stage = Stage::with("", "true", &[(SCRIPT, &manifest)]);
            let user = stage.home.beside("user");
            agent.link(&user.join("bin"));
            settings::write(name, &user, &model.address());
            let run = stage.submit(&one_wave(&["quay"]));
            test(Self { stage, model, run, agent });
        });
    }

    /// Waits for the end of the run; its document.
    pub(super) fn ends(&self, status: &str) -> Value {
        self.stage.ends(&self.run, status)
    }

    /// How often an event of a kind happened.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.stage.home.events_of(&self.run, kind).len()
    }

    /// The open questions.
    pub(super) fn inbox(&self) -> Vec<Value> {
        self.stage.home.data(&["inbox"])["questions"].as_array().unwrap().clone()
    }

    /// The one open question, once there is one.
    pub(super) fn question(&self) -> Value {
        until("a question", || (self.inbox().len() == 1).then(|| self.inbox().remove(0)))
    }

    /// The agent's own processes, without the tools that it runs.
    pub(super) fn processes(&self) -> Vec<u32> {
        let is_agent = |pid: &u32| {
            let program = std::fs::read_link(format!("/proc/{pid}/exe"));
            program.is_ok_and(|program| self.agent.is(&program))
        };
        Stage::left(&self.run).into_iter().filter(is_agent).collect()
    }

    /// Waits until the model was asked this often; then the agent is at work.
    pub(super) fn at_question(&self, count: usize) {
        self.model.until_asked(count);
    }

    /// Waits until the agent's own record of the conversation holds a text: some write it a moment
    /// after they have gone on.
    pub(super) fn until_history_holds(&self, text: &str) {
        let user = self.stage.home.beside("user");
        until("the agent's record", || {
            let found = Command::new("grep").args(["-rqF", text]).arg(&user).status().unwrap();
            found.success().then_some(())
        });
    }

    /// The feature's document.
    pub(super) fn feature(document: &Value) -> &Value {
        feature(document, "quay")
    }

    /// The end of a test: nothing of the run lives.
    pub(super) fn close(self) {
        until("no process of the run", || Stage::left(&self.run).is_empty().then_some(()));
        self.stage.close();
    }
}
