//! Answers: always an envelope, with the HTTP status of its code.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use tidegate_protocol::{Envelope, Problem};

/// An envelope with data.
pub(super) fn data(data: impl Serialize) -> Response {
    match serde_json::to_vec(&Envelope::data(data)) {
        Ok(bytes) => json(StatusCode::OK, bytes),
        Err(error) => problem(Problem::internal(format!("the answer cannot be written: {error}"))),
    }
}

/// An envelope with a refusal.
pub(super) fn problem(problem: Problem) -> Response {
    let status = StatusCode::from_u16(problem.code.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let bytes = serde_json::to_vec(&Envelope::<()>::error(problem)).unwrap_or_default();
    json(status, bytes)
}

/// Either.
pub(super) fn reply(result: Result<impl Serialize, Problem>) -> Response {
    match result {
        Ok(answer) => data(answer),
        Err(refusal) => problem(refusal),
    }
}

fn json(status: StatusCode, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    let store = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, store);
    response
}
