//! Every operation again, after its process died at any call of git, and after git itself was killed.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidegate_git::{
    CheckoutMode, CheckoutPool, CommitMode, CommitOutcome, CommitRequest, GitError, Identity,
    IdentitySource, Limits, Oid, Repo, Result, StdExec, SyncOutcome, SyncRequest, UpdateOutcome,
    UpdateRequest,
};

use crate::dying_exec::{BeforeSwap, DyingExec, KilledForward, Moment};
use crate::sandbox::{Sandbox, WHEN, difference, write};

/// Lets the operation die before and after each of its calls, repeats it, and checks the end.
fn at_every_call<S, T>(
    prepare: impl Fn() -> (Sandbox, S),
    operation: impl Fn(&Sandbox, &Repo, &S) -> Result<T>,
    check: impl Fn(&Sandbox, &S, T),
) {
    for moment in [Moment::BeforeCall, Moment::AfterCall] {
        for at in 0.. {
            let (sandbox, state) = prepare();
            let exec = Arc::new(DyingExec::new(at, moment));
            let first = operation(&sandbox, &sandbox.repo_through(exec.clone()), &state);
            assert_eq!(exec.died(), first.is_err(), "{moment:?} {at}");
            let outcome = operation(&sandbox, &sandbox.repo(), &state);
            let outcome = outcome.unwrap_or_else(|error| panic!("{moment:?} {at}: {error}"));
            check(&sandbox, &state, outcome);
            if !exec.died() {
                break;
            }
        }
    }
}

#[test]
fn preparing_and_syncing_a_worktree_converges_from_every_call() {
    let prepare = || {
        let sandbox = Sandbox::new();
        let mut request = sandbox.worktree_request("feat", &sandbox.oid("main"));
        sandbox.branch("tidegate/r1/feat", "main", &[("new.txt", Some("x"))]);
        sandbox.write("from-main.txt", "m");
        request.sync = Some(SyncRequest {
            target: sandbox.commit_all("main moves"),
            message: "Take in main".into(),
            when_unix_s: WHEN,
            identity: Identity::fallback(),
        });
        (sandbox, request)
    };
    at_every_call(
        prepare,
        |_, repo, request| repo.prepare_worktree(request),
        |_, _, prepared| {
            assert!(matches!(prepared.sync, SyncOutcome::Merged { .. } | SyncOutcome::AlreadyIn));
            assert_eq!(prepared.dirty, []);
            assert!(prepared.path.join("from-main.txt").exists());
            assert!(prepared.path.join("new.txt").exists());
        },
    );
}

#[test]
fn committing_converges_from_every_call_to_one_commit() {
    let prepare = || {
        let sandbox = Sandbox::new();
        let base = sandbox.oid("main");
        let prepared = sandbox.repo().prepare_worktree(&sandbox.worktree_request("feat", &base));
        let worktree = prepared.unwrap().path;
        write(&worktree.join("new.txt"), "x");
        let request = CommitRequest {
            worktree,
            branch: "tidegate/r1/feat".into(),
            base,
            message: "Build".into(),
            trailers: Vec::new(),
            when_unix_s: WHEN,
            mode: CommitMode::Auto,
        };
        (sandbox, request)
    };
    at_every_call(
        prepare,
        |_, repo, request| repo.commit_leftovers(request),
        |sandbox, request, outcome| {
            let (CommitOutcome::Committed { oid } | CommitOutcome::AlreadyCommitted { oid }) =
                outcome
            else {
                panic!("{outcome:?}")
            };
            let range = format!("{}..{oid}", request.base);
            assert_eq!(sandbox.git(&["rev-list", "--count", &range]), "1");
        },
    );
}

#[test]
fn acquiring_a_checkout_converges_from_every_call() {
    for mode in [CheckoutMode::Fresh, CheckoutMode::Reuse { keep: vec!["cache".into()] }] {
        let prepare = || {
            let sandbox = Sandbox::new();
            let root = sandbox.root().join("state/checkouts");
            let pool = CheckoutPool::new(sandbox.repo(), root.clone());
            let checkout = pool.acquire("slot", &sandbox.oid("main"), &mode).unwrap();
            write(&checkout.path.join("cache/x"), "x");
            write(&checkout.path.join("a.txt"), "edited");
            let next = sandbox.branch("next", "main", &[("b.txt", Some("b"))]);
            (sandbox, (root, next))
        };
        at_every_call(
            prepare,
            |_, repo, (root, next): &(PathBuf, Oid)| {
                CheckoutPool::new(repo.clone(), root.clone()).acquire("slot", next, &mode)
            },
            |sandbox, (_, next), checkout| {
                let path = checkout.path;
                assert_eq!(sandbox.git_in(&path, &["rev-parse", "HEAD"]), next.as_str());
                let untracked = sandbox.git_in(&path, &["status", "--porcelain"]);
                let kept = if mode == CheckoutMode::Fresh { "" } else { "?? cache/" };
                assert_eq!(untracked, kept);
            },
        );
    }
}

