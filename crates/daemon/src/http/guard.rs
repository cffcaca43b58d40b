//! What stands before every handler: the version of the client, limits in time and size, and an
//! envelope for whatever else would be answered.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt;
use tidegate_protocol::{BODY_BYTES_MAX, ErrorCode, Problem, VERSION_HEADER};

use super::app::App;
use super::reply;

/// How long one request may take, its body included. Streams have begun to answer long before.
const REQUEST_LIMIT: Duration = Duration::from_secs(28);
/// Bytes of a foreign refusal that are repeated.
const REFUSAL_BYTES_MAX: usize = 1024;

/// Lets a request through, or answers in its place.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = AssertUnwindSafe(pass(&app, request, next)).catch_unwind();
    match tokio::time::timeout(REQUEST_LIMIT, answer).await {
        Ok(Ok(Ok(response))) => response,
        Ok(Ok(Err(refusal))) => reply::problem(refusal),
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

async fn pass(app: &App, request: Request, next: Next) -> Result<Response, Problem> {
    let reads = request.method() == Method::GET || request.method() == Method::HEAD;
    if reads {
        return Ok(in_envelope(next.run(request).await).await);
    }
    check_version(request.headers(), app.site.version)?;
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, BODY_BYTES_MAX).await.map_err(|error| bad_body(&error))?;
    let request = Request::from_parts(parts, Body::from(bytes));
    Ok(in_envelope(next.run(request).await).await)
}

fn bad_body(error: &axum::Error) -> Problem {
    let text = error.to_string();
    if text.contains("length limit") {
        let message = format!("the body has more than {BODY_BYTES_MAX} bytes");
        return Problem::new(ErrorCode::BodyTooLarge, message);
    }
    Problem::invalid_input(format!("the body of the request broke off: {text}"))
}

/// Puts a refusal that the router made by itself into an envelope.
async fn in_envelope(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let ours = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if ours || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let text = to_bytes(response.into_body(), REFUSAL_BYTES_MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let code = match status {
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => ErrorCode::UnsupportedCommand,
        status if status.is_server_error() => ErrorCode::Internal,
        _ => ErrorCode::InvalidInput,
    };
    reply::problem(Problem::new(code, if text.is_empty() { status.to_string() } else { text }))
}

/// A client of another version may read, but not command.
pub(super) fn check_version(headers: &HeaderMap, own: &str) -> Result<(), Problem> {
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
