//! Eleven merges as they happen between agents, each with the outcome that is right for it, played through as a train of
//! landings: what merges lands, what does not is prepared for a reconciler, and nothing holds up what comes after it.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tidegate_git::{
    Arrival, ConflictKind, ConflictOutcome, ConflictRequest, MergeOutcome, NoChangeReason, Oid,
    Resolution, ResolutionCheck, RevertCheck, UpdateOutcome,
};

use crate::sandbox::{Sandbox, merge_request, write};

const TARGET: &str = "refs/heads/main";

/// A repository whose branches are made in worktrees of their own.
struct Train {
    sandbox: Sandbox,
}

/// What is right for one branch.
#[derive(Debug)]
enum Right<'a> {
    Lands,
    /// A person or a reconciler gets these paths.
    Stops(&'a [(&'a str, ConflictKind)]),
    Nothing(NoChangeReason),
}

fn numbered(last: usize, change: &[(usize, &str)]) -> String {
    let line = |n: usize| {
        let changed = change.iter().find(|(line, _)| *line == n);
        changed.map_or_else(|| n.to_string(), |(_, text)| (*text).to_owned())
    };
    (1..=last).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn script(path: &Path, text: &str) {
    write(path, format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

/// Whether a command succeeds in a folder.
fn runs(folder: &Path, command: &str) -> bool {
    Command::new("sh").args(["-c", command]).current_dir(folder).status().unwrap().success()
}

impl Train {
    /// The target's first commit is what `fill` puts into the user's checkout.
    fn new(fill: impl Fn(&Path)) -> Self {
        let train = Self { sandbox: Sandbox::empty() };
        fill(&train.sandbox.user);
        train.sandbox.commit_all("base");
        train
    }

    fn branch(name: &str) -> String {
        format!("tidegate/r1/{name}")
    }

    fn worktree(&self, name: &str) -> PathBuf {
        self.sandbox.worktree_request(name, &self.sandbox.oid(TARGET)).path
    }

    /// A feature from the present target, with what `change` does to its files as one commit.
    fn feature(&self, name: &str, change: impl Fn(&Path)) {
        let request = self.sandbox.worktree_request(name, &self.sandbox.oid(TARGET));
        let path = self.sandbox.repo().prepare_worktree(&request).unwrap().path;
        change(&path);
        self.sandbox.git_in(&path, &["add", "-A"]);
        if !self.sandbox.git_in(&path, &["status", "--porcelain"]).is_empty() {
            self.sandbox.git_in(&path, &["commit", "-q", "-m", name]);
        }
    }

    fn tip(&self, name: &str) -> Oid {
        self.sandbox.oid(&format!("refs/heads/{}", Self::branch(name)))
    }

    /// Tries to land a branch, and checks that what becomes of it is right.
    fn goes(&self, name: &str, right: &Right<'_>) {
        let (repo, target, branch) =
            (self.sandbox.repo(), self.sandbox.oid(TARGET), self.tip(name));
        let outcome = repo.merge(&merge_request(&target, &branch)).unwrap();
        match (outcome, right) {
            (MergeOutcome::Merged { commit, .. }, Right::Lands) => {
                let base =
                    Oid::new(self.sandbox.git(&["merge-base", target.as_str(), branch.as_str()]));
                let base = base.unwrap();
                let check = RevertCheck { base, target, feature: branch.clone(), merged: commit };
                assert_eq!(repo.silent_reverts(&check).unwrap(), []);
                let update = self.sandbox.merged(&branch);
                assert_eq!(repo.update_target(&update).unwrap(), UpdateOutcome::Updated);
            }
            (MergeOutcome::Conflict { paths, .. }, Right::Stops(expected)) => {
                let names: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
                assert_eq!(names, expected.iter().map(|(name, _)| *name).collect::<Vec<_>>());
                assert_eq!(self.prepared(name), *expected);
                assert_eq!(self.sandbox.oid(TARGET), target, "the target stays");
            }
            (MergeOutcome::NoChange { why }, Right::Nothing(expected)) => {
                assert_eq!(why, *expected);
            }
            (outcome, right) => panic!("{name}: {outcome:?} instead of {right:?}"),
        }
        self.nothing_is_wrong();
    }

    fn request(&self, name: &str) -> ConflictRequest {
        ConflictRequest {
            worktree: self.worktree(name),
            branch: Self::branch(name),
            feature: self.tip(name),
            target: self.sandbox.oid(TARGET),
            message: format!("Take main into {name}"),
        }
    }

    /// Prepares the conflict of a branch; gives its paths and kinds.
    fn prepared(&self, name: &str) -> Vec<(&'static str, ConflictKind)> {
        let outcome = self.sandbox.repo().prepare_conflict(&self.request(name)).unwrap();
        let ConflictOutcome::Prepared { files, .. } = outcome else { panic!("{outcome:?}") };
        let name = |path: PathBuf| -> &'static str { path.to_str().unwrap().to_owned().leak() };
        files.into_iter().map(|file| (name(file.path), file.kind)).collect()
    }

    /// Commits what a reconciler made of a prepared conflict; it must be good, and lands.
    fn resolved(&self, name: &str) {
        let ConflictRequest { worktree, branch, feature, target, .. } = self.request(name);
        self.sandbox.git_in(&worktree, &["add", "-A"]);
        self.sandbox.git_in(&worktree, &["commit", "-q", "--no-edit"]);
        let check = ResolutionCheck { worktree, branch, feature, target };
        let resolution = self.sandbox.repo().check_resolution(&check).unwrap();
        let Resolution::Resolved { commit, outside } = resolution else { panic!("{resolution:?}") };
        assert_eq!((commit, outside), (self.tip(name), Vec::new()));
        self.goes(name, &Right::Lands);
    }

    /// What must hold after every step: no markers on the target, and the user's checkout clean.
    fn nothing_is_wrong(&self) {
        let markers =
            self.sandbox.output_in(&self.sandbox.user, &["grep", "-e", "^<<<<<<<", "main"]);
        assert_eq!(String::from_utf8_lossy(&markers.stdout), "");
        assert_eq!(self.sandbox.git(&["status", "--porcelain"]), "");
    }

    /// The content of a file of the target.
    fn shown(&self, path: &str) -> String {
        self.sandbox.git(&["show", &format!("main:{path}")]) + "\n"
    }

    fn names(&self) -> BTreeSet<String> {
        let names = self.sandbox.git(&["ls-tree", "-r", "--name-only", "main"]);
        names.lines().map(str::to_owned).collect()
    }
}

#[test]
fn distant_hunks_of_one_file_both_land() {
    let train = Train::new(|dir| write(&dir.join("f.txt"), numbered(30, &[])));
    train.feature("a", |dir| write(&dir.join("f.txt"), numbered(30, &[(3, "3-a")])));
    train.feature("b", |dir| write(&dir.join("f.txt"), numbered(30, &[(27, "27-b")])));
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Lands);
    assert_eq!(train.shown("f.txt"), numbered(30, &[(3, "3-a"), (27, "27-b")]));
}

#[test]
fn same_line_stops_one_feature_and_not_the_one_after_it() {
    let train = Train::new(|dir| write(&dir.join("f.txt"), numbered(10, &[])));
    train.feature("a", |dir| write(&dir.join("f.txt"), numbered(10, &[(5, "5-a")])));
    train.feature("b", |dir| write(&dir.join("f.txt"), numbered(10, &[(5, "5-b")])));
    train.feature("c", |dir| write(&dir.join("c.txt"), "c\n"));
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Stops(&[("f.txt", ConflictKind::Content)]));
    train.goes("c", &Right::Lands);
    assert_eq!(train.shown("f.txt"), numbered(10, &[(5, "5-a")]));
    assert!(train.names().contains("c.txt"));
}

#[test]
fn path_added_by_both_stops_and_an_identical_twin_does_not() {
    let train = Train::new(|dir| write(&dir.join("base"), "b\n"));
    for (name, text) in [("a", "echo A\n"), ("b", "echo B\n")] {
        train.feature(name, |dir| {
            write(&dir.join("util/new.sh"), text);
            write(&dir.join("util/same.txt"), "same\n");
        });
    }
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Stops(&[("util/new.sh", ConflictKind::AddAdd)]));
    assert_eq!(train.shown("util/new.sh"), "echo A\n");
}

