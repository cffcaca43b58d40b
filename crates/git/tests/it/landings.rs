//! Moving the target: every outcome, and what the user has stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_git::{Dirty, DirtyReason, GitError, Oid, Operation, UpdateOutcome, UpdateRequest};

use crate::sandbox::{Sandbox, difference, hook, os, write};

fn update(sandbox: &Sandbox, request: &UpdateRequest) -> UpdateOutcome {
    sandbox.repo().update_target(request).unwrap()
}

fn feature(sandbox: &Sandbox) -> UpdateRequest {
    let files =
        [("a.txt", Some("1\nchanged\n")), ("added/new.txt", Some("new")), ("src/lib.txt", None)];
    let tip = sandbox.branch("feat", "main", &files);
    sandbox.merged(&tip)
}

/// Asks for the landing, which must be refused for a reason, and change nothing at all.
fn refused(sandbox: &Sandbox, request: &UpdateRequest) -> Dirty {
    let before = sandbox.picture();
    let probed = sandbox.repo().target_obstacle(request).unwrap();
    let outcome = update(sandbox, request);
    assert_eq!(difference(&before, &sandbox.picture()), Vec::<PathBuf>::new());
    let UpdateOutcome::Dirty(dirty) = outcome else { panic!("{outcome:?}") };
    assert_eq!(probed.as_ref(), Some(&dirty));
    dirty
}

#[test]
fn target_that_is_checked_out_nowhere_is_swapped_once() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    sandbox.git(&["checkout", "-q", "-b", "mine"]);
    sandbox.write("a.txt", "in progress");
    let before = sandbox.picture();
    assert_eq!(sandbox.repo().target_obstacle(&request).unwrap(), None);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::AlreadyThere);
    assert_eq!(sandbox.oid("refs/heads/main"), request.new);
    let changed = difference(&before, &sandbox.picture());
    assert_eq!(changed, [".git/logs/refs/heads/main", ".git/refs/heads/main"].map(PathBuf::from));
}

#[test]
fn clean_checkout_follows_and_all_else_of_the_user_stays() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "ignored\n");
    sandbox.commit_all("ignore");
    sandbox.write("a.txt", "stashed\n");
    sandbox.git(&["stash", "-q"]);
    let request = feature(&sandbox);
    for name in [&b"plain"[..], b"ignored", b"new\nline", b"caf\xe9", b"\"q\""] {
        fs::write(sandbox.user.join(os(name)), "untracked").unwrap();
    }
    sandbox.git(&["config", "branch.main.mergeOptions", "--no-ff --squash"]);
    sandbox.git(&["config", "merge.verifySignatures", "true"]);
    hook(&sandbox, "post-merge", "touch hook-ran");
    hook(&sandbox, "reference-transaction", "touch hook-ran");
    fs::write(sandbox.user.join(".git/ORIG_HEAD"), format!("{}\n", request.old)).unwrap();
    let before = sandbox.picture();
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
    let changed = difference(&before, &sandbox.picture());
    let expected = [
        ".git/index",
        ".git/logs/HEAD",
        ".git/logs/refs/heads/main",
        ".git/refs/heads/main",
        "a.txt",
        "added",
        "added/new.txt",
        "src",
        "src/lib.txt",
    ];
    assert_eq!(changed, expected.map(PathBuf::from));
    assert_eq!(sandbox.oid("HEAD"), request.new);
    assert_eq!(sandbox.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    assert_eq!(update(&sandbox, &request), UpdateOutcome::AlreadyThere);
}

#[test]
fn checkout_without_orig_head_has_none_afterwards() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
    assert!(!sandbox.user.join(".git/ORIG_HEAD").exists());
}

#[test]
fn staged_unstaged_and_removed_files_are_dirty_and_then_clean_again() {
    let sandbox = Sandbox::new();
    sandbox.write("c.txt", "c");
    sandbox.commit_all("c");
    let request = feature(&sandbox);
    sandbox.write("c.txt", "unstaged");
    let dirty = refused(&sandbox, &request);
    assert_eq!((dirty.why, dirty.paths), (DirtyReason::TrackedChanges, vec!["c.txt".into()]));
    sandbox.git(&["add", "c.txt"]);
    sandbox.write("staged new", "s");
    sandbox.git(&["add", "staged new"]);
    let paths = refused(&sandbox, &request).paths;
    assert_eq!(paths, ["c.txt", "staged new"].map(PathBuf::from));
    sandbox.git(&["reset", "-q", "--hard"]);
    fs::remove_file(sandbox.user.join("c.txt")).unwrap();
    assert_eq!(refused(&sandbox, &request).why, DirtyReason::TrackedChanges);
    sandbox.git(&["checkout", "-q", "c.txt"]);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
}

