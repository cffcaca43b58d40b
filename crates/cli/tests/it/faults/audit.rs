//! What holds after every fault, whatever ran.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{mentioning, until};
use crate::plan_stage::Stage;

/// The files of the target. Where submodules come from, and their commits, differ from place to place.
pub(super) fn tree(stage: &Stage) -> String {
    let list = stage.home.repo().git(&["ls-tree", "-r", "main"]);
    let is_ours = |line: &&str| !line.starts_with("160000 ") && !line.ends_with(".gitmodules");
    list.lines().filter(is_ours).collect::<Vec<_>>().join("\n")
}

/// Every feature is on the target, once.
pub(super) fn landed(stage: &Stage, document: &Value) {
    let repo = stage.home.repo();
    let merges = repo.git(&[
        "log",
        "--first-parent",
        "--format=%(trailers:key=Tidegate-Feature,valueonly,separator=)",
        "main",
    ]);
    let merges: Vec<&str> = merges.lines().filter(|line| !line.is_empty()).collect();
    let features = document["features"].as_array().unwrap();
    assert_eq!(merges.len(), features.len(), "landings: {merges:?}");
    for feature in features {
        let (id, commit) = (feature["id"].as_str().unwrap(), feature["commit"].as_str().unwrap());
        assert!(merges.contains(&id), "{id} has no landing: {merges:?}");
        repo.git(&["merge-base", "--is-ancestor", commit, "main"]);
        let branch = format!("refs/heads/{}", feature["branch"].as_str().unwrap());
        repo.git(&["merge-base", "--is-ancestor", &branch, "main"]);
    }
}

/// The remote has what the target has, and no port is held for a run that has ended.
pub(super) fn given_back(stage: &Stage) {
    let bare = stage.home.beside("remote.git");
    if bare.exists() {
        let remote = || crate::harness::Repo::at(&bare).git(&["rev-parse", "main"]);
        until("remote and target to be the same", || (remote() == stage.tip()).then_some(()));
    }
    let ports = stage.home.path().join("ports");
    until("the ports to be given back", || {
        let held = std::fs::read_dir(&ports).into_iter().flatten().flatten();
        let mut names = held.filter_map(|port| port.file_name().into_string().ok());
        (!names.any(|name| name.parse::<u16>().is_ok())).then_some(())
    });
}

/// No attempt ran twice, nothing is open, nothing is left, and the records and the repository are whole.
pub(super) fn everything(stage: Stage, run: &str) {
    let text = std::fs::read_to_string(stage.home.beside("starts")).unwrap_or_default();
    let starts: Vec<&str> = text.lines().collect();
    let distinct: BTreeSet<&str> = starts.iter().copied().collect();
    assert_eq!(starts.len(), distinct.len(), "an attempt was started twice: {starts:?}");
    for run in stage.home.data(&["list", "--all"])["runs"].as_array().unwrap() {
        let status = run["status"].as_str().unwrap();
        assert!(["completed", "failed", "cancelled"].contains(&status), "{run:#}");
    }
    let jobs = format!("{}/jobs/", stage.home.path().display());
    until("the end of every process of a job", || {
        (Stage::left(run).is_empty() && mentioning(&jobs).is_empty()).then_some(())
    });
    // What is true must be true without a daemon, and after its end in good order too.
    stage.home.run(&["daemon", "stop"]).ends_with(0);
    stage.close();
}
