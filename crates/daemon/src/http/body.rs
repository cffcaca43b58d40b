//! Bodies of requests: read up to a limit, parsed, and named by their hash.

use axum::body::Bytes;
use axum::http::HeaderMap;
use serde::de::DeserializeOwned;
use tidegate_protocol::{ErrorCode, IDEMPOTENCY_HEADER, Problem};

use crate::engine::Idempotency;

/// Longest idempotency key, in bytes.
const KEY_BYTES_MAX: usize = 128;

/// Reads the JSON of a body; an empty one is an empty object.
pub(super) fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, Problem> {
    let text: &[u8] = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(text).map_err(|error| {
        Problem::invalid_input(format!("the body of the request does not fit: {error}"))
    })
}

/// The key that the client gave, with the hash of what it names: `what` and the body.
pub(super) fn idempotency(
    headers: &HeaderMap,
    actor: &str,
    what: &str,
    body: &Bytes,
) -> Result<Option<Idempotency>, Problem> {
    let Some(key) = headers.get(IDEMPOTENCY_HEADER) else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX);
    let Some(key) = key else {
        let message = format!("an idempotency key has 1 to {KEY_BYTES_MAX} visible characters");
        return Err(Problem::new(ErrorCode::InvalidInput, message));
    };
    let mut named = what.as_bytes().to_vec();
    named.push(0);
    named.extend_from_slice(body);
    Ok(Some(Idempotency {
        actor: actor.to_owned(),
        key: key.to_owned(),
        body_hash: tidegate_store::blob_id(&named).to_string(),
    }))
}
