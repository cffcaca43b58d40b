//! The protocol's messages: one line of JSON in, at most one out. It does no I/O and knows no tool but
//! by what it is handed.

use serde_json::{Value, json};
use tidegate_protocol::VERSION;

/// The revision that is offered to whoever asks for one that is not known here.
const NEWEST: &str = "2025-11-25";

/// The revisions whose messages are those below.
const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST];

/// What an agent is told of the tools as a whole.
const INSTRUCTIONS: &str = "You work inside Tidegate. When you need a decision that is not yours, call \
ask_human and then end your turn: you are started again with the answer. What you tell by \
report_progress and mark_done is shown to people and proves nothing.";

/// What the tools answer to one call: words for the model.
pub(super) struct Answer {
    pub(super) text: String,
    /// Whether the call failed.
    pub(super) failed: bool,
}

/// What calls tools.
pub(super) trait Tools {
    /// Their definitions.
    fn list(&self) -> Value;
    /// Calls one; `None` when there is none of that name.
    fn call(&mut self, name: &str, arguments: &Value) -> Option<Answer>;
}

/// The answer to one line, if it wants one.
pub(super) fn answer(line: &[u8], tools: &mut impl Tools) -> Option<Value> {
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(failure(&Value::Null, -32700, "this is no JSON"));
    };
    let id = &message["id"];
    let Some(method) = message["method"].as_str() else {
        // An answer to something that was never asked.
        let is_answer = message.get("result").is_some() || message.get("error").is_some();
        return (!is_answer).then(|| failure(id, -32600, "this is no request"));
    };
    // A notification wants no answer, whatever it says.
    if id.is_null() {
        return None;
    }
    let params = &message["params"];
    match method {
        "initialize" => Some(success(id, &greeting(params))),
        "ping" => Some(success(id, &json!({}))),
        "tools/list" => Some(success(id, &json!({ "tools": tools.list() }))),
        "tools/call" => Some(called(id, params, tools)),
        _ => Some(failure(id, -32601, &format!("there is no method {method}"))),
    }
}

fn greeting(params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().unwrap_or_default();
    let version = if KNOWN.contains(&asked) { asked } else { NEWEST };
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "tidegate", "version": VERSION },
        "instructions": INSTRUCTIONS,
    })
}

fn called(id: &Value, params: &Value, tools: &mut impl Tools) -> Value {
    let name = params["name"].as_str().unwrap_or_default();
    match tools.call(name, &params["arguments"]) {
        Some(Answer { text, failed }) => {
            let content = json!([{ "type": "text", "text": text }]);
            success(id, &json!({ "content": content, "isError": failed }))
        }
        None => failure(id, -32602, &format!("there is no tool {name}")),
    }
}

fn success(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    struct Echo;

    impl Tools for Echo {
        fn list(&self) -> Value {
            json!([{ "name": "echo" }])
        }

        fn call(&mut self, name: &str, arguments: &Value) -> Option<Answer> {
            (name == "echo").then(|| Answer { text: arguments["text"].to_string(), failed: false })
        }
    }

    fn asked(line: &str) -> Option<Value> {
        answer(line.as_bytes(), &mut Echo)
    }

    #[test]
    fn known_revisions_are_spoken_and_others_are_offered_the_newest() {
        for (asks, gets) in [("2025-06-18", "2025-06-18"), ("2031-01-01", NEWEST)] {
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": {"protocolVersion": asks, "capabilities": {}}});
            let answer = asked(&line.to_string()).unwrap();
            assert_eq!(answer["result"]["protocolVersion"], gets);
        }
    }

    #[test]
    fn call_is_answered_under_its_id_and_an_unknown_tool_is_an_error() {
        let line = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}"#;
        let answer = asked(line).unwrap();
        assert_eq!(answer["id"], "a");
        assert_eq!(answer["result"]["content"][0]["text"], "\"hi\"");
        let answer = asked(&line.replace("\"echo\"", "\"tide\"")).unwrap();
        assert_eq!(answer["error"]["code"], -32602);
    }

    #[test]
    fn notifications_and_answers_get_none_and_noise_gets_an_error() {
        assert_eq!(asked(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
        assert_eq!(asked(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#), None);
        assert_eq!(asked("tide").unwrap()["error"]["code"], -32700);
        assert_eq!(asked("[]").unwrap()["error"]["code"], -32600);
        let unknown = asked(r#"{"jsonrpc":"2.0","id":4,"method":"server/discover"}"#).unwrap();
        assert_eq!(unknown["error"]["code"], -32601);
    }
}
