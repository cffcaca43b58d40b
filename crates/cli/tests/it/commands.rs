//! Commands as records: every one is remembered with its answer, refused ones too, and one whose
//! daemon died on the way is driven to its end, once.

use serde_json::{Value, json};

use crate::harness::{Home, end, post, until};
use crate::plan_stage::{Stage, feature, one_wave};

/// The newest remembered command of a name.
fn newest(home: &Home, name: &str) -> Value {
    let found = home.data(&["daemon", "commands", "--command", name]);
    found["commands"][0].clone()
}

/// Waits until a command has ended; its document.
fn ended(home: &Home, id: &str) -> Value {
    until(&format!("the end of {id}"), || {
        let command = home.data(&["daemon", "commands", id]);
        (command["status"] != "processing").then_some(command)
    })
}

#[test]
fn command_is_remembered_from_its_beginning_to_its_end() {
    let home = Home::new();
    let run = home.script(&[], "trap '' TERM; mark a; await go; await never");
    home.pid("a");
    let submit = newest(&home, "run.submit");
    assert_eq!((&submit["status"], &submit["run_id"]), (&json!("completed"), &json!(run)));
    assert_eq!(submit["result"]["data"]["runId"], run.as_str());
    assert_eq!(submit["actor"], "root");
    assert!(submit["args"].get("env").is_none(), "no environment: {submit:#}");
    assert_eq!(submit["args"]["work"]["launcher"]["argv"][0], "sh");
    let answer = home.data(&["cancel", &run]);
    let id = answer["requestId"].as_str().unwrap();
    let begun = home.data(&["daemon", "commands", id]);
    assert_eq!(begun["command"], "run.cancel");
    let done = ended(&home, id);
    assert_eq!(done["status"], "completed", "{done:#}");
    assert_eq!(
        done["result"],
        json!({ "ok": true, "data": { "runId": run, "status": "cancelled" } })
    );
    assert!(done["processed_at"].is_string() && done["attempts"] == 1, "{done:#}");
    let kinds = home.data(&["events", "--kind", "command-completed"]);
    let told = kinds["events"].as_array().unwrap().iter().any(|one| one["requestId"] == id);
    assert!(told, "the log keeps the fact: {kinds:#}");
    home.close();
}

