//! An answer in the form of `OpenAI`'s responses.

use serde_json::{Value, json};

use super::exchange::{Event, Reply, fresh};
use super::tool::{Call, Input};

/// What is said, then what is called.
pub(super) fn reply(model: &Value, said: &str, call: Option<Call>) -> Reply {
    let mut items = Vec::new();
    if !said.is_empty() {
        let content = json!([{"type": "output_text", "text": said, "annotations": []}]);
        items.push(json!({"type": "message", "id": fresh("msg_"), "role": "assistant",
            "status": "completed", "content": content}));
    }
    if let Some(Call { name, group, input }) = call {
        let (id, call) = (fresh("fc_"), fresh("call_"));
        let mut item = match input {
            Input::Named(values) => json!({"type": "function_call", "id": id, "call_id": call,
                "name": name, "status": "completed", "arguments": values.to_string()}),
            Input::Free(text) => json!({"type": "custom_tool_call", "id": id, "call_id": call,
                "name": name, "status": "completed", "input": text}),
            Input::Search(query) => json!({"type": "tool_search_call", "id": id, "call_id": call,
                "status": "completed", "execution": "client", "arguments": {"query": query}}),
        };
        if let Some(group) = group {
            item["namespace"] = json!(group);
        }
        items.push(item);
    }
    let whole = json!({"id": fresh("resp_"), "object": "response", "status": "completed",
        "model": model, "output": items, "usage": {
            "input_tokens": 1200, "input_tokens_details": {"cached_tokens": 200},
            "output_tokens": 34, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1234}});
    let mut begun = whole.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = vec![event("response.created", json!({"response": begun}))];
    for (index, item) in items.iter().enumerate() {
        let place = json!({"output_index": index, "item": item});
        events.push(event("response.output_item.added", place.clone()));
        events.push(event("response.output_item.done", place));
    }
    events.push(event("response.completed", json!({"response": whole})));
    Reply { events, whole }
}

fn event(name: &'static str, mut data: Value) -> Event {
    data["type"] = json!(name);
    Event { name: Some(name), data: data.to_string() }
}
