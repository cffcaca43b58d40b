//! Preparing worktrees, from every state that a crash or a user can leave.

use std::fs;
use std::path::PathBuf;

use tidegate_git::{
    Change, GitError, Identity, IdentitySource, PreparedWorktree, SyncOutcome, SyncRequest,
    WorktreeRequest,
};

use crate::sandbox::{Sandbox, WHEN, hook, picture, write};

fn prepare(sandbox: &Sandbox, request: &WorktreeRequest) -> PreparedWorktree {
    sandbox.repo().prepare_worktree(request).unwrap()
}

fn admin(sandbox: &Sandbox, prepared: &PreparedWorktree) -> PathBuf {
    sandbox.git_in(&prepared.path, &["rev-parse", "--absolute-git-dir"]).into()
}

fn assert_complete(sandbox: &Sandbox, request: &WorktreeRequest, prepared: &PreparedWorktree) {
    assert_eq!(prepared.branch, Some(format!("refs/heads/{}", request.branch)));
    assert_eq!(prepared.head, request.base);
    assert_eq!(prepared.dirty, []);
    assert!(prepared.path.join("src/lib.txt").exists());
    assert_eq!(sandbox.oid(&request.keep_base_as), request.base);
    let again = prepare(sandbox, request);
    assert_eq!(again, PreparedWorktree { made: false, ..prepared.clone() });
}

#[test]
fn worktree_is_made_once_without_touching_the_user() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "branch.autoSetupMerge", "always"]);
    hook(&sandbox, "post-checkout", "touch \"$(dirname \"$0\")/../hook-ran\"");
    let before = sandbox.picture();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let prepared = prepare(&sandbox, &request);
    assert!(prepared.made);
    assert_complete(&sandbox, &request, &prepared);
    let changed = crate::sandbox::difference(&before, &sandbox.picture());
    let strange: Vec<_> = changed
        .iter()
        .filter(|path| !path.to_string_lossy().contains("refs/heads/tidegate"))
        .filter(|path| !path.starts_with(".git/logs/refs/heads/tidegate"))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn worktree_below_a_symbolic_link_is_found_again() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.root().join("real")).unwrap();
    std::os::unix::fs::symlink("real", sandbox.root().join("state")).unwrap();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let prepared = prepare(&sandbox, &request);
    assert!(prepared.path.starts_with(sandbox.root().join("real")));
    assert_complete(&sandbox, &request, &prepared);
}

#[test]
fn branch_that_exists_at_base_or_beyond_is_used() {
    let sandbox = Sandbox::new();
    let base = sandbox.oid("main");
    let beyond = sandbox.branch("tidegate/r1/feat", "main", &[("new.txt", Some("x"))]);
    let prepared = prepare(&sandbox, &sandbox.worktree_request("feat", &base));
    assert_eq!(prepared.head, beyond);
    assert!(prepared.path.join("new.txt").exists());
}

#[test]
fn branch_without_its_base_is_diverged() {
    let sandbox = Sandbox::new();
    sandbox.git(&["branch", "tidegate/r1/feat"]);
    sandbox.write("b.txt", "b");
    let base = sandbox.commit_all("later");
    let error = sandbox.repo().prepare_worktree(&sandbox.worktree_request("feat", &base));
    assert!(matches!(error, Err(GitError::Diverged { .. })), "{error:?}");
}

#[test]
fn branch_in_the_way_of_the_folder_is_named() {
    let sandbox = Sandbox::new();
    sandbox.git(&["branch", "tidegate"]);
    let error =
        sandbox.repo().prepare_worktree(&sandbox.worktree_request("f", &sandbox.oid("main")));
    let Err(GitError::RefBlocked { by, .. }) = error else { panic!("{error:?}") };
    assert_eq!(by, "refs/heads/tidegate");
}

#[test]
fn branch_that_the_user_checked_out_is_in_use() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "-b", "tidegate/r1/feat"]);
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let error = sandbox.repo().prepare_worktree(&request);
    assert!(matches!(error, Err(GitError::BranchInUse { .. })), "{error:?}");
}

#[test]
fn registration_without_directory_gets_a_new_checkout_even_when_locked() {
    for locked in [false, true] {
        let sandbox = Sandbox::new();
        let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
        let first = prepare(&sandbox, &request);
        if locked {
            sandbox.git(&["worktree", "lock", first.path.to_str().unwrap()]);
        }
        fs::remove_dir_all(&first.path).unwrap();
        let second = prepare(&sandbox, &request);
        assert!(second.made);
        assert_complete(&sandbox, &request, &second);
    }
}

