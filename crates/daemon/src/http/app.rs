//! What every handler knows: the engine's handle, the home, and how to look at it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tidegate_core::time::WallMs;
use tidegate_git::Git;
use tidegate_process::peer::KnownShim;
use tidegate_protocol::{ErrorCode, Problem};
use tokio::sync::watch;

use crate::engine::{Command, Handle, Idempotency};
use crate::views::Viewer;

/// Opened homes that are kept for the next request.
const VIEWERS_KEPT: usize = 8;
/// How long the engine may take for one command.
const ENGINE_LIMIT: Duration = Duration::from_secs(25);

/// What the server serves.
#[derive(Debug)]
pub struct Site {
    /// The way into the engine.
    pub handle: Handle,
    /// The home's id, as run tags carry it.
    pub home_id: String,
    /// The git program.
    pub git: Git,
    /// The daemon's version.
    pub version: &'static str,
    /// The daemon's name in events and documents.
    pub supervisor: String,
    /// Its fencing token: generation and epoch.
    pub token: (u64, u64),
    /// When it started, on the wall clock.
    pub started_at: WallMs,
}

/// The state of all handlers.
#[derive(Debug)]
pub(super) struct App {
    pub(super) site: Site,
    /// Turns true when the server is to end: streams end then.
    pub(super) stopping: watch::Receiver<bool>,
    shims: Mutex<(u64, Arc<Vec<KnownShim>>)>,
    viewers: Arc<Viewers>,
}

/// Homes that are open for reading and in nobody's hands.
#[derive(Debug)]
struct Viewers {
    home: PathBuf,
    idle: Mutex<Vec<Viewer>>,
}

impl Viewers {
    /// Asks an opened home. One that failed is not used again.
    fn ask<T>(&self, ask: impl FnOnce(&mut Viewer) -> Result<T, Problem>) -> Result<T, Problem> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut viewer = match idle {
            Some(mut viewer) => {
                viewer.renew()?;
                viewer
            }
            None => Viewer::open(&self.home)?,
        };
        let answer = ask(&mut viewer)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < VIEWERS_KEPT {
            idle.push(viewer);
        }
        Ok(answer)
    }
}

impl App {
    pub(super) fn new(site: Site, stopping: watch::Receiver<bool>) -> Self {
        let home = site.handle.home().to_owned();
        let viewers = Arc::new(Viewers { home, idle: Mutex::default() });
        // No sequence number is that large: the first look is always taken.
        Self { site, stopping, shims: Mutex::new((u64::MAX, Arc::default())), viewers }
    }

    /// Hands a command to the engine and waits for its durable answer.
    pub(super) async fn call(
        &self,
        command: Command,
        idempotency: Option<Idempotency>,
    ) -> Result<Value, Problem> {
        fail::fail_point!("daemon.request.before_call");
        let answer = self.site.handle.call(command, idempotency);
        let answer = tokio::time::timeout(ENGINE_LIMIT, answer).await;
        fail::fail_point!("daemon.request.before_answer");
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(stopping()),
            Err(_) => {
                let limit = ENGINE_LIMIT.as_secs();
                let message = format!("the engine did not answer within {limit} s");
                Err(Problem::new(ErrorCode::RequestTimeout, message))
            }
        }
    }

    /// Asks the home, on a thread that may block.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut Viewer) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let viewers = Arc::clone(&self.viewers);
        block(move || viewers.ask(ask)).await
    }

    /// The shims that live, as the newest durable events have it.
    pub(super) fn shims(&self) -> Result<Arc<Vec<KnownShim>>, Problem> {
        let newest = *self.site.handle.seq().borrow();
        let mut known = self.shims.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != newest {
            let shims = self.viewers.ask(Viewer::living_shims)?;
            *known = (newest, Arc::new(shims));
        }
        Ok(Arc::clone(&known.1))
    }
}

/// Runs what may block, away from the connections.
pub(super) async fn block<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => {
            tracing::error!(%error, "a handler panicked");
            Err(Problem::internal("the request met a fault of Tidegate"))
        }
    }
}

/// The engine takes no more commands.
pub(super) fn stopping() -> Problem {
    Problem::new(ErrorCode::DaemonStopping, "the daemon is ending")
}
