//! Landings that wait for a person: consent is for one exact commit, and no agent gives it.

use crate::plan_stage::{Stage, one_wave};

const PERSON: &[(&str, &str)] = &[("policy = \"auto\"", "policy = \"person\"")];
const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;

/// A run whose feature waits for a person, and the commit that it would land.
fn in_review(stage: &Stage) -> (String, String) {
    let run = stage.submit(&one_wave(&["a"]));
    // From the moment that its state says so a person can act.
    let a = stage.until_feature(&run, "a", "in_review");
    let document = stage.home.status(&run);
    let commit = a["commit"].as_str().unwrap().to_owned();
    assert_eq!(document["attention"][0]["commit"], commit.as_str(), "{document:#}");
    (run, commit)
}

#[test]
fn commit_that_a_person_looked_at_lands_and_no_other() {
    let stage = Stage::with(OWN_FILE, "true", PERSON);
    let tip = stage.tip();
    let (run, commit) = in_review(&stage);
    assert_eq!(stage.tip(), tip, "nothing lands without consent");
    let refused = stage.home.json(&["approve", &run, "--feature", "a", "--commit", &tip]);
    assert_eq!(refused.code, 1, "consent to another commit: {refused:?}");
    assert_eq!(refused.envelope()["error"]["code"], "version_not_current");
    assert_eq!(stage.tip(), tip);
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", &commit]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.home.repo().git(&["rev-parse", "main^2"]), commit);
    let again = stage.home.json(&["approve", &run, "--feature", "a", "--commit", &commit]);
    assert_eq!(again.code, 1, "one landing per consent: {again:?}");
    stage.close();
}

#[test]
fn consent_that_was_acknowledged_survives_the_kill_of_the_daemon() {
    let stage = Stage::with(OWN_FILE, "true", PERSON);
    let (run, commit) = in_review(&stage);
    let daemon = stage.home.daemon().unwrap();
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", &commit]).ends_with(0);
    crate::harness::end(daemon);
    stage.ends(&run, "completed");
    assert_eq!(stage.home.events_of(&run, "landed").len(), 1);
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.close();
}

#[test]
fn agent_cannot_consent_retry_submit_or_cancel() {
    let stage = Stage::with(
        r#"
echo x >a.txt; git add a.txt; git commit --quiet --message mine
run=$TIDEGATE_RUN_ID
try() { tidegate --json "$@" >>"$T/tried" 2>/dev/null </dev/null || true; echo >>"$T/tried"; }
try approve "$run" --feature a --commit "$(git rev-parse HEAD)"
try retry "$run" --feature a
try submit -- true
unset TIDEGATE_TOKEN TIDEGATE_RUN_TAG TIDEGATE_RUN_ID TIDEGATE_JOB_DIR
try approve "$run" --feature a --commit "$(git rev-parse HEAD)"
try cancel "$run""#,
        "true",
        PERSON,
    );
    let (run, commit) = in_review(&stage);
    let tried = std::fs::read_to_string(stage.home.beside("tried")).unwrap();
    let tried: Vec<&str> = tried.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(tried.len(), 5, "{tried:#?}");
    for line in &tried {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["error"]["code"], "forbidden_scope", "{tried:#?}");
    }
    assert_eq!(stage.home.data(&["list"])["runs"].as_array().unwrap().len(), 1);
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", &commit]).ends_with(0);
    stage.ends(&run, "completed");
    stage.close();
}
