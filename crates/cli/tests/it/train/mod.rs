//! A train: dozens of branches of one repository that want to land at once, some clean, some in conflict, some that break
//! together, some that take back what others landed, some twice. What may land lands, and nothing else does.
//!
//! `TIDEGATE_TRAIN=N` says how many branches (12), `TIDEGATE_TRAIN_SEED=N` which (1): the seed picks the changes, their
//! order in the plan and in their approval, and the strategy. `TIDEGATE_TRAIN_KILLS=N` says how often the daemon is killed
//! while they land (1).

mod branch;
mod generate;
mod judge;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use self::branch::{Branch, Kind, Numbers};
use self::judge::{Course, Fate, ends_are_right, fates};
use crate::harness::{Dice, until};
use crate::plan_stage::{Stage, feature, one_wave};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// A stage with the project, somebody else's clone of it, and what each builder does. Its user is on a branch of his own.
fn stage(branches: &[Branch], numbers: Numbers, strategy: &str) -> Stage {
    let strategy = format!("strategy = \"{strategy}\"");
    let words = [
        ("policy = \"auto\"", "policy = \"person\""),
        ("strategy = \"merge\"", strategy.as_str()),
        ("max_attempts = 3", "max_attempts = 3\nmax_iterations = 2\nactive_features = 60"),
    ];
    let stage = Stage::with(generate::TOOLS, generate::CHECK, &words);
    let repo = stage.home.repo();
    generate::furnish(repo, numbers);
    let clone = stage.home.beside("rival");
    repo.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    for (key, value) in [("user.name", "rival"), ("user.email", "rival@example.org")] {
        let mut git = Command::new("git");
        git.arg("-C").arg(&clone).args(["config", key, value]);
        assert!(git.status().unwrap().success());
    }
    repo.git(&["checkout", "--quiet", "-b", "mine"]);
    repo.write("shared.txt", "being written\n");
    repo.write("untracked.txt", "untracked\n");
    std::fs::create_dir(stage.home.beside("work")).unwrap();
    for branch in branches {
        let script = |kind: &str, text: &str| {
            std::fs::write(stage.home.beside(&format!("work/{}.{kind}", branch.id)), text).unwrap();
        };
        script("sh", &branch.work);
        script("mend", &branch.mend);
    }
    stage
}

/// What the user sees of his own checkout.
fn checkout(stage: &Stage) -> String {
    let repo = stage.home.repo();
    let status = repo.git(&["status", "--porcelain=v2", "--branch", "--untracked-files=all"]);
    let file = std::fs::read_to_string(repo.root().join("shared.txt")).unwrap();
    format!("{status}\n{file}")
}

/// Waits until something is so of the run's document. A train is longer than anything else.
fn until_document<T>(stage: &Stage, run: &str, mut look: impl FnMut(&Value) -> Option<T>) -> T {
    let mut last = String::new();
    loop {
        // Each time that one of its facts is new there is a deadline anew.
        let found = until("the train to go on", || {
            let document = stage.home.status(run);
            if let Some(found) = look(&document) {
                return Some(Some(found));
            }
            let states = document["features"].to_string();
            (states != last).then(|| {
                last = states;
                None
            })
        });
        if let Some(found) = found {
            return found;
        }
    }
}

fn in_review<'a>(document: &Value, branches: &'a [Branch]) -> Vec<&'a Branch> {
    let features = document["features"].as_array().unwrap();
    let waits = |branch: &&Branch| {
        features.iter().any(|doc| doc["id"] == branch.id.as_str() && doc["state"] == "in_review")
    };
    branches.iter().filter(waits).collect()
}

/// How many have landed or were stopped on the way.
fn settled(document: &Value) -> usize {
    let features = document["features"].as_array().unwrap();
    features.iter().filter(|doc| doc["state"] == "landed" || doc["state"] == "blocked").count()
}

/// Approves a feature as its document says it is.
fn approve(stage: &Stage, run: &str, document: &Value, branch: &Branch) {
    let commit = feature(document, &branch.id)["commit"].as_str().unwrap();
    stage.home.run(&["approve", run, "--feature", &branch.id, "--commit", commit]).ends_with(0);
}

