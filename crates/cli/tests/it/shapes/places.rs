//! Shapes whose place is hard, through the pipeline.

use super::{Mine, changed, yards_place};
use crate::harness::Repo;
use crate::plan_stage::{Stage, feature, one_wave};

const NO_CHECK: (&str, &str) = ("sh check.sh", "true");

#[test]
fn submodules_are_in_the_worktree_and_in_the_gates_as_in_the_users_checkout() {
    let agent = r#"sh check.sh; git submodule status --recursive >"$T/seen"; echo a >a.txt"#;
    let stage = Stage::on(yards_place::submodules, agent, &[]);
    let repo = stage.home.repo();
    let before = Mine::of(repo);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.home.appears("seen").lines().count(), 3);
    let differ = changed(&before, &Mine::of(repo));
    let other: Vec<_> = differ.iter().filter(|what| what.contains("record")).collect();
    assert_eq!(other, [""; 0], "settings and submodules of the user are as they were");
    stage.close();
}

#[test]
fn hooks_that_refuse_are_evidence_and_their_exit_code_counts() {
    let agent = r#"
case $prompt in *"no .ticket file"*) : >.ticket ;; esac
echo "$feature" >"$feature.txt""#;
    let stage = Stage::on(yards_place::hooks, agent, &[NO_CHECK]);
    let run = stage.submit(&one_wave(&["a; title = \"feat: a file\""]));
    let document = stage.ends(&run, "completed");
    assert_eq!(feature(&document, "a")["iteration"], 2);
    assert!(stage.prompt("a", 2).contains("no .ticket file, commit refused"));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    assert_eq!(stage.on_target(".ticket"), None);
    // A message that the other hook refuses, whatever the agent does.
    let run = stage.submit(&one_wave(&["b; title = \"did stuff\"; max_iterations = 2"]));
    let document = stage.ends(&run, "failed");
    let b = feature(&document, "b").to_string();
    assert!(b.contains("refused"), "{b}");
    assert!(stage.prompt("b", 2).contains("no .ticket file"), "{}", stage.prompt("b", 2));
    stage.close();
}

#[test]
fn protected_remote_refuses_and_the_local_branch_is_not_ahead_of_it() {
    let stage = Stage::on(yards_place::protected, "echo a >a", &[NO_CHECK]);
    let repo = stage.home.repo();
    let remote = Repo::at(&stage.home.beside("remote.git"));
    let (there, tip) = (remote.git(&["for-each-ref"]), stage.tip());
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let blocked = &feature(&document, "a")["blocked"];
    assert_eq!(blocked["reason"], "push_refused", "{blocked:#}");
    assert!(stage.home.beside("pre-push").exists(), "the user's own hook was asked");
    assert_eq!((remote.git(&["for-each-ref"]), stage.tip()), (there.clone(), tip));
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    // Where nothing is to be pushed, it lands here alone.
    let local = ("strategy = \"merge\"", "strategy = \"merge\"\nremote = \"off\"");
    stage.config(&[NO_CHECK, local]);
    let run = stage.submit(&one_wave(&["b"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a").as_deref(), Some("a\n"));
    assert_eq!(remote.git(&["for-each-ref"]), there);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    stage.close();
}

#[test]
fn checkout_in_the_worst_state_keeps_every_byte_and_lands_when_it_is_clean() {
    let agent = "echo theirs >new.txt; sed -i 's/^25$/25 feature/' f.txt";
    let stage = Stage::on(yards_place::dirty, agent, &[NO_CHECK]);
    let repo = stage.home.repo();
    repo.write("plan.toml", &one_wave(&["a"]));
    let rebasing = Repo::at(&stage.home.beside("rebasing"));
    let before = (Mine::of(repo), Mine::of(&rebasing));
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let blocked = &feature(&document, "a")["blocked"];
    assert_eq!(blocked["reason"], "target_dirty", "{blocked:#}");
    assert_eq!(blocked["paths"], serde_json::json!(["f.txt", "keep.txt"]));
    assert_eq!(changed(&before.0, &Mine::of(repo)), [""; 0]);
    assert_eq!(changed(&before.1, &Mine::of(&rebasing)), [""; 0]);
    let lock = repo.git(&["rev-parse", "--path-format=absolute", "--git-path", "index.lock"]);
    std::fs::remove_file(lock).unwrap();
    repo.git(&["reset", "--quiet", "--hard"]);
    // Its own file is still in the way.
    stage.home.until(&run, "new.txt in the way", |document| {
        feature(document, "a")["blocked"]["paths"] == serde_json::json!(["new.txt"])
    });
    assert_eq!(std::fs::read_to_string(repo.root().join("new.txt")).unwrap(), "the user's own\n");
    std::fs::remove_file(repo.root().join("new.txt")).unwrap();
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("new.txt").as_deref(), Some("theirs\n"));
    let after = Mine::of(&rebasing).but_for("main");
    assert_eq!(changed(&before.1.but_for("main"), &after), [""; 0], "the rebase is the user's");
    stage.home.close();
}
