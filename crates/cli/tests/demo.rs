//! The demo as a user runs it, checked against the repository that it leaves. Knows nothing of how it is played.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn demo(place: &Path) -> Output {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    demo.args(["demo", "--json", "--keep"]).arg(place).output().unwrap()
}

fn git(repository: &Path, arguments: &[&str]) -> Output {
    Command::new("git").arg("-C").arg(repository).args(arguments).output().unwrap()
}

#[test]
fn demo_lands_all_of_it_and_its_report_is_true() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(&folder.path().join("new"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_str(&text).unwrap();
    let data = &report["data"];
    let repository = Path::new(data["repository"].as_str().unwrap());

    let landed = data["landed"].as_array().unwrap();
    assert_eq!(landed.len(), 6);
    for feature in landed {
        let commit = feature["commit"].as_str().unwrap();
        assert!(git(repository, &["merge-base", "--is-ancestor", commit, "main"]).status.success());
    }
    let killed = &data["killed"][0];
    assert_eq!(killed["feature"], "cargo");
    assert_eq!(killed["attempt"], 2);
    assert_ne!(killed["job"], killed["cameBackAs"]);
    let daemon = &data["daemon"];
    assert_ne!(daemon["pid"], daemon["cameBackAs"]);
    assert_eq!(daemon["adopted"], killed["pid"]);
    let repaired = &data["repaired"][0];
    assert_eq!(repaired["feature"], "tides");
    assert_eq!(repaired["iterations"], 2);
    assert!(repaired["evidence"].as_str().unwrap().starts_with("not ok"));

    let tests = Command::new("sh").arg("tests/run.sh").current_dir(repository).output().unwrap();
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stdout));
    let status = git(repository, &["status", "--porcelain"]);
    assert!(status.stdout.is_empty(), "{}", String::from_utf8_lossy(&status.stdout));
}

#[test]
fn demo_in_a_used_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "text").unwrap();
    let output = demo(folder.path());
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["error"]["code"], "invalid_input");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
