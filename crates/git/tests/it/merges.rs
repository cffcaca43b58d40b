//! Merging without a worktree.

use std::path::PathBuf;

use tidegate_git::{MergeOutcome, NoChangeReason, Strategy};

use crate::sandbox::{Sandbox, WHEN, merge_request};

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

fn conflict_paths(outcome: MergeOutcome) -> Vec<PathBuf> {
    match outcome {
        MergeOutcome::Conflict { paths, notes, .. } => {
            assert!(!notes.is_empty());
            paths
        }
        other => panic!("{other:?}"),
    }
}

fn lines(change: &[(usize, &str)]) -> String {
    (1..=20)
        .map(|n| {
            let changed = change.iter().find(|(line, _)| *line == n);
            changed.map_or_else(|| format!("{n}\n"), |(_, text)| format!("{text}\n"))
        })
        .collect()
}

#[test]
fn merge_of_distant_hunks_is_the_same_commit_each_time_and_touches_nothing() {
    let sandbox = Sandbox::new();
    let branch = sandbox.branch("feat", "main", &[("a.txt", Some(&lines(&[(2, "two")])))]);
    sandbox.write("a.txt", lines(&[(19, "nineteen")]));
    let target = sandbox.commit_all("main moves");
    let before = sandbox.picture();
    let repo = sandbox.repo();
    let first = repo.merge(&merge_request(&target, &branch)).unwrap();
    let again = repo.merge(&merge_request(&target, &branch)).unwrap();
    assert_eq!(first, again);
    assert_eq!(sandbox.picture(), before);
    let MergeOutcome::Merged { commit, tree } = first else { panic!("{first:?}") };
    let shown = sandbox.git(&["show", "-s", "--format=%T %P %an %at %cn %ct %s", commit.as_str()]);
    assert_eq!(shown, format!("{tree} {target} {branch} Ada {WHEN} Ada {WHEN} Land it"));
    let merged = sandbox.git(&["show", &format!("{commit}:a.txt")]);
    assert_eq!(merged + "\n", lines(&[(2, "two"), (19, "nineteen")]));
}

#[test]
fn squash_has_one_parent_and_can_be_kept_by_a_ref() {
    let sandbox = Sandbox::new();
    let branch = sandbox.branch("feat", "main", &[("new.txt", Some("new"))]);
    let target = sandbox.oid("main");
    let mut request = merge_request(&target, &branch);
    request.strategy = Strategy::Squash;
    request.keep_as = Some("refs/tidegate/merge/r1/feat".into());
    let repo = sandbox.repo();
    let MergeOutcome::Merged { commit, .. } = repo.merge(&request).unwrap() else { panic!() };
    assert_eq!(sandbox.git(&["show", "-s", "--format=%P", commit.as_str()]), target.as_str());
    sandbox.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(repo.resolve("refs/tidegate/merge/r1/feat").unwrap(), Some(commit));
}

#[test]
fn same_line_and_add_add_conflict_name_their_paths() {
    let sandbox = Sandbox::new();
    let files = [("a.txt", Some("other\n")), ("util/x.sh", Some("a\n")), ("same", Some("s"))];
    let branch = sandbox.branch("feat", "main", &files);
    sandbox.write("a.txt", "mine\n");
    sandbox.write("util/x.sh", "b\n");
    sandbox.write("same", "s");
    let target = sandbox.commit_all("rival");
    let outcome = sandbox.repo().merge(&merge_request(&target, &branch)).unwrap();
    assert_eq!(conflict_paths(outcome), paths(&["a.txt", "util/x.sh"]));
}

#[test]
fn rename_against_edit_merges_into_the_new_name() {
    let sandbox = Sandbox::new();
    let branch = sandbox.branch("feat", "main", &[("a.txt", Some(&lines(&[(5, "five")])))]);
    sandbox.git(&["mv", "a.txt", "renamed.txt"]);
    let target = sandbox.commit_all("rename");
    let outcome = sandbox.repo().merge(&merge_request(&target, &branch)).unwrap();
    let MergeOutcome::Merged { commit, .. } = outcome else { panic!("{outcome:?}") };
    let names = sandbox.git(&["ls-tree", "-r", "--name-only", commit.as_str()]);
    assert_eq!(names, "renamed.txt\nsrc/lib.txt");
    assert!(sandbox.git(&["show", &format!("{commit}:renamed.txt")]).contains("five"));
}