#[test]
fn hidden_edit_of_a_file_that_is_to_change_is_not_overwritten() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let sandbox = Sandbox::new();
        let request = feature(&sandbox);
        sandbox.git(&["update-index", flag, "a.txt"]);
        sandbox.write("a.txt", "hidden");
        let before = sandbox.picture();
        let outcome = update(&sandbox, &request);
        let UpdateOutcome::Dirty(dirty) = outcome else { panic!("{outcome:?}") };
        assert!(matches!(dirty.why, DirtyReason::GitRefused { .. }), "{flag} {dirty:?}");
        assert_eq!(difference(&before, &sandbox.picture()), Vec::<PathBuf>::new(), "{flag}");
    }
}

#[test]
fn untracked_and_ignored_files_in_the_way_are_named() {
    let cases: [(&str, &[&str]); 5] = [
        ("added/new.txt", &["added/new.txt"]),
        ("added", &["added"]),
        ("added/new.txt/deep/x", &["added/new.txt/deep/x"]),
        ("added/other.txt", &[]),
        ("src/mine.txt", &[]),
    ];
    for (untracked, expected) in cases {
        for ignored in [false, true] {
            let sandbox = Sandbox::new();
            let request = feature(&sandbox);
            if ignored {
                sandbox.write(".git/info/exclude", "added\nsrc\n");
            }
            sandbox.write(untracked, "mine");
            if expected.is_empty() {
                assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated, "{untracked}");
            } else {
                let dirty = refused(&sandbox, &request);
                assert_eq!(dirty.why, DirtyReason::WouldOverwrite);
                let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
                assert_eq!(dirty.paths, expected);
            }
            assert_eq!(fs::read(sandbox.user.join(untracked)).unwrap(), b"mine");
        }
    }
}

#[test]
fn folder_that_becomes_a_file_is_no_obstacle_without_strangers() {
    for stranger in [false, true] {
        let sandbox = Sandbox::new();
        let tip =
            sandbox.branch("feat", "main", &[("src/lib.txt", None), ("src", Some("now a file"))]);
        let request = sandbox.merged(&tip);
        if stranger {
            sandbox.write("src/mine.txt", "mine");
            assert_eq!(refused(&sandbox, &request).paths, [PathBuf::from("src/mine.txt")]);
        } else {
            assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
            assert_eq!(fs::read(sandbox.user.join("src")).unwrap(), b"now a file");
        }
    }
}

#[test]
fn operation_in_progress_is_named() {
    let sandbox = Sandbox::new();
    let rival = sandbox.branch("rival", "main", &[("a.txt", Some("rival"))]);
    sandbox.write("a.txt", "mine");
    sandbox.commit_all("mine");
    let request = feature_beside(&sandbox);
    sandbox.output_in(&sandbox.user, &["merge", rival.as_str()]);
    assert_eq!(refused(&sandbox, &request).why, DirtyReason::InProgress(Operation::Merge));
    sandbox.git(&["merge", "--abort"]);
    sandbox.output_in(&sandbox.user, &["cherry-pick", rival.as_str()]);
    assert_eq!(refused(&sandbox, &request).why, DirtyReason::InProgress(Operation::CherryPick));
    sandbox.git(&["cherry-pick", "--abort"]);
    sandbox.output_in(&sandbox.user, &["rebase", rival.as_str()]);
    let dirty = refused(&sandbox, &request);
    assert_eq!(dirty.why, DirtyReason::InProgress(Operation::Rebase));
    assert_eq!(dirty.worktree, sandbox.user);
    sandbox.git(&["rebase", "--abort"]);
    sandbox.git(&["bisect", "start"]);
    assert_eq!(refused(&sandbox, &request).why, DirtyReason::InProgress(Operation::Bisect));
    sandbox.git(&["bisect", "reset"]);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
}

fn feature_beside(sandbox: &Sandbox) -> UpdateRequest {
    let tip = sandbox.branch("beside", "main", &[("beside.txt", Some("b"))]);
    sandbox.merged(&tip)
}

#[test]
fn lock_file_of_the_user_is_respected() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    let lock = sandbox.user.join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    assert_eq!(refused(&sandbox, &request).why, DirtyReason::Locked { lock: lock.clone() });
    fs::remove_file(lock).unwrap();
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
}