#[test]
fn edit_under_the_old_name_ends_up_in_the_new_one() {
    let train = Train::new(|dir| write(&dir.join("src/old_name.py"), numbered(60, &[])));
    train.feature("a", |dir| {
        fs::remove_file(dir.join("src/old_name.py")).unwrap();
        write(&dir.join("src/new_name.py"), numbered(60, &[(2, "2-a")]));
    });
    train.feature("b", |dir| write(&dir.join("src/old_name.py"), numbered(60, &[(40, "40-b")])));
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Lands);
    assert_eq!(train.names(), BTreeSet::from(["src/new_name.py".to_owned()]));
    assert_eq!(train.shown("src/new_name.py"), numbered(60, &[(2, "2-a"), (40, "40-b")]));
}

#[test]
fn two_renames_of_one_file_stop_with_all_three_names() {
    let train = Train::new(|dir| write(&dir.join("core.rs"), numbered(50, &[])));
    for (name, file) in [("a", "engine.rs"), ("b", "motor.rs")] {
        train.feature(name, |dir| fs::rename(dir.join("core.rs"), dir.join(file)).unwrap());
    }
    train.goes("a", &Right::Lands);
    let kind = ConflictKind::RenameRename;
    train.goes("b", &Right::Stops(&[("core.rs", kind), ("engine.rs", kind), ("motor.rs", kind)]));
    assert_eq!(train.names(), BTreeSet::from(["engine.rs".to_owned()]));
}

