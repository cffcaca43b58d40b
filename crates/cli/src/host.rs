//! The daemon as a process, seen from the command line: in the foreground, replaced, stopped.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_daemon::engine::EngineError;
use tidegate_daemon::host::{HomeLog, HostError, Options, Outcome};
use tidegate_daemon::views::{open_problem, store_problem};
use tidegate_daemon::{Bounds, ShimProgram};
use tidegate_protocol::{ErrorCode, StopDaemonRequest};

use crate::client::{self, Client, Starting};
use crate::error::CliError;
use crate::home::Home;
use crate::inside::is_inside_job;
use crate::read;

/// How long a daemon that was told to end may hold its lock: it stops within 5 s.
const STOP_LIMIT: Duration = Duration::from_secs(15);
/// Pause between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(3);

/// How a daemon is run in this process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    /// Ends once nothing runs and nothing waits.
    pub(crate) once: bool,
    /// Leaves the session of the terminal first.
    pub(crate) detached: bool,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Another one holds the lock.
    AlreadyRunning,
    /// In good order.
    Stopped,
}

/// Runs the daemon until it ends.
///
/// # Errors
/// When it may not run here, or the home cannot be used.
pub(crate) fn run(home: &Home, mode: Mode) -> Result<Ended, CliError> {
    if is_inside_job(home) {
        return Err(CliError::new(
            ErrorCode::ForbiddenScope,
            "a daemon that starts inside a job of its home would end with that job",
        )
        .hint("start it outside of the job"));
    }
    if mode.detached {
        // A fresh child leads no group, so it can leave its session.
        rustix::process::setsid().map_err(CliError::bug)?;
    }
    // A log that cannot be written, on a full disk, must not end the daemon: the fallback panics.
    let log = tracing_subscriber::fmt().with_ansi(false).log_internal_errors(false);
    let own = mode.detached.then(|| HomeLog::open(home.path()).ok()).flatten();
    let _ = match own {
        Some(own) => log.with_writer(Mutex::new(own)).try_init(),
        None => log.with_writer(std::io::stderr).try_init(),
    };
    match tidegate_daemon::host::run(&options(home, mode.once)) {
        Ok(Outcome::AlreadyRunning { .. }) => Ok(Ended::AlreadyRunning),
        Ok(Outcome::Ended) => Ok(Ended::Stopped),
        Err(error) => Err(host_error(&error)),
    }
}

/// Ends the present daemon by proved identity, and starts another.
///
/// # Errors
/// When the identity cannot be proved, or the new one does not answer.
pub(crate) fn take_over(home: &Home) -> Result<(), CliError> {
    if is_inside_job(home) {
        return Err(CliError::new(
            ErrorCode::ForbiddenScope,
            "a process inside a job may not replace the daemon",
        ));
    }
    end_present(home)?;
    client::ensure(home, Starting::WhenAbsent).map(|_| ())
}

/// Stops the daemon; false when none ran. With `drain` once nothing runs and nothing waits.
///
/// # Errors
/// When it does not answer, or does not end.
pub(crate) fn stop(home: &Home, drain: bool) -> Result<bool, CliError> {
    let present = read::daemon(home)?;
    if !present.running {
        return Ok(false);
    }
    // Somebody who follows may have started another one at once: that is not the one to wait for.
    let is_there = || {
        let now = read::daemon(home)?;
        Ok::<_, CliError>(now.running && (now.epoch, now.pid) == (present.epoch, present.pid))
    };
    let client = Client::new(home)?;
    let asked: Result<Value, CliError> =
        client.post("/daemon/stop", &StopDaemonRequest { drain }, Starting::Never);
    if let Err(error) = asked {
        // It may have ended between the look and the question.
        return if is_there()? { Err(error) } else { Ok(true) };
    }
    let begun = Instant::now();
    while is_there()? {
        if !drain && begun.elapsed() >= STOP_LIMIT {
            return Err(CliError::new(
                ErrorCode::DaemonUnreachable,
                format!("the daemon does not end within {} s", STOP_LIMIT.as_secs()),
            )
            .hint("`tidegate daemon start --takeover` replaces it; jobs go on"));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(true)
}

/// Stops the daemon, if one runs, and starts one of this version. One that does not understand us
/// is replaced.
///
/// # Errors
/// As [`stop`] and [`take_over`].
pub(crate) fn restart(home: &Home) -> Result<(), CliError> {
    match stop(home, false) {
        Ok(_) => client::ensure(home, Starting::WhenAbsent).map(|_| ()),
        Err(error) if error.code() == Some(ErrorCode::VersionMismatch) => take_over(home),
        Err(error) => Err(error),
    }
}

fn end_present(home: &Home) -> Result<(), CliError> {
    match tidegate_daemon::host::takeover(home.path()) {
        Ok(_) => Ok(()),
        Err(error) => Err(CliError::new(ErrorCode::DaemonUnreachable, error.to_string())
            .hint("find out what holds the lock, and end it by hand")),
    }
}

/// What the user's own config says about a home. One that does not read is told of by the verbs that
/// need it, and keeps no daemon from running.
fn users_config() -> tidegate_config::Config {
    let files = crate::work::config_files(None).unwrap_or_default();
    tidegate_config::load_config(&files).config
}

fn options(home: &Home, once: bool) -> Options {
    let config = users_config();
    #[cfg_attr(not(feature = "failpoints"), expect(unused_mut, reason = "faults are off"))]
    let mut options = Options {
        home: home.path().to_owned(),
        once,
        shim: ShimProgram::default(),
        commands_kept_ms: config.commands_kept_ms.value,
        worktrees: Bounds {
            max: config.worktrees_max.value,
            max_bytes: config.worktrees_bytes_max.value,
        },
    };
    // A shim gets no environment but what is given here.
    #[cfg(feature = "failpoints")]
    options.shim.env.extend(crate::faults::inherited());
    options
}

fn host_error(error: &HostError) -> CliError {
    let text = error.to_string();
    match error {
        HostError::Open(source) => open_problem(source).into(),
        HostError::Epoch(source) | HostError::Engine(EngineError::Store(source)) => {
            store_problem(source).into()
        }
        HostError::Io { .. } | HostError::Lock(_) => CliError::new(ErrorCode::Io, text),
        HostError::Engine(EngineError::Replaced) => {
            CliError::new(ErrorCode::DaemonStopping, format!("the engine ended: {text}"))
        }
    }
}
