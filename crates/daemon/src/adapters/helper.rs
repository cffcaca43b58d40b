//! Runs git as a helper that dies with the daemon.

use std::io;
use std::os::unix::process::ExitStatusExt;

use tidegate_git::{Call, Done, Ending, Exec};
use tidegate_process::helper::{Helper, HelperError, run};

/// Starts git by the permanent thread of helpers.
#[derive(Debug, Clone, Copy, Default)]
pub struct HelperExec;

impl Exec for HelperExec {
    fn exec(&self, call: &Call) -> io::Result<Done> {
        let helper = Helper {
            argv: call.argv.clone(),
            cwd: call.cwd.clone(),
            env: call.env.clone(),
            stdin: call.stdin.clone(),
            source: call.source.clone(),
            sink: call.sink.clone(),
            timeout: call.timeout,
        };
        let output = run(&helper).map_err(|error| match error {
            HelperError::Start { source, .. } | HelperError::Watch { source, .. } => source,
        })?;
        if output.timed_out {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        let ending = match (output.status.code(), output.status.signal()) {
            (Some(code), _) => Ending::Exited(code),
            (None, signal) => Ending::Signalled(signal.unwrap_or(0)),
        };
        Ok(Done { ending, stdout: output.stdout, stderr: output.stderr })
    }
}
