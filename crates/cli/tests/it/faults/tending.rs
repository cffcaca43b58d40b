//! What a user does in a scene beside submitting it: attaching, rolling back, approving while it runs; restoring,
//! cleaning up and deleting after its end.

use std::process::Command;

use serde_json::Value;

use super::fault::Fault;
use super::play::tell;
use super::scene::Scene;
use crate::harness::{Desk, until};
use crate::plan_stage::{Stage, feature};

/// How often a verb is called again whose process itself came to a point.
const CALLS: usize = 3;

impl Scene {
    /// Does what the user does while it runs.
    pub(super) fn attend(self, stage: &Stage, run: &str, fault: Option<&Fault>) {
        match self {
            Self::Tended => roll_back_and_approve(stage, run, fault),
            Self::Attached => answer_terminal(stage, run),
            Self::Plan
            | Self::Off
            | Self::Journal
            | Self::Silent
            | Self::Crewed
            | Self::Cancelled
            | Self::Reconciled
            | Self::Furnished => {}
        }
    }

    /// Does what the user does after its end.
    pub(super) fn clear(self, stage: &Stage, run: &str, fault: Option<&Fault>) {
        match self {
            Self::Tended => restore_and_delete(stage, run, fault),
            Self::Attached
            | Self::Plan
            | Self::Off
            | Self::Journal
            | Self::Silent
            | Self::Crewed
            | Self::Cancelled
            | Self::Reconciled
            | Self::Furnished => {}
        }
    }
}

/// Calls a verb until it succeeds: it may come to the point itself.
fn insist(stage: &Stage, words: &[&str], fault: Option<&Fault>) -> Value {
    for _ in 0..CALLS {
        let mut call: Command = stage.home.call(&["--json"]);
        call.args(words);
        if let Some(fault) = fault {
            tell(stage, fault, &mut call);
        }
        let output = call.output().unwrap();
        let Some(code) = output.status.code() else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!([0, 12].contains(&code), "{words:?}: {code} {text}\n{}", stage.home.log());
        let answer: Value = serde_json::from_str(&text).unwrap();
        return answer["data"].clone();
    }
    panic!("{words:?} dies again and again");
}

fn roll_back_and_approve(stage: &Stage, run: &str, fault: Option<&Fault>) {
    let wait = ["wait", run, "--timeout", "60s"];
    // Back from what is there, and back from what was built upon that.
    for _ in 0..2 {
        insist(stage, &wait, fault);
        insist(stage, &["rollback", run, "--feature", "a", "--to", "1"], fault);
    }
    let document = insist(stage, &wait, fault);
    let commit = feature(&document, "a")["commit"].as_str().unwrap().to_owned();
    assert_eq!(stage.at(&commit, "second.txt").as_deref(), Some("2\n"), "{}", stage.story(run));
    insist(stage, &["approve", run, "--feature", "a", "--commit", &commit], fault);
}

fn restore_and_delete(stage: &Stage, run: &str, fault: Option<&Fault>) {
    let document = stage.home.status(run);
    let a = feature(&document, "a");
    let path = std::path::PathBuf::from(a["worktree"].as_str().unwrap());
    let repo = stage.home.repo();
    std::fs::remove_dir_all(&path).unwrap();
    repo.git(&["worktree", "prune"]);
    repo.git(&["branch", "-D", a["branch"].as_str().unwrap()]);
    let done = insist(stage, &["restore", run, "--feature", "a"], fault);
    assert_eq!(done["failure"], Value::Null, "{done:#}");
    assert_eq!(std::fs::read_to_string(path.join("second.txt")).unwrap(), "2\n");
    // The user needs none of it any more.
    let worktree = crate::harness::Repo::at(&path);
    worktree.git(&["reset", "--quiet", "--hard"]);
    worktree.git(&["clean", "--quiet", "--force", "-d"]);
    insist(stage, &["doctor", "--backup"], fault);
    let done = insist(stage, &["cleanup", "--older-than", "0", "--yes"], fault);
    assert_eq!(done["kept"], Value::from([0; 0]), "{done:#}");
    assert!(!path.exists());
    let done = insist(stage, &["delete", run, "--yes"], fault);
    assert_eq!(done["deleted"], run, "{done:#}");
    assert_eq!(repo.git(&["for-each-ref", "refs/tidegate/", "refs/heads/tidegate/"]), "");
    assert_eq!(std::fs::read_dir(stage.home.path().join("jobs")).unwrap().count(), 0);
}

fn answer_terminal(stage: &Stage, run: &str) {
    // A job that is not yet known to run has no terminal to attach to.
    until("its terminal", || {
        (!stage.home.events_of(run, "launcher-started").is_empty()).then_some(())
    });
    let mut desk = Desk::new(&stage.home, &["attach", run]);
    desk.shows("ready");
    // What is typed while nobody carries it is lost.
    until("an answer", || {
        desk.types("there?\r");
        desk.screen().contains("[there?]").then_some(())
    });
    desk.types("over\r");
    assert_eq!(desk.code(), 0, "{}", desk.screen());
}