#[test]
fn landing_converges_from_every_call_checked_out_or_not() {
    for checked_out in [true, false] {
        let prepare = || {
            let sandbox = Sandbox::new();
            let tip = sandbox.branch("feat", "main", &[("b.txt", Some("b")), ("a.txt", None)]);
            if !checked_out {
                sandbox.git(&["checkout", "-q", "-b", "mine"]);
            }
            sandbox.write("untracked", "u");
            let request = sandbox.merged(&tip);
            (sandbox, request)
        };
        at_every_call(
            prepare,
            |_, repo, request| repo.update_target(request),
            |sandbox, request, outcome| {
                assert!(
                    matches!(outcome, UpdateOutcome::Updated | UpdateOutcome::AlreadyThere),
                    "{outcome:?}"
                );
                assert_eq!(sandbox.oid("refs/heads/main"), request.new);
                assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? untracked");
                assert!(!sandbox.user.join(".git/tidegate-forward").exists());
            },
        );
    }
}

/// A landing of three files, of which the second kills git when it is checked out.
fn trapped() -> (Sandbox, UpdateRequest) {
    let sandbox = Sandbox::new();
    sandbox.write(".gitattributes", "*.trap filter=trap\n");
    sandbox.write("m.trap", "old");
    sandbox.write("untracked", "u");
    sandbox.git(&["add", ".gitattributes", "m.trap"]);
    sandbox.git(&["commit", "-q", "-m", "attributes"]);
    let files = [
        ("a.txt", Some("changed")),
        ("deep/er/new.txt", Some("new")),
        ("m.trap", Some("new")),
        ("src/lib.txt", None),
        ("z.txt", Some("z")),
    ];
    let tip = sandbox.branch("feat", "main", &files);
    let request = sandbox.merged(&tip);
    (sandbox, request)
}

fn spring(sandbox: &Sandbox, request: &UpdateRequest) {
    sandbox.git(&["config", "filter.trap.smudge", "kill -9 $PPID; cat"]);
    let error = sandbox.repo().update_target(request).unwrap_err();
    assert!(matches!(error, GitError::Killed { signal: 9, .. }), "{error}");
    sandbox.git(&["config", "--unset", "filter.trap.smudge"]);
    assert_eq!(sandbox.oid("refs/heads/main"), request.old);
    assert!(sandbox.user.join(".git/index.lock").exists());
    assert_eq!(fs::read(sandbox.user.join("a.txt")).unwrap(), b"changed");
}

#[test]
fn git_killed_in_the_middle_of_the_checkout_is_undone_and_repeated() {
    let (sandbox, request) = trapped();
    spring(&sandbox, &request);
    // As if the kill had come while a file was being written.
    fs::write(sandbox.user.join("z.txt"), "").unwrap();
    let repo = sandbox.repo();
    assert_eq!(repo.update_target(&request).unwrap(), UpdateOutcome::Updated);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? untracked");
    assert_eq!(fs::read(sandbox.user.join("m.trap")).unwrap(), b"new");
    assert_eq!(repo.update_target(&request).unwrap(), UpdateOutcome::AlreadyThere);
}

#[test]
fn lock_of_a_dead_git_is_reclaimed_at_once_and_that_of_a_living_one_never() {
    let (sandbox, request) = trapped();
    spring(&sandbox, &request);
    let lock = sandbox.user.join(".git/index.lock");
    let mut owner = std::process::Command::new("tail").arg("-f").arg(&lock).spawn().unwrap();
    let files = PathBuf::from(format!("/proc/{}/fd", owner.id()));
    let has_it = || {
        let mut links =
            fs::read_dir(&files).unwrap().filter_map(|file| file.ok()?.path().read_link().ok());
        links.any(|to| to == lock)
    };
    while !has_it() {
        std::thread::yield_now();
    }
    let error = sandbox.repo().update_target(&request).unwrap_err();
    assert!(matches!(&error, GitError::LockBusy { path } if *path == lock), "{error}");
    assert!(lock.exists());
    owner.kill().unwrap();
    owner.wait().unwrap();
    let patience = Duration::from_mins(10);
    let limits = Limits { lock_patience: patience, ..Limits::default() };
    let git = sandbox.handle(Arc::new(StdExec)).with_limits(limits);
    let repo = Repo::open(&git, &sandbox.user.join(".git")).unwrap();
    let started = Instant::now();
    assert_eq!(repo.update_target(&request).unwrap(), UpdateOutcome::Updated);
    assert!(started.elapsed() < patience, "it waited for a dead process");
}