#[test]
fn binary_changed_by_both_stops_without_markers_in_it() {
    let bytes = |word: &str| format!("\0\x01{word}").repeat(500);
    let train = Train::new(|dir| {
        write(&dir.join("logo.bin"), bytes("BASE"));
        write(&dir.join("t.txt"), "t\n");
    });
    train.feature("a", |dir| write(&dir.join("logo.bin"), bytes("AAAA")));
    train.feature("b", |dir| {
        write(&dir.join("logo.bin"), bytes("BBBB"));
        write(&dir.join("t.txt"), "t\nu\n");
    });
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Stops(&[("logo.bin", ConflictKind::Binary)]));
    // The prepared worktree has one side, whole.
    let prepared = fs::read(train.worktree("b").join("logo.bin")).unwrap();
    assert_eq!(prepared, bytes("BBBB").into_bytes());
    assert_eq!(fs::read(train.sandbox.user.join("logo.bin")).unwrap(), bytes("AAAA").into_bytes());
}

const LOCK: &str =
    "sort -u deps.txt | { echo '# locked'; cat; sort -u deps.txt | cksum; } >deps.lock";
const LOCK_GATE: &str =
    "cp deps.lock .want; ./lock.sh; cmp -s deps.lock .want; r=$?; rm .want; exit $r";

#[test]
fn lock_file_is_regenerated_and_neither_side_of_it_would_pass_the_gate() {
    let deps = |extra: &[&str]| {
        let mut all = vec!["alpha 1", "kilo 1", "mike 1", "romeo 1", "zulu 1"];
        all.extend(extra);
        all.sort_unstable();
        all.join("\n") + "\n"
    };
    let train = Train::new(|dir| {
        script(&dir.join("lock.sh"), LOCK);
        script(&dir.join("gate.sh"), LOCK_GATE);
        write(&dir.join("deps.txt"), deps(&[]));
        assert!(runs(dir, "./lock.sh"));
    });
    for (name, dependency) in [("a", "bravo 2"), ("b", "tango 3")] {
        train.feature(name, |dir| {
            write(&dir.join("deps.txt"), deps(&[dependency]));
            assert!(runs(dir, "./lock.sh"));
        });
    }
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Stops(&[("deps.lock", ConflictKind::Content)]));
    let worktree = train.worktree("b");
    for side in ["--ours", "--theirs"] {
        train.sandbox.git_in(&worktree, &["checkout", side, "deps.lock"]);
        assert!(!runs(&worktree, "./gate.sh"), "{side}");
    }
    assert!(runs(&worktree, "./lock.sh && ./gate.sh"));
    train.resolved("b");
    assert!(runs(&train.sandbox.user, "./gate.sh"));
    assert_eq!(train.shown("deps.txt"), deps(&["bravo 2", "tango 3"]));
}