#[test]
fn refused_command_is_remembered_as_failed_with_its_code() {
    let home = Home::new();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    let refused = home.json(&["priority", &run, "5"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let command = newest(&home, "run.prioritise");
    assert_eq!(command["status"], "failed", "{command:#}");
    let error = &command["result"]["error"];
    assert_eq!(error["code"], "invalid_status_transition", "{command:#}");
    for flag in ["retryable", "requires_human"] {
        assert!(error["details"][flag].is_boolean(), "{flag}: {command:#}");
    }
    assert_eq!(error["details"]["request_id"], command["request_id"]);
    home.close();
}

#[test]
fn row_f01_command_whose_daemon_died_is_driven_to_its_end_by_the_next() {
    let home = Home::new();
    let run = home.script(&[], "trap '' TERM; mark a; await never");
    home.pid("a");
    let id = home.data(&["cancel", &run])["requestId"].as_str().unwrap().to_owned();
    end(home.daemon().unwrap());
    let waiting = home.data(&["daemon", "commands", &id]);
    let status = home.data(&["daemon", "status"]);
    assert_eq!((&status["running"], &status["status"]), (&json!(false), &json!("stopped")));
    if waiting["status"] == "processing" {
        assert_eq!(status["current_command"]["request_id"], id.as_str(), "{status:#}");
        assert_eq!(status["commands_in_progress"].as_array().unwrap().len(), 1);
    }
    home.start_daemon();
    let done = ended(&home, &id);
    assert_eq!(done["status"], "completed", "{done:#}");
    if waiting["status"] == "processing" {
        assert_eq!(done["attempts"], 2, "{done:#}");
        assert!(done["epoch"].as_u64() > waiting["epoch"].as_u64(), "{done:#}");
    }
    assert_eq!(home.events_of(&run, "run-cancelled").len(), 1);
    let status = home.data(&["daemon", "status"]);
    assert_eq!(status["commands_in_progress"], json!([]), "{status:#}");
    home.close();
}

#[test]
fn key_of_a_refusal_answers_the_same_and_does_nothing() {
    let home = Home::new();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    let key = [("idempotency-key", "late")];
    let route = format!("/runs/{run}/priority");
    let body = json!({ "priority": 3 });
    let first = post(&home.path(), &route, &key, &body).unwrap();
    let again = post(&home.path(), &route, &key, &body).unwrap();
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(first.body["error"]["code"], "invalid_status_transition");
    let all = home.data(&["daemon", "commands", "--command", "run.prioritise"]);
    assert_eq!(all["commands"].as_array().unwrap().len(), 1, "{all:#}");
    home.close();
}

#[test]
fn approval_is_completed_when_its_feature_has_landed() {
    let stage = Stage::with(
        r#"echo "$feature" >"$feature.txt""#,
        "true",
        &[("policy = \"auto\"", "policy = \"person\"")],
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let commit = feature(&document, "a")["commit"].as_str().unwrap().to_owned();
    let answer = stage.home.data(&["approve", &run, "--feature", "a", "--commit", &commit]);
    let done = ended(&stage.home, answer["requestId"].as_str().unwrap());
    assert_eq!(done["status"], "completed", "{done:#}");
    let data = &done["result"]["data"];
    assert_eq!(data["status"], "landed", "{done:#}");
    assert_eq!(data["merge_sha"], stage.tip().as_str());
    assert_eq!(
        (&data["merge_strategy"], &data["merge_target"]),
        (&json!("merge"), &json!("refs/heads/main"))
    );
    assert_eq!(data["merge_gate_overall"], "passed");
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn approval_of_a_change_that_conflicts_for_good_ends_with_what_conflicts() {
    let stage = Stage::with(
        r#"echo "$feature" >shared.txt"#,
        "true",
        &[("policy = \"auto\"", "policy = \"person\"")],
    );
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let commit = feature(&document, "a")["commit"].as_str().unwrap().to_owned();
    let repo = stage.home.repo();
    repo.write("shared.txt", "mine\n");
    repo.git(&["add", "shared.txt"]);
    repo.git(&["commit", "--quiet", "--message", "mine"]);
    let answer = stage.home.data(&["approve", &run, "--feature", "a", "--commit", &commit]);
    let done = ended(&stage.home, answer["requestId"].as_str().unwrap());
    assert_eq!(done["status"], "failed", "never ok: {done:#}");
    let error = &done["result"]["error"];
    assert_eq!(error["code"], "reconciliation_failed", "{done:#}");
    let details = &error["details"];
    assert_eq!(details["conflicting_files"], json!(["shared.txt"]));
    assert_eq!(details["worktree_head"], commit.as_str());
    assert_eq!(details["requires_human"], true);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn commands_are_forgotten_as_the_users_config_says_and_their_facts_are_not() {
    let home = Home::new();
    let config = home.beside("user/config/tidegate");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[commands]\nkeep = \"1ms\"\n").unwrap();
    let run = home.submit(&[], &["true"]);
    home.ended(&run);
    home.run(&["daemon", "stop"]).ends_with(0);
    home.start_daemon();
    // A daemon forgets at its first work.
    let other = home.submit(&[], &["true"]);
    home.ended(&other);
    let left = home.data(&["daemon", "commands", "--command", "run.submit"]);
    let left: Vec<&str> = left["commands"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["run_id"].as_str())
        .collect();
    assert!(!left.contains(&run.as_str()), "{left:?}");
    let facts = home.data(&["events", "--kind", "command-completed"]);
    assert!(facts["events"].as_array().unwrap().len() >= 2, "{facts:#}");
    home.close();
}

#[test]
fn command_is_given_by_its_name_and_an_unknown_one_is_refused() {
    let home = Home::new();
    let run = home.script(&[], "mark a; await never");
    home.pid("a");
    let give = |body: &Value| {
        post(&home.path(), "/commands", &[("idempotency-key", "by-name")], body).unwrap()
    };
    let unknown =
        post(&home.path(), "/commands", &[], &json!({ "command": "run.explode" })).unwrap();
    assert_eq!(unknown.body["error"]["code"], "unsupported_command", "{unknown:?}");
    assert!(unknown.body["error"]["details"]["known"].as_array().unwrap().len() > 10);
    for bad in
        [json!({ "command": "run.cancel" }), json!({ "command": "run.cancel", "run_id": "../x" })]
    {
        let refused = post(&home.path(), "/commands", &[], &bad).unwrap();
        assert_eq!(refused.body["error"]["code"], "invalid_input", "{refused:?}");
    }
    let cancel = json!({ "command": "run.cancel", "run_id": run, "args": { "actor": "ada" } });
    let (first, again) = (give(&cancel), give(&cancel));
    assert_eq!(first.status, 200, "{first:?}");
    assert_eq!(first.body, again.body, "the key is the command's own");
    let id = first.body["data"]["requestId"].as_str().unwrap();
    let done = ended(&home, id);
    assert_eq!((&done["command"], &done["args"]["actor"]), (&json!("run.cancel"), &json!("ada")));
    assert_eq!(home.ended(&run)["cancelRequestedBy"], "ada");
    home.close();
}
