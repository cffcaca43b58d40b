//! Clean-up after ended runs: what goes by which proof, what stays and why, and a daemon that dies in its middle.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{digest, is_as_before};
use crate::plan_stage::{Stage, feature, one_wave};

/// Words of the config for a squash landing.
const SQUASH: (&str, &str) = ("strategy = \"merge\"", "strategy = \"squash\"");
/// Words of the config for a run that waits for a person.
const PERSON: (&str, &str) = ("policy = \"auto\"", "policy = \"person\"");

/// What is there of a run's only feature.
fn worktree(stage: &Stage, run: &str) -> PathBuf {
    let document = stage.home.status(run);
    PathBuf::from(feature(&document, "a")["worktree"].as_str().unwrap())
}

fn branches(stage: &Stage) -> String {
    stage.home.repo().git(&["for-each-ref", "--format=%(refname)", "refs/heads/tidegate/"])
}

/// The entry about a thing of this kind.
fn entry<'a>(document: &'a Value, list: &str, what: &str) -> Option<&'a Value> {
    document[list].as_array().unwrap().iter().find(|entry| entry["what"] == what)
}

fn landed(words: &[(&str, &str)]) -> (Stage, String) {
    let stage = Stage::with("echo new >$TIDEGATE_FEATURE.txt", "true", words);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    (stage, run)
}

#[test]
fn landed_run_leaves_nothing_and_a_second_clean_up_finds_nothing() {
    let (stage, run) = landed(&[]);
    let path = worktree(&stage, &run);
    let before = digest(stage.home.repo().root());
    let dry = stage.home.data(&["cleanup"]);
    assert_eq!(dry["dryRun"], true);
    assert_eq!(entry(&dry, "removals", "branch").unwrap()["proof"], "ancestor", "{dry:#}");
    is_as_before(stage.home.repo().root(), &before);
    assert!(path.exists(), "a dry run changes nothing");
    let done = stage.home.data(&["cleanup", "--yes"]);
    assert_eq!(done["done"], true);
    let worktree = entry(&done, "removals", "worktree").unwrap();
    assert!(worktree["snapshot"].is_u64(), "captured before it went: {worktree:#}");
    assert!(entry(&done, "removals", "checkout").is_some(), "{done:#}");
    assert!(!path.exists());
    assert_eq!(branches(&stage), "");
    assert_eq!(stage.home.repo().git(&["worktree", "list"]).lines().count(), 1);
    let again = stage.home.data(&["cleanup", "--yes"]);
    assert_eq!((&again["removals"], &again["kept"]), (&Value::from([0; 0]), &Value::from([0; 0])));
    let to = stage.home.beside("restored");
    stage.home.run(&["restore", &run, "--feature", "a", "--to", to.to_str().unwrap()]).ends_with(0);
    assert_eq!(std::fs::read_to_string(to.join("a.txt")).unwrap(), "new\n");
    assert!(stage.home.status(&run)["features"].is_array(), "its record stays");
    stage.clean();
    stage.home.close();
}

#[test]
fn squash_of_one_commit_on_a_target_that_moved_goes_by_its_patch() {
    let stage = Stage::with("echo new >a.txt", "true", &[SQUASH, PERSON]);
    let run = stage.submit(&one_wave(&["a"]));
    // In review alone is not enough: a person is asked once the look at the change is done.
    let commit = feature(&stage.needs_person(&run), "a")["commit"].clone();
    let repo = stage.home.repo();
    repo.write("other.txt", "the target moves\n");
    repo.git(&["add", "other.txt"]);
    repo.git(&["commit", "--quiet", "--message", "other"]);
    let words = ["approve", &run, "--feature", "a", "--commit", commit.as_str().unwrap()];
    stage.home.run(&words).ends_with(0);
    stage.ends(&run, "completed");
    let done = stage.home.data(&["cleanup", &run, "--yes"]);
    let branch = entry(&done, "removals", "branch").unwrap_or_else(|| panic!("{done:#}"));
    assert_eq!(branch["proof"], "patch_id", "{branch:#}");
    assert_eq!(branches(&stage), "");
    stage.home.close();
}

