//! What passes between agents and people: questions and their one answer, messages and how far they
//! are known to have come, and the inbox that has both.

use serde_json::Value;

use crate::harness::{Home, digest, end, is_as_before};
use crate::plan_stage::{Stage, feature, one_wave};

/// Asks once, ends with code 12, and writes the answer when it is started with it.
const ASKS_AND_ENDS: &str = r#"
if [ "$TIDEGATE_ATTEMPT" = 1 ]; then
    tidegate ask 'By name or by number?' --choice 'by name' --choice 'by number' >"$T/asked"
    exit 12
fi
printf '%s\n' "$prompt" | grep -c 'answered: by number' >"$feature.txt""#;

/// Asks, and goes on with the answer.
const ASKS_AND_WAITS: &str = r#"
tidegate ask 'By name or by number?' --wait >"$feature.txt""#;

fn inbox(home: &Home) -> Value {
    home.data(&["inbox"])
}

/// The one open question, once there is one.
fn question(stage: &Stage, run: &str) -> String {
    stage.needs_person(run);
    let inbox = inbox(&stage.home);
    let questions = inbox["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 1, "{inbox:#}");
    questions[0]["questionId"].as_str().unwrap().to_owned()
}

#[test]
fn feature_whose_agent_asked_and_ended_waits_and_goes_on_with_the_answer() {
    let stage = Stage::new(ASKS_AND_ENDS, "true");
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "blocked");
    let id = question(&stage, &run);
    let document = stage.home.status(&run);
    assert_eq!(feature(&document, "a")["blocked"]["reason"], "input");
    let attention = &document["attention"][0];
    assert_eq!(attention["reason"], "input", "{document:#}");
    let typed = attention["unblocks"].as_str().unwrap();
    assert!(typed.starts_with(&format!("tidegate answer {id} --choice")), "{typed}");
    let why = stage.home.data(&["explain", &run, "--feature", "a"]);
    let because = why["because"].as_str().unwrap();
    assert!(because.contains("an answer to") && because.contains("By name"), "{why:#}");
    stage.home.run(&["answer", &id, "--choice", "2"]).ends_with(0);
    let document = stage.ends(&run, "completed");
    let a = feature(&document, "a");
    assert_eq!((&a["iteration"], &a["attempts"]), (&1.into(), &2.into()), "{a:#}");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("1\n"), "the answer is in its task");
    assert_eq!(inbox(&stage.home)["questions"], Value::from([0; 0]));
    let all = stage.home.data(&["inbox", "--all"]);
    assert_eq!(all["questions"][0]["answer"]["text"], "by number", "{all:#}");
    stage.close();
}

#[test]
fn agent_that_waits_gets_the_first_answer_over_the_death_of_the_daemon() {
    let stage = Stage::new(ASKS_AND_WAITS, "true");
    let run = stage.submit(&one_wave(&["a"]));
    let id = question(&stage, &run);
    assert_eq!(feature(&stage.home.status(&run), "a")["state"], "building", "it goes on");
    end(stage.home.daemon().unwrap());
    let prefix = &id[..8];
    let short = format!("{prefix}{}", &id[id.find('-').unwrap()..]);
    stage.home.run(&["answer", &short, "by name"]).ends_with(0);
    let late = stage.home.json(&["answer", &id, "by number"]);
    assert_eq!(late.error(), "invalid_status_transition");
    let text = late.text();
    assert!(text.contains("answeredBy") && text.contains("by name"), "{text}");
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("by name\n"));
    assert_eq!(stage.starts("a"), 1);
    stage.close();
}

