//! Finding repositories and reading their refs.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use tidegate_git::{
    Done, Ending, Environment, GitError, Identity, IdentitySource, Oid, Repo, RevertCheck, StdExec,
    Version,
};

use crate::dying_exec::Canned;
use crate::sandbox::Sandbox;

fn discover(sandbox: &Sandbox, cwd: &Path) -> Result<Repo, GitError> {
    Repo::discover(&sandbox.handle(Arc::new(StdExec)), cwd)
}

#[test]
fn version_of_this_machine_is_new_enough() {
    let sandbox = Sandbox::empty();
    assert!(sandbox.handle(Arc::new(StdExec)).version().unwrap() >= Version::MINIMUM);
}

fn says(text: &str) -> Done {
    Done { ending: Ending::Exited(0), stdout: text.as_bytes().to_vec(), stderr: Vec::new() }
}

#[test]
fn program_that_is_old_absent_slow_or_strange_is_told_apart() {
    let sandbox = Sandbox::empty();
    let version = |answer| sandbox.handle(Arc::new(Canned(answer))).version().unwrap_err();
    let error = version(|| Ok(says("git version 2.37.9\n")));
    assert!(matches!(error, GitError::TooOld { found: Version(2, 37, 9), .. }), "{error}");
    let error = version(|| Ok(says("hello\n")));
    assert!(matches!(error, GitError::Unparsable { .. }), "{error}");
    let error = version(|| Err(ErrorKind::TimedOut.into()));
    assert!(matches!(error, GitError::Timeout { .. }) && error.is_retryable(), "{error}");
    let nowhere = Environment::of([("PATH".into(), "/nowhere".into())]);
    let git = sandbox.handle(Arc::new(StdExec)).with_environment(nowhere);
    let error = git.version().unwrap_err();
    assert!(matches!(error, GitError::NoProgram), "{error}");
}

#[test]
fn folder_without_repository_is_not_a_repository() {
    let sandbox = Sandbox::empty();
    let error = discover(&sandbox, &sandbox.root()).unwrap_err();
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
    let error = discover(&sandbox, &sandbox.root().join("nowhere")).unwrap_err();
    assert!(matches!(error, GitError::Missing { .. }), "{error}");
}

#[test]
fn subfolder_and_linked_worktree_lead_to_the_same_common_dir() {
    let sandbox = Sandbox::new();
    let linked = sandbox.root().join("linked\nby the user");
    sandbox.git(&["worktree", "add", "-q", "-b", "other", linked.to_str().unwrap()]);
    let from_below = discover(&sandbox, &sandbox.user.join("src")).unwrap();
    let from_linked = discover(&sandbox, &linked).unwrap();
    assert_eq!(from_below.common_dir(), sandbox.user.join(".git"));
    assert_eq!(from_below.worktree(), Some(&*sandbox.user));
    assert_eq!(from_linked.common_dir(), from_below.common_dir());
    assert_eq!(from_linked.worktree(), Some(&*linked));
    assert_eq!(from_linked.folder_name(), "user repo");
}

#[test]
fn bare_repository_has_no_worktree() {
    let sandbox = Sandbox::new();
    let bare = sandbox.root().join("depot.git");
    sandbox.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let repo = discover(&sandbox, &bare).unwrap();
    assert_eq!((repo.worktree(), repo.folder_name().as_str()), (None, "depot"));
    assert!(!repo.is_shallow());
}

#[test]
fn unborn_branch_is_named_and_has_no_tip() {
    let sandbox = Sandbox::empty();
    sandbox.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let branch = sandbox.repo().default_branch().unwrap().unwrap();
    assert_eq!((branch.refname.as_str(), branch.tip), ("refs/heads/trunk", None));
}

#[test]
fn detached_head_has_no_default_branch() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "--detach"]);
    assert_eq!(sandbox.repo().default_branch().unwrap(), None);
}

#[test]
fn default_branch_of_the_remote_goes_before_the_one_checked_out() {
    let sandbox = Sandbox::new();
    let tip = sandbox.oid("HEAD");
    sandbox.git(&["update-ref", "refs/remotes/origin/main", tip.as_str()]);
    sandbox.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    sandbox.git(&["checkout", "-q", "-b", "side"]);
    let branch = sandbox.repo().default_branch().unwrap().unwrap();
    assert_eq!((branch.refname.as_str(), branch.tip), ("refs/heads/main", Some(tip)));
}

#[test]
fn refs_and_ancestry_are_answered() {
    let sandbox = Sandbox::new();
    let first = sandbox.oid("HEAD");
    sandbox.git(&["tag", "main"]);
    sandbox.write("b.txt", "b");
    let second = sandbox.commit_all("second");
    let repo = sandbox.repo();
    assert_eq!(repo.resolve("refs/heads/main").unwrap(), Some(second.clone()));
    assert_eq!(repo.resolve("refs/heads/none").unwrap(), None);
    assert_eq!(repo.resolve("--all").unwrap(), None);
    assert!(repo.ref_exists("refs/tags/main").unwrap());
    assert!(!repo.ref_exists("refs/tags/none").unwrap());
    assert!(repo.is_ancestor(&first, &second).unwrap());
    assert!(!repo.is_ancestor(&second, &first).unwrap());
    assert!(repo.has_landed(&first, "refs/heads/main").unwrap());
    assert!(matches!(repo.has_landed(&first, "refs/heads/no"), Err(GitError::Missing { .. })));
    let strange = Oid::new("1".repeat(40)).unwrap();
    assert!(repo.is_ancestor(&strange, &second).is_err());
    assert!(matches!(repo.tree_of(&strange), Err(GitError::Missing { .. })));
}

#[test]
fn commit_that_is_missing_among_several_is_named() {
    let sandbox = Sandbox::new();
    let (here, strange) = (sandbox.oid("HEAD"), Oid::new("1".repeat(40)).unwrap());
    let (base, target, feature) = (here.clone(), here.clone(), strange.clone());
    let check = RevertCheck { base, target, feature, merged: here };
    let error = sandbox.repo().silent_reverts(&check).unwrap_err();
    let named = matches!(&error, GitError::Missing { what } if what.contains(strange.as_str()));
    assert!(named, "{error}");
}

#[test]
fn identity_is_the_users_or_the_fallback() {
    let sandbox = Sandbox::new();
    let identity = sandbox.repo().identity().unwrap();
    assert_eq!((identity.name.as_str(), identity.source), ("Ada", IdentitySource::Configured));
    fs::write(sandbox.root().join("gitconfig"), "").unwrap();
    assert_eq!(sandbox.repo().identity().unwrap(), Identity::fallback());
}

#[test]
fn own_refs_are_set_and_removed_and_others_refused() {
    let sandbox = Sandbox::new();
    let (repo, tip) = (sandbox.repo(), sandbox.oid("HEAD"));
    repo.set_own_ref("refs/tidegate/merge/r1/x", &tip).unwrap();
    assert_eq!(repo.resolve("refs/tidegate/merge/r1/x").unwrap(), Some(tip.clone()));
    for _ in 0..2 {
        repo.delete_own_ref("refs/tidegate/merge/r1/x").unwrap();
    }
    assert!(!repo.ref_exists("refs/tidegate/merge/r1/x").unwrap());
    assert!(matches!(repo.set_own_ref("refs/heads/x", &tip), Err(GitError::Refused { .. })));
    assert!(matches!(repo.delete_own_ref("refs/heads/main"), Err(GitError::Refused { .. })));
}
