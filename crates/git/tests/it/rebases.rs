//! Replaying a branch onto its target without a worktree.

use std::path::PathBuf;

use tidegate_git::{
    MergeOutcome, MergeRequest, NoChangeReason, Oid, RebaseOutcome, Replayed, Strategy,
};

use crate::sandbox::{Sandbox, merge_request, write};

fn numbered(change: &[(usize, &str)]) -> String {
    (1..=20)
        .map(|n| {
            let changed = change.iter().find(|(line, _)| *line == n);
            changed.map_or_else(|| format!("{n}\n"), |(_, text)| format!("{text}\n"))
        })
        .collect()
}

fn request(target: &Oid, branch: &Oid) -> MergeRequest {
    MergeRequest { strategy: Strategy::Rebase, ..merge_request(target, branch) }
}

/// A worktree on a new branch from `main`, in which commits of another author are made.
fn work(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.root().join("work");
    sandbox.git(&["worktree", "add", "-q", "-b", "feat", path.to_str().unwrap(), "main"]);
    path
}

fn commit(sandbox: &Sandbox, worktree: &std::path::Path, message: &str) -> Oid {
    sandbox.git_in(worktree, &["add", "-A"]);
    let author = "--author=Bo <bo@example.invalid>";
    sandbox.git_in(worktree, &["commit", "-q", "--allow-empty", author, "-m", message]);
    Oid::new(sandbox.git_in(worktree, &["rev-parse", "HEAD"])).unwrap()
}

#[test]
fn rebase_keeps_authors_and_messages_drops_empty_commits_and_is_the_same_each_time() {
    let sandbox = Sandbox::new();
    let path = work(&sandbox);
    write(&path.join("a.txt"), numbered(&[(2, "two")]));
    let first = commit(&sandbox, &path, "First\n\nWith a body.");
    let empty = commit(&sandbox, &path, "Empty");
    write(&path.join("new.txt"), "new");
    let twin = commit(&sandbox, &path, "Twin of what is on main");
    write(&path.join("a.txt"), numbered(&[(2, "two"), (3, "three")]));
    let last = commit(&sandbox, &path, "Last");
    sandbox.write("a.txt", numbered(&[(19, "nineteen")]));
    sandbox.write("new.txt", "new");
    let target = sandbox.commit_all("main moves");
    let before = sandbox.picture();
    let repo = sandbox.repo();
    let outcome = repo.rebase(&request(&target, &last)).unwrap();
    assert_eq!(repo.rebase(&request(&target, &last)).unwrap(), outcome);
    assert_eq!(sandbox.picture(), before);
    let RebaseOutcome::Rebased { commit, tree, replayed, dropped } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(dropped, [empty, twin]);
    assert_eq!(replayed.iter().map(|r| &r.original).collect::<Vec<_>>(), [&first, &last]);
    let range = format!("{target}..{commit}");
    let shown = sandbox.git(&["log", "--reverse", "--format=%an|%cn|%B", &range]);
    assert_eq!(shown, "Bo|Ada|First\n\nWith a body.\n\nBo|Ada|Last");
    assert_eq!(sandbox.git(&["rev-list", "--merges", "--count", &range]), "0");
    let text = sandbox.git(&["show", &format!("{tree}:a.txt")]) + "\n";
    assert_eq!(text, numbered(&[(2, "two"), (3, "three"), (19, "nineteen")]));
}

#[test]
fn branch_on_the_tip_of_its_target_is_taken_as_it_is() {
    let sandbox = Sandbox::new();
    let path = work(&sandbox);
    write(&path.join("new.txt"), "new");
    let tip = commit(&sandbox, &path, "Only");
    let outcome = sandbox.repo().rebase(&request(&sandbox.oid("main"), &tip)).unwrap();
    let RebaseOutcome::Rebased { commit, replayed, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(commit, tip);
    assert_eq!(replayed, [Replayed { original: tip.clone(), commit: tip }]);
}

#[test]
fn conflict_names_the_commit_that_does_not_apply_and_its_paths() {
    let sandbox = Sandbox::new();
    let path = work(&sandbox);
    write(&path.join("fine.txt"), "fine");
    commit(&sandbox, &path, "Fine");
    write(&path.join("a.txt"), numbered(&[(5, "mine")]));
    let torn = commit(&sandbox, &path, "Torn");
    write(&path.join("later.txt"), "later");
    let tip = commit(&sandbox, &path, "Later");
    sandbox.write("a.txt", numbered(&[(5, "theirs")]));
    let target = sandbox.commit_all("rival");
    let outcome = sandbox.repo().merge(&request(&target, &tip)).unwrap();
    let MergeOutcome::Conflict { commit, paths, notes } = outcome else { panic!("{outcome:?}") };
    assert_eq!(commit, Some(torn.clone()));
    assert_eq!(paths, [PathBuf::from("a.txt")]);
    assert_eq!(notes[0], format!("while replaying {torn} (Torn)"));
}

#[test]
fn merge_of_the_target_is_left_out_and_a_resolved_one_is_kept_in_one_commit() {
    for conflicting in [false, true] {
        let sandbox = Sandbox::new();
        let path = work(&sandbox);
        write(&path.join("a.txt"), numbered(&[(5, "mine")]));
        commit(&sandbox, &path, "Mine");
        let line = if conflicting { 5 } else { 15 };
        sandbox.write("a.txt", numbered(&[(line, "theirs")]));
        sandbox.commit_all("rival");
        sandbox.output_in(&path, &["merge", "-q", "--no-edit", "main"]);
        if conflicting {
            write(&path.join("a.txt"), numbered(&[(5, "both")]));
            commit(&sandbox, &path, "Resolve");
        }
        write(&path.join("after.txt"), "after");
        let tip = commit(&sandbox, &path, "After");
        sandbox.write("elsewhere.txt", "e");
        let target = sandbox.commit_all("main goes on");
        let outcome = sandbox.repo().rebase(&request(&target, &tip)).unwrap();
        let RebaseOutcome::Rebased { commit, .. } = outcome else { panic!("{outcome:?}") };
        let range = format!("{target}..{commit}");
        let subjects = sandbox.git(&["log", "--reverse", "--format=%s", &range]);
        assert_eq!(subjects, if conflicting { "Resolve\nAfter" } else { "Mine\nAfter" });
        let text = sandbox.git(&["show", &format!("{commit}:a.txt")]) + "\n";
        let both: &[_] = if conflicting { &[(5, "both")] } else { &[(5, "mine"), (15, "theirs")] };
        assert_eq!(text, numbered(both));
        assert!(!sandbox.git(&["ls-tree", "-r", "--name-only", commit.as_str()]).contains("rej"));
    }
}

#[test]
fn branch_without_anything_new_changes_nothing() {
    let sandbox = Sandbox::new();
    let target = sandbox.oid("main");
    let repo = sandbox.repo();
    let no_change = |why| RebaseOutcome::NoChange { why };
    let outcome = repo.rebase(&request(&target, &target)).unwrap();
    assert_eq!(outcome, no_change(NoChangeReason::AlreadyMerged));
    let path = work(&sandbox);
    write(&path.join("new.txt"), "new");
    commit(&sandbox, &path, "Add");
    std::fs::remove_file(path.join("new.txt")).unwrap();
    let tip = commit(&sandbox, &path, "Take away");
    let outcome = repo.rebase(&request(&target, &tip)).unwrap();
    assert_eq!(outcome, no_change(NoChangeReason::EmptyDiff));
}
