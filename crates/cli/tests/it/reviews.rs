//! Reviews: what a person looks at, and the token that consents once, to one commit of one feature.

use serde_json::Value;

use crate::harness::{digest, is_as_before};
use crate::plan_stage::{Stage, feature, one_wave};

const PERSON: &[(&str, &str)] = &[("policy = \"auto\"", "policy = \"person\"")];
const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;
/// Makes another commit in each iteration.
const MORE: &str = r#"echo "$TIDEGATE_ATTEMPT" >>"$feature.txt""#;

fn reviewed(stage: &Stage, run: &str, id: &str) -> Value {
    stage.until_feature(run, id, "in_review");
    stage.home.data(&["review", &format!("{run}/{id}")])
}

fn token(review: &Value) -> String {
    review["token"].as_str().unwrap_or_else(|| panic!("{review:#}")).to_owned()
}

#[test]
fn review_shows_what_landing_would_change_on_the_target_as_it_is_now() {
    let stage = Stage::with(OWN_FILE, "true", PERSON);
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "in_review");
    let repo = stage.home.repo();
    repo.write("other.txt", "of somebody else\n");
    repo.git(&["add", "other.txt"]);
    repo.git(&["commit", "--quiet", "--message", "the target moves on"]);
    stage.home.run(&["daemon", "stop"]).ends_with(0);
    let before = digest(&stage.home.path());
    let of_repo = digest(&repo.root().join(".git"));
    let review = stage.home.data(&["review", "a"]);
    is_as_before(&stage.home.path(), &before);
    is_as_before(&repo.root().join(".git"), &of_repo);
    assert_eq!(review["mergesCleanly"], true, "{review:#}");
    assert_eq!(review["targetCommit"], stage.tip().as_str());
    let files = review["files"].as_array().unwrap();
    assert_eq!(files.len(), 1, "what others landed is no part of it: {review:#}");
    assert_eq!((&files[0]["path"], &files[0]["added"]), (&"a.txt".into(), &1.into()));
    assert!(review["diff"].as_str().unwrap().contains("+a\n"), "{review:#}");
    assert_eq!(review["evidence"][0]["passed"], true, "{review:#}");
    let shown = stage.home.run(&["review", "a", "--stat"]).text();
    assert!(shown.contains("tidegate approve") && !shown.contains("diff --git"), "{shown}");
    stage.home.run(&["approve", "a", "--token", &token(&review)]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.close();
}

