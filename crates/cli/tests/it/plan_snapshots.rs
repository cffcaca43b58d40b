//! Snapshots of worktrees: each attempt's end is captured, and a feature goes back to one of them.

use crate::plan_stage::{Stage, one_wave};

#[test]
fn end_of_each_attempt_is_captured_whatever_its_code() {
    let agent = r#"echo "$TIDEGATE_ATTEMPT" >tried.txt; [ "$TIDEGATE_ATTEMPT" != 1 ]"#;
    let stage = Stage::new(agent, "true");
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.moments(&run, "snapshot-taken", "a").len(), 2, "{}", stage.story(&run));
    let to = stage.home.beside("first");
    let words =
        ["restore", &run, "--feature", "a", "--snapshot", "1", "--to", to.to_str().unwrap()];
    stage.home.run(&words).ends_with(0);
    assert_eq!(std::fs::read_to_string(to.join("tried.txt")).unwrap(), "1\n");
    let refused = stage.home.json(&words);
    assert_eq!(refused.code, 1, "the folder is not empty: {}", refused.text());
    stage.close();
}

#[test]
fn feature_in_review_goes_back_to_a_snapshot_and_is_built_from_there() {
    let agent = "if [ ! -e first.txt ]; then echo 1 >first.txt; else echo 2 >second.txt; fi";
    let words = [("policy = \"auto\"", "policy = \"person\"")];
    let stage = Stage::with(agent, "true", &words);
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "in_review");
    let missing = stage.home.data(&["rollback", &run, "--feature", "a", "--to", "9"]);
    assert_eq!(missing["to"], 9);
    let blocked = stage.until_feature(&run, "a", "blocked");
    assert_eq!(blocked["blocked"]["reason"], "git", "{blocked:#}");
    stage.home.run(&["rollback", &run, "--feature", "a", "--to", "1"]).ends_with(0);
    let document = stage.until_feature(&run, "a", "in_review");
    let commit = document["commit"].as_str().unwrap();
    assert_eq!(stage.at(commit, "second.txt").as_deref(), Some("2\n"), "it went on from there");
    assert_eq!(stage.moments(&run, "rolled-back", "a").len(), 1);
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", commit]).ends_with(0);
    stage.ends(&run, "completed");
    let late = stage.home.json(&["rollback", &run, "--feature", "a", "--to", "1"]);
    assert_eq!(late.code, 1, "{}", late.text());
    stage.close();
}
