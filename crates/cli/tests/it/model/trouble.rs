//! What goes wrong with a model, in each vendor's own words.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::question::Protocol;

/// A trouble.
#[derive(Debug, Clone)]
pub(crate) enum Trouble {
    /// Too many requests; again after so many seconds.
    Rate(u64),
    /// The account's allowance is used up, until so many seconds from now.
    Usage(u64),
    /// The server broke.
    Server,
    /// The key is refused.
    Auth,
    /// There is no answer, for as long as anybody waits for one.
    Hang,
}

/// An answer that is an error.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

impl Trouble {
    /// The answer; `None`: there is none.
    pub(super) fn refusal(&self, protocol: Protocol) -> Option<Refusal> {
        let after = |seconds: u64| vec![("retry-after", seconds.to_string())];
        let (status, headers, kind, code, message) = match self {
            Self::Hang => return None,
            Self::Rate(seconds) => {
                let message = "the harbour is busy: rate limit reached";
                (429, after(*seconds), "rate_limit_error", "rate_limit_exceeded", message)
            }
            Self::Usage(seconds) => return Some(used_up(*seconds, protocol)),
            Self::Server => (
                500,
                Vec::new(),
                "api_error",
                "server_error",
                "the harbour has an internal server error",
            ),
            Self::Auth => {
                (401, Vec::new(), "authentication_error", "invalid_api_key", "invalid API key")
            }
        };
        let body = match protocol {
            Protocol::Messages => {
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Protocol::Responses | Protocol::Chat => {
                json!({"error": {"message": message, "type": code, "code": code, "param": null}})
            }
            Protocol::Contents => contents(status, message, self.seconds()),
        };
        Some(Refusal { status, headers, body })
    }
    fn seconds(&self) -> u64 {
        match self {
            Self::Rate(seconds) | Self::Usage(seconds) => *seconds,
            Self::Server | Self::Auth | Self::Hang => 0,
        }
    }
}

/// Google's form of an error.
fn contents(status: u16, message: &str, seconds: u64) -> Value {
    let word = match status {
        429 => "RESOURCE_EXHAUSTED",
        401 => "UNAUTHENTICATED",
        _ => "INTERNAL",
    };
    let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": format!("{seconds}s")});
    let details = if status == 429 { json!([retry]) } else { json!([]) };
    json!({"error": {"code": status, "message": message, "status": word, "details": details}})
}

fn used_up(seconds: u64, protocol: Protocol) -> Refusal {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let reset = (now + Duration::from_secs(seconds)).as_secs();
    let message = format!("usage limit reached, try again in {seconds} seconds");
    let body = match protocol {
        Protocol::Messages => {
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": message}})
        }
        Protocol::Responses => json!({"error": {
            "type": "usage_limit_reached", "message": message, "plan_type": "plus", "resets_at": reset,
        }}),
        Protocol::Contents => contents(429, &message, seconds),
        Protocol::Chat => {
            json!({"error": {"message": message, "type": "insufficient_quota", "code": "insufficient_quota"}})
        }
    };
    let mut headers = vec![("retry-after", seconds.to_string())];
    if protocol == Protocol::Messages {
        headers.push(("anthropic-ratelimit-unified-status", "rejected".to_owned()));
        headers.push(("anthropic-ratelimit-unified-reset", reset.to_string()));
    }
    Refusal { status: 429, headers, body }
}
