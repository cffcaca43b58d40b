//! An answer in the form of Anthropic's messages.

use serde_json::{Value, json};

use super::exchange::{Event, Reply};
use super::tool::{Call, Input};

/// What is said, then what is called.
pub(super) fn reply(model: &Value, said: &str, call: Option<Call>) -> Reply {
    let used = json!({"input_tokens": 1000, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 200, "output_tokens": 34});
    let stop = if call.is_some() { "tool_use" } else { "end_turn" };
    let mut blocks = Vec::new();
    if !said.is_empty() {
        blocks.push(json!({"type": "text", "text": said}));
    }
    if let Some(Call { name, input, .. }) = call {
        let input = match input {
            Input::Named(values) => values,
            Input::Free(text) | Input::Search(text) => json!({ "input": text }),
        };
        let id = super::exchange::fresh("toolu_");
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    let mut whole = json!({"id": super::exchange::fresh("msg_"), "type": "message", "role": "assistant",
        "model": model, "content": [], "stop_reason": null, "stop_sequence": null, "usage": used});
    let mut events = vec![event("message_start", &json!({"message": whole}))];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, delta) = pieces(block);
        events.push(event("content_block_start", &json!({"index": index, "content_block": empty})));
        events.push(event("content_block_delta", &json!({"index": index, "delta": delta})));
        events.push(event("content_block_stop", &json!({"index": index})));
    }
    let end = json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": used});
    events.push(event("message_delta", &end));
    events.push(event("message_stop", &json!({})));
    whole["content"] = json!(blocks);
    whole["stop_reason"] = json!(stop);
    Reply { events, whole }
}

/// A block before anything stands in it, and all that comes into it.
fn pieces(block: &Value) -> (Value, Value) {
    let mut empty = block.clone();
    if block["type"] == "tool_use" {
        empty["input"] = json!({});
        let delta = json!({"type": "input_json_delta", "partial_json": block["input"].to_string()});
        return (empty, delta);
    }
    empty["text"] = json!("");
    (empty, json!({"type": "text_delta", "text": block["text"]}))
}

fn event(name: &'static str, data: &Value) -> Event {
    let mut data = data.clone();
    data["type"] = json!(name);
    Event { name: Some(name), data: data.to_string() }
}