#[test]
fn squash_of_several_commits_goes_by_its_tree() {
    let agent = "echo 1 >a.txt; git add .; git commit -qm one; echo 2 >>a.txt; git commit -qam two";
    let stage = Stage::with(agent, "true", &[SQUASH]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    let repo = stage.home.repo();
    repo.write("later.txt", "the target goes on\n");
    repo.git(&["add", "later.txt"]);
    repo.git(&["commit", "--quiet", "--message", "later"]);
    let done = stage.home.data(&["cleanup", &run, "--yes"]);
    let branch = entry(&done, "removals", "branch").unwrap_or_else(|| panic!("{done:#}"));
    assert_eq!(branch["proof"], "tree", "{branch:#}");
    stage.home.close();
}

#[test]
fn unmerged_branch_stays_and_its_clean_worktree_goes() {
    let stage = Stage::with("echo new >a.txt", "true", &[PERSON]);
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "in_review");
    let path = worktree(&stage, &run);
    let refused = stage.home.json(&["cleanup", &run]);
    assert_eq!(refused.error(), "invalid_status_transition", "it has not ended");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    let tip = stage.home.repo().git(&["rev-parse", &format!("tidegate/{run}/a")]);
    let done = stage.home.data(&["cleanup", "--force"]);
    let kept = entry(&done, "kept", "branch").unwrap_or_else(|| panic!("{done:#}"));
    assert!(kept["why"].as_str().unwrap().contains("is not on main"), "{kept:#}");
    assert_eq!(entry(&done, "removals", "worktree").unwrap()["proof"], "branch");
    assert!(!path.exists());
    assert_eq!(stage.home.repo().git(&["rev-parse", &format!("tidegate/{run}/a")]), tip);
    stage.home.close();
}

#[test]
fn dirty_worktree_stays_with_its_branch_and_so_does_all_that_is_the_users() {
    let (stage, run) = landed(&[]);
    let path = worktree(&stage, &run);
    std::fs::write(path.join("late.txt"), "written by hand\n").unwrap();
    let repo = stage.home.repo();
    repo.git(&["branch", "mine"]);
    repo.git(&["update-ref", "refs/tidegate-of-mine/x", "main"]);
    repo.git(&["worktree", "add", "-q", stage.home.beside("own").to_str().unwrap(), "mine"]);
    std::fs::write(stage.home.beside("own").join("draft"), "unsaved\n").unwrap();
    repo.write("draft.txt", "unsaved too\n");
    let users = || {
        let refs = repo.git(&[
            "for-each-ref",
            "refs/heads/main",
            "refs/heads/mine",
            "refs/tidegate-of-mine",
        ]);
        (refs, digest(&stage.home.beside("own")), repo.git(&["status", "--porcelain"]))
    };
    let (before, inside) = (users(), digest(&path));
    let done = stage.home.data(&["cleanup", "--force"]);
    let kept = entry(&done, "kept", "worktree").unwrap_or_else(|| panic!("{done:#}"));
    assert!(kept["why"].as_str().unwrap().contains("late.txt"), "{kept:#}");
    assert_eq!(entry(&done, "kept", "branch").unwrap()["why"], "its worktree stays");
    assert_eq!(users(), before);
    is_as_before(&path, &inside);
    assert_ne!(branches(&stage), "");
    stage.home.close();
}

#[test]
fn branch_that_the_user_checked_out_stays() {
    let (stage, run) = landed(&[]);
    let repo = stage.home.repo();
    let own = stage.home.beside("own");
    let name = format!("tidegate/{run}/a");
    repo.git(&["worktree", "add", "-q", "--force", own.to_str().unwrap(), &name]);
    let done = stage.home.data(&["cleanup", "--yes"]);
    let kept = entry(&done, "kept", "branch").unwrap_or_else(|| panic!("{done:#}"));
    assert!(kept["why"].as_str().unwrap().contains("checked out"), "{kept:#}");
    assert!(own.join("a.txt").exists());
    stage.home.close();
}

