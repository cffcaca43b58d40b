//! Who moved the target, and refusals that are of the moment.

use std::fs;
use std::os::unix::fs::symlink;

use tidegate_git::{Arrival, GitError, MergeOutcome, Mover, UpdateOutcome};

use crate::sandbox::{Sandbox, merge_request};

#[test]
fn feature_that_somebody_else_merged_is_told_from_one_that_landed() {
    for checked_out in [true, false] {
        let sandbox = Sandbox::new();
        let base = sandbox.oid("main");
        let ours = sandbox.branch("ours", "main", &[("ours.txt", Some("o\n"))]);
        let theirs = sandbox.branch("theirs", "main", &[("theirs.txt", Some("t\n"))]);
        let repo = sandbox.repo();
        let target = "refs/heads/main";
        assert_eq!(repo.arrival(&ours, target).unwrap(), Arrival::NotThere);
        if !checked_out {
            sandbox.git(&["checkout", "-q", "-b", "mine"]);
        }
        let request = sandbox.merged(&ours);
        assert_eq!(repo.update_target(&request).unwrap(), UpdateOutcome::Updated);
        sandbox.git(&["checkout", "-q", "main"]);
        sandbox.git(&["merge", "-q", "--no-ff", "-m", "by hand", theirs.as_str()]);
        let brought = |commit| match repo.arrival(commit, target).unwrap() {
            Arrival::There { by: Some(by) } => by,
            other => panic!("{other:?}"),
        };
        let landing = brought(&ours);
        assert_eq!((landing.by, &landing.new), (Mover::Tidegate, &request.new));
        assert_eq!(landing.old, Some(base.clone()));
        let by_hand = brought(&theirs);
        assert_eq!(by_hand.by, Mover::Other);
        assert!(by_hand.who.starts_with("Ada <"), "{by_hand:?}");
        assert!(by_hand.note.contains("merge"), "{by_hand:?}");
        let moves = repo.target_moves(target, Some(&request.new)).unwrap();
        assert_eq!(moves, [by_hand]);
        // What was there from the beginning, or came before the reflog, is from nobody.
        assert_eq!(repo.arrival(&base, target).unwrap(), Arrival::There { by: None });
        fs::remove_file(sandbox.user.join(".git/logs/refs/heads/main")).unwrap();
        assert_eq!(repo.arrival(&ours, target).unwrap(), Arrival::There { by: None });
    }
}

#[test]
fn object_folder_that_is_taken_away_is_a_refusal_of_the_moment() {
    let sandbox = Sandbox::new();
    let tip = sandbox.branch("feat", "main", &[("new.txt", Some("new\n"))]);
    sandbox.write("other.txt", "o");
    let target = sandbox.commit_all("main moves");
    let objects = sandbox.user.join(".git/objects");
    let mut taken = Vec::new();
    for n in 0..256 {
        let folder = objects.join(format!("{n:02x}"));
        if !folder.exists() {
            // As if it went away each time that git has made it.
            symlink("nowhere/at/all", &folder).unwrap();
            taken.push(folder);
        }
    }
    let request = merge_request(&target, &tip);
    let error = sandbox.repo().merge(&request).unwrap_err();
    assert!(matches!(error, GitError::Refused { .. }), "{error}");
    assert!(error.is_transient() && !error.is_retryable(), "{error}");
    for folder in taken {
        fs::remove_file(folder).unwrap();
    }
    let outcome = sandbox.repo().merge(&request).unwrap();
    assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{outcome:?}");
}

#[test]
fn refusal_for_a_reason_that_stays_is_not_of_the_moment() {
    let sandbox = Sandbox::new();
    let error = sandbox.repo().set_own_ref("refs/heads/main", &sandbox.oid("main")).unwrap_err();
    assert!(!error.is_transient(), "{error}");
    let refused = |stderr: &str| GitError::Refused { doing: "x", stderr: stderr.to_owned() };
    for stays in [
        "error: unable to create temporary file: Permission denied",
        "error: unable to create temporary file: Read-only file system",
        "fatal: not something we can merge\nfatal: x: No such file or directory",
    ] {
        assert!(!refused(stays).is_transient(), "{stays}");
    }
    assert!(GitError::Timeout { doing: "x" }.is_transient());
}
