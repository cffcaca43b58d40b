//! The tools that an agent has inside its job, called by their protocol: what it says is shown and
//! proves nothing, what it asks and fetches is recorded, and nobody else may call them.

use serde_json::{Value, json};

use crate::harness::Home;
use crate::plan_stage::{Stage, feature, one_wave};

/// Shell functions: a request of the protocol, and one of a tool.
const CALLS: &str = r#"
hello='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}'
call() { printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" "$3"; }
"#;

fn answers(stage: &Stage) -> Vec<Value> {
    let text = std::fs::read_to_string(stage.home.beside("answers")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn words(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn agent_says_how_far_it_is_and_reads_what_it_was_told() {
    let script = format!(
        r#"{CALLS}
mark_ready() {{ echo ready >"$T/ready"; read -r _ <"$T/go"; }}
{{ echo "$hello"; echo '{{"jsonrpc":"2.0","method":"notifications/initialized"}}'
   echo '{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}'
   call 2 report_progress '{{"message":"the first\nhalf","percent":50}}'
   mark_ready
   call 3 read_inbox '{{}}'
   call 4 read_inbox '{{"done":[1]}}'
   call 5 tide '{{}}'
   call 6 mark_done '{{"summary":"all of it"}}'; }} | tidegate mcp >"$T/answers"
echo ok >"$T/ended"; read -r _ <"$T/go"
echo x >"$feature.txt""#
    );
    let stage = Stage::new(&script, "true");
    let go = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("ready");
    let shown = feature(&stage.home.status(&run), "a")["said"].clone();
    assert_eq!((&shown["text"], &shown["percent"]), (&json!("the first half"), &json!(50)));
    assert_eq!(shown["done"], false);
    stage.home.run(&["send", "a", "Mind the tide."]).ends_with(0);
    go.ring();
    stage.home.appears("ended");
    let answers = answers(&stage);
    assert_eq!(answers.len(), 7, "{answers:#?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    let names: Vec<&Value> = answers[1]["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["report_progress", "ask_human", "mark_done", "read_inbox"]);
    let inbox: Value = serde_json::from_str(words(&answers[3])).unwrap();
    assert_eq!(inbox["messages"][0]["text"], "Mind the tide.", "{inbox:#}");
    let inbox: Value = serde_json::from_str(words(&answers[4])).unwrap();
    assert_eq!(inbox["messages"], json!([]), "it has acted on it");
    assert_eq!(answers[5]["error"]["code"], -32602);
    let document = stage.home.status(&run);
    assert_eq!(feature(&document, "a")["said"]["done"], true, "a signal");
    assert_eq!(feature(&document, "a")["state"], "building", "and no proof");
    assert!(stage.home.run(&["status", &run]).text().contains("says that it is done: all of it"));
    let delivered = stage.home.data(&["inbox", "--all"]);
    assert_eq!(delivered["messages"][0]["delivery"], "consumed", "{delivered:#}");
    go.ring();
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn tools_are_served_inside_a_job_alone() {
    let home = Home::new();
    assert_eq!(home.json(&["mcp"]).error(), "forbidden_scope");
    home.close();
}

#[test]
fn agent_that_asks_by_its_tool_keeps_its_work_and_lands_it_with_the_answer() {
    let script = format!(
        r#"{CALLS}
if [ "$TIDEGATE_ATTEMPT" = 1 ]; then
    echo half >"$feature.txt"
    {{ echo "$hello"; call 1 ask_human '{{"question":"Which quay?"}}'; }} | tidegate mcp >"$T/answers"
    exit 0
fi
printf '%s\n' "$prompt" | grep 'answered: the left one' >>"$feature.txt""#
    );
    let stage = Stage::new(&script, "true");
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "blocked");
    let id = stage.home.data(&["inbox"])["questions"][0]["questionId"].as_str().unwrap().to_owned();
    assert!(words(&answers(&stage)[1]).contains(&id), "the ticket");
    stage.home.run(&["answer", &id, "the left one"]).ends_with(0);
    stage.ends(&run, "completed");
    let landed = stage.on_target("a.txt").unwrap();
    assert!(
        landed.starts_with("half\n") && landed.ends_with("answered: the left one\n"),
        "{landed}"
    );
    assert_eq!(stage.home.events_of(&run, "attempt-failed").len(), 0);
    stage.close();
}
