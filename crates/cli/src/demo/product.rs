//! The product as a person uses it: this same program, its verbs, their JSON.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tidegate_protocol::{DaemonDoc, Envelope, EventPage, EventView, RunDoc, SubmitAnswer};

use crate::demo::stage::Stage;
use crate::demo::victim::Daemon;
use crate::error::CliError;

/// The verbs, on the stage's home and in its repository.
#[derive(Debug)]
pub(super) struct Product<'s> {
    stage: &'s Stage,
}

impl<'s> Product<'s> {
    /// For the home and the repository of `stage`.
    pub(super) fn new(stage: &'s Stage) -> Self {
        Self { stage }
    }

    /// Trusts the repository's config, which the demo wrote itself.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn trust(&self) -> Result<(), CliError> {
        self.verb::<Value>(&["config", "trust"]).map(|_| ())
    }

    /// Submits the plan and gives the run's id.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn submit(&self, plan: &str) -> Result<String, CliError> {
        self.verb::<SubmitAnswer>(&["submit", plan]).map(|answer| answer.run_id)
    }

    /// The run as it is now.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn run(&self, run: &str) -> Result<RunDoc, CliError> {
        self.verb(&["status", run])
    }

    /// The events of the run that are of one kind.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn events(&self, run: &str, kind: &str) -> Result<Vec<EventView>, CliError> {
        self.verb::<EventPage>(&["events", run, "--kind", kind]).map(|page| page.events)
    }

    /// The daemon that runs now, as the home says; none is started.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn daemon(&self) -> Result<Option<Daemon>, CliError> {
        let daemon: DaemonDoc = self.verb(&["daemon", "status"])?;
        let known = daemon.pid.zip(daemon.epoch).filter(|_| daemon.running);
        Ok(known.map(|(pid, epoch)| Daemon { pid, epoch }))
    }

    /// Starts a daemon when there is none.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn start(&self) -> Result<(), CliError> {
        self.verb::<Value>(&["daemon", "start"]).map(|_| ())
    }

    /// Stops the daemon. What was done can be read without one.
    ///
    /// # Errors
    /// What the verb refuses.
    pub(super) fn stop(&self) -> Result<(), CliError> {
        self.verb::<Value>(&["daemon", "stop"]).map(|_| ())
    }

    fn verb<A: DeserializeOwned>(&self, words: &[&str]) -> Result<A, CliError> {
        let program = Path::new("/proc/self/exe");
        let mut verb = Command::new(program);
        verb.arg("--home").arg(&self.stage.home).arg("--json").args(words);
        verb.current_dir(&self.stage.repository).stdin(Stdio::null()).stderr(Stdio::inherit());
        // The demo may run inside a job of another home; its own home is no business of that job.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"TIDEGATE_") && name != "TIDEGATE_FAIL" {
                verb.env_remove(name);
            }
        }
        let output = verb.output().map_err(|source| CliError::io("start", program, &source))?;
        let answer: Envelope = serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stdout);
            CliError::bug(format!("`{}` answered {said:?}: {error}", words.join(" ")))
        })?;
        let data = answer.into_result()?;
        serde_json::from_value(data).map_err(CliError::bug)
    }
}
