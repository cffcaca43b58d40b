//! An answer in the form of `OpenAI`'s chat completions.

use serde_json::{Value, json};

use super::exchange::{Event, Reply, fresh};
use super::tool::{Call, Input};

/// What is said, then what is called.
pub(super) fn reply(model: &Value, said: &str, call: Option<Call>) -> Reply {
    let end = if call.is_some() { "tool_calls" } else { "stop" };
    let mut message = json!({"role": "assistant", "content": said});
    if let Some(Call { name, input, .. }) = call {
        let input = match input {
            Input::Named(values) => values,
            Input::Free(text) | Input::Search(text) => json!({ "input": text }),
        };
        let function = json!({"name": name, "arguments": input.to_string()});
        message["tool_calls"] =
            json!([{"index": 0, "id": fresh("call_"), "type": "function", "function": function}]);
    }
    let used = json!({"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234,
        "prompt_tokens_details": {"cached_tokens": 200}});
    let whole = json!({"id": fresh("chatcmpl-"), "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": end}], "usage": used});
    let chunk = |choices: Value, usage: &Value| Event {
        name: None,
        data: json!({"id": whole["id"], "object": "chat.completion.chunk", "created": 1,
            "model": model, "choices": choices, "usage": usage})
        .to_string(),
    };
    let choice = |delta: &Value, end: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": end}]);
    let events = vec![
        chunk(choice(&message, None), &Value::Null),
        chunk(choice(&json!({}), Some(end)), &Value::Null),
        chunk(json!([]), &used),
        Event { name: None, data: "[DONE]".to_owned() },
    ];
    Reply { events, whole }
}
