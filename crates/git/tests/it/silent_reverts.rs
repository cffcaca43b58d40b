//! The guard against silent reverts: seeded ones are found with path, commit and lines; honest work raises no alarm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tidegate_git::{MergeOutcome, Oid, RevertCheck, RevertKind, SilentRevert, Strategy};

use crate::sandbox::{Sandbox, merge_request, write};

/// A feature's worktree, whose branch begins at the base.
struct Work {
    sandbox: Sandbox,
    path: PathBuf,
    base: Oid,
}

fn numbered(change: &[(usize, &str)]) -> String {
    (1..=20)
        .map(|n| {
            let changed = change.iter().find(|(line, _)| *line == n);
            changed.map_or_else(|| format!("line {n}\n"), |(_, text)| format!("{text}\n"))
        })
        .collect()
}

impl Work {
    fn new() -> Self {
        let sandbox = Sandbox::empty();
        sandbox.write("a.txt", numbered(&[]));
        sandbox.write("b.txt", numbered(&[]));
        sandbox.write("run.sh", "echo run\n");
        sandbox.write("gone.txt", "to be removed\n");
        sandbox.write("logo.bin", b"\0\x01base");
        let base = sandbox.commit_all("base");
        let path = sandbox.root().join("work");
        sandbox.git(&["worktree", "add", "-q", "-b", "feat", path.to_str().unwrap(), "main"]);
        Self { sandbox, path, base }
    }

    fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        write(&self.path.join(file), content);
    }

    fn commit(&self, message: &str) -> Oid {
        self.sandbox.git_in(&self.path, &["add", "-A"]);
        self.sandbox.git_in(&self.path, &["commit", "-q", "--allow-empty", "-m", message]);
        self.tip()
    }

    fn tip(&self) -> Oid {
        Oid::new(self.sandbox.git_in(&self.path, &["rev-parse", "HEAD"])).unwrap()
    }

    /// Merges the target into the branch, as git does it by itself.
    fn sync(&self) {
        self.sandbox.git_in(&self.path, &["merge", "-q", "--no-edit", "main"]);
    }

    /// What the guard says about landing the branch now.
    fn guard(&self, strategy: Strategy) -> Vec<SilentRevert> {
        let (target, feature) = (self.sandbox.oid("main"), self.tip());
        let mut request = merge_request(&target, &feature);
        request.strategy = strategy;
        let merged = match self.sandbox.repo().merge(&request).unwrap() {
            MergeOutcome::Merged { commit, .. } => commit,
            other => panic!("{other:?}"),
        };
        let check = RevertCheck { base: self.base.clone(), target, feature, merged };
        self.sandbox.repo().silent_reverts(&check).unwrap()
    }

    /// The findings, after a look that squash gives the same.
    fn findings(&self) -> Vec<SilentRevert> {
        let found = self.guard(Strategy::Merge);
        assert_eq!(self.guard(Strategy::Squash), found);
        found
    }

    fn kinds(&self) -> Vec<(String, RevertKind)> {
        let found = self.findings();
        found.into_iter().map(|f| (f.path.to_str().unwrap().to_owned(), f.kind)).collect()
    }
}

fn one(file: &str, kind: RevertKind) -> Vec<(String, RevertKind)> {
    vec![(file.to_owned(), kind)]
}

#[test]
fn stale_copy_over_a_synced_file_is_named_with_lines_and_commit() {
    let work = Work::new();
    work.sandbox.write("a.txt", numbered(&[(5, "five"), (12, "twelve")]));
    let landed = work.sandbox.commit_all("land five");
    work.sync();
    work.write("a.txt", numbered(&[(18, "mine")]));
    work.commit("Write my copy");
    let [found] = work.findings().try_into().unwrap();
    assert_eq!((found.path.as_path(), found.kind), (Path::new("a.txt"), RevertKind::Restored));
    assert_eq!(found.commits, [landed]);
    let lines: Vec<_> = found.lines.iter().map(|l| (l.number, l.text.as_str())).collect();
    assert_eq!(lines, [(5, "five"), (12, "twelve")]);
}

#[test]
fn conflict_resolved_to_ours_as_a_whole_names_what_it_dropped() {
    let work = Work::new();
    work.write("a.txt", numbered(&[(5, "mine")]));
    work.commit("Mine");
    work.sandbox.write("a.txt", numbered(&[(5, "theirs"), (15, "fifteen")]));
    let landed = work.sandbox.commit_all("theirs");
    work.sandbox.output_in(&work.path, &["merge", "-q", "main"]);
    work.sandbox.git_in(&work.path, &["checkout", "--ours", "a.txt"]);
    work.commit("Resolve");
    let found = work.findings();
    assert!(found.iter().all(|f| f.commits == [landed.clone()]), "{found:?}");
    let kinds: Vec<_> = found.iter().map(|f| (f.kind, f.lines[0].number)).collect();
    assert_eq!(kinds, [(RevertKind::Restored, 15), (RevertKind::ResolvedToOurs, 5)]);
}

