//! Bodies of requests: read up to a limit, parsed, and named by their hash.

use axum::body::Bytes;
use axum::http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tidegate_protocol::{ErrorCode, IDEMPOTENCY_HEADER, Problem};

use crate::engine::Idempotency;

/// Longest idempotency key, in bytes.
const KEY_BYTES_MAX: usize = 128;

/// Bytes of what was asked that a record keeps.
const ARGS_BYTES_MAX: usize = 8 * 1024;
/// Fields that no record keeps: the environment, whole files, secrets.
const UNTOLD: [&str; 8] =
    ["env", "plan", "config", "userConfig", "specs", "token", "approvalToken", "spec"];

/// Reads the JSON of a body; an empty one is an empty object.
pub(super) fn parse<T: DeserializeOwned>(body: &Bytes) -> Result<T, Problem> {
    let text: &[u8] = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(text).map_err(|error| {
        Problem::invalid_input(format!("the body of the request does not fit: {error}"))
    })
}

/// The key that the client gave, or a fresh one, with the hash of what it names (`what` and the
/// body) and what was asked, for the record.
pub(super) fn idempotency(
    headers: &HeaderMap,
    actor: &str,
    what: &str,
    body: &Bytes,
) -> Result<Option<Idempotency>, Problem> {
    let key = match headers.get(IDEMPOTENCY_HEADER) {
        None => random_key()?,
        Some(key) => {
            let key = key.to_str().ok();
            let fits = |key: &&str| !key.is_empty() && key.len() <= KEY_BYTES_MAX;
            let Some(key) = key.filter(fits) else {
                let message =
                    format!("an idempotency key has 1 to {KEY_BYTES_MAX} visible characters");
                return Err(Problem::new(ErrorCode::InvalidInput, message));
            };
            key.to_owned()
        }
    };
    let mut named = what.as_bytes().to_vec();
    named.push(0);
    named.extend_from_slice(body);
    Ok(Some(Idempotency {
        actor: actor.to_owned(),
        key,
        body_hash: tidegate_store::blob_id(&named).to_string(),
        args: args(body),
    }))
}

/// A key that no client has.
fn random_key() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Problem::internal(format!("no random bits: {error}")))?;
    Ok(format!("own-{:032x}", u128::from_be_bytes(bytes)))
}

/// What a record says of a body: no environment, no file, no secret, and no more than fits.
fn args(body: &Bytes) -> Value {
    let mut args: Value = serde_json::from_slice(body).unwrap_or_default();
    shorten(&mut args);
    let bytes = args.to_string().len();
    if bytes <= ARGS_BYTES_MAX { args } else { json!({ "bytes": bytes }) }
}

fn shorten(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // The work of a submit may be a plan; a plan's text is one.
            map.retain(|key, value| {
                !UNTOLD.contains(&key.as_str()) || (key == "plan" && value.is_object())
            });
            map.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
