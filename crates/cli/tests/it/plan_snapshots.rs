//! Snapshots of worktrees: random edits come back after the worktree and its branch are gone, and a
//! feature goes back to one of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::until;
use crate::plan_stage::{Stage, feature, one_wave};

/// Rounds of random edits.
const ROUNDS: u64 = 20;

/// Takes a snapshot as often as the machine can.
const OFTEN: (&str, &str) = ("[limits]", "[limits]\nsnapshot_every = \"50ms\"");

/// A few numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Some of what an agent does to a worktree.
fn edit(worktree: &Path, dice: &mut Dice) {
    for _ in 0..=dice.below(6) {
        let folder = worktree.join(format!("dir{}/sub{}", dice.below(3), dice.below(2)));
        let file = folder.join(format!("file\n{}.txt", dice.below(4)));
        std::fs::create_dir_all(&folder).unwrap();
        match dice.below(5) {
            // It may not be there: then there is nothing to remove.
            0 => drop(std::fs::remove_file(&file)),
            1 => {
                let _ = std::fs::remove_file(&file);
                std::os::unix::fs::symlink(format!("../{}", dice.below(9)), &file).unwrap();
            }
            2 => {
                git(worktree, &["add", "--all"]);
            }
            _ => {
                let _ = std::fs::remove_file(&file);
                std::fs::write(&file, dice.below(1 << 40).to_string()).unwrap();
            }
        }
    }
    // Whatever chance did, there is something new.
    std::fs::write(worktree.join("counter"), dice.below(u64::MAX).to_string()).unwrap();
}

fn git(worktree: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(worktree).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn status(worktree: &Path) -> String {
    git(worktree, &["--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z"])
}

/// Files and links below a folder, but for git's own.
fn picture(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            let kind = path.symlink_metadata().unwrap().file_type();
            if name == Path::new(".git") {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                all.insert(name, target.into_os_string().into_encoded_bytes());
            } else {
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// The newest snapshot of the feature `a`.
fn newest(stage: &Stage, run: &str) -> u64 {
    let list = stage.home.data(&["restore", run, "--list"]);
    let numbers =
        list["snapshots"].as_array().unwrap().iter().map(|s| s["number"].as_u64().unwrap());
    numbers.max().unwrap_or(0)
}

/// Waits until what stands in the worktree is captured, and gives the files of the newest snapshot.
fn captured(stage: &Stage, run: &str, worktree: &Path, round: u64) -> PathBuf {
    let before = newest(stage, run);
    let wanted = picture(worktree);
    let mut tries = 0;
    until("the newest snapshot has it all", || {
        if newest(stage, run) == before && tries == 0 {
            return None;
        }
        tries += 1;
        let to = stage.home.beside(&format!("restored.{round}.{tries}"));
        let to_text = to.to_str().unwrap();
        stage.home.run(&["restore", run, "--feature", "a", "--to", to_text]).ends_with(0);
        (picture(&to) == wanted).then_some(to)
    })
}

#[test]
fn random_edits_of_a_running_agent_come_back_after_worktree_and_branch_are_gone() {
    let stage = Stage::with("read _ <\"$T/go\"", "true", &[OFTEN]);
    let _go = stage.bell("go");
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.home.until(&run, "its agent", |document| {
        feature(document, "a")["step"] == "agent" && stage.starts("a") == 1
    });
    let worktree = PathBuf::from(feature(&document, "a")["worktree"].as_str().unwrap());
    let mut dice = Dice(7);
    for round in 0..ROUNDS {
        edit(&worktree, &mut dice);
        let before = status(&worktree);
        captured(&stage, &run, &worktree, round);
        assert_eq!(status(&worktree), before, "round {round}");
    }
    assert!(!stage.home.events_of(&run, "snapshot-taken").is_empty());
    let wanted = picture(&worktree);
    std::fs::remove_dir_all(&worktree).unwrap();
    let repo = stage.home.repo();
    repo.git(&["worktree", "prune"]);
    repo.git(&["branch", "-D", &format!("tidegate/{run}/a")]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
    let to = stage.home.beside("after all");
    stage.home.run(&["restore", &run, "--feature", "a", "--to", to.to_str().unwrap()]).ends_with(0);
    assert_eq!(picture(&to), wanted);
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.close();
}

#[test]
fn end_of_each_attempt_is_captured_whatever_its_code() {
    let agent = r#"echo "$TIDEGATE_ATTEMPT" >tried.txt; [ "$TIDEGATE_ATTEMPT" != 1 ]"#;
    let stage = Stage::new(agent, "true");
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(stage.moments(&run, "snapshot-taken", "a").len(), 2, "{}", stage.story(&run));
    let to = stage.home.beside("first");
    let words =
        ["restore", &run, "--feature", "a", "--snapshot", "1", "--to", to.to_str().unwrap()];
    stage.home.run(&words).ends_with(0);
    assert_eq!(std::fs::read_to_string(to.join("tried.txt")).unwrap(), "1\n");
    let refused = stage.home.json(&words);
    assert_eq!(refused.code, 1, "the folder is not empty: {}", refused.text());
    stage.close();
}

#[test]
fn feature_in_review_goes_back_to_a_snapshot_and_is_built_from_there() {
    let agent = "if [ ! -e first.txt ]; then echo 1 >first.txt; else echo 2 >second.txt; fi";
    let words = [("policy = \"auto\"", "policy = \"person\"")];
    let stage = Stage::with(agent, "true", &words);
    let run = stage.submit(&one_wave(&["a"]));
    stage.until_feature(&run, "a", "in_review");
    let missing = stage.home.data(&["rollback", &run, "--feature", "a", "--to", "9"]);
    assert_eq!(missing["to"], 9);
    let blocked = stage.until_feature(&run, "a", "blocked");
    assert_eq!(blocked["blocked"]["reason"], "git", "{blocked:#}");
    stage.home.run(&["rollback", &run, "--feature", "a", "--to", "1"]).ends_with(0);
    let document = stage.until_feature(&run, "a", "in_review");
    let commit = document["commit"].as_str().unwrap();
    assert_eq!(stage.at(commit, "second.txt").as_deref(), Some("2\n"), "it went on from there");
    assert_eq!(stage.moments(&run, "rolled-back", "a").len(), 1);
    stage.home.run(&["approve", &run, "--feature", "a", "--commit", commit]).ends_with(0);
    stage.ends(&run, "completed");
    let late = stage.home.json(&["rollback", &run, "--feature", "a", "--to", "1"]);
    assert_eq!(late.code, 1, "{}", late.text());
    stage.close();
}