#[test]
fn directory_whose_registration_was_pruned_keeps_its_files() {
    let sandbox = Sandbox::new();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let first = prepare(&sandbox, &request);
    write(&first.path.join("work.txt"), "work");
    write(&first.path.join("src/lib.txt"), "edited");
    fs::remove_dir_all(admin(&sandbox, &first)).unwrap();
    let second = prepare(&sandbox, &request);
    assert_eq!(fs::read(second.path.join("work.txt")).unwrap(), b"work");
    let changes: Vec<_> = second.dirty.iter().map(|dirty| dirty.change).collect();
    assert_eq!(changes, [Change::Unstaged, Change::Untracked]);
    assert_eq!(prepare(&sandbox, &request), PreparedWorktree { made: false, ..second });
    assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn lost_link_file_is_written_again_and_the_work_stays() {
    let sandbox = Sandbox::new();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let first = prepare(&sandbox, &request);
    write(&first.path.join("work.txt"), "work");
    for broken in [None, Some("gitdir: /nowhere\n")] {
        fs::remove_file(first.path.join(".git")).unwrap();
        if let Some(text) = broken {
            fs::write(first.path.join(".git"), text).unwrap();
        }
        let second = prepare(&sandbox, &request);
        assert_eq!((second.made, second.dirty.len()), (false, 1));
    }
}

#[test]
fn checkout_that_was_killed_before_it_was_complete_is_made_anew() {
    let sandbox = Sandbox::new();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let first = prepare(&sandbox, &request);
    let admin = admin(&sandbox, &first);
    fs::remove_file(admin.join("tidegate-ready")).unwrap();
    fs::remove_file(admin.join("index")).unwrap();
    fs::write(admin.join("index.lock"), "").unwrap();
    fs::write(admin.join("locked"), "initializing").unwrap();
    fs::write(first.path.join("a.txt"), "1\n2").unwrap();
    let second = prepare(&sandbox, &request);
    assert!(second.made);
    assert_complete(&sandbox, &request, &second);
    assert!(fs::read_to_string(second.path.join("a.txt")).unwrap().ends_with("20\n"));
}

#[test]
fn uncommitted_work_is_reported_and_left_alone() {
    let sandbox = Sandbox::new();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let first = prepare(&sandbox, &request);
    write(&first.path.join("work.txt"), "work");
    write(&first.path.join("a.txt"), "edited");
    sandbox.git_in(&first.path, &["add", "a.txt"]);
    fs::write(admin(&sandbox, &first).join("index.lock"), "").unwrap();
    let before = picture(&first.path);
    let second = prepare(&sandbox, &request);
    assert_eq!(picture(&first.path), before);
    let changes: Vec<_> = second.dirty.iter().map(|dirty| dirty.change).collect();
    assert_eq!(changes, [Change::Staged, Change::Untracked]);
    assert_eq!(sandbox.repo().worktree_status(&first.path).unwrap(), second.dirty);
}

#[test]
fn stale_locks_of_our_refs_are_removed_and_those_of_others_are_not() {
    let sandbox = Sandbox::new();
    let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    for path in ["refs/heads/tidegate/r1/feat.lock", "refs/tidegate/base/r1/feat.lock"] {
        sandbox.write(format!(".git/{path}"), "");
    }
    let prepared = prepare(&sandbox, &request);
    assert_complete(&sandbox, &request, &prepared);
}

fn sync(sandbox: &Sandbox, to: &str) -> SyncRequest {
    SyncRequest {
        target: sandbox.oid(to),
        message: "Take in main".into(),
        when_unix_s: WHEN,
        identity: Identity {
            name: "Ada".into(),
            email: "ada@example.invalid".into(),
            source: IdentitySource::Configured,
        },
    }
}

#[test]
fn sync_brings_the_target_into_a_clean_worktree_once() {
    let sandbox = Sandbox::new();
    let mut request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    sandbox.branch("tidegate/r1/feat", "main", &[("new.txt", Some("x"))]);
    prepare(&sandbox, &request);
    sandbox.write("from-main.txt", "m");
    sandbox.commit_all("main moves");
    request.sync = Some(sync(&sandbox, "main"));
    let synced = prepare(&sandbox, &request);
    assert_eq!(synced.sync, SyncOutcome::Merged { commit: synced.head.clone() });
    assert!(synced.path.join("from-main.txt").exists() && synced.path.join("new.txt").exists());
    assert_eq!(synced.dirty, []);
    let again = prepare(&sandbox, &request);
    assert_eq!((again.sync, again.head), (SyncOutcome::AlreadyIn, synced.head));
}

#[test]
fn sync_that_conflicts_or_finds_work_changes_nothing() {
    let sandbox = Sandbox::new();
    let mut request = sandbox.worktree_request("feat", &sandbox.oid("main"));
    let tip = sandbox.branch("tidegate/r1/feat", "main", &[("a.txt", Some("mine"))]);
    let first = prepare(&sandbox, &request);
    sandbox.write("a.txt", "theirs");
    sandbox.commit_all("rival");
    request.sync = Some(sync(&sandbox, "main"));
    let before = picture(&first.path);
    let prepared = prepare(&sandbox, &request);
    let SyncOutcome::Conflict { paths, .. } = &prepared.sync else { panic!("{prepared:?}") };
    assert_eq!(paths, &[PathBuf::from("a.txt")]);
    assert_eq!((picture(&first.path), &prepared.head), (before, &tip));
    write(&first.path.join("a.txt"), "more");
    let prepared = prepare(&sandbox, &request);
    assert_eq!(prepared.sync, SyncOutcome::Dirty { paths: vec!["a.txt".into()] });
    assert_eq!(fs::read(first.path.join("a.txt")).unwrap(), b"more");
}
