//! `cargo xtask demo`: the product as a user builds it, without fail points, runs its demo; what it reports is checked
//! against the repository that it leaves.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Builds, runs the demo and checks its report.
pub(crate) fn run() -> Result<()> {
    let mut build = crate::workspace::cargo(&["build", "--package", "tidegate", "--locked"]);
    crate::workspace::succeed(&mut build, "cargo build")?;
    let binary = crate::workspace::target_dir()?.join("debug/tidegate");
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let output = Command::new(&binary)
        .args(["demo", "--json", "--keep"])
        .arg(scratch.path().join("kept"))
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start the demo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the demo ended with {}: {text}", output.status);
    let report: Value = serde_json::from_str(&text).context("the demo's report is no JSON")?;
    check(&report["data"])
}

fn check(data: &Value) -> Result<()> {
    let list = |key: &str| data[key].as_array().cloned().unwrap_or_default();
    let (landed, killed, repaired) = (list("landed"), list("killed"), list("repaired"));
    ensure!(landed.len() >= 5, "only {} features landed", landed.len());
    ensure!(!killed.is_empty(), "nothing was killed");
    ensure!(!repaired.is_empty(), "nothing was repaired");
    let repository = data["repository"].as_str().context("no repository in the report")?;
    for feature in &landed {
        let commit = feature["commit"].as_str().context("a landed feature without a commit")?;
        ensure!(is_on_head(Path::new(repository), commit)?, "{commit} is not on the branch");
    }
    let suite = Command::new("sh").arg("tests/run.sh").current_dir(repository).output()?;
    ensure!(
        suite.status.success(),
        "the repository's tests: {}",
        String::from_utf8_lossy(&suite.stdout)
    );
    println!(
        "demo: {} landed, {} killed and back, {} repaired",
        landed.len(),
        killed.len(),
        repaired.len()
    );
    Ok(())
}

fn is_on_head(repository: &Path, commit: &str) -> Result<bool> {
    let status = Command::new("git")
        .args(["merge-base", "--is-ancestor", commit, "HEAD"])
        .current_dir(repository)
        .status()
        .context("cannot start git")?;
    Ok(status.success())
}
