//! Registrations of worktrees whose git was killed at any step of making them.

use std::fs;
use std::path::{Path, PathBuf};

use tidegate_git::{CheckoutMode, CheckoutPool};

use crate::sandbox::{Sandbox, write};

/// Files of a registration in the order in which git makes them; each is first empty, then whole.
fn steps(admin: &Path, path: &Path) -> Vec<(PathBuf, String)> {
    let link = path.join(".git");
    vec![
        (admin.join("locked"), "initializing\n".to_owned()),
        (admin.join("gitdir"), format!("{}\n", link.display())),
        (link, format!("gitdir: {}\n", admin.display())),
        (admin.join("commondir"), "../..\n".to_owned()),
        (admin.join("HEAD"), "ref: refs/heads/.invalid\n".to_owned()),
    ]
}

/// Makes what a git leaves that is killed after `step` files, the last one empty if `torn`.
fn killed_after(sandbox: &Sandbox, path: &Path, step: usize, torn: bool) {
    let name = path.file_name().unwrap();
    let admin = sandbox.user.canonicalize().unwrap().join(".git/worktrees").join(name);
    fs::create_dir_all(&admin).unwrap();
    fs::create_dir_all(path).unwrap();
    let path = path.canonicalize().unwrap();
    for (at, (file, text)) in steps(&admin, &path).into_iter().take(step).enumerate() {
        write(&file, if torn && at + 1 == step { "" } else { &text });
    }
}

fn each(case: impl Fn(&Sandbox, usize, bool)) {
    for torn in [false, true] {
        for step in 0..=5 {
            case(&Sandbox::new(), step, torn);
        }
    }
}

#[test]
fn checkout_whose_registration_was_killed_at_any_step_is_made() {
    each(|sandbox, step, torn| {
        let root = sandbox.root().join("state/checkouts/user-repo");
        killed_after(sandbox, &root.join("branch-1"), step, torn);
        let pool = CheckoutPool::new(sandbox.repo(), root);
        // The other slot is in the same repository: nothing there may hinder it.
        for slot in ["branch-0", "branch-1"] {
            let made = pool.acquire(slot, &sandbox.oid("main"), &CheckoutMode::Fresh);
            let made = made.unwrap_or_else(|error| panic!("{slot} {step} {torn}: {error}"));
            let head = sandbox.git_in(&made.path, &["rev-parse", "HEAD"]);
            assert_eq!(head, made.commit.to_string(), "{slot} {step} {torn}");
        }
        sandbox.git(&["worktree", "list"]);
    });
}

#[test]
fn worktree_whose_registration_was_killed_at_any_step_is_prepared() {
    each(|sandbox, step, torn| {
        let request = sandbox.worktree_request("feat", &sandbox.oid("main"));
        killed_after(sandbox, &request.path, step, torn);
        let other = sandbox.worktree_request("other", &sandbox.oid("main"));
        for request in [other, request] {
            let made = sandbox.repo().prepare_worktree(&request);
            let made = made.unwrap_or_else(|error| panic!("{step} {torn}: {error}"));
            assert_eq!(made.head, request.base, "{step} {torn}");
            assert_eq!(made.dirty, [], "{step} {torn}");
        }
        sandbox.git(&["worktree", "list"]);
    });
}
