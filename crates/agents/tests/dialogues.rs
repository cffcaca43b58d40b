//! Conversations by protocol: what is due follows from the bytes of both directions alone, wherever they
//! are cut and however often it is begun anew.

#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};
use tidegate_agents::{Dialogue, Due, LINE_BYTES_MAX, Opening};
use tidegate_core::manifest::{Permissions, Protocol};
use tidegate_core::run::Conversed::{Accepted, Consumed, Written};
use tidegate_core::run::{Conversed, Reply, Saying, ToSay};

const ASKED: Opening<'_> = Opening {
    prompt: "Do the work.",
    cwd: "/srv/repo",
    session: Some("s-1"),
    resumed: false,
    permissions: Permissions::Asked,
    job: 7,
};

fn say(messages: &[(u32, &str, bool)], replies: &[(&str, bool)]) -> ToSay {
    let saying = |(message, text, interrupts): &(u32, &str, bool)| Saying {
        message: *message,
        text: (*text).to_owned(),
        interrupts: *interrupts,
    };
    let reply = |(request, allowed): &(&str, bool)| Reply {
        request: (*request).to_owned(),
        allowed: *allowed,
        words: "not that".to_owned(),
    };
    ToSay {
        messages: messages.iter().map(saying).collect(),
        replies: replies.iter().map(reply).collect(),
    }
}

/// A conversation that remembers both directions, to be begun anew at any time.
struct Play {
    protocol: Protocol,
    opening: Opening<'static>,
    own: Vec<u8>,
    heard: Vec<u8>,
    dialogue: Dialogue,
    facts: Vec<Conversed>,
}

impl Play {
    fn new(protocol: Protocol) -> Self {
        Self::of(protocol, ASKED)
    }

    fn of(protocol: Protocol, opening: Opening<'static>) -> Self {
        let dialogue = Dialogue::new(protocol).unwrap();
        Self { protocol, opening, own: Vec::new(), heard: Vec::new(), dialogue, facts: Vec::new() }
    }

    /// Hears lines; what is written then, as values. Another one that begins anew would say the same.
    fn hears(&mut self, lines: &[Value], to_say: &ToSay) -> Vec<Value> {
        for line in lines {
            let line = format!("{line}\n");
            self.dialogue.heard(line.as_bytes());
            self.heard.extend(line.as_bytes());
        }
        let mut anew = Dialogue::new(self.protocol).unwrap();
        self.own.chunks(3).for_each(|part| anew.wrote(part));
        self.heard.chunks(5).for_each(|part| anew.heard(part));
        let said = Self::all_due(&mut self.dialogue, &self.opening, to_say, &mut self.facts);
        let again = Self::all_due(&mut anew, &self.opening, to_say, &mut Vec::new());
        assert_eq!(again, said, "after a restart something else would be said");
        self.own.extend(said.iter().flatten());
        let value = |line: &Vec<u8>| {
            if line.is_empty() { json!("closed") } else { serde_json::from_slice(line).unwrap() }
        };
        said.iter().map(value).collect()
    }

    /// All lines that are due; an empty one for the end of the input.
    fn all_due(
        dialogue: &mut Dialogue,
        opening: &Opening<'_>,
        to_say: &ToSay,
        facts: &mut Vec<Conversed>,
    ) -> Vec<Vec<u8>> {
        let mut said = Vec::new();
        while let Some(due) = dialogue.due(opening, to_say) {
            match due {
                Due::Tell(fact) => facts.push(fact),
                Due::Write(line) => {
                    dialogue.wrote(&line);
                    said.push(line);
                }
                Due::Close => {
                    dialogue.closed();
                    said.push(Vec::new());
                }
            }
            assert!(said.len() < 50, "it never comes to an end");
        }
        said
    }
}

fn lifecycle(uuid: &Value, state: &str) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": uuid, "state": state})
}

#[test]
fn claude_is_greeted_told_its_task_and_let_go_after_its_turn() {
    let mut play = Play::new(Protocol::ClaudeStream);
    let said = play.hears(&[], &ToSay::default());
    assert_eq!(said[0]["request"]["subtype"], "initialize");
    assert_eq!(said[1]["message"]["content"], "Do the work.");
    let task = said[1]["uuid"].clone();
    let begun = [lifecycle(&task, "queued"), lifecycle(&task, "started")];
    assert_eq!(play.hears(&begun, &ToSay::default()), [Value::Null; 0]);
    let result = json!({"type": "result", "is_error": false});
    assert_eq!(play.hears(&[result], &ToSay::default()), [Value::Null; 0], "it is not through");
    let end = [lifecycle(&task, "completed")];
    assert_eq!(play.hears(&end, &ToSay::default()), [json!("closed")]);
    assert_eq!(play.facts, []);
}

