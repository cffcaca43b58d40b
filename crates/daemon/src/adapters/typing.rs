//! Types a message into the terminal of an agent, once: by the number that the shim's journal of
//! inputs knows it by.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tidegate_core::ids::{FeatureId, JobId, RunId};
use tidegate_core::run::{EffectKey, Report, TypeOutcome};
use tidegate_process::control::Refused;
use tidegate_process::{ControlClient, ControlError, JobDir};

use super::context::Shared;

/// How long a shim may take to answer.
const SHIM_PATIENCE: Duration = Duration::from_secs(3);
/// How long until a shim that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// One message on its way into a terminal.
pub(super) struct Typing {
    pub(super) ctx: Shared,
    pub(super) name: (RunId, EffectKey),
    pub(super) wanted: Arc<Mutex<BTreeSet<(RunId, EffectKey)>>>,
    pub(super) feature: FeatureId,
    pub(super) job: JobId,
    pub(super) nonce: String,
    pub(super) message: u32,
    pub(super) seq: u64,
    pub(super) text: String,
}

impl Typing {
    /// Has a worker type it; again until the shim has spoken.
    pub(super) fn begin(self) {
        let workers = self.ctx.workers.clone();
        workers.now(move || self.run());
    }

    fn run(self) {
        if !self.wanted.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.name) {
            return;
        }
        match self.attempt() {
            Ok(outcome) => {
                let (feature, job) = (self.feature, self.job);
                let report = Report::MessageTyped { feature, message: self.message, job, outcome };
                self.ctx.answer(&self.name.0, &self.name.1, report);
            }
            Err(error) => {
                tracing::debug!(job = %self.job, %error, "a message is typed later");
                let workers = self.ctx.workers.clone();
                workers.after(AGAIN, move || self.run());
            }
        }
    }

    fn attempt(&self) -> Result<TypeOutcome, String> {
        fail::fail_point!("typing.before_input", |_| Err("asked to fail".to_owned()));
        let dir = JobDir::open(&self.ctx.job_dir(&self.job)).map_err(|error| error.to_string())?;
        let connected = ControlClient::connect(&dir, &self.nonce, self.ctx.token, SHIM_PATIENCE);
        // Ends of lines within it stay what they are; Enter sends it.
        let bytes = format!("{}\r", self.text);
        let typed = connected.and_then(|(mut client, _)| client.input(self.seq, bytes.as_bytes()));
        fail::fail_point!("typing.after_input");
        match typed {
            Ok(_) => Ok(TypeOutcome::Written),
            Err(ControlError::Refused { why, .. }) => match why {
                Refused::UnknownOp
                | Refused::BadRequest
                | Refused::AlreadyEnded
                | Refused::NoTerminal
                | Refused::NoInput
                | Refused::InputClosed
                | Refused::OutOfOrder
                | Refused::Unknown => Ok(TypeOutcome::Refused),
                Refused::StaleEpoch | Refused::TooMany | Refused::InputFull | Refused::Storage => {
                    Err(format!("{why:?}"))
                }
            },
            Err(error) => Err(error.to_string()),
        }
    }
}
