//! Bounds on the worktrees of a home: what would go over waits, says why, and goes on when there is room.

use serde_json::Value;

use crate::plan_stage::{Stage, feature, one_wave};

/// A stage whose user bounds the worktrees, and whose agents write `kib` KiB.
fn bounded(bounds: &str, kib: u32) -> Stage {
    let agent = format!("head -c {kib}K /dev/zero >\"$feature-$TIDEGATE_RUN_ID.txt\"");
    let stage = Stage::new(&agent, "true");
    let folder = stage.home.beside("user/config/tidegate");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), format!("[worktrees]\n{bounds}\n")).unwrap();
    stage
}

/// Why the only feature of a run waits, once that names `key`; its explanation says the same.
fn waits(stage: &Stage, run: &str, key: &str) -> String {
    let why =
        |document: &Value| feature(document, "a")["waitsFor"].as_str().unwrap_or("").to_owned();
    let document = stage.home.until(run, key, |document| why(document).contains(key));
    assert_eq!(
        (&document["status"], &feature(&document, "a")["state"]),
        (&"running".into(), &"queued".into())
    );
    let explained = stage.home.data(&["explain", run, "--feature", "a"]);
    let because = explained["because"].as_str().unwrap();
    assert!(because.contains(key), "{explained:#}");
    why(&document)
}

#[test]
fn worktree_over_the_count_waits_and_goes_on_after_a_clean_up() {
    let stage = bounded("max = 1", 1);
    let first = stage.submit(&one_wave(&["a"]));
    stage.ends(&first, "completed");
    let second = stage.submit(&one_wave(&["a"]));
    let why = waits(&stage, &second, "worktrees.max");
    assert!(why.contains("1 stand, 1 may") && why.contains("tidegate cleanup"), "{why}");
    // It waits for the next daemon, too.
    stage.home.run(&["daemon", "restart"]).ends_with(0);
    waits(&stage, &second, "worktrees.max");
    assert_eq!(stage.starts("a"), 1);
    stage.home.run(&["cleanup", &first, "--yes"]).ends_with(0);
    stage.ends(&second, "completed");
    stage.close();
}

#[test]
fn feature_over_the_count_waits_while_those_with_worktrees_end() {
    let stage = bounded("max = 2", 1);
    let run = stage.submit(&one_wave(&["b", "c", "a"]));
    stage.until_feature(&run, "b", "landed");
    stage.until_feature(&run, "c", "landed");
    waits(&stage, &run, "worktrees.max");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    assert_eq!(stage.starts("a"), 0);
    stage.close();
}

#[test]
fn worktree_over_the_bytes_waits_and_goes_on_after_a_clean_up() {
    let stage = bounded("max_bytes = \"4MiB\"", 6 * 1024);
    let first = stage.submit(&one_wave(&["a"]));
    stage.ends(&first, "completed");
    // The room is measured from time to time: by the next daemon before anything begins.
    stage.home.run(&["daemon", "restart"]).ends_with(0);
    let second = stage.submit(&one_wave(&["a"]));
    let why = waits(&stage, &second, "worktrees.max_bytes");
    assert!(why.contains("4 MiB may be taken"), "{why}");
    stage.home.run(&["cleanup", &first, "--yes"]).ends_with(0);
    stage.ends(&second, "completed");
    stage.close();
}
