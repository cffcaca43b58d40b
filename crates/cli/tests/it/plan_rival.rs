//! Somebody else moves the target in the moment between the merge and the compare-and-swap.

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Fence, is_gone, signal, until};
use crate::plan_stage::{Stage, one_wave};

/// Where a landing is about to move the target: with and without a checkout of it.
const POINTS: &[(&str, bool)] = &[
    ("git.target.before_swap", false),
    ("git.forward_record.before_write", true),
    ("git.forward.before_merge", true),
];

/// A run whose daemon comes to `point` and does `action` there.
fn at(point: &str, checked_out: bool, action: &str) -> (Stage, Fence, String) {
    let stage = Stage::new(r#"echo "$feature" >"$feature.txt""#, "true");
    if !checked_out {
        stage.home.repo().git(&["checkout", "--quiet", "-b", "mine"]);
    }
    let daemon = stage.home.daemon_with(&[("TIDEGATE_FAIL", &format!("{point}={action}"))]);
    let run = stage.submit(&one_wave(&["a"]));
    until(&format!("{point} {action}"), || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", daemon.pid()));
        let stopped =
            stat.is_ok_and(|stat| stat.rsplit(')').next().unwrap().trim_start().starts_with('T'));
        (stopped || is_gone(daemon.pid())).then_some(())
    });
    (stage, daemon, run)
}

/// Commits to the target as another person does who has no checkout of it.
fn rival(stage: &Stage) -> String {
    let repo = stage.home.repo();
    let tip = repo.git(&["rev-parse", "main"]);
    let blob = repo.root().join(".git/rival");
    std::fs::write(&blob, "rival\n").unwrap();
    let blob = repo.git(&["hash-object", "-w", blob.to_str().unwrap()]);
    let index = repo.root().join(".git/rival-index");
    let script = format!(
        "export GIT_INDEX_FILE={}; git read-tree main && \
         git update-index --add --cacheinfo 100644,{blob},rival.txt && \
         git commit-tree -p main -m rival $(git write-tree)",
        index.display()
    );
    let commit = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(repo.root())
        .output()
        .unwrap();
    let commit = String::from_utf8(commit.stdout).unwrap().trim().to_owned();
    repo.git(&["update-ref", "refs/heads/main", &commit, &tip]);
    std::fs::remove_file(index).unwrap();
    commit
}

/// The same by somebody who works in the checkout.
fn rival_in_checkout(stage: &Stage) -> String {
    let repo = stage.home.repo();
    repo.write("rival.txt", "rival\n");
    repo.git(&["add", "rival.txt"]);
    repo.git(&["commit", "--quiet", "--message", "rival"]);
    stage.tip()
}

fn both_are_there(stage: Stage, run: &str, rival: &str) {
    let document = stage.ends(run, "completed");
    let repo = stage.home.repo();
    repo.git(&["merge-base", "--is-ancestor", rival, "main"]);
    let landed = document["features"][0]["commit"].as_str().unwrap();
    repo.git(&["merge-base", "--is-ancestor", landed, "main"]);
    assert_eq!(stage.on_target("rival.txt").as_deref(), Some("rival\n"));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    let landings = stage.home.events_of(run, "landed");
    assert_eq!(landings.len(), 1, "{landings:#?}");
    assert_eq!(landings[0]["commit"], Value::from(landed));
    stage.close();
}

#[test]
fn commit_of_another_before_the_swap_is_kept_and_merged_with() {
    for (point, checked_out) in POINTS {
        let (stage, mut daemon, run) = at(point, *checked_out, "stop");
        let rival = if *checked_out { rival_in_checkout(&stage) } else { rival(&stage) };
        assert!(signal(daemon.pid(), Signal::CONT));
        stage.ends(&run, "completed");
        assert!(!stage.moments(&run, "target-moved", "a").is_empty(), "{point}");
        stage.home.run(&["daemon", "stop"]).ends_with(0);
        assert_eq!(daemon.code(), 0, "{point}");
        both_are_there(stage, &run, &rival);
    }
}

#[test]
fn commit_of_another_after_the_daemon_was_killed_is_kept_and_merged_with() {
    let after = [("git.target.after_swap", false), ("git.forward.after_merge", true)];
    for (point, checked_out) in POINTS.iter().copied().chain(after) {
        let (stage, mut daemon, run) = at(point, checked_out, "kill");
        assert_eq!(daemon.code(), -1, "{point}");
        // In a checkout that a kill left half forwarded nobody can commit as if nothing was.
        let clean = stage.home.repo().git(&["status", "--porcelain"]).is_empty();
        let rival = if checked_out && clean { rival_in_checkout(&stage) } else { rival(&stage) };
        if checked_out && !clean {
            // The ref moved under the checkout: what a person then sees is his to mend.
            stage.home.repo().git(&["reset", "--quiet", "--hard"]);
        }
        both_are_there(stage, &run, &rival);
    }
}