#[test]
fn lock_file_of_the_target_is_reclaimed_only_with_our_name_in_it() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    sandbox.git(&["checkout", "-q", "-b", "mine"]);
    let lock = sandbox.user.join(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    let error = sandbox.repo().update_target(&request).unwrap_err();
    assert!(matches!(&error, GitError::LockBusy { path } if *path == lock), "{error}");
    assert!(error.is_retryable() && lock.exists());
    fs::write(&lock, format!("{}\n", request.new)).unwrap();
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
}

#[test]
fn linked_worktree_of_the_user_follows_while_the_main_one_stays() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    sandbox.git(&["checkout", "-q", "-b", "mine"]);
    sandbox.write("a.txt", "busy");
    let linked = sandbox.root().join("linked\nodd");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    write(&linked.join("a.txt"), "edit");
    let UpdateOutcome::Dirty(dirty) = update(&sandbox, &request) else { panic!() };
    assert_eq!((dirty.worktree, dirty.why), (linked.clone(), DirtyReason::TrackedChanges));
    sandbox.git_in(&linked, &["checkout", "-q", "a.txt"]);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
    assert_eq!(fs::read(linked.join("added/new.txt")).unwrap(), b"new");
    assert_eq!(fs::read(sandbox.user.join("a.txt")).unwrap(), b"busy");
}

#[test]
fn target_in_two_worktrees_or_in_a_locked_missing_one_waits() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    let second = sandbox.root().join("second");
    sandbox.git(&["worktree", "add", "-q", "--force", second.to_str().unwrap(), "main"]);
    assert_eq!(update_dirty(&sandbox, &request), DirtyReason::CheckedOutTwice);
    sandbox.git(&["worktree", "lock", second.to_str().unwrap()]);
    fs::remove_dir_all(&second).unwrap();
    assert_eq!(update_dirty(&sandbox, &request), DirtyReason::Unreachable);
    sandbox.git(&["worktree", "unlock", second.to_str().unwrap()]);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Updated);
}

fn update_dirty(sandbox: &Sandbox, request: &UpdateRequest) -> DirtyReason {
    match update(sandbox, request) {
        UpdateOutcome::Dirty(dirty) => dirty.why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rival_commit_is_moved_and_never_lost() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    sandbox.write("rival.txt", "r");
    let rival = sandbox.commit_all("rival");
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Moved { now: rival.clone() });
    sandbox.git(&["checkout", "-q", "--detach"]);
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Moved { now: rival });
}

#[test]
fn commit_on_top_of_the_landed_one_is_already_there() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    update(&sandbox, &request);
    sandbox.write("later.txt", "l");
    sandbox.commit_all("later");
    assert_eq!(update(&sandbox, &request), UpdateOutcome::AlreadyThere);
}

#[test]
fn missing_target_unknown_commit_and_stranger_are_told_apart() {
    let sandbox = Sandbox::new();
    let mut request = feature(&sandbox);
    let new = request.new.clone();
    request.new = Oid::new("1".repeat(40)).unwrap();
    let error = sandbox.repo().update_target(&request).unwrap_err();
    assert!(matches!(error, GitError::Missing { .. }), "{error}");
    let tree = sandbox.git(&["rev-parse", "main^{tree}"]);
    request.new = Oid::new(sandbox.git(&["commit-tree", "-m", "stranger", &tree])).unwrap();
    let error = sandbox.repo().update_target(&request).unwrap_err();
    assert!(matches!(error, GitError::Refused { .. }), "{error}");
    request.new = new;
    request.target = "refs/heads/none".into();
    assert_eq!(update(&sandbox, &request), UpdateOutcome::Missing);
}

#[test]
fn bare_repository_is_landed_in() {
    let sandbox = Sandbox::new();
    let request = feature(&sandbox);
    let bare = sandbox.root().join("depot.git");
    sandbox.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    sandbox.git(&["push", "-q", bare.to_str().unwrap(), &format!("{}:refs/heads/x", request.new)]);
    let git = sandbox.handle(std::sync::Arc::new(tidegate_git::StdExec));
    let repo = tidegate_git::Repo::discover(&git, &bare).unwrap();
    assert_eq!(repo.update_target(&request).unwrap(), UpdateOutcome::Updated);
    assert_eq!(repo.resolve("refs/heads/main").unwrap(), Some(request.new));
    assert!(Path::new(&bare).join("HEAD").exists());
}