#[test]
fn edit_of_the_user_after_the_kill_is_kept_and_the_landing_waits() {
    let (sandbox, request) = trapped();
    spring(&sandbox, &request);
    sandbox.write("m.trap", "the user was here");
    let before = sandbox.picture();
    let outcome = sandbox.repo().update_target(&request).unwrap();
    assert!(matches!(outcome, UpdateOutcome::Dirty(_)), "{outcome:?}");
    let changed = difference(&before, &sandbox.picture());
    assert_eq!(changed, [PathBuf::from(".git/index.lock")]);
    assert!(sandbox.repo().target_obstacle(&request).unwrap().is_some());
    sandbox.git(&["checkout", "-q", "m.trap"]);
    assert_eq!(sandbox.repo().target_obstacle(&request).unwrap(), None);
    assert_eq!(sandbox.repo().update_target(&request).unwrap(), UpdateOutcome::Updated);
}

#[test]
fn git_killed_between_index_and_ref_is_undone_and_repeated() {
    let (sandbox, request) = trapped();
    let (old, new) = (request.old.to_string(), request.new.to_string());
    let place = Arc::new((sandbox, old, new));
    let inner = Arc::clone(&place);
    let exec = KilledForward(move || {
        let (sandbox, old, new) = &*inner;
        sandbox.git(&["read-tree", "-m", "-u", old, new]);
        fs::write(sandbox.user.join(".git/HEAD.lock"), "").unwrap();
        fs::write(sandbox.user.join(".git/ORIG_HEAD"), format!("{old}\n")).unwrap();
    });
    let sandbox = &place.0;
    let error = sandbox.repo_through(Arc::new(exec)).update_target(&request).unwrap_err();
    assert!(matches!(error, GitError::Killed { .. }), "{error}");
    assert_eq!(sandbox.repo().update_target(&request).unwrap(), UpdateOutcome::Updated);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "?? untracked");
    assert!(!sandbox.user.join(".git/ORIG_HEAD").exists());
}

#[test]
fn user_who_switches_to_the_target_in_the_last_moment_gets_its_files() {
    let sandbox = Sandbox::new();
    let tip = sandbox.branch("feat", "main", &[("b.txt", Some("b")), ("a.txt", None)]);
    let request = sandbox.merged(&tip);
    sandbox.git(&["checkout", "-q", "-b", "mine"]);
    let place = Arc::new(sandbox);
    let inner = Arc::clone(&place);
    let exec = BeforeSwap(move || drop(inner.git(&["checkout", "-q", "main"])));
    let outcome = place.repo_through(Arc::new(exec)).update_target(&request).unwrap();
    assert_eq!(outcome, UpdateOutcome::Updated);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    assert!(place.user.join("b.txt").exists());
}

#[test]
fn user_who_went_on_after_the_kill_is_left_alone() {
    let (sandbox, request) = trapped();
    spring(&sandbox, &request);
    fs::remove_file(sandbox.user.join(".git/index.lock")).unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "the user took it"]);
    let now = sandbox.oid("HEAD");
    let outcome = sandbox.repo().update_target(&request).unwrap();
    assert_eq!(outcome, UpdateOutcome::Moved { now });
    assert!(!sandbox.user.join(".git/tidegate-forward").exists());
}

#[test]
fn merge_repeated_after_a_crash_gives_the_same_commit() {
    let prepare = || {
        let sandbox = Sandbox::new();
        let tip = sandbox.branch("feat", "main", &[("b.txt", Some("b"))]);
        let mut request = crate::sandbox::merge_request(&sandbox.oid("main"), &tip);
        request.identity.source = IdentitySource::Configured;
        request.keep_as = Some("refs/tidegate/merge/r1/feat".into());
        (sandbox, request)
    };
    let (sandbox, request) = prepare();
    let expected = sandbox.repo().merge(&request).unwrap();
    at_every_call(
        prepare,
        |_, repo, request| repo.merge(request),
        |_, _, outcome| assert_eq!(outcome, expected),
    );
}

#[test]
fn rebase_repeated_after_a_crash_gives_the_same_commits() {
    let prepare = || {
        let sandbox = Sandbox::new();
        sandbox.branch("feat", "main", &[("b.txt", Some("b"))]);
        let tip = sandbox.branch("feat2", "feat", &[("c.txt", Some("c"))]);
        sandbox.write("d.txt", "d");
        let target = sandbox.commit_all("main moves");
        let mut request = crate::sandbox::merge_request(&target, &tip);
        request.keep_as = Some("refs/tidegate/merge/r1/feat".into());
        (sandbox, request)
    };
    let (sandbox, request) = prepare();
    let expected = sandbox.repo().rebase(&request).unwrap();
    at_every_call(
        prepare,
        |_, repo, request| repo.rebase(request),
        |_, _, outcome| assert_eq!(outcome, expected),
    );
}