#[test]
fn old_job_directories_go_and_the_home_stays_sound() {
    let (stage, run) = landed(&[]);
    let jobs = stage.home.path().join("jobs");
    let count = |jobs: &Path| std::fs::read_dir(jobs).unwrap().count();
    assert!(count(&jobs) > 0);
    let young = stage.home.data(&["cleanup", &run, "--yes"]);
    assert!(entry(&young, "kept", "job").is_some(), "{young:#}");
    assert!(count(&jobs) > 0);
    let done = stage.home.data(&["cleanup", "--older-than", "0", "--yes"]);
    assert_eq!(entry(&done, "removals", "job").unwrap()["proof"], "recorded", "{done:#}");
    assert_eq!(count(&jobs), 0);
    assert_eq!(stage.home.status(&run)["status"], "completed");
    stage.home.close();
}

#[cfg(feature = "failpoints")]
#[test]
fn clean_up_goes_on_after_its_daemon_was_killed_at_any_point() {
    for point in [
        "daemon.cleanup.before_record",
        "daemon.cleanup.after_record",
        "git.worktree.before_trash",
        "git.worktree.after_trash",
        "git.worktree.after_forget",
        "git.worktree.after_empty_trash",
        "git.ref.before_remove",
        "git.ref.after_remove",
        "daemon.cleanup.before_job",
        "daemon.cleanup.after_job",
    ] {
        let (stage, _) = landed(&[]);
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        let daemon = stage.home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}=kill"))]);
        let done = stage.home.data(&["cleanup", "--older-than", "0", "--yes"]);
        assert!(crate::harness::is_gone(daemon.pid()), "{point} was not hit");
        assert_eq!(done["done"], true, "{point}: {done:#}");
        assert_eq!(done["kept"], Value::from([0; 0]), "{point}: {done:#}");
        assert_eq!(branches(&stage), "", "{point}");
        assert_eq!(stage.home.repo().git(&["worktree", "list"]).lines().count(), 1, "{point}");
        assert_eq!(std::fs::read_dir(stage.home.path().join("jobs")).unwrap().count(), 0);
        let trash = stage.home.path().join("trash");
        let left = std::fs::read_dir(trash).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{point}: the trash is emptied");
        stage.clean();
        stage.home.close();
    }
}

#[test]
fn run_that_never_got_a_branch_is_cleaned_up_and_one_at_work_is_untouched() {
    let stage = Stage::new("read _ <\"$T/go\"; echo 1 >a.txt", "true");
    let go = stage.bell("go");
    let first = stage.submit(&one_wave(&["a"]));
    stage.home.until(&first, "its agent", |_| stage.starts("a") == 1);
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    let none = Value::from([0; 0]);
    for words in [vec!["cleanup", run.as_str(), "--yes"], vec!["cleanup", "--yes"]] {
        let done = stage.home.data(&words);
        assert_eq!((&done["removals"], &done["kept"]), (&none, &none), "{done:#}");
    }
    go.ring();
    stage.ends(&first, "completed");
    stage.home.close();
}