#[test]
fn generated_file_is_made_again_from_the_merged_sources() {
    let train = Train::new(|dir| {
        for name in ["a", "b", "c"] {
            write(&dir.join(format!("api/{name}.def")), format!("route /{name}\n"));
        }
        let made =
            "{ echo '// generated'; cat api/*.def | sort; cat api/*.def | cksum; } >api.gen.txt";
        script(&dir.join("gen.sh"), made);
        write(&dir.join(".gitattributes"), "*.gen.txt linguist-generated\n");
        assert!(runs(dir, "./gen.sh"));
    });
    for name in ["a", "c"] {
        train.feature(name, |dir| {
            let route = format!("route /{name}\nroute /{name}{name}\n");
            write(&dir.join(format!("api/{name}.def")), route);
            assert!(runs(dir, "./gen.sh"));
        });
    }
    train.goes("a", &Right::Lands);
    train.goes("c", &Right::Stops(&[("api.gen.txt", ConflictKind::Content)]));
    assert!(runs(&train.worktree("c"), "./gen.sh"));
    train.resolved("c");
    assert!(runs(&train.sandbox.user, "./gen.sh && git diff --quiet"));
}

#[test]
fn criss_cross_history_stops_at_the_disputed_line() {
    let train = Train::new(|dir| write(&dir.join("f.txt"), numbered(20, &[])));
    let line = |text: &str| numbered(20, &[(10, text)]);
    train.feature("a", |dir| write(&dir.join("f.txt"), line("10-A1")));
    let a1 = train.tip("a");
    train.sandbox.write("f.txt", line("10-M1"));
    let m1 = train.sandbox.commit_all("m1");
    let ours = |dir: &Path, other: &Oid| {
        let merge = ["merge", "-q", "-s", "ours", "-m", "take the other, keep own", other.as_str()];
        train.sandbox.git_in(dir, &merge);
    };
    ours(&train.worktree("a"), &m1);
    ours(&train.sandbox.user, &a1);
    train.sandbox.write("f.txt", line("10-M2"));
    train.sandbox.commit_all("m2");
    write(&train.worktree("a").join("f.txt"), line("10-A2"));
    train.sandbox.git_in(&train.worktree("a"), &["commit", "-q", "-am", "a2"]);
    let bases = train.sandbox.git(&["merge-base", "--all", "main", train.tip("a").as_str()]);
    assert_eq!(bases.lines().count(), 2);
    train.goes("a", &Right::Stops(&[("f.txt", ConflictKind::Content)]));
}

#[test]
fn mode_alone_merges_with_an_edit_and_a_link_does_not() {
    let train = Train::new(|dir| {
        write(&dir.join("run.sh"), "echo run\n");
        write(&dir.join("config"), numbered(20, &[]));
        write(&dir.join("config.real"), numbered(20, &[]));
    });
    train.feature("a", |dir| {
        fs::set_permissions(dir.join("run.sh"), Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(dir.join("config")).unwrap();
        symlink("config.real", dir.join("config")).unwrap();
    });
    train.feature("b", |dir| {
        write(&dir.join("run.sh"), "echo run\necho more\n");
        write(&dir.join("config"), numbered(20, &[(9, "9-b")]));
    });
    train.feature("c", |dir| write(&dir.join("run.sh"), "echo run\necho more\n"));
    train.goes("a", &Right::Lands);
    train.goes("b", &Right::Stops(&[("config", ConflictKind::Mode)]));
    train.goes("c", &Right::Lands);
    let user = &train.sandbox.user;
    assert!(fs::symlink_metadata(user.join("config")).unwrap().is_symlink());
    let mode = fs::metadata(user.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(train.shown("run.sh"), "echo run\necho more\n");
}

#[test]
fn branches_with_nothing_to_land_are_told_apart_and_leave_no_commit() {
    let train = Train::new(|dir| write(&dir.join("a"), "a\n"));
    let base = train.sandbox.oid(TARGET);
    train.feature("a", |_| {});
    train.feature("b", |dir| write(&dir.join("x"), "x\n"));
    train.feature("b", |dir| fs::remove_file(dir.join("x")).unwrap());
    train.feature("c", |dir| write(&dir.join("c"), "c\n"));
    train.goes("c", &Right::Lands);
    let count = train.sandbox.git(&["rev-list", "--count", "main"]);
    train.goes("a", &Right::Nothing(NoChangeReason::AlreadyMerged));
    train.goes("b", &Right::Nothing(NoChangeReason::EmptyDiff));
    train.goes("c", &Right::Nothing(NoChangeReason::AlreadyMerged));
    // One never had a commit, the other came by a landing.
    assert_eq!(train.tip("a"), base);
    let repo = train.sandbox.repo();
    assert!(matches!(
        repo.arrival(&train.tip("c"), TARGET).unwrap(),
        Arrival::There { by: Some(_) }
    ));
    assert_eq!(train.sandbox.git(&["rev-list", "--count", "main"]), count);
}
