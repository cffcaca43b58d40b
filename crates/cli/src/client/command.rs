//! Commands to the daemon: sent until they are answered, under one key, so that each is carried
//! out once however often its connection breaks.

use std::fmt::Write;
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tidegate_protocol::{
    API_PREFIX, ErrorCode, IDEMPOTENCY_HEADER, Problem, VERSION, VERSION_HEADER,
};
use tokio::runtime::Runtime;

use super::connection::{Trouble, envelope, send};
use super::start;
use super::vigil::{PATIENCE, UNANSWERED};
use crate::error::CliError;
use crate::home::Home;
use crate::output::talk;

/// How long one answer is waited for. A commit takes milliseconds; a slow disk takes seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long a command is repeated in all.
const COMMAND_LIMIT: Duration = Duration::from_mins(1);
/// The first pause before a repetition; each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// Whether a command starts the daemon when none runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Starting {
    /// It does, unless it runs inside a job of this home.
    WhenAbsent,
    /// It does not.
    Never,
}

/// Talks to the daemon of one home.
pub(crate) struct Client<'h> {
    home: &'h Home,
    runtime: Runtime,
}

impl<'h> Client<'h> {
    /// Makes the runtime; connects to nothing yet.
    ///
    /// # Errors
    /// When the system gives no descriptors for it.
    pub(crate) fn new(home: &'h Home) -> Result<Self, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|source| CliError::io("start the client for", home.path(), &source))?;
        Ok(Self { home, runtime })
    }

    /// Runs a future to its end.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Sends a command and gives its answer once it is durable.
    ///
    /// # Errors
    /// The daemon's refusal, or that no daemon answers.
    pub(crate) fn post<A: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        starting: Starting,
    ) -> Result<A, CliError> {
        self.command("POST", path, body, starting)
    }

    /// As [`Client::post`], to remove something.
    ///
    /// # Errors
    /// As [`Client::post`].
    pub(crate) fn delete<A: DeserializeOwned>(
        &self,
        path: &str,
        starting: Starting,
    ) -> Result<A, CliError> {
        self.command("DELETE", path, &serde_json::Map::new(), starting)
    }

    fn command<A: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: &impl Serialize,
        starting: Starting,
    ) -> Result<A, CliError> {
        let body = Bytes::from(serde_json::to_vec(body).map_err(CliError::bug)?);
        let key = random_key()?;
        let ask = || {
            Request::builder()
                .method(method)
                .uri(format!("{API_PREFIX}{path}"))
                .header("host", "tidegate")
                .header("content-type", "application/json")
                .header(VERSION_HEADER, VERSION)
                .header(IDEMPOTENCY_HEADER, &key)
                .body(Full::new(body.clone()))
                .map_err(CliError::bug)
        };
        let answer = self.runtime.block_on(self.repeat(ask, starting))?;
        serde_json::from_value(answer).map_err(|error| garbled(&error.to_string()))
    }

    async fn repeat(
        &self,
        ask: impl Fn() -> Result<Request<Full<Bytes>>, CliError>,
        starting: Starting,
    ) -> Result<Value, CliError> {
        let begun = Instant::now();
        let mut pause = PAUSE_FIRST;
        loop {
            let trouble = match self.with_patience(ask()?).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(problem)) if !passes_by_itself(&problem) => return Err(problem.into()),
                Ok(Err(problem)) => CliError::from(problem),
                Err(Trouble::Absent(_)) => {
                    // Converges: of several starters one wins, and each waits for an answer.
                    start::ensure(self.home, starting)?;
                    unreachable("the daemon ends again and again right after its start", self.home)
                }
                Err(Trouble::Broken(error)) => {
                    unreachable(&format!("the connection to the daemon breaks: {error}"), self.home)
                }
                Err(Trouble::Silent(limit)) => return Err(silent(limit, self.home)),
                Err(Trouble::Garbled(what)) => return Err(garbled(&what)),
            };
            if begun.elapsed() >= COMMAND_LIMIT {
                return Err(trouble);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// An exchange that says so when it takes long.
    async fn with_patience(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Result<Value, Problem>, Trouble> {
        let exchange = self.exchange(request);
        tokio::pin!(exchange);
        if let Ok(answer) = tokio::time::timeout(PATIENCE, &mut exchange).await {
            return answer;
        }
        talk(format_args!("{UNANSWERED}. This gives up after a minute"));
        exchange.await
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Result<Value, Problem>, Trouble> {
        let response = send(self.home, request, ANSWER_LIMIT).await?;
        envelope(response, ANSWER_LIMIT).await
    }
}

/// A refusal that ends without anybody acting, within seconds.
fn passes_by_itself(problem: &Problem) -> bool {
    matches!(problem.code, ErrorCode::Busy | ErrorCode::DaemonStopping)
}

/// No daemon can be reached.
pub(super) fn unreachable(why: &str, home: &Home) -> CliError {
    CliError::new(ErrorCode::DaemonUnreachable, format!("{why} (home {})", home.path().display()))
}

/// A daemon is there and does not answer.
pub(super) fn silent(limit: Duration, home: &Home) -> CliError {
    let text = format!("the daemon does not answer within {} s", limit.as_secs());
    unreachable(&text, home)
        .hint("`tidegate daemon start --takeover` replaces one that hangs; jobs go on")
}

fn garbled(what: &str) -> CliError {
    let text = format!("the daemon's answer is not understood: {what}");
    CliError::new(ErrorCode::VersionMismatch, text)
        .hint("`tidegate daemon restart` runs the daemon of this version")
}

fn random_key() -> Result<String, CliError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(CliError::bug)?;
    Ok(bytes.iter().fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
