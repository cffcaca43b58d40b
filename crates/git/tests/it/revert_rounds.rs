//! The guard against silent reverts on generated histories: honest ones raise no alarm under any strategy, and the same
//! ones with a revert seeded into the branch do.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_git::{MergeOutcome, Oid, RevertCheck, SilentRevert, Strategy};

use crate::sandbox::{Sandbox, merge_request, write};

const FILES: [&str; 3] = ["one.txt", "two.txt", "src/three.txt"];
const HONEST: u64 = 8;
const REVERTED: u64 = 4;

/// Numbers from a seed, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

#[derive(Debug, Clone, Copy)]
enum Seeded {
    StaleCopy,
    OursStrategy,
    RevertCommit,
}

/// What the lines are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// No two are the same.
    Unique,
    /// As in code, where the same few come again and again.
    Repeated,
}

const CODE: [&str; 6] = ["fn f() {", "    call(a);", "    call(b);", "    return ok;", "}", ""];
const EDITS: [&str; 4] = ["    call();", "    if x {", "    }", ""];

struct Round {
    lines: Lines,
    sandbox: Sandbox,
    work: PathBuf,
    base: Oid,
    dice: Dice,
    edits: usize,
}

impl Round {
    fn new(seed: u64, kind: Lines) -> Self {
        let sandbox = Sandbox::empty();
        for file in FILES {
            let line = |n: usize| match kind {
                Lines::Unique => format!("{file} says {n}"),
                Lines::Repeated => CODE[n % CODE.len()].to_owned(),
            };
            let lines: Vec<_> = (1..=30).map(line).collect();
            sandbox.write(file, lines.join("\n") + "\n");
        }
        let base = sandbox.commit_all("base");
        let work = sandbox.root().join("work");
        sandbox.git(&["worktree", "add", "-q", "-b", "feat", work.to_str().unwrap(), "main"]);
        Self {
            lines: kind,
            sandbox,
            work,
            base,
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            edits: 0,
        }
    }

    /// Changes, inserts or (only what stood there from the beginning) removes a line in a part of a file.
    fn edit(&mut self, root: &Path, file: &str, part: std::ops::Range<usize>) {
        let path = root.join(file);
        let mut lines: Vec<String> =
            fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
        let at = (part.start + self.dice.below(part.len())).min(lines.len() - 1);
        self.edits += 1;
        let whose = if root == self.work { "feature" } else { "target" };
        let text = match self.lines {
            Lines::Unique => format!("edit {} of {file}", self.edits),
            // Each side has words of its own, or one could write the base's line again.
            Lines::Repeated => EDITS[self.dice.below(EDITS.len())].replace("call", whose),
        };
        let of_base = lines[at].contains("says") || CODE.contains(&lines[at].as_str());
        match self.dice.below(4) {
            0 => lines.insert(at, text),
            1 if of_base => drop(lines.remove(at)),
            _ => lines[at] = text,
        }
        write(&path, lines.join("\n") + "\n");
    }

    fn commit(&self, root: &Path, message: &str) -> Oid {
        self.sandbox.git_in(root, &["add", "-A"]);
        self.sandbox.git_in(root, &["commit", "-q", "--allow-empty", "-m", message]);
        Oid::new(self.sandbox.git_in(root, &["rev-parse", "HEAD"])).unwrap()
    }

    /// The target moves: in the upper parts of the files, and with a file of its own.
    fn land(&mut self, n: usize) {
        let user = self.sandbox.user.clone();
        for file in FILES {
            for _ in 0..=self.dice.below(3) {
                self.edit(&user, file, 0..14);
            }
        }
        self.sandbox.write(format!("landed-{n}.txt"), format!("landed {n}\nand more {n}\n"));
        self.commit(&user, &format!("land {n}"));
    }

    /// The branch moves: in the lower parts, or anywhere once it has seen the target.
    fn build(&mut self, part: &std::ops::Range<usize>) {
        let work = self.work.clone();
        for _ in 0..=self.dice.below(3) {
            let file = FILES[self.dice.below(FILES.len())];
            self.edit(&work, file, part.clone());
        }
        self.commit(&work, "build");
    }

    fn guard(&self, strategy: Strategy) -> Option<Vec<SilentRevert>> {
        let target = self.sandbox.oid("refs/heads/main");
        let feature = self.sandbox.oid("refs/heads/feat");
        let mut request = merge_request(&target, &feature);
        request.strategy = strategy;
        let repo = self.sandbox.repo();
        let MergeOutcome::Merged { commit: merged, .. } = repo.merge(&request).unwrap() else {
            return None;
        };
        let check = RevertCheck { base: self.base.clone(), target, feature, merged };
        Some(repo.silent_reverts(&check).unwrap())
    }
}

/// An honest history: work, landings, perhaps a merge of the target and more work on top of it.
fn honest(seed: u64, lines: Lines) -> Round {
    let mut round = Round::new(seed, lines);
    round.build(&(18..30));
    round.land(1);
    if seed.is_multiple_of(2) {
        round.sandbox.git_in(&round.work, &["merge", "-q", "--no-edit", "main"]);
        round.build(&(0..30));
        round.land(2);
    }
    round
}

fn kind_of(seed: u64) -> Lines {
    if seed % 4 < 2 { Lines::Unique } else { Lines::Repeated }
}

#[test]
fn generated_honest_histories_raise_no_alarm() {
    let mut landed = 0;
    for seed in 0..HONEST {
        let round = honest(seed, kind_of(seed));
        for strategy in [Strategy::Merge, Strategy::Squash, Strategy::Rebase] {
            let Some(found) = round.guard(strategy) else { continue };
            assert_eq!(found, [], "seed {seed} {strategy:?}");
            landed += 1;
        }
    }
    assert!(landed >= HONEST * 2, "too few of the histories merge: {landed}");
}

#[test]
fn generated_reverts_are_all_found() {
    for seed in 0..REVERTED {
        for seeded in [Seeded::StaleCopy, Seeded::OursStrategy, Seeded::RevertCommit] {
            let mut round = Round::new(seed, kind_of(seed));
            round.build(&(18..30));
            let stale = fs::read(round.work.join(FILES[0])).unwrap();
            round.land(1);
            if seed.is_multiple_of(2) {
                round.land(2);
            }
            let sandbox = &round.sandbox;
            match seeded {
                Seeded::StaleCopy => {
                    sandbox.git_in(&round.work, &["merge", "-q", "--no-edit", "main"]);
                    write(&round.work.join(FILES[0]), stale);
                    round.commit(&round.work, "my copy");
                }
                Seeded::OursStrategy => {
                    let merge = ["merge", "-q", "-s", "ours", "-m", "take main", "main"];
                    sandbox.git_in(&round.work, &merge);
                }
                Seeded::RevertCommit => {
                    sandbox.git_in(&round.work, &["merge", "-q", "--no-edit", "main"]);
                    sandbox.git_in(&round.work, &["revert", "--no-edit", "main"]);
                }
            }
            round.build(&(20..30));
            for strategy in [Strategy::Merge, Strategy::Squash, Strategy::Rebase] {
                // A rebase may stumble over it, which stops the landing too.
                let found = round.guard(strategy);
                let silent = found.as_ref().is_some_and(Vec::is_empty);
                assert!(!silent, "seed {seed} {seeded:?} {strategy:?}");
                assert!(found.is_some() || strategy == Strategy::Rebase, "seed {seed} {seeded:?}");
            }
        }
    }
}
