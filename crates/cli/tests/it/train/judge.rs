//! Judges what became of a train, by git alone and by what the run's document says. It must not know how Tidegate decides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::branch::{Branch, Kind};
use crate::plan_stage::{Stage, feature};

/// What became of a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has landed.
    Landed,
    /// It waits, for this reason.
    Parked(String),
    /// It failed.
    Failed,
}

/// The fate of each feature, once each has one: `None` while one goes on.
pub(super) fn fates(document: &Value, branches: &[Branch]) -> Option<BTreeMap<String, Fate>> {
    let fate = |branch: &Branch| {
        let doc = feature(document, &branch.id);
        let fate = match doc["state"].as_str().unwrap() {
            "landed" => Fate::Landed,
            "failed" => Fate::Failed,
            "blocked" => Fate::Parked(doc["blocked"]["reason"].as_str().unwrap().to_owned()),
            _ => return None,
        };
        Some((branch.id.clone(), fate))
    };
    branches.iter().map(fate).collect()
}

/// Asserts that each branch had an end that is right for its kind, with a reason where it did not land.
pub(super) fn ends_are_right(
    document: &Value,
    branches: &[Branch],
    fates: &BTreeMap<String, Fate>,
) {
    let mut wrong = Vec::new();
    for branch in branches {
        let group = branches.iter().filter(|b| (b.kind, b.group) == (branch.kind, branch.group));
        let landed = group.filter(|b| fates[&b.id] == Fate::Landed).count();
        let fate = &fates[&branch.id];
        let right = match (branch.kind, fate) {
            (Kind::Clean | Kind::Duplicate, Fate::Landed) => true,
            (Kind::Conflict, Fate::Landed) => landed == 1,
            (Kind::Conflict, Fate::Parked(reason)) => landed == 1 && reason == "conflict",
            (Kind::Breaks, Fate::Landed) => landed == if branch.mends { 2 } else { 1 },
            (Kind::Breaks, Fate::Failed) => landed == 1 && !branch.mends,
            (Kind::Revert, Fate::Parked(reason)) => reason == "silent_revert",
            (Kind::Clean | Kind::Duplicate | Kind::Breaks, Fate::Parked(_))
            | (Kind::Clean | Kind::Duplicate | Kind::Conflict | Kind::Revert, Fate::Failed)
            | (Kind::Revert, Fate::Landed) => false,
        };
        let doc = feature(document, &branch.id);
        if !right || !is_told(document, branch, fate) {
            wrong.push(format!("{branch:#?}\nbecame {doc:#}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), branches.len(), wrong.join("\n"));
}

/// Whether it is said why a feature did not land, and what ends that.
fn is_told(document: &Value, branch: &Branch, fate: &Fate) -> bool {
    let doc = feature(document, &branch.id);
    let says = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    match fate {
        Fate::Landed => true,
        Fate::Parked(_) => {
            let attention = document["attention"].as_array().unwrap();
            let asked = attention.iter().find(|item| item["feature"] == branch.id.as_str());
            says(&doc["blocked"]["unblocks"]) && asked.is_some_and(|item| says(&item["unblocks"]))
        }
        Fate::Failed => says(&doc["reason"]),
    }
}

/// What a target looked like, commit by commit.
pub(super) struct Course {
    /// The commits that it was at since the base, in order.
    pub(super) commits: Vec<String>,
    trees: PathBuf,
}

impl Course {
    /// Lays the tree of every commit that the target was at since `base` out in a folder.
    pub(super) fn of(stage: &Stage, base: &str) -> Self {
        let repo = stage.home.repo();
        // Where the target has been, not what lies between: a rebase brings the author's own steps.
        let log = repo.git(&["reflog", "show", "--format=%H", "main"]);
        let mut commits: Vec<String> = log.lines().map(str::to_owned).collect();
        commits.reverse();
        let begin = commits.iter().rposition(|commit| commit == base).unwrap();
        commits.drain(..=begin);
        let trees = stage.home.beside("trees");
        for commit in &commits {
            let tree = trees.join(commit);
            std::fs::create_dir_all(&tree).unwrap();
            let script = r#"git archive "$1" | tar -x -C "$2""#;
            let mut unpack = Command::new("bash");
            unpack.args(["-eo", "pipefail", "-c", script, "unpack", commit]).arg(&tree);
            assert!(unpack.current_dir(repo.root()).status().unwrap().success());
        }
        Self { commits, trees }
    }

    fn tree(&self, commit: &str) -> PathBuf {
        self.trees.join(commit)
    }

    /// Commits that the gate does not take.
    pub(super) fn broken(&self) -> Vec<&String> {
        let passes = |tree: &Path| {
            let gate = Command::new("sh").arg("check.sh").current_dir(tree).output();
            gate.unwrap().status.success()
        };
        self.commits.iter().filter(|commit| !passes(&self.tree(commit))).collect()
    }

    /// Asserts that what landed, and what others landed, is on the target from then on.
    pub(super) fn nothing_is_lost(&self, branches: &[Branch], fates: &BTreeMap<String, Fate>) {
        for branch in branches {
            let landed = fates[&branch.id] == Fate::Landed;
            let own = Some(&branch.shows).filter(|_| landed);
            for sign in own.into_iter().chain(&branch.keeps) {
                let shown = |commit: &&String| sign.is_in(&self.tree(commit));
                let first = self.commits.iter().position(|commit| shown(&commit));
                let first = first.unwrap_or_else(|| panic!("{branch:#?}\n{sign:?} never came"));
                let lost: Vec<&String> =
                    self.commits[first..].iter().filter(|commit| !shown(commit)).collect();
                assert!(lost.is_empty(), "{branch:#?}\n{sign:?} is lost in {lost:?}");
            }
            if !landed {
                let shown =
                    self.commits.iter().find(|commit| branch.shows.is_in(&self.tree(commit)));
                assert_eq!(shown, None, "{branch:#?}\nhas not landed, and is on the target");
            }
        }
    }
}
