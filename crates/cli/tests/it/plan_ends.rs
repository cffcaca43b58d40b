//! How plan runs end: failures that stop or do not, retries, and cancels at every phase.

use serde_json::Value;

use crate::plan_stage::{Stage, feature, one_wave, waves};

/// Fails while the file `sick` is there; otherwise makes its file.
const SICK: &str = r#"if [ "$feature" = a ] && [ -e "$T/sick" ]; then exit 1; fi; echo "$feature" >"$feature.txt""#;

fn sick(words: &[(&str, &str)]) -> Stage {
    let mut all = vec![("max_attempts = 3", "max_attempts = 1")];
    all.extend(words);
    let stage = Stage::with(SICK, "true", &all);
    std::fs::write(stage.home.beside("sick"), "").unwrap();
    stage
}

fn states(document: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let features = document["features"].as_array().unwrap();
    features.iter().map(|feature| (text(&feature["id"]), text(&feature["state"]))).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(id, state)| ((*id).to_owned(), (*state).to_owned())).collect()
}

#[test]
fn failure_stops_later_waves_and_names_the_cause() {
    let stage = sick(&[]);
    let run = stage.submit(&waves(&[&["a", "b"], &["c"], &["d; needs = [\"c\"]"]]));
    let document = stage.ends(&run, "failed");
    let told = [("a", "failed"), ("b", "landed"), ("c", "skipped"), ("d", "skipped")];
    assert_eq!(states(&document), pairs(&told));
    assert_eq!(feature(&document, "c")["cause"], "a");
    assert_eq!(stage.home.json(&["wait", &run]).code, 10);
    assert_eq!(stage.on_target("b.txt").as_deref(), Some("b\n"), "what landed stays");
    assert_eq!((stage.starts("c"), stage.starts("d")), (0, 0));
    stage.close();
}

#[test]
fn failure_skips_dependants_alone_when_the_plan_goes_on() {
    let stage = sick(&[("on_failure = \"stop\"", "on_failure = \"continue\"")]);
    let run = stage.submit(&waves(&[
        &["a", "b"],
        &["c; needs = [\"a\"]", "d; needs = [\"b\"]"],
        &["e; needs = [\"c\"]", "f"],
    ]));
    let document = stage.ends(&run, "failed");
    let told = [
        ("a", "failed"),
        ("b", "landed"),
        ("c", "skipped"),
        ("d", "landed"),
        ("e", "skipped"),
        ("f", "landed"),
    ];
    assert_eq!(states(&document), pairs(&told));
    assert_eq!(feature(&document, "e")["cause"], "c");
    stage.close();
}

#[test]
fn failed_feature_of_a_running_run_is_retried_and_the_run_completes() {
    let stage = Stage::with(
        r#"
if [ "$feature" = b ]; then echo up >"$T/up.b"; read -r _ <"$T/go"; fi
if [ "$feature" = a ] && [ -e "$T/sick" ]; then exit 1; fi
echo "$feature" >"$feature.txt""#,
        "true",
        &[("max_attempts = 3", "max_attempts = 1")],
    );
    std::fs::write(stage.home.beside("sick"), "").unwrap();
    let bell = stage.bell("go");
    let run = stage.submit(&waves(&[&["a", "b"], &["c; needs = [\"a\"]"]]));
    stage.until_feature(&run, "a", "failed");
    std::fs::remove_file(stage.home.beside("sick")).unwrap();
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    stage.until_feature(&run, "a", "landed");
    assert_ne!(stage.home.json(&["retry", &run, "--feature", "a"]).code, 0, "it has landed");
    assert_ne!(stage.home.json(&["retry", &run]).code, 0, "the run has not ended");
    bell.ring();
    stage.ends(&run, "completed");
    assert_eq!((stage.starts("a"), stage.starts("c")), (2, 1));
    stage.close();
}

#[test]
fn failed_run_is_retried_as_a_new_run_without_what_has_landed() {
    let stage = sick(&[]);
    let run = stage.submit(&waves(&[&["a", "b"], &["c; needs = [\"a\", \"b\"]"]]));
    stage.ends(&run, "failed");
    std::fs::remove_file(stage.home.beside("sick")).unwrap();
    let answer = stage.home.data(&["retry", &run]);
    let second = answer["runId"].as_str().unwrap().to_owned();
    assert_ne!(second, run);
    let document = stage.ends(&second, "completed");
    assert_eq!(states(&document), pairs(&[("a", "landed"), ("c", "landed")]));
    assert_eq!(document["parentRunId"], run.as_str());
    assert_eq!((stage.starts("a"), stage.starts("b"), stage.starts("c")), (2, 1, 1));
    assert_eq!(stage.home.status(&run)["status"], "failed", "a result that was told stays");
    stage.close();
}

