//! What a run takes from its submit, who may say what it runs, and who serves a repository.

use std::fs;

use serde_json::Value;

use crate::harness::Home;
use crate::plan_stage::{Stage, feature, one_wave, waves};

#[test]
fn changes_of_plan_spec_and_config_after_the_submit_change_nothing() {
    let stage = Stage::new(
        r#"
if [ "$feature" = a ]; then echo up >"$T/up"; read -r _ <"$T/go"; fi
echo "$prompt" >"$feature.txt""#,
        "true",
    );
    let bell = stage.bell("go");
    let repo = stage.home.repo();
    repo.write("specs/a.md", "The first word.\n");
    repo.write("specs/b.md", "The first word.\n");
    let run = stage.submit(&waves(&[
        &["a; spec = \"specs/a.md\""],
        &["b; spec = \"specs/b.md\"; needs = [\"a\"]"],
    ]));
    stage.home.appears("up");
    repo.write("plan.toml", "this is no plan");
    repo.write("specs/b.md", "Another word.\n");
    stage.config(&[("run = \"sh check.sh\"", "run = \"exit 1\""), ("exec sh", "exit 9; exec sh")]);
    let pid = stage.home.daemon().unwrap();
    // A daemon that comes later reads what was pinned, too.
    crate::harness::end(pid);
    bell.ring();
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "b")["attempts"], 1);
    assert_eq!(stage.on_target("b.txt").as_deref(), Some("The first word.\n"));
    repo.write("plan.toml", &one_wave(&["c"]));
    let later = stage.home.data(&["submit", "plan.toml"]);
    stage.ends(later["runId"].as_str().unwrap(), "failed");
    stage.close();
}

#[test]
fn config_that_nobody_trusted_runs_nothing() {
    let stage = Stage::new("echo x >a.txt", "true");
    let repo = stage.home.repo();
    let path = repo.root().join("tidegate.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\n# another hand was here\n")).unwrap();
    repo.write("plan.toml", &one_wave(&["a"]));
    let refused = stage.home.json(&["submit", "plan.toml"]).ends_with(1);
    assert_eq!(refused.error(), "untrusted_config");
    assert_eq!(stage.home.data(&["list"])["runs"], Value::Array(Vec::new()));
    assert_eq!(stage.starts("a"), 0);
    stage.home.run(&["config", "trust"]).ends_with(0);
    let run = stage.home.data(&["submit", "plan.toml"]);
    stage.ends(run["runId"].as_str().unwrap(), "completed");
    stage.close();
}

#[test]
fn config_of_a_feature_is_not_the_config_of_its_run() {
    // The agent writes itself another gate; the gate of the submit is what counts.
    let stage = Stage::new(
        r#"
case $prompt in
    *"sober"*) echo good >a.txt ;;
    *) echo bad >a.txt; echo 'target = "other"' >tidegate.toml; git add --force tidegate.toml ;;
esac"#,
        "grep -q good a.txt || { echo 'be sober'; exit 1; }",
    );
    let run = stage.submit(&one_wave(&["a"]));
    // The user's own untracked config is in the way of the agent's: a person decides.
    let a = stage.until_feature(&run, "a", "blocked");
    assert_eq!((&a["iteration"], &a["blocked"]["reason"]), (&2.into(), &"target_dirty".into()));
    assert_eq!(a["blocked"]["paths"], serde_json::json!(["tidegate.toml"]));
    assert_eq!(stage.on_target("tidegate.toml"), None);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn repository_is_served_by_one_home_and_the_other_says_who_has_it() {
    let stage = Stage::new(
        r#"echo up >>"$T/up"; read -r _ <"$T/go"; echo "$feature" >"$feature.txt""#,
        "true",
    );
    let bell = stage.bell("go");
    let first = stage.submit(&one_wave(&["a"]));
    stage.home.appears("up");
    let second = stage.home.beside("second");
    let call = |words: &[&str]| {
        let mut call = stage.home.call(words);
        call.env("TIDEGATE_HOME", &second);
        let output = call.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(call(&["config", "trust"]).0, Some(0));
    stage.home.repo().write("plan.toml", &one_wave(&["b"]));
    let (code, text) = call(&["--json", "submit", "plan.toml"]);
    assert_eq!(code, Some(0), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    let run = answer["data"]["runId"].as_str().unwrap().to_owned();
    let holder = home_id(&stage.home);
    let explained = crate::harness::until("who holds the repository", || {
        let (_, text) = call(&["explain", &run]);
        text.contains(&holder).then_some(text)
    });
    assert!(explained.contains("repository") || explained.contains("served"), "{explained}");
    assert_eq!(stage.starts("b"), 0, "{explained}");
    bell.ring();
    stage.ends(&first, "completed");
    bell.ring();
    let (code, text) = call(&["--json", "wait", &run, "--timeout", "60s", "--ignore-attention"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(stage.on_target("b.txt").as_deref(), Some("b\n"));
    assert_eq!(call(&["doctor", "--verify"]).0, Some(0));
    assert_eq!(call(&["daemon", "stop"]).0, Some(0));
    stage.close();
}

fn home_id(home: &Home) -> String {
    let status = home.data(&["daemon", "status"]);
    let id = status["supervisorId"].as_str().unwrap().to_owned();
    id.split('-').next().unwrap().to_owned()
}

#[test]
fn repository_that_goes_away_needs_a_person_and_its_run_can_be_cancelled() {
    let stage = Stage::new(r#"echo up >"$T/up"; read -r _ <"$T/go"; echo x >a.txt"#, "true");
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("up");
    let root = stage.home.repo().root().to_owned();
    let away = stage.home.beside("away");
    fs::rename(&root, &away).unwrap();
    fs::create_dir(&root).unwrap();
    bell.ring();
    let document = stage.needs_person(&run);
    let a = feature(&document, "a");
    assert_eq!(a["blocked"]["reason"], "git", "{a:#}");
    fs::remove_dir(&root).unwrap();
    fs::rename(&away, &root).unwrap();
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    bell.ring();
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("x\n"));
    stage.close();
}
