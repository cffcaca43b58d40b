//! Shapes whose history is hard, through the pipeline.

use super::{Mine, changed, yards_history};
use crate::plan_stage::{Stage, feature, one_wave};

/// The gate does not matter here: the repositories have no check of their own.
const NO_CHECK: (&str, &str) = ("sh check.sh", "true");

#[test]
fn criss_cross_history_lands_what_git_itself_would_merge() {
    let agent = "git merge --quiet --no-edit feature >&2; echo a >a.txt";
    let stage = Stage::on(yards_history::criss_cross, agent, &[NO_CHECK]);
    let repo = stage.home.repo();
    let merged = repo.git(&["merge-tree", "--write-tree", "main", "feature"]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let berths = repo.git(&["show", "main:berths.txt"]);
    assert_eq!(berths, repo.git(&["show", &format!("{merged}:berths.txt")]));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.close();
}

#[test]
fn repository_without_a_commit_is_refused_at_submit_and_told_what_to_do() {
    let stage = Stage::on(yards_history::unborn, "echo a >a.txt", &[NO_CHECK]);
    let repo = stage.home.repo();
    repo.write("plan.toml", &one_wave(&["a"]));
    let before = Mine::of(repo);
    for target in ["main", "trunk"] {
        stage.config(&[NO_CHECK, ("target = \"main\"", &format!("target = \"{target}\""))]);
        let refused = stage.home.json(&["submit", "plan.toml"]).ends_with(1);
        assert_eq!(refused.error(), "target_missing");
        let hint = refused.text();
        assert!(hint.contains("has no commit yet"), "{hint}");
    }
    let after = Mine::of(repo);
    assert_eq!(changed(&before.without("tidegate.toml"), &after.without("tidegate.toml")), [""; 0]);
    // With a first commit, it goes.
    repo.git(&["add", "idea.txt"]);
    repo.git(&["commit", "--quiet", "-m", "first"]);
    let run = stage.home.data(&["submit", "plan.toml"]);
    stage.ends(run["runId"].as_str().unwrap(), "completed");
    assert_eq!(stage.at("trunk", "a.txt").as_deref(), Some("a\n"));
    stage.home.close();
}

#[test]
fn detached_head_without_a_branch_is_refused_and_its_commit_is_kept() {
    let stage = Stage::on(yards_history::detached, "echo a >a.txt", &[NO_CHECK]);
    let repo = stage.home.repo();
    repo.write("plan.toml", &one_wave(&["a"]));
    let before = Mine::of(repo);
    let refused = stage.home.json(&["submit", "plan.toml"]).ends_with(1);
    assert_eq!(refused.error(), "target_missing");
    assert!(refused.text().contains("git branch main"), "{}", refused.text());
    assert_eq!(changed(&before, &Mine::of(repo)), [""; 0]);
    // A branch for what the user stands on: it lands there, and the head stays where it is.
    repo.git(&["branch", "main"]);
    let run = stage.home.data(&["submit", "plan.toml"]);
    stage.ends(run["runId"].as_str().unwrap(), "completed");
    assert_eq!(changed(&before, &Mine::of(repo).but_for("main")), [""; 0]);
    assert_eq!(stage.on_target("local.txt").as_deref(), Some("held by no ref\n"));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.home.close();
}

#[test]
fn shallow_clone_lands_what_builds_on_its_tip() {
    let stage = Stage::on(yards_history::shallow, "echo a >a.txt", &[NO_CHECK]);
    let shallow = stage.home.repo().root().join(".git/shallow");
    let before = std::fs::read(&shallow).unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(std::fs::read(&shallow).unwrap(), before, "history is as deep as it was");
    stage.clean();
    stage.home.close();
}

#[test]
fn shallow_clone_whose_merge_base_is_out_of_sight_says_so_and_lands_when_it_is_deeper() {
    let agent = r#"echo a >a.txt; echo up >"$T/up"; read -r _ <"$T/go""#;
    let stage = Stage::on(yards_history::shallow, agent, &[NO_CHECK]);
    let bell = stage.bell("go");
    let repo = stage.home.repo();
    repo.git(&["checkout", "--quiet", "--detach"]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("up");
    // Meanwhile the target is fetched from further on, and what lies between is not.
    let source = crate::harness::Repo::at(&stage.home.beside("source"));
    for n in 7..10 {
        source.write(&format!("f{n}.txt"), "later\n");
        source.commit("later");
    }
    repo.git(&["fetch", "--quiet", "--depth", "1", "origin", "+main:refs/heads/main"]);
    bell.ring();
    let document = stage.needs_person(&run);
    let blocked = &feature(&document, "a")["blocked"];
    assert!(blocked.to_string().contains("git fetch --unshallow"), "{blocked:#}");
    repo.git(&["fetch", "--quiet", "--unshallow", "origin"]);
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.on_target("f9.txt").as_deref(), Some("later\n"));
    stage.home.close();
}
