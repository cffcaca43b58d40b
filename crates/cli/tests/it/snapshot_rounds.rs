//! Random edits of a running agent, and a disaster at a random moment of each round: its worktree is removed, its branch
//! deleted, or daemon, shim and agent killed. What it had comes back as it was at most one interval before.
//!
//! `TIDEGATE_SNAPSHOT_ROUNDS=N` says how many rounds (20), `TIDEGATE_SNAPSHOT_SEED=N` which (1).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::harness::{Dice, let_pass, sweep, until};
use crate::plan_stage::{Stage, feature, one_wave};

/// Takes a snapshot as often as the machine can.
const OFTEN: (&str, &str) = ("[limits]", "[limits]\nsnapshot_every = \"50ms\"");

/// Files and links of a worktree.
type Picture = BTreeMap<PathBuf, Vec<u8>>;

/// What each file and link may be by now; `None` when it may be absent.
type Allowed = BTreeMap<PathBuf, BTreeSet<Option<Vec<u8>>>>;

fn git(worktree: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(worktree).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn status(worktree: &Path) -> String {
    git(worktree, &["--no-optional-locks", "status", "--porcelain=v2", "--branch", "-z"])
}

/// Some of what an agent does to a worktree, and what comes of it.
fn edit(worktree: &Path, dice: &mut Dice, allowed: &mut Allowed) {
    for _ in 0..=dice.below(6) {
        let folder = format!("dir{}/sub{}", dice.below(3), dice.below(2));
        let name = PathBuf::from(format!("{folder}/file\n{}.txt", dice.below(4)));
        let file = worktree.join(&name);
        std::fs::create_dir_all(worktree.join(folder)).unwrap();
        let deed = dice.below(6);
        let content = match deed {
            0 => None,
            1 => Some(format!("../{}", dice.below(9)).into_bytes()),
            2 => {
                git(worktree, &["add", "--all"]);
                continue;
            }
            3 => {
                git(worktree, &["commit", "--quiet", "--allow-empty", "--message", "by the agent"]);
                continue;
            }
            _ => Some(dice.below(1 << 40).to_string().into_bytes()),
        };
        // It may not be there: then there is nothing to remove. A moment later it is new, and empty at first.
        drop(std::fs::remove_file(&file));
        let now = allowed.entry(name).or_default();
        now.extend([None, Some(Vec::new()), content.clone()]);
        match content {
            None => {}
            Some(target) if deed == 1 => {
                let target = String::from_utf8(target).unwrap();
                std::os::unix::fs::symlink(target, &file).unwrap();
            }
            Some(text) => std::fs::write(&file, text).unwrap(),
        }
    }
    // Whatever chance did, there is something new.
    let counter = dice.below(u64::MAX).to_string().into_bytes();
    std::fs::write(worktree.join("counter"), &counter).unwrap();
    allowed.entry("counter".into()).or_default().extend([Some(Vec::new()), Some(counter)]);
}

/// Files and links below a folder, but for git's own.
fn picture(root: &Path) -> Picture {
    let mut all = Picture::new();
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

/// Asserts that every file is as it was at some moment since the last interval.
fn is_recent(picture: &Picture, allowed: &Allowed, what: &str) {
    for (path, values) in allowed {
        let found = picture.get(path).cloned();
        assert!(values.contains(&found), "{what}: {} is {found:?}, not {values:?}", path.display());
    }
    let odd: Vec<&PathBuf> = picture.keys().filter(|path| !allowed.contains_key(*path)).collect();
    assert!(odd.is_empty(), "{what}: {odd:?} had been removed");
}

#[derive(Debug, Clone, Copy)]
enum Disaster {
    WorktreeRemoved,
    BranchDeleted,
    AllKilled,
}

const DISASTERS: [Disaster; 3] =
    [Disaster::WorktreeRemoved, Disaster::BranchDeleted, Disaster::AllKilled];

/// An agent that does nothing by itself, for the test to work in its worktree.
struct Scene {
    stage: Stage,
    run: String,
    worktree: PathBuf,
    starts: usize,
    restored: u64,
}

impl Scene {
    fn new() -> Self {
        let stage = Stage::with("read _ <\"$T/go\"", "true", &[OFTEN]);
        let (run, worktree) = Default::default();
        Self { stage, run, worktree, starts: 0, restored: 0 }
    }

    /// A run, once its agent is at work.
    fn submit(&mut self) {
        self.run = self.stage.submit(&one_wave(&["a"]));
        self.starts += 1;
        let document = self.stage.home.until(&self.run, "its agent", |document| {
            feature(document, "a")["step"] == "agent" && self.stage.starts("a") == self.starts
        });
        self.worktree = PathBuf::from(feature(&document, "a")["worktree"].as_str().unwrap());
    }

    fn branch(&self) -> String {
        format!("refs/heads/tidegate/{}/a", self.run)
    }

    /// The newest snapshot; 0 before the first.
    fn newest(&self) -> u64 {
        let list = self.stage.home.data(&["restore", &self.run, "--list"]);
        let all = list["snapshots"].as_array().unwrap().iter();
        all.map(|snapshot| snapshot["number"].as_u64().unwrap()).max().unwrap_or(0)
    }

    /// What a snapshot gives back.
    fn restore(&mut self, number: u64) -> Picture {
        self.restored += 1;
        let to = self.stage.home.beside(&format!("restored.{}", self.restored));
        let number = number.to_string();
        let words = ["restore", &self.run, "--feature", "a", "--snapshot", &number, "--to"];
        self.stage.home.run(&[&words[..], &[to.to_str().unwrap()]].concat()).ends_with(0);
        let picture = picture(&to);
        std::fs::remove_dir_all(&to).unwrap();
        picture
    }

    /// Waits until what stands in the worktree is captured; the snapshot.
    fn captured(&mut self) -> u64 {
        let wanted = picture(&self.worktree);
        let mut seen = 0;
        until("the newest snapshot has it all", || {
            let number = self.newest();
            if number == seen {
                return None;
            }
            seen = number;
            (self.restore(number) == wanted).then_some(number)
        })
    }

    fn strike(&self, disaster: Disaster) {
        match disaster {
            Disaster::WorktreeRemoved => {
                // A snapshot at work may look at what is just being removed.
                std::fs::remove_dir_all(&self.worktree).unwrap();
            }
            Disaster::BranchDeleted => {
                let repo = self.stage.home.repo();
                repo.git(&["update-ref", "-d", &self.branch()]);
                repo.git(&["reflog", "expire", "--expire=now", "--all"]);
                repo.git(&["gc", "--quiet", "--prune=now"]);
            }
            Disaster::AllKilled => {
                let left = sweep(&self.stage.home.path().display().to_string());
                assert!(left.is_empty(), "{left:?}");
            }
        }
    }

    /// Takes the branch back from the snapshots, and asserts that they have it.
    fn give_branch_back(&self, tip: &str) {
        let repo = self.stage.home.repo();
        let vaults = std::fs::read_dir(self.stage.home.path().join("snapshots")).unwrap();
        let vault = vaults.map(|entry| entry.unwrap().path()).next().unwrap();
        let mut push = Command::new("git");
        push.arg("--git-dir").arg(vault).args(["push", "--quiet"]).arg(repo.root());
        push.arg(format!("{tip}:refs/heads/given-back"));
        // It borrows what the base reaches.
        push.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", repo.root().join(".git/objects"));
        assert!(push.status().unwrap().success(), "the commits are gone");
        repo.git(&["update-ref", "-d", "refs/heads/given-back"]);
        repo.git(&["update-ref", &self.branch(), tip]);
    }

    fn round(&mut self, dice: &mut Dice, disaster: Disaster) {
        if self.run.is_empty() {
            self.submit();
        }
        edit(&self.worktree, dice, &mut Allowed::new());
        let before = status(&self.worktree);
        let captured = self.captured();
        assert_eq!(status(&self.worktree), before, "a snapshot left a trace");
        let tip = git(&self.worktree, &["rev-parse", "HEAD"]);
        let mut allowed = Allowed::new();
        for (path, content) in picture(&self.worktree) {
            allowed.insert(path, BTreeSet::from([Some(content)]));
        }
        // From here on it is the next interval.
        for _ in 0..dice.below(4) {
            edit(&self.worktree, dice, &mut allowed);
            let_pass(Duration::from_millis(dice.below(60)));
        }
        let last = picture(&self.worktree);
        self.strike(disaster);
        match disaster {
            Disaster::WorktreeRemoved => {
                let kept = self.restore(captured);
                is_recent(&kept, &allowed, "the worktree is gone");
                self.end();
            }
            Disaster::BranchDeleted => {
                let number = self.newest();
                is_recent(&self.restore(number), &allowed, "the branch is gone");
                self.give_branch_back(&tip);
                assert_eq!(picture(&self.worktree), last);
            }
            Disaster::AllKilled => {
                assert_eq!(picture(&self.worktree), last);
                let number = self.newest();
                is_recent(&self.restore(number), &allowed, "all are dead");
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.stage.home.run(&["cancel", &self.run, "--wait"]).ends_with(0);
        self.run.clear();
    }
}

#[test]
fn random_edits_of_a_running_agent_come_back_after_each_disaster() {
    let number = |name: &str, else_: u64| {
        std::env::var(name).map_or(else_, |value| value.parse().expect(name))
    };
    let rounds = number("TIDEGATE_SNAPSHOT_ROUNDS", 20);
    let mut dice = Dice::new(number("TIDEGATE_SNAPSHOT_SEED", 1));
    let mut scene = Scene::new();
    let _go = scene.stage.bell("go");
    let mut counts = [0; DISASTERS.len()];
    let (mut first, mut step) = (0, 1);
    for round in 0..rounds {
        // Each of the three in three rounds, in any order.
        if round % 3 == 0 {
            (first, step) = (dice.below(3), 1 + dice.below(2));
        }
        let which = usize::try_from((first + step * round) % 3).unwrap();
        counts[which] += 1;
        println!("round {round}: {:?}", DISASTERS[which]);
        scene.round(&mut dice, DISASTERS[which]);
    }
    println!("{rounds} rounds: {DISASTERS:?} {counts:?} times");
    if !scene.run.is_empty() {
        scene.end();
    }
    scene.stage.close();
}
