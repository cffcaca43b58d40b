//! Agents whose streams tell: judged by their own word, resumed, parked at limits, never by words
//! that a model says.

use crate::plan_stage::{Stage, feature, one_wave};

/// Keys that make the crew's script an agent with a stream and conversations.
const STREAM: &str = r#"prompt = "stdin"
stream = "jsonl"
session = { on = { type = "init" }, key = "id" }
resume_argv = ["sh", "-c", "exec sh \"$T/agent.sh\" \"$1\"", "sh", "{session}"]
history_gone = "no such conversation"
event = [
    { when = { type = "say" }, emit = "text", text = "text" },
    { when = { type = "end", ok = true }, emit = "completed", usage = { input = "in", output = "out", cost = "usd" } },
    { when = { type = "end", ok = false }, emit = "failed", text = "error" },
]
"#;

fn stage(agent: &str) -> Stage {
    Stage::with(agent, "true", &[(r#"prompt = "stdin""#, STREAM)])
}

#[test]
fn killed_agent_is_resumed_and_a_limit_is_no_attempt() {
    let stage = stage(
        r#"
case $TIDEGATE_ATTEMPT in
    1)
        echo '{"type":"init","id":"conv-1"}'
        echo '{"type":"say","text":"429 rate limit, usage limit reached, 401 unauthorized"}'
        echo x >a.txt
        kill -9 $$ ;;
    2)
        test "$1" = conv-1
        echo '{"type":"end","ok":false,"error":"429 rate limit reached, retry after 1s"}'
        exit 1 ;;
    *)
        test "$1" = conv-1
        echo '{"type":"end","ok":true,"in":10,"out":2,"usd":0.01}' ;;
esac"#,
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(stage.starts("a"), 3);
    assert_eq!(stage.home.events_of(&run, "attempt-failed").len(), 1);
    assert_eq!(stage.home.events_of(&run, "limited").len(), 1);
    assert!(stage.prompt("a", 2).starts_with("You were interrupted"), "{}", stage.prompt("a", 2));
    let usage = &feature(&document, "a")["usage"];
    assert_eq!((&usage["input"], &usage["costUsd"]), (&10.into(), &0.01.into()), "{usage}");
    assert_eq!(document["usage"], *usage);
    let costs = stage.home.data(&["costs", &run]);
    assert_eq!((&costs["total"], &costs["runs"][0]["features"][0]["attempts"]), (usage, &3.into()));
    stage.close();
}

#[test]
fn exit_code_alone_is_no_success_where_a_stream_can_tell() {
    let stage = stage(r#"echo '{"type":"init","id":"conv-1"}'; echo x >a.txt"#);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.ends(&run, "failed");
    let reason = feature(&document, "a")["reason"].to_string();
    assert!(reason.contains("stream ended without an end of its turn"), "{reason}");
    assert_eq!(stage.starts("a"), 3);
    stage.close();
}

#[test]
fn conversation_that_is_gone_is_begun_anew_and_said_so() {
    let stage = stage(
        r#"
if [ $# -gt 0 ]; then echo "no such conversation: $1" >&2; exit 42; fi
echo "{\"type\":\"init\",\"id\":\"conv-$TIDEGATE_ATTEMPT\"}"
test "$TIDEGATE_ATTEMPT" = 3 || exit 7
echo x >a.txt
echo '{"type":"end","ok":true}'"#,
    );
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.starts("a"), 3);
    let third = stage.prompt("a", 3);
    assert!(third.contains("not taken up again: its history is gone"), "{third}");
    let begun = stage.home.events_of(&run, "session-begun");
    assert_eq!(begun.len(), 2, "{begun:?}");
    stage.close();
}

#[test]
fn refused_login_asks_a_person_once_and_goes_on_after_a_retry() {
    let stage = stage(
        r#"
echo '{"type":"init","id":"conv-1"}'
if [ ! -e "$T/login" ]; then
    echo '{"type":"end","ok":false,"error":"401 invalid API key"}'
    exit 1
fi
echo x >a.txt
echo '{"type":"end","ok":true}'"#,
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    assert_eq!(feature(&document, "a")["blocked"]["reason"], "auth", "{document:#}");
    assert_eq!(document["attention"].as_array().unwrap().len(), 1);
    assert_eq!(stage.starts("a"), 1);
    std::fs::write(stage.home.beside("login"), "").unwrap();
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    stage.ends(&run, "completed");
    stage.close();
}