#[test]
fn merge_by_the_strategy_ours_loses_every_kind_of_change() {
    let work = Work::new();
    work.write("b.txt", numbered(&[(1, "mine")]));
    work.commit("Mine");
    work.sandbox.write("a.txt", numbered(&[(5, "five")]));
    work.sandbox.write("new.txt", "new on main\n");
    work.sandbox.write("logo.bin", b"\0\x02main");
    fs::remove_file(work.sandbox.user.join("gone.txt")).unwrap();
    let script = work.sandbox.user.join("run.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    work.sandbox.commit_all("main moves");
    work.sandbox.git_in(&work.path, &["merge", "-q", "-s", "ours", "-m", "Take main", "main"]);
    let expected = [
        ("a.txt", RevertKind::Restored),
        ("gone.txt", RevertKind::Resurrected),
        ("logo.bin", RevertKind::Restored),
        ("new.txt", RevertKind::FileRemoved),
        ("run.sh", RevertKind::ModeRestored),
    ];
    assert_eq!(work.kinds(), expected.map(|(file, kind)| (file.to_owned(), kind)));
}

#[test]
fn revert_on_the_branch_of_one_of_several_landings_is_named_by_its_commit() {
    let work = Work::new();
    work.sandbox.write("a.txt", numbered(&[(7, "line 7\nfirst\nfirst b")]));
    work.sandbox.commit_all("first");
    work.sandbox.write("a.txt", numbered(&[(7, "line 7\nfirst\nfirst b\nsecond\nsecond b")]));
    let second = work.sandbox.commit_all("second");
    work.sync();
    work.sandbox.git_in(&work.path, &["revert", "--no-edit", second.as_str()]);
    work.write("own.txt", "own\n");
    work.commit("Own work");
    let [found] = work.findings().try_into().unwrap();
    assert_eq!((found.kind, found.commits), (RevertKind::Restored, vec![second]));
    assert_eq!(found.lines.iter().map(|l| l.number).collect::<Vec<_>>(), [10, 11]);
}

#[test]
fn resolution_that_drops_a_file_or_a_binary_is_named() {
    let work = Work::new();
    work.write("logo.bin", b"\0\x03mine");
    fs::remove_file(work.path.join("b.txt")).unwrap();
    work.commit("Mine");
    work.sandbox.write("logo.bin", b"\0\x02main");
    work.sandbox.write("b.txt", numbered(&[(3, "three")]));
    work.sandbox.commit_all("main moves");
    work.sandbox.output_in(&work.path, &["merge", "-q", "main"]);
    work.sandbox.git_in(&work.path, &["checkout", "--ours", "logo.bin"]);
    work.sandbox.git_in(&work.path, &["rm", "-q", "b.txt"]);
    work.commit("Resolve");
    let expected =
        [("b.txt", RevertKind::ResolvedToOurs), ("logo.bin", RevertKind::ResolvedToOurs)];
    assert_eq!(work.kinds(), expected.map(|(file, kind)| (file.to_owned(), kind)));
}

#[test]
fn rename_on_the_target_that_the_branch_undoes_is_named() {
    let work = Work::new();
    work.sandbox.git(&["mv", "a.txt", "renamed.txt"]);
    work.sandbox.commit_all("rename");
    work.sync();
    work.sandbox.git_in(&work.path, &["mv", "renamed.txt", "a.txt"]);
    work.commit("Back");
    assert_eq!(work.kinds(), one("renamed.txt", RevertKind::RenameUndone));
}

#[test]
fn change_lost_by_a_merge_and_put_back_later_is_no_finding() {
    let work = Work::new();
    work.write("b.txt", numbered(&[(1, "mine")]));
    work.commit("Mine");
    work.sandbox.write("a.txt", numbered(&[(5, "five")]));
    work.sandbox.commit_all("five");
    work.sandbox.git_in(&work.path, &["merge", "-q", "-s", "ours", "-m", "Take main", "main"]);
    work.write("a.txt", numbered(&[(5, "five"), (9, "nine")]));
    work.commit("Repair");
    assert_eq!(work.findings(), []);
}

#[test]
fn honest_work_on_top_of_what_landed_raises_no_alarm() {
    let work = Work::new();
    work.write("a.txt", numbered(&[(2, "two")]));
    work.commit("Two");
    let added = numbered(&[(7, "line 7\nfn helper() {\n    body one\n    body two\n}")]);
    work.sandbox.write("a.txt", &added);
    work.sandbox.write("new.txt", "alpha one\nbeta two\ngamma three\n");
    work.sandbox.write("b.txt", numbered(&[(5, "five")]));
    work.sandbox.commit_all("main moves");
    work.sync();
    // Changed further, moved to another file, removed in part, renamed.
    work.write("b.txt", numbered(&[(5, "five and more")]));
    work.write("a.txt", numbered(&[(2, "two")]));
    work.write("helper.txt", "fn helper() {\n    body one\n    body two\n}\n");
    fs::remove_file(work.path.join("new.txt")).unwrap();
    work.write("renamed.txt", "alpha one\nbeta two\n");
    work.commit("Refactor");
    assert_eq!(work.findings(), []);
    assert_eq!(work.guard(Strategy::Rebase), []);
}

#[test]
fn conflict_resolved_by_joining_both_sides_raises_no_alarm() {
    let work = Work::new();
    work.write("a.txt", numbered(&[(5, "mine")]));
    work.commit("Mine");
    work.sandbox.write("a.txt", numbered(&[(5, "theirs"), (15, "fifteen")]));
    work.sandbox.commit_all("theirs");
    work.sandbox.output_in(&work.path, &["merge", "-q", "main"]);
    work.write("a.txt", numbered(&[(5, "mine and theirs"), (15, "fifteen")]));
    work.commit("Resolve");
    assert_eq!(work.findings(), []);
}
