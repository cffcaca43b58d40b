//! The upgraded connection to a job's terminal: bytes both ways, which it does not look into.

use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tidegate_protocol::{
    API_PREFIX, ErrorCode, TERMINAL_UPGRADE, TerminalQuery, VERSION, VERSION_HEADER,
};

use super::command::{Client, Starting, silent, unreachable};
use super::connection::{Trouble, envelope, send};
use super::start;
use crate::error::CliError;
use crate::home::Home;

/// How long the daemon and the job's shim may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// A connection that carries a terminal's frames.
pub(crate) type TerminalLink = TokioIo<Upgraded>;

impl Client<'_> {
    /// Attaches to the terminal of a job. Tries once; a daemon that is not there is started first.
    ///
    /// # Errors
    /// The daemon's refusal, or that none answers.
    pub(crate) async fn terminal(
        &self,
        home: &Home,
        run: &str,
        query: &TerminalQuery,
        starting: Starting,
    ) -> Result<TerminalLink, CliError> {
        match attach(home, run, query).await {
            Err(Trouble::Absent(_)) => {
                let there = home.clone();
                let started = tokio::task::spawn_blocking(move || {
                    start::ensure(&there, starting).map(|_| ())
                });
                started.await.map_err(CliError::bug)??;
            }
            other => return settle(home, other),
        }
        let again = attach(home, run, query).await;
        settle(home, again)
    }
}

type Outcome = Result<Result<TerminalLink, CliError>, Trouble>;

async fn attach(home: &Home, run: &str, query: &TerminalQuery) -> Outcome {
    let TerminalQuery { job, rows, cols, read_only, history } = query;
    let request = Request::get(format!(
        "{API_PREFIX}/runs/{run}/terminal?job={job}&rows={rows}&cols={cols}\
         &readOnly={read_only}&history={history}"
    ))
    .header("host", "tidegate")
    .header(VERSION_HEADER, VERSION)
    .header("connection", "upgrade")
    .header("upgrade", TERMINAL_UPGRADE)
    .body(Full::<Bytes>::default());
    let request = request.map_err(|error| Trouble::Garbled(error.to_string()))?;
    let response = send(home, request, ANSWER_LIMIT).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let upgraded = hyper::upgrade::on(response).await.map_err(Trouble::Broken)?;
        return Ok(Ok(TokioIo::new(upgraded)));
    }
    Ok(match envelope(response, ANSWER_LIMIT).await? {
        Ok(_) => Err(CliError::new(ErrorCode::VersionMismatch, "the daemon knows no terminals")),
        Err(problem) => Err(problem.into()),
    })
}

fn settle(home: &Home, outcome: Outcome) -> Result<TerminalLink, CliError> {
    match outcome {
        Ok(answer) => answer,
        Err(Trouble::Silent(limit)) => Err(silent(limit, home)),
        Err(Trouble::Garbled(what)) => Err(CliError::new(
            ErrorCode::VersionMismatch,
            format!("the daemon's answer is not understood: {what}"),
        )),
        Err(trouble @ (Trouble::Absent(_) | Trouble::Broken(_))) => {
            Err(unreachable(&format!("the daemon went away: {trouble}"), home))
        }
    }
}
