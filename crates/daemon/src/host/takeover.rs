//! Replacing a daemon that does not answer: raise the epoch, end it by proved identity.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use tidegate_core::exit::Identity;
use tidegate_process::{HomeLock, identity};
use tidegate_store::Store;

use super::files::HomeFiles;
use crate::clock;

/// How long the store may take to give a new epoch before the old daemon is ended without.
const STORE_PATIENCE: Duration = Duration::from_secs(2);
/// How long a killed daemon may take to be gone.
const END_PATIENCE: Duration = Duration::from_secs(10);
const SIGKILL: i32 = 9;

/// Why a daemon was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum TakeoverError {
    /// What holds the lock could not be proved to be the daemon that wrote its note.
    #[error("the holder of {lock} cannot be proved: {why}")]
    NotProved {
        /// The lock.
        lock: String,
        /// What is missing.
        why: String,
    },
    /// The operating system refused.
    #[error("{doing}: {source}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// It was killed, but is still there.
    #[error("process {pid} was killed and is still there")]
    StillThere {
        /// Its pid.
        pid: u32,
    },
}

/// Ends the daemon of `home`, if there is one. Returns the pid of the one that was ended.
///
/// # Errors
/// [`TakeoverError`]; nothing was signalled when the identity could not be proved.
pub fn takeover(home: &Path) -> Result<Option<u32>, TakeoverError> {
    let lock = HomeFiles::new(home).lock();
    let io = |doing| move |source| TakeoverError::Io { doing, source };
    let probe = HomeLock::probe(&lock).map_err(io("look at the lock"))?;
    if !probe.held {
        return Ok(None);
    }
    let not_proved = |why: &str| TakeoverError::NotProved {
        lock: lock.display().to_string(),
        why: why.to_owned(),
    };
    let note = probe.note.ok_or_else(|| not_proved("its note does not read"))?;
    let holds = HomeLock::is_holder(&lock, &note.daemon).map_err(io("prove the holder"))?;
    if !holds {
        return Err(not_proved("the process of its note does not hold it"));
    }
    raise_epoch(home);
    fail::fail_point!("daemon.takeover.before_kill");
    identity::signal(&note.daemon, SIGKILL).map_err(io("end the old daemon"))?;
    fail::fail_point!("daemon.takeover.after_kill");
    wait_for_end(&note.daemon)?;
    Ok(Some(note.daemon.pid))
}

/// Fences the old daemon off, if the store answers in time.
fn raise_epoch(home: &Path) {
    let (sender, raised) = channel();
    let home = home.to_owned();
    // A stopped daemon may hold SQLite's write lock: the thread is left behind then.
    let raise = move || {
        let outcome =
            Store::open(&home).map_err(|error| error.to_string()).and_then(|mut store| {
                let pid = std::process::id();
                let version = env!("CARGO_PKG_VERSION");
                store.begin_epoch(pid, version, clock::wall()).map_err(|error| error.to_string())
            });
        let _ = sender.send(outcome.map(|began| began.token));
    };
    let started = std::thread::Builder::new().name("raise-epoch".into()).spawn(raise);
    match started.map(|_| raised.recv_timeout(STORE_PATIENCE)) {
        Ok(Ok(Ok(token))) => tracing::info!(epoch = token.epoch, "the old daemon is fenced off"),
        Ok(Ok(Err(error))) => tracing::warn!(error, "the epoch was not raised"),
        Ok(Err(_)) => tracing::warn!("the store did not answer in time"),
        Err(error) => tracing::warn!(%error, "no thread to raise the epoch"),
    }
}

fn wait_for_end(daemon: &Identity) -> Result<(), TakeoverError> {
    let deadline = std::time::Instant::now() + END_PATIENCE;
    let io = |source| TakeoverError::Io { doing: "watch the old daemon", source };
    loop {
        let Some(proved) = identity::prove(daemon).map_err(io)? else { return Ok(()) };
        let rest = deadline.saturating_duration_since(std::time::Instant::now());
        if rest.is_zero() {
            return Err(TakeoverError::StillThere { pid: daemon.pid });
        }
        let pidfd = proved.into_fd();
        let mut fds = [rustix::event::PollFd::new(&pidfd, rustix::event::PollFlags::IN)];
        let timeout = rustix::time::Timespec {
            tv_sec: i64::try_from(rest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(rest.subsec_nanos()),
        };
        rustix::event::poll(&mut fds, Some(&timeout)).map_err(|error| io(error.into()))?;
    }
}
