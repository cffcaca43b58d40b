//! Shapes whose names are hard, through the pipeline.

use std::collections::BTreeSet;

use super::{Mine, changed, yards_names};
use crate::plan_stage::{Stage, feature, one_wave};

const NO_CHECK: (&str, &str) = ("sh check.sh", "true");

#[test]
fn names_that_differ_in_case_alone_land_side_by_side() {
    let agent = r#"echo "$feature" >>src/main.rs; echo "$feature" >"$feature.txt""#;
    let stage = Stage::on(yards_names::case_twins, agent, &[NO_CHECK]);
    let before = Mine::of(stage.home.repo());
    let run = stage.submit(&one_wave(&["login"]));
    let document = stage.ends(&run, "completed");
    assert_eq!(stage.on_target("src/main.rs").as_deref(), Some("src/main.rs\nlogin\n"));
    assert_eq!(stage.on_target("SRC/MAIN.rs").as_deref(), Some("SRC/MAIN.rs\n"));
    assert_eq!(feature(&document, "login")["state"], "landed");
    let other = changed(&before, &Mine::of(stage.home.repo()));
    assert!(other.iter().all(|what| !what.contains("eature")), "{other:#?}");
    stage.close();
}

#[test]
fn features_whose_ids_differ_in_case_alone_are_refused() {
    // Their worktrees would be one on a disk that folds case, and so would their branches.
    let stage = Stage::on(yards_names::case_twins, "true", &[NO_CHECK]);
    stage.home.repo().write("plan.toml", &one_wave(&["login", "Login"]));
    let refused = stage.home.json(&["submit", "plan.toml"]).ends_with(1);
    assert_eq!(refused.error(), "invalid_plan");
    assert!(refused.text().contains("differs from `login`"), "{}", refused.text());
    stage.home.close();
}

#[test]
fn hostile_file_names_land_as_they_are_and_nothing_is_executed() {
    let agent = r#"
find . -name .git -prune -o -type f -exec sh -c 'for f; do echo edit >>"$f"; done' _ {} +
git rm --quiet --force -- '; touch PWNED; .txt'
printf x >"$(printf 'odd\nname \351')""#;
    let stage = Stage::on(yards_names::hostile_names, agent, &[NO_CHECK]);
    let repo = stage.home.repo();
    let names = |commit: &str| -> BTreeSet<String> {
        let listed = repo.git(&["ls-tree", "-r", "-z", "--name-only", commit]);
        listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let before = names("main");
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let after = names("main");
    assert_eq!((before.len(), after.len()), (21, 21));
    let gone: Vec<_> = before.difference(&after).collect();
    assert_eq!(gone, ["; touch PWNED; .txt"]);
    let edited = repo.git(&["diff", "--name-only", "-z", "main~1", "main"]);
    assert_eq!(edited.matches('\0').count(), 22, "each of them, and the new one");
    let found = std::process::Command::new("find")
        .arg(stage.home.beside(""))
        .args(["-name", "PWNED"])
        .output()
        .unwrap();
    assert!(found.stdout.is_empty(), "something was executed");
    stage.close();
}

#[test]
fn hostile_file_name_in_the_way_of_a_landing_is_named_without_harm() {
    let agent = r#"printf theirs >"$(printf 'new\nline.txt')""#;
    let stage = Stage::on(yards_names::hostile_names, agent, &[NO_CHECK]);
    let repo = stage.home.repo();
    repo.write("new\nline.txt", "mine\n");
    let run = stage.submit(&one_wave(&["a"]));
    let a = stage.until_feature(&run, "a", "blocked");
    assert_eq!(a["blocked"]["paths"], serde_json::json!(["new\nline.txt"]));
    let shown = stage.home.run(&["status", &run]).ends_with(0).text();
    assert!(!shown.lines().any(|line| line == "line.txt"), "{shown}");
    assert_eq!(std::fs::read_to_string(repo.root().join("new\nline.txt")).unwrap(), "mine\n");
    repo.git(&["checkout", "--quiet", "--", "."]);
    stage.ends(&run, "completed");
    stage.close();
}

#[test]
fn branches_that_are_traps_are_left_alone_and_the_target_is_the_branch_not_the_tag() {
    let stage =
        Stage::on(yards_names::ref_traps, r#"echo "$feature" >"$feature.txt""#, &[NO_CHECK]);
    let repo = stage.home.repo();
    let before = Mine::of(repo);
    let run = stage.submit(&one_wave(&["run", "build"]));
    stage.ends(&run, "completed");
    let tag = repo.git(&["rev-parse", "refs/tags/v1.0"]);
    stage.config(&[NO_CHECK, ("target = \"main\"", "target = \"v1.0\"")]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.at("refs/heads/v1.0", "a.txt").as_deref(), Some("a\n"));
    assert_eq!(repo.git(&["rev-parse", "refs/tags/v1.0"]), tag);
    let after = Mine::of(repo).but_for("main").but_for("v1.0");
    let differ = changed(&before.but_for("main").but_for("v1.0"), &after);
    let refs: Vec<_> = differ.iter().filter(|what| what.contains("refs/")).collect();
    assert_eq!(refs, [""; 0]);
    stage.close();
}

#[test]
fn branch_that_takes_the_place_of_all_of_ours_is_named_at_submit() {
    let stage = Stage::on(yards_names::ref_traps, "echo a >a.txt", &[NO_CHECK]);
    let repo = stage.home.repo();
    repo.git(&["branch", "tidegate"]);
    repo.write("plan.toml", &one_wave(&["a"]));
    let before = Mine::of(repo);
    let refused = stage.home.json(&["submit", "plan.toml"]).ends_with(1);
    assert!(refused.text().contains("git branch -m tidegate"), "{}", refused.text());
    assert_eq!(changed(&before, &Mine::of(repo)), [""; 0]);
    repo.git(&["branch", "-m", "tidegate", "tide"]);
    let run = stage.home.data(&["submit", "plan.toml"]);
    stage.ends(run["runId"].as_str().unwrap(), "completed");
    stage.close();
}
