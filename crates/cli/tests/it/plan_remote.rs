//! Landings on a target that follows a branch of a remote.

use std::path::PathBuf;
use std::process::Command;

use crate::plan_stage::{Stage, feature, one_wave};

const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;

/// Gives the stage's repository a bare remote that its target follows.
fn with_remote(stage: &Stage) -> PathBuf {
    let bare = stage.home.beside("remote.git");
    let path = bare.to_str().unwrap();
    let repo = stage.home.repo();
    repo.git(&["init", "--quiet", "--bare", "--initial-branch=main", path]);
    repo.git(&["remote", "add", "origin", path]);
    repo.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    bare
}

fn remote_tip(bare: &std::path::Path) -> String {
    let output = Command::new("git").arg("-C").arg(bare).args(["rev-parse", "main"]).output();
    String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn landing_is_pushed_to_the_branch_that_the_target_follows() {
    let stage = Stage::new(OWN_FILE, "true");
    let bare = with_remote(&stage);
    let run = stage.submit(&one_wave(&["a", "b"]));
    stage.ends(&run, "completed");
    assert_eq!(remote_tip(&bare), stage.tip());
    stage.close();
}

#[test]
fn remote_that_refuses_blocks_the_landing_and_moves_nothing() {
    let stage = Stage::new(OWN_FILE, "true");
    let bare = with_remote(&stage);
    let hook = bare.join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho 'main is protected'; exit 1\n").unwrap();
    Command::new("chmod").arg("+x").arg(&hook).status().unwrap();
    let tip = stage.tip();
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    let a = feature(&document, "a");
    assert_eq!(a["blocked"]["reason"], "push_refused", "{a:#}");
    assert!(document["attention"][0]["message"].as_str().unwrap().contains("main is protected"));
    assert_eq!((stage.tip(), remote_tip(&bare)), (tip.clone(), tip), "neither side has moved");
    std::fs::remove_file(&hook).unwrap();
    stage.home.run(&["retry", &run, "--feature", "a"]).ends_with(0);
    stage.ends(&run, "completed");
    assert_eq!(remote_tip(&bare), stage.tip());
    stage.close();
}

#[test]
fn landing_whose_remote_is_away_waits_and_goes_on_by_itself() {
    let stage = Stage::new(OWN_FILE, "true");
    let bare = with_remote(&stage);
    let away = stage.home.beside("away.git");
    std::fs::rename(&bare, &away).unwrap();
    let run = stage.submit(&one_wave(&["a"]));
    let a = stage.until_feature(&run, "a", "blocked");
    assert_eq!(a["blocked"]["reason"], "remote_unreachable", "{a:#}");
    let told = stage.home.run(&["explain", &run]).ends_with(0).text();
    assert!(told.contains("cannot be reached"), "{told}");
    assert_eq!(stage.home.status(&run)["attention"], serde_json::json!([]), "nobody is asked");
    // A new daemon goes on asking.
    stage.home.kill_daemon();
    stage.home.start_daemon();
    std::fs::rename(&away, &bare).unwrap();
    stage.ends(&run, "completed");
    assert_eq!(remote_tip(&bare), stage.tip());
    assert_eq!(stage.moments(&run, "landed", "a").len(), 1);
    stage.close();
}

#[test]
fn rival_push_is_merged_upon_and_never_lost() {
    let stage = Stage::new(&format!("{OWN_FILE}; read _ <\"$T/go\""), "true");
    let bare = with_remote(&stage);
    let bell = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    stage.home.appears("starts");
    let rival = stage.home.beside("rival");
    let git = |args: &[&str]| {
        let status = Command::new("git").args(args).status().unwrap();
        assert!(status.success(), "{args:?}");
    };
    let (bare_path, rival_path) = (bare.to_str().unwrap(), rival.to_str().unwrap());
    git(&["clone", "--quiet", bare_path, rival_path]);
    std::fs::write(rival.join("rival.txt"), "rival\n").unwrap();
    let me = ["-c", "user.name=rival", "-c", "user.email=rival@example.org"];
    git(&["-C", rival_path, "add", "."]);
    git(&[&["-C", rival_path], &me[..], &["commit", "--quiet", "--message", "rival"]].concat());
    git(&["-C", rival_path, "push", "--quiet"]);
    bell.ring();
    stage.ends(&run, "completed");
    assert_eq!(remote_tip(&bare), stage.tip());
    assert_eq!(stage.on_target("rival.txt").as_deref(), Some("rival\n"));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("a\n"));
    stage.close();
}

#[test]
fn remote_is_left_alone_where_the_config_says_so() {
    let words = [("strategy = \"merge\"", "strategy = \"merge\"\nremote = \"off\"")];
    let stage = Stage::with(OWN_FILE, "true", &words);
    let bare = with_remote(&stage);
    let before = remote_tip(&bare);
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(remote_tip(&bare), before);
    stage.close();
}
