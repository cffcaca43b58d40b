//! What holds after every fault, whatever ran.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{mentioning, until};
use crate::plan_stage::Stage;

/// The tree of the target.
pub(super) fn tree(stage: &Stage) -> String {
    stage.home.repo().git(&["rev-parse", "main^{tree}"])
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

/// No attempt ran twice, nothing is open, nothing is left, and the records and the repository are whole.
pub(super) fn everything(stage: Stage, run: &str) {
    let text = std::fs::read_to_string(stage.home.beside("starts")).unwrap_or_default();
    let starts: Vec<&str> = text.lines().collect();
    let distinct: BTreeSet<&str> = starts.iter().copied().collect();
    assert_eq!(starts.len(), distinct.len(), "an attempt was started twice: {starts:?}");
    for run in stage.home.data(&["list"])["runs"].as_array().unwrap() {
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
