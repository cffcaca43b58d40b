//! Calls of git that talk to a remote: never asking a person, never waiting without end. It must not know what is said.

use std::time::Duration;

use crate::error::{GitError, Result};
use crate::exec::Done;
use crate::invocation::{Invocation, tail};
use crate::repo::Repo;

/// Why a remote gave no answer. Nothing was changed there, as far as can be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkFailure {
    /// It wants credentials that neither an agent nor a helper of the user has. A person must act.
    AuthNeeded {
        /// The end of what git printed.
        output: String,
    },
    /// It cannot be reached, or is not there. Worth another try.
    Unreachable {
        /// The end of what git printed.
        output: String,
    },
}

/// Settings by which a dead connection ends: a transfer that falls below 1 kB/s for half a minute.
const SETTINGS: [&str; 3] =
    ["http.lowSpeedLimit=1000", "http.lowSpeedTime=30", "credential.interactive=false"];

const WORDS_OF_AUTH: [&str; 9] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "Permission denied (",
    "Host key verification failed",
    "returned error: 401",
    "returned error: 403",
    "HTTP Basic: Access denied",
];

const WORDS_OF_DISTANCE: [&str; 9] = [
    "Could not read from remote repository",
    "does not appear to be a git repository",
    "unable to access",
    "Could not resolve host",
    "unable to connect",
    "unable to look up",
    "hung up unexpectedly",
    "early EOF",
    "not found",
];

impl Repo {
    /// Makes a call one that talks to a remote.
    pub(crate) fn on_network<'a>(
        &self,
        mut call: Invocation<'a>,
        limit: Duration,
    ) -> Result<Invocation<'a>> {
        for setting in SETTINGS {
            call = call.global("-c").global(setting);
        }
        call = call.env("GCM_INTERACTIVE", "never").within(limit);
        if let Some(ssh) = self.quiet_ssh()? {
            call = call.env("GIT_SSH_COMMAND", ssh);
        }
        Ok(call)
    }

    /// The user's way to start ssh, told not to ask; `None` when it is another program, which is left alone.
    fn quiet_ssh(&self) -> Result<Option<String>> {
        let call = self.read("asking how ssh is started");
        let done = call.args(["config", "--get", "core.sshCommand"]).done()?;
        let configured = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        let command = if done.success() && !configured.is_empty() { &*configured } else { "ssh" };
        let program = command.split_whitespace().next().unwrap_or_default();
        let is_ssh = program.rsplit('/').next() == Some("ssh");
        let options = "-o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15";
        Ok(is_ssh.then(|| format!("{command} {options}")))
    }
}

/// Sorts a call that failed on its way to the remote; `Err` when it failed for another reason.
pub(crate) fn network_failure(call: &Invocation<'_>, done: &Done) -> Result<NetworkFailure> {
    let text = String::from_utf8_lossy(&done.stderr);
    let output = tail(&done.stderr);
    if WORDS_OF_AUTH.iter().any(|words| text.contains(words)) {
        Ok(NetworkFailure::AuthNeeded { output })
    } else if WORDS_OF_DISTANCE.iter().any(|words| text.contains(words)) {
        Ok(NetworkFailure::Unreachable { output })
    } else {
        Err(call.refused(done))
    }
}

/// A call that ran out of time did not reach the remote either.
pub(crate) fn unreachable_in_time<T>(
    outcome: Result<T>,
) -> Result<std::result::Result<T, NetworkFailure>> {
    match outcome {
        Err(error @ GitError::Timeout { .. }) => {
            Ok(Err(NetworkFailure::Unreachable { output: error.to_string() }))
        }
        other => other.map(Ok),
    }
}