/// For each landing that began, how many others began since its consent: time as the queue of the target knows it.
fn waits(stage: &Stage, run: &str) -> Vec<usize> {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let (mut begun, mut waits) = (0, Vec::new());
    for event in stage.home.events(run) {
        let id = event["feature"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap() {
            "approved" => drop(asked.insert(id, begun)),
            "landing-admitted" => {
                waits.extend(asked.remove(&id).map(|since| begun - since));
                begun += 1;
            }
            _ => {}
        }
    }
    waits.sort_unstable();
    waits
}

fn count(branches: &[Branch], fates: &BTreeMap<String, Fate>, kind: Kind) -> (usize, usize) {
    let of: Vec<&Branch> = branches.iter().filter(|branch| branch.kind == kind).collect();
    (of.iter().filter(|branch| fates[&branch.id] == Fate::Landed).count(), of.len())
}

#[test]
fn train_of_branches_lands_what_may_land_and_nothing_else() {
    let seed = number("TIDEGATE_TRAIN_SEED", 1);
    let branches = usize::try_from(number("TIDEGATE_TRAIN", 12)).unwrap();
    let kills = usize::try_from(number("TIDEGATE_TRAIN_KILLS", 1)).unwrap();
    let numbers = Numbers::of(branches);
    // Neighbours among the seeds are to have nothing in common.
    let mut dice = Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let strategy = ["merge", "squash", "rebase"][usize::try_from((seed + 2) % 3).unwrap()];
    let branches = generate::branches(numbers, &mut dice);
    let stage = stage(&branches, numbers, strategy);
    let (base, before) = (stage.tip(), checkout(&stage));
    let ids: Vec<&str> = branches.iter().map(|branch| branch.id.as_str()).collect();
    let run = stage.submit(&one_wave(&ids));
    // All of them are built on the same base, and then come at once.
    let all = |document: &Value| {
        (in_review(document, &branches).len() == branches.len()).then(|| document.clone())
    };
    let built = until_document(&stage, &run, all);
    let others = stage.home.repo().git(&["rev-list", "--count", &format!("{base}..main")]);
    let mut order: Vec<&Branch> = branches.iter().collect();
    dice.shuffle(&mut order);
    stage.home.run(&["hold", &run]).ends_with(0);
    for branch in order {
        approve(&stage, &run, &built, branch);
    }
    stage.home.run(&["hold", &run, "--release"]).ends_with(0);
    let (mut again, mut killed) = (BTreeSet::new(), 0);
    let (document, fates) = until_document(&stage, &run, |document| {
        for branch in in_review(document, &branches) {
            // What was mended is looked at once more.
            if again.insert(&branch.id) {
                approve(&stage, &run, document, branch);
            }
        }
        if killed < kills && settled(document) * (kills + 1) > branches.len() * (killed + 1) {
            killed += 1;
            stage.home.kill_daemon();
            stage.home.start_daemon();
        }
        fates(document, &branches).map(|fates| (document.clone(), fates))
    });
    assert_eq!(killed, kills, "the daemon was killed as often as it should have been");
    let course = Course::of(&stage, &base);
    ends_are_right(&document, &branches, &fates);
    assert_eq!(course.broken(), Vec::<&String>::new(), "seed {seed}");
    course.nothing_is_lost(&branches, &fates);
    let landed = fates.values().filter(|fate| **fate == Fate::Landed).count();
    let own = course.commits.len() - others.parse::<usize>().unwrap();
    assert_eq!(own, landed - numbers.duplicates, "a duplicate adds no commit");
    assert_eq!(checkout(&stage), before, "the user's checkout");
    for kind in [Kind::Clean, Kind::Conflict, Kind::Breaks, Kind::Revert, Kind::Duplicate] {
        let (landed, of) = count(&branches, &fates, kind);
        println!("train: {kind:?}: {landed} of {of} landed");
    }
    let waits = waits(&stage, &run);
    let (longest, median) = (waits[waits.len() - 1], waits[waits.len() / 2]);
    println!(
        "train: seed {seed}, {strategy}: {} branches, {} commits on the target, 0 broken, {kills} kills; a wait of {longest} landings at \
         most, {median} in the middle",
        branches.len(),
        course.commits.len(),
    );
    assert!(longest <= 3 * median, "{waits:?}");
    stage.home.run(&["cancel", &run, "--wait"]).ends_with(0);
    stage.home.repo().git(&["fsck", "--no-dangling", "--strict"]);
    stage.home.close();
}