/// Cancels a run once `held` is up, and looks at what is left.
fn cancelled(stage: Stage, run: &str, tip: &str) {
    let output = stage.home.json(&["cancel", run, "--wait"]);
    assert_eq!(output.code, 0, "{output:?}\n{}", stage.story(run));
    let document = stage.home.status(run);
    assert_eq!(document["status"], "cancelled", "{document:#}");
    assert_eq!(document["terminalDisposition"], "cancelled");
    assert_eq!(Stage::left(run), Vec::<u32>::new());
    assert_eq!(stage.tip(), tip, "the target moved");
    assert_eq!(stage.home.json(&["wait", run]).code, 11);
    assert_ne!(stage.home.json(&["cancel", run]).code, 0, "it has ended");
    stage.close();
}

const HOLD: &str = r#"echo up >"$T/up"; trap "" TERM; read -r _ <"$T/go"; exit 1"#;

#[test]
fn cancel_while_an_agent_works_ends_it_with_its_tree() {
    let agent = r#"(trap "" TERM; setsid sleep 1000) & echo up >"$T/up"; read -r _ <"$T/go""#;
    let stage = Stage::with(agent, "true", &[("[limits]", "[limits]\ngrace = \"100ms\"")]);
    let _bell = stage.bell("go");
    let tip = stage.tip();
    let run = stage.submit(&waves(&[&["a"], &["b"]]));
    stage.home.appears("up");
    cancelled(stage, &run, &tip);
}

#[test]
fn cancel_while_a_gate_runs_ends_it() {
    let stage = Stage::with("echo x >a.txt", HOLD, &[("[limits]", "[limits]\ngrace = \"100ms\"")]);
    let _bell = stage.bell("go");
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("up");
    assert_eq!(feature(&stage.home.status(&run), "a")["state"], "verifying");
    cancelled(stage, &run, &tip);
}

#[test]
fn cancel_while_the_merged_tree_is_checked_leaves_the_target() {
    let stage = Stage::with("echo x >a.txt", HOLD, &[("[limits]", "[limits]\ngrace = \"100ms\"")]);
    let _bell = stage.bell("go");
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a; gates = []"]));
    stage.home.appears("up");
    assert_eq!(feature(&stage.home.status(&run), "a")["state"], "landing");
    cancelled(stage, &run, &tip);
}

#[test]
fn cancel_of_a_run_that_waits_for_its_turn_starts_nothing() {
    let stage = Stage::new(r#"echo up >"$T/up"; read -r _ <"$T/go"; echo x >a.txt"#, "true");
    let bell = stage.bell("go");
    let first = stage.submit(&one_wave(&["a"]));
    let second = stage.submit(&one_wave(&["b"]));
    stage.home.appears("up");
    assert_eq!(stage.home.status(&second)["status"], "pending");
    stage.home.run(&["cancel", &second, "--wait"]).ends_with(0);
    bell.ring();
    stage.ends(&first, "completed");
    assert_eq!(stage.home.status(&second)["status"], "cancelled");
    assert_eq!(stage.starts("b"), 0);
    stage.close();
}

#[test]
fn cancel_of_a_blocked_run_ends_it() {
    let stage = Stage::new("echo x >README.md", "true");
    let repo = stage.home.repo();
    repo.write("README.md", "mine\n");
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a"]));
    stage.needs_person(&run);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert_eq!(stage.tip(), tip);
    assert_eq!(stage.home.status(&run)["status"], "cancelled");
    assert_eq!(repo.git(&["status", "--porcelain"]), " M README.md");
    stage.home.close();
}

#[test]
fn cancel_keeps_what_has_landed() {
    let stage = Stage::new(
        r#"
if [ "$feature" = b ]; then echo up >"$T/up"; read -r _ <"$T/go"; fi
echo "$feature" >"$feature.txt""#,
        "true",
    );
    let _bell = stage.bell("go");
    let run = stage.submit(&waves(&[&["a"], &["b"], &["c"]]));
    stage.home.appears("up");
    let tip = stage.tip();
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    let document = stage.home.status(&run);
    assert_eq!(
        states(&document),
        pairs(&[("a", "landed"), ("b", "cancelled"), ("c", "cancelled")])
    );
    assert_eq!((stage.tip(), stage.on_target("a.txt").as_deref()), (tip, Some("a\n")));
    stage.close();
}
