//! What stands before every handler: the version of the client, a limit in time, and an envelope
//! for what panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt;
use tidegate_protocol::{ErrorCode, Problem, VERSION_HEADER};

use super::app::App;
use super::reply;

/// How long one request may take, its body included. Streams have begun to answer long before.
const REQUEST_LIMIT: Duration = Duration::from_secs(28);

/// Lets a request through, or answers in its place.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let writes = request.method() != Method::GET && request.method() != Method::HEAD;
    if writes && let Err(refusal) = check_version(request.headers(), app.site.version) {
        return reply::problem(refusal);
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind();
    match tokio::time::timeout(REQUEST_LIMIT, answer).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => {
            tracing::error!(%method, path, "a handler panicked");
            reply::problem(Problem::internal("the request met a fault of Tidegate"))
        }
        Err(_) => {
            let limit = REQUEST_LIMIT.as_secs();
            let message = format!("the request was not done within {limit} s");
            reply::problem(Problem::new(ErrorCode::RequestTimeout, message))
        }
    }
}

/// A client of another version may read, but not command.
fn check_version(headers: &HeaderMap, own: &str) -> Result<(), Problem> {
    let Some(theirs) = headers.get(VERSION_HEADER) else { return Ok(()) };
    let theirs = String::from_utf8_lossy(theirs.as_bytes());
    if theirs == own {
        return Ok(());
    }
    let message = format!("the client has version {theirs}, the daemon {own}");
    Err(Problem::new(ErrorCode::VersionMismatch, message)
        .hint("`tidegate daemon restart` runs the daemon of the client's version")
        .with("client", theirs.into_owned())
        .with("daemon", own))
}
