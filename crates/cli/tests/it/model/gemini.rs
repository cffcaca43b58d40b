//! An answer in the form of Google's `generateContent`.

use serde_json::{Value, json};

use super::exchange::{Event, Reply};
use super::tool::{Call, Input};

/// What is said, then what is called.
pub(super) fn reply(said: &str, call: Option<Call>) -> Reply {
    let mut parts = Vec::new();
    if !said.is_empty() {
        parts.push(json!({ "text": said }));
    }
    if let Some(Call { name, input, .. }) = call {
        let input = match input {
            Input::Named(values) => values,
            Input::Free(text) | Input::Search(text) => json!({ "input": text }),
        };
        parts.push(json!({"functionCall": {"name": name, "args": input}}));
    }
    let content = json!({"role": "model", "parts": parts});
    let whole: Value = json!({
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1200, "cachedContentTokenCount": 200,
            "candidatesTokenCount": 34, "totalTokenCount": 1234},
    });
    Reply { events: vec![Event { name: None, data: whole.to_string() }], whole }
}