#[test]
fn review_of_a_conflict_names_the_paths() {
    let stage = Stage::with(OWN_FILE, "true", PERSON);
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "in_review");
    let repo = stage.home.repo();
    repo.write("a.txt", "of somebody else\n");
    repo.git(&["add", "a.txt"]);
    repo.git(&["commit", "--quiet", "--message", "in the way"]);
    let review = stage.home.data(&["review", "a"]);
    assert_eq!(review["mergesCleanly"], false, "{review:#}");
    assert_eq!(review["conflicts"], serde_json::json!(["a.txt"]));
    assert_eq!(review["comparedWith"], "base");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn token_consents_once_to_its_own_commit_and_feature() {
    let stage = Stage::with(MORE, "true", PERSON);
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a", "b"]));
    let (first, other) = (token(&reviewed(&stage, &run, "a")), token(&reviewed(&stage, &run, "b")));
    let place = format!("{run}/a");
    let approve = |token: &str| stage.home.json(&["approve", &place, "--token", token]);
    let forged = format!("{}{}", &first[..first.len() - 1], u8::from(first.ends_with('0')));
    for wrong in [forged.as_str(), other.as_str(), "anything"] {
        assert_eq!(approve(wrong).error(), "user_approval_required", "{wrong}");
    }
    stage.home.run(&["deny", &place, "-m", "Once more"]).ends_with(0);
    let denied = |document: &Value| feature(document, "a")["iteration"] == 2;
    stage.home.until(&run, "the next iteration", denied);
    stage.until_feature(&run, "a", "in_review");
    assert_eq!(approve(&first).error(), "version_not_current", "the commit is another one");
    assert_eq!(stage.tip(), tip, "nothing has landed");
    let prompt = stage.prompt("a", 2);
    assert!(prompt.contains("Once more"), "{prompt}");
    let second = token(&reviewed(&stage, &run, "a"));
    approve(&second).ends_with(0);
    let again = approve(&second).error();
    assert_eq!(again, "invalid_status_transition", "used");
    stage.home.run(&["approve", &format!("{run}/b"), "--yes"]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(stage.home.events_of(&run, "approved").len(), 2);
    stage.close();
}

#[test]
fn consent_that_names_nothing_is_refused_without_a_terminal() {
    let stage = Stage::with(OWN_FILE, "true", PERSON);
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "in_review");
    let refused = stage.home.json(&["approve", "a"]);
    assert_eq!(refused.error(), "user_approval_required");
    let old = stage.home.json(&["approve", &run, "--feature", "a", "--commit", &stage.tip()]);
    assert_eq!(old.error(), "version_not_current");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn agent_sees_its_review_without_a_token() {
    let stage = Stage::with(
        r#"
echo x >a.txt
if [ "$TIDEGATE_ATTEMPT" = 2 ]; then
    echo y >>a.txt; tidegate --json review "$TIDEGATE_RUN_ID/a" >"$T/seen"
fi"#,
        "true",
        PERSON,
    );
    let run = stage.submit(&one_wave(&["a"]));
    reviewed(&stage, &run, "a");
    stage.home.run(&["deny", "a", "-m", "Once more"]).ends_with(0);
    let seen: Value = serde_json::from_str(&stage.home.appears("seen")).unwrap();
    assert_eq!((&seen["ok"], &seen["data"]["token"]), (&true.into(), &Value::Null), "{seen:#}");
    let second = |document: &Value| {
        let a = feature(document, "a");
        a["iteration"] == 2 && a["state"] == "in_review"
    };
    stage.home.until(&run, "the second review", second);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn approve_and_deny_at_once_have_one_winner() {
    let stage = Stage::with(MORE, "true", PERSON);
    let run = stage.submit(&one_wave(&["a"]));
    let review = reviewed(&stage, &run, "a");
    let (place, token) = (format!("{run}/a"), token(&review));
    let commit = review["commit"].as_str().unwrap();
    let consent = ["approve", place.as_str(), "--token", token.as_str()];
    let refusal = ["deny", place.as_str(), "--commit", commit, "-m", "Otherwise"];
    let home = &stage.home;
    let (yes, no) = std::thread::scope(|scope| {
        let yes = scope.spawn(|| home.json(&consent).code);
        let no = scope.spawn(|| home.json(&refusal).code);
        (yes.join().unwrap(), no.join().unwrap())
    });
    assert_eq!([yes, no].iter().filter(|code| **code == 0).count(), 1, "{yes} {no}");
    if no == 0 {
        let next = token_of_next(&stage, &run, commit);
        stage.home.run(&["approve", &place, "--token", &next]).ends_with(0);
    }
    stage.ends(&run, "completed");
    assert_eq!(stage.home.events_of(&run, "approved").len(), 1);
    stage.close();
}

/// The token of the review that follows on the one of `commit`.
fn token_of_next(stage: &Stage, run: &str, commit: &str) -> String {
    let next = |document: &Value| {
        let a = feature(document, "a");
        a["state"] == "in_review" && a["commit"] != commit
    };
    stage.home.until(run, "the next review", next);
    token(&stage.home.data(&["review", &format!("{run}/a")]))
}

#[test]
fn consent_that_the_daemon_died_of_is_recorded_once() {
    for point in ["store.commit.before_commit", "store.commit.after_commit"] {
        let stage = Stage::with(OWN_FILE, "true", PERSON);
        let run = stage.submit(&one_wave(&["a"]));
        let token = token(&reviewed(&stage, &run, "a"));
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        let fail = format!("{point}=kill@3");
        let mut daemon = stage.home.daemon_with(&[("TIDEGATE_FAIL", &fail)]);
        assert!(stage.home.daemon().is_some(), "it has started");
        stage.home.run(&["approve", "a", "--token", &token]).ends_with(0);
        assert_eq!(daemon.code(), -1, "{point} was not reached");
        stage.ends(&run, "completed");
        assert_eq!(stage.home.events_of(&run, "approved").len(), 1, "{point}");
        assert_eq!(stage.home.events_of(&run, "landed").len(), 1, "{point}");
        stage.close();
    }
}