#[test]
fn deleted_run_leaves_its_record_alone_and_an_unmerged_one_is_not_deleted() {
    let (stage, run) = landed(&[]);
    let dry = stage.home.data(&["delete", &run]);
    assert_eq!((&dry["dryRun"], &dry["deleted"]), (&true.into(), &run.as_str().into()), "{dry:#}");
    assert_eq!(stage.home.status(&run)["deleted"], false);
    let done = stage.home.data(&["delete", &run, "--yes"]);
    assert_eq!(done["deleted"], run.as_str(), "{done:#}");
    assert!(entry(&done, "removals", "snapshots").is_some(), "{done:#}");
    assert!(entry(&done, "removals", "job").is_some(), "{done:#}");
    let document = stage.home.status(&run);
    assert_eq!((&document["deleted"], &document["status"]), (&true.into(), &"completed".into()));
    assert_eq!(stage.home.data(&["list"])["runs"], Value::from([0; 0]), "it is listed on request");
    assert_eq!(stage.home.data(&["list", "--all"])["runs"][0]["runId"], run.as_str());
    assert_eq!(stage.home.repo().git(&["for-each-ref", "refs/tidegate/"]), "");
    assert!(!stage.home.events(&run).is_empty(), "what happened stays");
    let list = stage.home.data(&["restore", &run, "--list"]);
    assert_eq!(list["snapshots"], Value::from([0; 0]));
    stage.config(&[PERSON]);
    let open = stage.submit(&one_wave(&["a"]).replace("id = \"a\"", "id = \"b\""));
    stage.until_feature(&open, "b", "in_review");
    let early = stage.home.json(&["delete", &open, "--yes"]);
    assert_eq!(early.error(), "invalid_status_transition");
    stage.home.run(&["cancel", &open, "--wait"]).ends_with(0);
    let kept = stage.home.data(&["delete", &open, "--yes", "--force"]);
    assert_eq!(kept["deleted"], Value::Null, "{kept:#}");
    assert!(entry(&kept, "kept", "snapshots").is_some(), "{kept:#}");
    assert_eq!(stage.home.status(&open)["deleted"], false);
    stage.home.close();
}

#[test]
fn worktree_and_branch_of_an_ended_run_come_back_with_what_was_uncommitted() {
    let words = [("max_attempts = 3", "max_attempts = 1")];
    let stage = Stage::with("echo draft >a.txt; exit 3", "true", &words);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "failed");
    let path = worktree(&stage, &run);
    let repo = stage.home.repo();
    let name = format!("tidegate/{run}/a");
    let tip = repo.git(&["rev-parse", &name]);
    std::fs::remove_dir_all(&path).unwrap();
    repo.git(&["worktree", "prune"]);
    repo.git(&["branch", "-D", &name]);
    let missing = stage.home.json(&["restore", &run, "--feature", "a", "--snapshot", "99"]);
    assert_eq!(missing.error(), "not_found");
    let done = stage.home.data(&["restore", &run, "--feature", "a"]);
    assert_eq!((&done["done"], &done["failure"]), (&true.into(), &Value::Null), "{done:#}");
    assert_eq!(std::fs::read_to_string(path.join("a.txt")).unwrap(), "draft\n");
    assert_eq!(repo.git(&["rev-parse", &name]), tip);
    let kept = stage.home.data(&["cleanup", "--yes"]);
    assert!(entry(&kept, "kept", "worktree").is_some(), "it is dirty again: {kept:#}");
    stage.clean();
    stage.home.close();
}

#[cfg(feature = "failpoints")]
#[test]
fn restore_goes_on_after_its_daemon_was_killed() {
    for point in ["daemon.restore.before_worktree", "daemon.restore.after_worktree"] {
        let (stage, run) = landed(&[]);
        let path = worktree(&stage, &run);
        stage.home.data(&["cleanup", "--yes"]);
        assert!(!path.exists());
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        let daemon = stage.home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}=kill"))]);
        let done = stage.home.data(&["restore", &run, "--feature", "a"]);
        assert!(crate::harness::is_gone(daemon.pid()), "{point} was not hit");
        assert_eq!(done["failure"], Value::Null, "{point}: {done:#}");
        assert_eq!(std::fs::read_to_string(path.join("a.txt")).unwrap(), "new\n", "{point}");
        assert_ne!(branches(&stage), "", "{point}");
        stage.clean();
        stage.home.close();
    }
}