#[test]
fn answer_that_the_daemon_died_of_is_recorded_once() {
    for point in ["store.commit.before_commit", "store.commit.after_commit"] {
        let stage = Stage::new(ASKS_AND_ENDS, "true");
        let run = stage.submit(&one_wave(&["a"]));
        stage.until_feature(&run, "a", "blocked");
        let id = question(&stage, &run);
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        // A daemon's start has commits of its own: its epoch, and the adoption of the run.
        let fail = [("TIDEGATE_FAIL", format!("{point}=kill@3"))];
        let fail: Vec<(&str, &str)> = fail.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let mut daemon = stage.home.daemon_with(&fail);
        assert!(stage.home.daemon().is_some(), "it has started");
        stage.home.run(&["answer", &id, "by number"]).ends_with(0);
        assert_eq!(daemon.code(), -1, "{point} was not reached");
        stage.ends(&run, "completed");
        assert_eq!(stage.home.events_of(&run, "question-answered").len(), 1, "{point}");
        assert_eq!(stage.starts("a"), 2, "{point}");
        stage.close();
    }
}

#[test]
fn question_nobody_answers_in_time_ends_the_wait_with_5_and_stays_open() {
    let stage = Stage::new(
        r#"
code=0; tidegate ask 'Which quay?' --wait --timeout 100ms >/dev/null || code=$?
echo "$code" >"$T/code"; exit 12"#,
        "true",
    );
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "blocked");
    let code = std::fs::read_to_string(stage.home.beside("code")).unwrap();
    assert_eq!(code.trim(), "5");
    question(&stage, &run);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert!(inbox(&stage.home)["questions"].as_array().unwrap().is_empty());
    stage.close();
}

#[test]
fn job_may_ask_and_receive_and_neither_answer_nor_send() {
    let stage = Stage::new(
        r#"
id=$(tidegate ask 'Which quay?'); id=${id#question_id=}
try() { tidegate --json "$@" >>"$T/tried" 2>/dev/null </dev/null || true; echo >>"$T/tried"; }
try answer "$id" 'the left one'
try send "$feature" 'to myself'
unset TIDEGATE_TOKEN TIDEGATE_RUN_TAG TIDEGATE_RUN_ID TIDEGATE_JOB_DIR
try answer "$id" 'the left one'
tidegate --json inbox >"$T/own"
echo x >a.txt"#,
        "true",
    );
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let tried = std::fs::read_to_string(stage.home.beside("tried")).unwrap();
    let tried: Vec<&str> = tried.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(tried.len(), 3, "{tried:#?}");
    for line in &tried {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["error"]["code"], "forbidden_scope", "{tried:#?}");
    }
    let own = std::fs::read_to_string(stage.home.beside("own")).unwrap();
    let own: Value = serde_json::from_str(&own).unwrap();
    assert_eq!(own["data"]["questions"][0]["state"], "open", "{own:#}");
    let outside = stage.home.json(&["ask", "Anybody?"]);
    assert_eq!(outside.error(), "forbidden_scope", "a person asks nobody");
    stage.close();
}

#[test]
fn launcher_asks_for_its_run_and_its_answer_reaches_it() {
    let home = Home::new();
    let run = home.script(&[], "tidegate ask 'Go on?' --wait > $T/said; exit 7");
    home.json(&["wait", &run, "--timeout", "60s"]).ends_with(12);
    let waits = inbox(&home);
    assert_eq!(waits["questions"][0]["feature"], Value::Null, "{waits:#}");
    let id = waits["questions"][0]["questionId"].as_str().unwrap().to_owned();
    home.run(&["answer", &id, "yes"]).ends_with(0);
    home.json(&["wait", &run, "--exit-code"]).ends_with(7);
    assert_eq!(std::fs::read_to_string(home.beside("said")).unwrap(), "yes\n");
    home.close();
}

#[test]
fn inbox_is_read_without_a_daemon_and_writes_nothing() {
    let stage = Stage::new(ASKS_AND_ENDS, "true");
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "blocked");
    stage.home.run(&["daemon", "stop"]).ends_with(0);
    let before = digest(&stage.home.path());
    let shown = stage.home.run(&["inbox", "--run", &run]);
    assert!(shown.text().contains("tidegate answer"), "{shown:?}");
    assert_eq!(inbox(&stage.home)["questions"].as_array().unwrap().len(), 1);
    is_as_before(&stage.home.path(), &before);
    assert_eq!(stage.home.daemon(), None);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}
