//! A user at work in the checkout of the target: nothing of it is touched, and the landing comes by
//! itself when the way is free.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::Repo;
use crate::plan_stage::{Stage, feature, one_wave};

/// The agent changes a tracked file and makes a new one, which the user may have ignored.
const AGENT: &str = "echo theirs >README.md; echo theirs >new.txt; git add --force new.txt";

/// All that is the user's: files with their bytes, index, stash, branches, state of operations.
#[derive(Debug, PartialEq, Eq)]
struct Mine {
    files: BTreeMap<PathBuf, Vec<u8>>,
    staged: String,
    stash: String,
    head: String,
    status: String,
    operations: Vec<String>,
}

fn mine(repo: &Repo) -> Mine {
    let mut files = BTreeMap::new();
    collect(repo.root(), &mut files);
    let git = repo.root().join(".git");
    let names =
        ["MERGE_HEAD", "CHERRY_PICK_HEAD", "BISECT_LOG", "rebase-merge", "ORIG_HEAD", "index.lock"];
    Mine {
        files,
        staged: repo.git(&["ls-files", "--stage"]),
        stash: repo.git(&["stash", "list", "--format=%H"]),
        head: repo.git(&["rev-parse", "HEAD"]),
        status: repo.git(&["status", "--porcelain=v2", "--ignored"]),
        operations: names
            .iter()
            .filter(|name| git.join(name).exists())
            .map(ToString::to_string)
            .collect(),
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
}

/// One kind of work of a user: how it comes, what is named as in the way, and how it goes.
struct Case {
    name: &'static str,
    make: fn(&Repo),
    paths: &'static [&'static str],
    clear: fn(&Repo),
}

const CASES: &[Case] = &[
    Case {
        name: "unstaged",
        make: |repo| repo.write("README.md", "mine\n"),
        paths: &["README.md"],
        clear: |repo| drop(repo.git(&["checkout", "--quiet", "README.md"])),
    },
    Case {
        name: "staged",
        make: |repo| {
            repo.write("check.sh", "true # mine\n");
            repo.git(&["add", "check.sh"]);
        },
        paths: &["check.sh"],
        clear: |repo| drop(repo.git(&["reset", "--quiet", "--hard"])),
    },
    Case {
        name: "untracked in the way",
        make: |repo| repo.write("new.txt", "mine\n"),
        paths: &["new.txt"],
        clear: |repo| std::fs::remove_file(repo.root().join("new.txt")).unwrap(),
    },
    Case {
        name: "ignored in the way",
        make: |repo| {
            let exclude = repo.root().join(".git/info/exclude");
            let old = std::fs::read_to_string(&exclude).unwrap();
            std::fs::write(exclude, format!("{old}/new.txt\n")).unwrap();
            repo.write("new.txt", "mine\n");
        },
        paths: &["new.txt"],
        clear: |repo| std::fs::remove_file(repo.root().join("new.txt")).unwrap(),
    },
    Case {
        name: "merge in progress",
        make: |repo| {
            repo.git(&["branch", "side", "HEAD~1"]);
            repo.git(&["merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", "side"]);
            let head = repo.git(&["rev-parse", "side"]);
            // `ours` of an ancestor is nothing to do, so the state is made by hand.
            repo.write(".git/MERGE_HEAD", &format!("{head}\n"));
        },
        paths: &[],
        clear: |repo| std::fs::remove_file(repo.root().join(".git/MERGE_HEAD")).unwrap(),
    },
    Case {
        name: "git at work",
        make: |repo| repo.write(".git/index.lock", ""),
        paths: &[],
        clear: |repo| std::fs::remove_file(repo.root().join(".git/index.lock")).unwrap(),
    },
    Case {
        name: "bisect in progress",
        make: |repo| drop(repo.git(&["bisect", "start"])),
        paths: &[],
        clear: |repo| drop(repo.git(&["bisect", "reset"])),
    },
];