#[test]
fn claude_of_an_earlier_version_is_let_go_after_the_result_of_its_turn() {
    let mut play = Play::new(Protocol::ClaudeStream);
    play.hears(&[], &ToSay::default());
    let lines = [json!({"type": "assistant"}), json!({"type": "result", "is_error": false})];
    assert_eq!(play.hears(&lines, &ToSay::default()), [json!("closed")]);
}

#[test]
fn claude_asks_once_and_is_answered_once_or_withdraws() {
    let request = json!({"type": "control_request", "request_id": "p-1",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}});
    let mut play = Play::new(Protocol::ClaudeStream);
    play.hears(&[], &ToSay::default());
    assert_eq!(
        play.hears(std::slice::from_ref(&request), &ToSay::default()),
        [Value::Null; 0],
        "it waits"
    );
    let Conversed::Asked { request: id, text } = &play.facts[0] else { panic!("{:?}", play.facts) };
    assert!(id == "p-1" && text.contains("Bash") && text.contains("ls"), "{text}");
    let said = play.hears(&[], &say(&[], &[("p-1", true)]));
    assert_eq!(said[0]["response"]["response"]["behavior"], "allow");
    assert_eq!(said[0]["response"]["response"]["updatedInput"]["command"], "ls");
    assert_eq!(play.hears(&[], &say(&[], &[("p-1", true)])), [Value::Null; 0], "once");
    let mut play = Play::new(Protocol::ClaudeStream);
    play.hears(std::slice::from_ref(&request), &ToSay::default());
    let said = play.hears(&[], &say(&[], &[("p-1", false)]));
    let message = said[0]["response"]["response"]["message"].as_str().unwrap();
    assert!(message.contains("not that"), "{message}");
    let mut play = Play::new(Protocol::ClaudeStream);
    let cancel = json!({"type": "control_cancel_request", "request_id": "p-1"});
    play.hears(&[request, cancel], &ToSay::default());
    assert_eq!(play.facts[1], Conversed::Withdrawn { request: "p-1".to_owned() });
    assert_eq!(play.hears(&[], &say(&[], &[("p-1", true)])), [Value::Null; 0], "too late");
}

#[test]
fn claude_whose_permissions_are_given_is_allowed_at_once_and_odd_requests_are_refused() {
    let mut play =
        Play::of(Protocol::ClaudeStream, Opening { permissions: Permissions::Given, ..ASKED });
    let request = |id: &str, kind: &str| {
        json!({"type": "control_request", "request_id": id,
        "request": {"subtype": kind, "tool_name": "Bash", "input": {}}})
    };
    let said = play.hears(&[request("a", "can_use_tool"), request("b", "tide")], &ToSay::default());
    assert_eq!(said[2]["response"]["response"]["behavior"], "allow");
    assert_eq!(said[3]["response"]["subtype"], "error");
}

#[test]
fn claude_is_told_messages_in_order_with_receipts_and_interrupted_for_one() {
    let mut play = Play::new(Protocol::ClaudeStream);
    play.hears(&[json!({"type": "assistant"})], &ToSay::default());
    let to_say = say(&[(1, "mind the tide", false), (3, "the left one", true)], &[]);
    let said = play.hears(&[], &to_say);
    assert_eq!(said[0]["message"]["content"], "mind the tide");
    assert_eq!(said[1]["request"]["subtype"], "interrupt");
    assert_eq!(said[2]["message"]["content"], "the left one");
    assert_eq!(said.len(), 3);
    let (first, third) = (said[0]["uuid"].clone(), said[2]["uuid"].clone());
    play.hears(&[lifecycle(&first, "queued"), lifecycle(&first, "cancelled")], &to_say);
    play.hears(&[lifecycle(&third, "queued"), lifecycle(&third, "completed")], &to_say);
    let facts = [Written(1), Written(3), Accepted(1), Accepted(3), Consumed(3)];
    assert_eq!(play.facts, facts);
}

