//! `GET /runs/{id}/terminal`: attaches the caller to a job's terminal.
//!
//! The terminal lives in the job's shim; the daemon only passes bytes on, both ways, and never reads
//! them. When it ends, the client finds its way back by itself.

use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tidegate_process::control::{Attach, Refused};
use tidegate_process::{ControlClient, ControlError, JobDir};
use tidegate_protocol::{ErrorCode, Problem, TERMINAL_UPGRADE, TerminalQuery};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::app::{App, block};
use super::guard::check_version;
use super::peer::Caller;
use super::reply;
use super::scope::{Scope, forbidden, scope_of};
use crate::views::JobTerminal;

/// How long a shim may take to answer.
const SHIM_PATIENCE: Duration = Duration::from_secs(3);

/// An attached connection to a shim, and the first bytes that it sent.
pub(super) struct Attached {
    stream: StdStream,
    received: Vec<u8>,
}

pub(super) async fn attach(
    State(app): State<Arc<App>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    Path(id): Path<String>,
    query: Result<Query<TerminalQuery>, QueryRejection>,
    mut request: Request,
) -> Response {
    let work = async {
        check_version(request.headers(), app.site.version)?;
        let Query(query) = query.map_err(|error| Problem::invalid_input(error.body_text()))?;
        let asked = request.headers().get(header::UPGRADE);
        let asked = asked.is_some_and(|name| name.as_bytes() == TERMINAL_UPGRADE.as_bytes());
        let upgrade = request.extensions_mut().remove::<OnUpgrade>().filter(|_| asked);
        let upgrade = upgrade.ok_or_else(|| {
            Problem::invalid_input(format!("the request needs `Upgrade: {TERMINAL_UPGRADE}`"))
        })?;
        Ok((upgrade, open(&app, &caller, &id, query).await?))
    };
    match work.await {
        Ok((upgrade, attached)) => {
            let stopping = app.stopping.clone();
            tokio::spawn(async move {
                if let Ok(client) = upgrade.await {
                    relay(TokioIo::new(client), attached, stopping).await;
                }
            });
            switching()
        }
        Err(refusal) => reply::problem(refusal),
    }
}

fn switching() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static(TERMINAL_UPGRADE));
    response
}

/// Attaches to the terminal of a job, if the caller may. A process inside a job may watch the jobs of
/// its own run and type in none.
pub(super) async fn open(
    app: &App,
    caller: &Caller,
    id: &str,
    query: TerminalQuery,
) -> Result<Attached, Problem> {
    let scope = scope_of(app, caller)?;
    let (run, job) = (id.to_owned(), query.job.clone());
    let read_only = query.read_only;
    let terminal = app.look(move |viewer| {
        let run = viewer.resolve(&run).map_err(|refusal| match &scope {
            Scope::User { .. } => refusal,
            Scope::Job(_) => forbidden("a process inside a job sees its own run only"),
        })?;
        scope.require_own(&run)?;
        if !read_only && scope.require_user().is_err() {
            return Err(forbidden("a process inside a job may watch terminals, not type in them"));
        }
        viewer.terminal(run.as_str(), &job)
    });
    let (terminal, token) = (terminal.await?, app.site.token);
    let attach = Attach {
        rows: query.rows,
        cols: query.cols,
        read_only: query.read_only,
        history: query.history,
    };
    block(move || connect(&terminal, token, attach)).await
}

fn connect(terminal: &JobTerminal, token: (u64, u64), attach: Attach) -> Result<Attached, Problem> {
    fail::fail_point!("daemon.terminal.before_attach");
    let dir = JobDir::open(&terminal.dir)
        .map_err(|error| Problem::new(ErrorCode::Io, error.to_string()))?;
    let attached = ControlClient::connect(&dir, &terminal.nonce, token, SHIM_PATIENCE)
        .and_then(|(client, _)| client.attach(attach));
    let (stream, received) = attached.map_err(|error| refusal(&error))?;
    fail::fail_point!("daemon.terminal.after_attach");
    Ok(Attached { stream, received })
}

fn refusal(error: &ControlError) -> Problem {
    let code = match error {
        ControlError::Refused { why, .. } => match why {
            Refused::NoTerminal | Refused::NoInput => ErrorCode::NoTerminal,
            Refused::TooMany | Refused::InputFull => ErrorCode::Busy,
            Refused::UnknownOp | Refused::BadRequest | Refused::Unknown => {
                ErrorCode::UnsupportedCommand
            }
            Refused::AlreadyEnded | Refused::InputClosed | Refused::OutOfOrder => {
                ErrorCode::InvalidStatusTransition
            }
            Refused::StaleEpoch => ErrorCode::DaemonStopping,
            Refused::Storage => ErrorCode::StorageFull,
        },
        ControlError::Io { source, .. } if is_silence(source) => ErrorCode::ShimUnresponsive,
        // Nobody listens any more: the job has just ended.
        ControlError::Io { .. } => ErrorCode::InvalidStatusTransition,
        ControlError::Protocol { .. } | ControlError::OtherNonce => ErrorCode::Internal,
    };
    Problem::new(code, format!("cannot attach: {error}"))
}

fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

/// Passes bytes on until either side ends, or the daemon does.
pub(super) async fn relay(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    attached: Attached,
    mut stopping: watch::Receiver<bool>,
) {
    let Attached { stream, received } = attached;
    let shim = stream.set_nonblocking(true).and_then(|()| UnixStream::from_std(stream));
    let Ok(mut shim) = shim else { return };
    if client.write_all(&received).await.is_err() {
        return;
    }
    tokio::select! {
        // Either may go at any moment; both are told by the end of their stream.
        _ = tokio::io::copy_bidirectional(&mut client, &mut shim) => {}
        _ = stopping.wait_for(|stop| *stop) => {}
    }
}
