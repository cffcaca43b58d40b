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

/// A stage whose agents have one account, and what that says: by the file `limit` beside the home.
fn of_one_account() -> Stage {
    let account = STREAM.replace(
        "emit = \"failed\", text = \"error\"",
        "emit = \"failed\", text = \"error\", delay_ms = \"delay\"",
    );
    let account = format!("account = \"team\"\n{account}");
    let agent = r#"
if [ -e "$T/limit" ]; then printf '{"type":"end","ok":false,%s}\n' "$(cat "$T/limit")"; exit 1; fi
echo x >"$feature.txt"; echo '{"type":"end","ok":true}'"#;
    Stage::with(agent, "true", &[(r#"prompt = "stdin""#, &account)])
}

/// Submits one feature into a lane of its own.
fn in_lane(stage: &Stage, lane: &str) -> String {
    stage.home.repo().write("plan.toml", &one_wave(&[lane]));
    let data = stage.home.data(&["submit", "plan.toml", "--lane", lane]);
    data["runId"].as_str().unwrap().to_owned()
}

#[test]
fn limit_that_one_run_meets_parks_the_agents_of_its_account_in_every_other() {
    let stage = of_one_account();
    std::fs::write(stage.home.beside("limit"), r#""error":"usage limit reached","delay":2000"#)
        .unwrap();
    let first = in_lane(&stage, "a");
    stage.home.until(&first, "the limit", |_| stage.home.events_of(&first, "limited").len() == 1);
    let second = in_lane(&stage, "b");
    let parked = |_: &_| stage.home.events_of(&second, "account-limited").len() == 1;
    stage.home.until(&second, "the account's limit", parked);
    let limit = &stage.home.events_of(&second, "account-limited")[0]["limit"];
    assert_eq!(limit["detail"], format!("met by {first}/a"), "{limit:#}");
    assert_eq!(stage.starts("b"), 0, "its agent was started in vain");
    std::fs::remove_file(stage.home.beside("limit")).unwrap();
    stage.ends(&first, "completed");
    stage.ends(&second, "completed");
    assert_eq!(stage.starts("b"), 1);
    stage.close();
}

#[test]
fn refused_login_of_an_account_asks_once_and_keeps_the_others_from_asking() {
    let stage = of_one_account();
    std::fs::write(stage.home.beside("limit"), r#""error":"401 Unauthorized""#).unwrap();
    let first = in_lane(&stage, "a");
    stage.until_feature(&first, "a", "blocked");
    let second = in_lane(&stage, "b");
    let held = |_: &_| stage.home.events_of(&second, "account-held").len() == 1;
    let document = stage.home.until(&second, "the word about the account", held);
    assert_eq!(document["attention"].as_array().unwrap().len(), 0, "{document:#}");
    let waits = feature(&stage.home.status(&second), "b")["waitsFor"].clone();
    assert!(waits.as_str().unwrap().contains(&format!("asked by {first}/a")), "{waits}");
    assert_eq!(stage.starts("b"), 0);
    std::fs::remove_file(stage.home.beside("limit")).unwrap();
    stage.home.run(&["retry", &first, "--feature", "a"]).ends_with(0);
    stage.ends(&first, "completed");
    stage.ends(&second, "completed");
    stage.close();
}

#[test]
fn agent_of_another_account_stands_in_while_the_own_one_is_limited() {
    let other = r#"
[agent.spare]
argv = ["sh", "-c", "cat >/dev/null; echo spare >$TIDEGATE_FEATURE.txt"]
account = "spare"

[role.builder]
fallback = ["spare"]
"#;
    let stage = Stage::with(
        r#"echo '{"type":"end","ok":false,"error":"usage limit reached, resets in 2 hours"}'; exit 1"#,
        "true",
        &[
            (r#"prompt = "stdin""#, &format!("account = \"team\"\n{STREAM}")),
            ("\n[role.builder]\n", other),
        ],
    );
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&run, "completed");
    let stood_in = stage.home.events_of(&run, "agent-stands-in");
    assert!(stood_in.iter().all(|event| event["agent"] == "spare"), "{stood_in:?}");
    for id in ["a", "b"] {
        let path = format!("{id}.txt");
        assert_eq!(stage.on_target(&path).as_deref(), Some("spare\n"));
    }
    assert_eq!(stage.home.events_of(&run, "attempt-failed").len(), 0);
    assert!(stage.starts("a") + stage.starts("b") <= 2, "the limited account was asked again");
    stage.close();
}
