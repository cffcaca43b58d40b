//! An agent that is talked with by its protocol hears everything once, whoever dies: a script that
//! speaks as much of Claude Code's lines as is needed, and writes down what it hears.

use crate::harness::{is_gone, until};
use crate::plan_stage::{Stage, feature, one_wave};

const KEYS: &str = r#"prompt = "stdin"
kind = "claude_stream"
stream = "jsonl"
event = [
    { when = { type = "result", is_error = false }, emit = "completed" },
    { when = { type = "result", is_error = true }, emit = "failed" },
]
"#;

/// Takes in lines; each message of the user is a turn, which ends when the bell rings.
const AGENT: &str = r#"
while read -r line; do
    printf '%s\n' "$line" >>"$T/heard"
    case $line in *'"type":"user"'*)
        id=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
        tell() { printf '{"type":"command_lifecycle","command_uuid":"%s","state":"%s"}\n' "$id" "$1"; }
        tell queued; tell started; echo "$id" >>"$T/turns"
        read -r _ <"$T/go"
        echo x >a.txt; echo '{"type":"result","is_error":false}'; tell completed ;;
    esac
done
"#;

fn stage() -> Stage {
    let stage = Stage::with("", "true", &[(r#"prompt = "stdin""#, KEYS)]);
    std::fs::write(stage.home.beside("agent.sh"), AGENT).unwrap();
    stage
}

#[test]
fn agent_hears_its_task_and_a_message_and_is_let_go_when_it_is_through() {
    let stage = stage();
    let go = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("turns");
    stage.home.run(&["send", "a", "Mind the tide"]).ends_with(0);
    let written = |_: &_| stage.home.events_of(&run, "message-written").len() == 1;
    stage.home.until(&run, "the message in its input", written);
    go.ring();
    until("the second turn", || (stage.home.lines("turns") == 2).then_some(()));
    assert_eq!(feature(&stage.home.status(&run), "a")["state"], "building", "it is not through");
    go.ring();
    stage.ends(&run, "completed");
    assert_eq!(stage.home.lines("heard"), 3, "a greeting, the task, the message");
    assert_eq!(stage.home.events_of(&run, "message-consumed").len(), 1);
    stage.close();
}

#[cfg(feature = "failpoints")]
#[test]
fn agent_hears_everything_once_although_a_daemon_dies_while_it_speaks() {
    for point in ["conversing.before_input", "conversing.after_input"] {
        for time in [1, 2] {
            let stage = stage();
            let fail = format!("{point}=kill@{time}");
            let daemon = stage.home.daemon_with(&[("TIDEGATE_FAIL", &fail)]);
            let go = stage.bell("go");
            let run = stage.submit(&one_wave(&["a"]));
            until(&fail, || is_gone(daemon.pid()).then_some(()));
            stage.home.start_daemon();
            stage.home.appears("turns");
            go.ring();
            stage.ends(&run, "completed");
            let heard = std::fs::read_to_string(stage.home.beside("heard")).unwrap();
            let lines: Vec<&str> = heard.lines().collect();
            assert_eq!(lines.len(), 2, "{fail}: {heard}");
            assert!(
                lines[0].contains("initialize") && lines[1].contains("Do the work."),
                "{heard}"
            );
            assert_eq!(stage.home.events_of(&run, "attempt-failed").len(), 0, "{fail}");
            stage.close();
        }
    }
}