#[test]
fn codex_is_opened_before_it_is_told_anything_and_resumed_by_its_id() {
    for (resumed, method) in [(false, "thread/start"), (true, "thread/resume")] {
        let mut play = Play::of(Protocol::CodexAppServer, Opening { resumed, ..ASKED });
        let nothing = ToSay::default();
        assert_eq!(play.hears(&[], &nothing)[0]["method"], "initialize");
        let said = play.hears(&[json!({"id": 1, "result": {}})], &nothing);
        assert_eq!(
            (&said[0]["method"], &said[1]["method"]),
            (&json!("initialized"), &json!(method))
        );
        assert_eq!(said[1]["params"]["approvalPolicy"], "untrusted");
        assert_eq!(said[1]["params"].get("threadId"), resumed.then_some(&json!("s-1")));
        let said = play.hears(&[json!({"id": 2, "result": {"thread": {"id": "s-1"}}})], &nothing);
        assert_eq!(said[0]["method"], "turn/start");
        assert_eq!(said[0]["params"]["input"][0]["text"], "Do the work.");
    }
    let mut play = Play::of(Protocol::CodexAppServer, Opening { resumed: true, ..ASKED });
    play.hears(&[json!({"id": 1, "result": {}})], &ToSay::default());
    let gone = json!({"id": 2, "error": {"code": -32600, "message": "no rollout found"}});
    assert_eq!(play.hears(&[gone], &ToSay::default()), [json!("closed")]);
}

#[test]
fn codex_is_steered_in_a_turn_and_begins_one_where_it_cannot_be() {
    let mut play = Play::new(Protocol::CodexAppServer);
    let turn = |id: &str, what: &str, status: &str| json!({"method": what, "params": {"turn": {"id": id, "status": status}}});
    let opened = [
        json!({"id": 1, "result": {}}),
        json!({"id": 2, "result": {"thread": {"id": "t"}}}),
        json!({"id": 3, "result": {"turn": {"id": "u"}}}),
        turn("u", "turn/started", "inProgress"),
    ];
    play.hears(&opened, &ToSay::default());
    let to_say = say(&[(1, "mind the tide", false)], &[]);
    let said = play.hears(&[], &to_say);
    assert_eq!(said[0]["method"], "turn/steer");
    assert_eq!(said[0]["params"]["expectedTurnId"], "u");
    let refused = json!({"id": said[0]["id"], "error": {"code": -32600, "message": "no turn"}});
    let said = play.hears(&[refused, turn("u", "turn/completed", "completed")], &to_say);
    assert_eq!(said[0]["method"], "turn/start");
    let taken = json!({"id": said[0]["id"], "result": {"turn": {"id": "v"}}});
    let lines =
        [taken, turn("v", "turn/started", "inProgress"), turn("v", "turn/completed", "completed")];
    assert_eq!(play.hears(&lines, &to_say), [json!("closed")]);
    assert_eq!(play.facts.last(), Some(&Conversed::Consumed(1)));
}

#[test]
fn codex_asks_and_is_answered_under_its_own_id() {
    let mut play = Play::new(Protocol::CodexAppServer);
    let lines = [
        json!({"id": 1, "result": {}}),
        json!({"id": 2, "result": {"thread": {"id": "t"}}}),
        json!({"method": "item/commandExecution/requestApproval", "id": 0,
            "params": {"command": "ls"}}),
        json!({"method": "tide/high", "id": 1, "params": {}}),
    ];
    let said = play.hears(&lines, &ToSay::default());
    assert_eq!(said.last().unwrap()["error"]["code"], -32601);
    let said = play.hears(&[], &say(&[], &[("0", false)]));
    assert_eq!(said, [json!({"id": 0, "result": {"decision": "decline"}})]);
}

#[test]
fn task_that_is_longer_than_a_line_may_be_is_said_once() {
    let long: &'static str = Box::leak("x".repeat(LINE_BYTES_MAX + 1).into_boxed_str());
    let mut play = Play::of(Protocol::ClaudeStream, Opening { prompt: long, ..ASKED });
    assert_eq!(play.hears(&[], &ToSay::default()).len(), 2);
    assert_eq!(play.hears(&[], &ToSay::default()), [Value::Null; 0]);
}

#[test]
fn line_that_was_written_in_part_is_known() {
    let mut dialogue = Dialogue::new(Protocol::ClaudeStream).unwrap();
    let Some(Due::Write(line)) = dialogue.due(&ASKED, &ToSay::default()) else { panic!("no line") };
    dialogue.wrote(&line[..10]);
    assert_eq!(dialogue.unfinished(), &line[..10]);
    assert_eq!(dialogue.due(&ASKED, &ToSay::default()), Some(Due::Write(line)));
}