#[test]
fn rename_against_rename_names_the_old_and_both_new_paths() {
    let sandbox = Sandbox::new();
    let text = lines(&[]);
    let branch = sandbox.branch("feat", "main", &[("a.txt", None), ("motor.txt", Some(&text))]);
    sandbox.git(&["mv", "a.txt", "core.txt"]);
    let target = sandbox.commit_all("rename");
    let outcome = sandbox.repo().merge(&merge_request(&target, &branch)).unwrap();
    assert_eq!(conflict_paths(outcome), paths(&["a.txt", "core.txt", "motor.txt"]));
}

#[test]
fn file_that_became_a_link_against_an_edit_names_only_the_file() {
    let sandbox = Sandbox::new();
    let branch = sandbox.branch("feat", "main", &[("a.txt", Some("edited"))]);
    std::fs::remove_file(sandbox.user.join("a.txt")).unwrap();
    std::os::unix::fs::symlink("src/lib.txt", sandbox.user.join("a.txt")).unwrap();
    let target = sandbox.commit_all("link");
    let outcome = sandbox.repo().merge(&merge_request(&target, &branch)).unwrap();
    assert_eq!(conflict_paths(outcome), paths(&["a.txt"]));
}

#[test]
fn criss_cross_history_conflicts_in_the_disputed_file() {
    let sandbox = Sandbox::new();
    let a1 = sandbox.branch("feat", "main", &[("a.txt", Some(&lines(&[(10, "A1")])))]);
    sandbox.write("a.txt", lines(&[(10, "M1")]));
    let m1 = sandbox.commit_all("m1");
    sandbox.git(&["merge", "-q", "-s", "ours", "-m", "m takes a1", a1.as_str()]);
    let path = sandbox.root().join("side");
    sandbox.git(&["worktree", "add", "-q", path.to_str().unwrap(), "feat"]);
    sandbox.git_in(&path, &["merge", "-q", "-s", "ours", "-m", "a takes m1", m1.as_str()]);
    std::fs::write(path.join("a.txt"), lines(&[(10, "A2")])).unwrap();
    sandbox.git_in(&path, &["commit", "-q", "-am", "a2"]);
    sandbox.write("a.txt", lines(&[(10, "M2")]));
    let target = sandbox.commit_all("m2");
    let branch = sandbox.oid("feat");
    let outcome = sandbox.repo().merge(&merge_request(&target, &branch)).unwrap();
    assert_eq!(conflict_paths(outcome), paths(&["a.txt"]));
}

#[test]
fn union_driver_of_the_target_counts() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", "log.txt merge=union\n");
    sandbox.write("log.txt", "begin\n");
    sandbox.commit_all("attributes");
    let branch = sandbox.branch("feat", "main", &[("log.txt", Some("begin\nfeat\n"))]);
    sandbox.write("log.txt", "begin\nmain\n");
    let target = sandbox.commit_all("rival");
    let outcome = sandbox.repo().merge(&merge_request(&target, &branch)).unwrap();
    assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{outcome:?}");
}

#[test]
fn nothing_to_merge_is_told_by_its_reason() {
    let sandbox = Sandbox::new();
    let base = sandbox.oid("main");
    let cancelled = sandbox.branch("void", "main", &[]);
    sandbox.write("b.txt", "b");
    let target = sandbox.commit_all("main moves");
    let repo = sandbox.repo();
    let outcome = |tip| repo.merge(&merge_request(&target, tip)).unwrap();
    let no_change = |why| MergeOutcome::NoChange { why };
    assert_eq!(outcome(&base), no_change(NoChangeReason::AlreadyMerged));
    assert_eq!(outcome(&target), no_change(NoChangeReason::AlreadyMerged));
    assert_eq!(outcome(&cancelled), no_change(NoChangeReason::EmptyDiff));
}

#[test]
fn unrelated_history_is_told() {
    let sandbox = Sandbox::new();
    let target = sandbox.oid("main");
    let tree = sandbox.git(&["rev-parse", "main^{tree}"]);
    let stranger = sandbox.git(&["commit-tree", "-m", "stranger", &tree]);
    let stranger = tidegate_git::Oid::new(stranger).unwrap();
    let outcome = sandbox.repo().merge(&merge_request(&target, &stranger)).unwrap();
    assert_eq!(outcome, MergeOutcome::Unrelated);
}