#[test]
fn work_in_the_checkout_of_the_target_stays_as_it_is_until_the_way_is_free() {
    std::thread::scope(|scope| {
        for half in CASES.chunks(CASES.len().div_ceil(2)) {
            scope.spawn(move || half.iter().for_each(blocked_until_clean));
        }
    });
}

fn blocked_until_clean(case: &Case) {
    // Told with the output of a failure.
    println!("{}", case.name);
    let stage = Stage::new(AGENT, "true");
    let repo = stage.home.repo();
    // Work that is in nobody's way: a stash, an untracked file.
    repo.write("README.md", "stashed\n");
    repo.git(&["stash", "--quiet"]);
    repo.write("notes.txt", "notes\n");
    (case.make)(repo);
    let before = mine(repo);
    let run = stage.submit(&one_wave(&["a"]));
    // The plan is a file of the user's too, and excluded like the config.
    let mut expected = before;
    expected
        .files
        .extend(mine(repo).files.into_iter().filter(|(path, _)| path.ends_with("plan.toml")));
    expected.status = mine(repo).status;
    let a = stage.until_feature(&run, "a", "blocked");
    let document = stage.needs_person(&run);
    assert_eq!(a["blocked"]["reason"], "target_dirty", "{}: {a:#}", case.name);
    let paths: Vec<&str> =
        a["blocked"]["paths"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(paths, case.paths, "{}", case.name);
    assert_eq!(mine(repo), expected, "{}", case.name);
    assert_eq!(document["status"], "running", "it keeps its lane");
    (case.clear)(repo);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("new.txt").as_deref(), Some("theirs\n"), "{}", case.name);
    assert_eq!(std::fs::read_to_string(repo.root().join("notes.txt")).unwrap(), "notes\n");
    assert_eq!(repo.git(&["stash", "list"]).lines().count(), 1);
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? notes.txt", "{}", case.name);
    stage.home.close();
}

#[test]
fn rebase_in_progress_blocks_the_target_that_it_left() {
    // During a rebase HEAD is detached: the branch is still the one that it will move.
    let stage = Stage::new("echo x >a.txt", "true");
    let repo = stage.home.repo();
    repo.write("README.md", "mine\n");
    repo.git(&["commit", "--quiet", "--all", "--message", "mine"]);
    repo.git(&["branch", "side", "HEAD~1"]);
    repo.git(&["checkout", "--quiet", "side"]);
    repo.write("README.md", "other\n");
    repo.git(&["commit", "--quiet", "--all", "--message", "other"]);
    repo.git(&["checkout", "--quiet", "main"]);
    let rebase = std::process::Command::new("git")
        .arg("-C")
        .arg(repo.root())
        .args(["rebase", "side"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(!rebase.status.success(), "{rebase:?}");
    let tip = stage.tip();
    let before = mine(repo);
    let run = stage.submit(&one_wave(&["a"]));
    let document = stage.needs_person(&run);
    assert_eq!(feature(&document, "a")["blocked"]["reason"], "target_dirty", "{document:#}");
    assert_eq!(stage.tip(), tip, "the branch is not moved under the rebase");
    let after = mine(repo);
    assert_eq!((after.staged, after.head), (before.staged, before.head));
    repo.git(&["rebase", "--abort"]);
    stage.ends(&run, "completed");
    assert_eq!(stage.on_target("README.md").as_deref(), Some("mine\n"));
    assert_eq!(stage.on_target("a.txt").as_deref(), Some("x\n"));
    stage.close();
}

#[test]
fn untracked_files_beside_the_way_do_not_hold_a_landing() {
    let stage = Stage::new(AGENT, "true");
    let repo = stage.home.repo();
    repo.write("notes.txt", "notes\n");
    repo.write("folder/more.txt", "more\n");
    let run = stage.submit(&one_wave(&["a"]));
    stage.ends(&run, "completed");
    assert_eq!(std::fs::read_to_string(repo.root().join("new.txt")).unwrap(), "theirs\n");
    assert_eq!(std::fs::read_to_string(repo.root().join("folder/more.txt")).unwrap(), "more\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? folder/\n?? notes.txt");
    stage.home.close();
}
