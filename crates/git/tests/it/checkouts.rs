//! Clean checkouts for gates.

use std::fs;
use std::path::Path;

use tidegate_git::{Checkout, CheckoutMode, CheckoutPool, GitError, Oid};

use crate::sandbox::{Sandbox, hook, make_executable, picture, write};

fn pool(sandbox: &Sandbox) -> CheckoutPool {
    CheckoutPool::new(sandbox.repo(), sandbox.root().join("state/checkouts/user-repo"))
}

fn keep(names: &[&str]) -> CheckoutMode {
    CheckoutMode::Reuse { keep: names.iter().map(Into::into).collect() }
}

fn assert_exact(sandbox: &Sandbox, checkout: &Checkout) {
    let head = sandbox.git_in(&checkout.path, &["rev-parse", "HEAD", "HEAD^{tree}"]);
    assert_eq!(head, format!("{}\n{}", checkout.commit, checkout.tree));
    assert_eq!(sandbox.git_in(&checkout.path, &["branch", "--show-current"]), "");
    let status = ["status", "--porcelain", "--untracked-files=all"];
    let found = sandbox.git_in(&checkout.path, &status);
    let strange = found.lines().find(|line| !line.starts_with("?? \"deep/my cache*/"));
    assert_eq!(strange, None);
}

#[test]
fn slot_goes_from_commit_to_commit_and_keeps_only_the_named_caches() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\ntarget\n");
    let first = sandbox.commit_all("ignore");
    let second = sandbox.branch("next", "main", &[("a.txt", None), ("b.txt", Some("b"))]);
    hook(&sandbox, "post-checkout", "touch hook-ran");
    let before = sandbox.picture();
    let pool = pool(&sandbox);
    let mode = keep(&["target", "deep/my cache*"]);
    let checkout = pool.acquire("slot-1", &first, &mode).unwrap();
    assert_exact(&sandbox, &checkout);
    assert!(checkout.kept.is_empty());
    for name in ["target/x", "deep/my cache*/x", "deep/other/x", "junk", "x.log", "target2/x"] {
        write(&checkout.path.join(name), "x");
    }
    write(&checkout.path.join("a.txt"), "edited");
    let nested = checkout.path.join("nested");
    fs::create_dir(&nested).unwrap();
    sandbox.git_in(&nested, &["init", "-q"]);
    let checkout = pool.acquire("slot-1", &second, &mode).unwrap();
    assert_exact(&sandbox, &checkout);
    assert_eq!(checkout.kept.len(), 2);
    let mut names: Vec<_> = picture(&checkout.path).into_keys().collect();
    names.retain(|name| checkout.path.join(name).is_file());
    let names: Vec<_> = names.iter().map(|name| name.to_str().unwrap()).collect();
    let expected = [".git", ".gitignore", "b.txt", "deep/my cache*/x", "src/lib.txt", "target/x"];
    assert_eq!(names, expected);
    assert_eq!(sandbox.picture(), before);
    let fresh = pool.acquire("slot-1", &second, &CheckoutMode::Fresh).unwrap();
    assert_exact(&sandbox, &fresh);
    assert!(!fresh.path.join("target").exists() && fresh.kept.is_empty());
}

#[test]
fn branch_that_a_gate_switched_to_does_not_move() {
    let sandbox = Sandbox::new();
    let (main, other) = (sandbox.oid("main"), sandbox.branch("next", "main", &[("x", Some("x"))]));
    let pool = pool(&sandbox);
    let checkout = pool.acquire("slot", &main, &keep(&[])).unwrap();
    sandbox.git_in(&checkout.path, &["checkout", "-q", "next"]);
    let checkout = pool.acquire("slot", &main, &keep(&[])).unwrap();
    assert_exact(&sandbox, &checkout);
    assert_eq!(sandbox.oid("refs/heads/next"), other);
}

type Damage = fn(&Sandbox, &Path);

#[test]
fn damaged_slot_becomes_clean_again() {
    let damages: [(&str, Damage); 7] = [
        ("directory gone", |_, path| fs::remove_dir_all(path).unwrap()),
        ("link gone", |_, path| fs::remove_file(path.join(".git")).unwrap()),
        ("registration gone", |sandbox, path| {
            let admin = sandbox.git_in(path, &["rev-parse", "--absolute-git-dir"]);
            fs::remove_dir_all(admin).unwrap();
        }),
        ("killed reset", |sandbox, path| {
            let admin = sandbox.git_in(path, &["rev-parse", "--absolute-git-dir"]);
            fs::write(Path::new(&admin).join("index.lock"), "").unwrap();
            fs::write(path.join("a.txt"), "1\n").unwrap();
        }),
        ("torn index", |sandbox, path| {
            let admin = sandbox.git_in(path, &["rev-parse", "--absolute-git-dir"]);
            fs::write(Path::new(&admin).join("index"), "junk").unwrap();
        }),
        ("file hidden from git", |sandbox, path| {
            sandbox.git_in(path, &["update-index", "--assume-unchanged", "a.txt"]);
            fs::write(path.join("a.txt"), "hidden edit").unwrap();
        }),
        ("registration locked and directory gone", |sandbox, path| {
            sandbox.git(&["worktree", "lock", path.to_str().unwrap()]);
            fs::remove_dir_all(path).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let sandbox = Sandbox::new();
        let commit = sandbox.oid("main");
        let pool = pool(&sandbox);
        let checkout = pool.acquire("slot", &commit, &keep(&[])).unwrap();
        damage(&sandbox, &checkout.path);
        let checkout = pool.acquire("slot", &commit, &keep(&[])).unwrap();
        assert_exact(&sandbox, &checkout);
        let text = fs::read_to_string(checkout.path.join("a.txt")).unwrap();
        assert!(text.ends_with("20\n"), "{name}");
    }
}

#[test]
fn executable_and_link_are_checked_out_as_they_are() {
    let sandbox = Sandbox::new();
    sandbox.write("run.sh", "#!/bin/sh\n");
    make_executable(&sandbox.user.join("run.sh"));
    std::os::unix::fs::symlink("run.sh", sandbox.user.join("link")).unwrap();
    let commit = sandbox.commit_all("modes");
    let checkout = pool(&sandbox).acquire("slot", &commit, &CheckoutMode::Fresh).unwrap();
    assert_exact(&sandbox, &checkout);
    assert!(checkout.path.join("link").is_symlink());
}

#[test]
fn commit_that_does_not_exist_is_missing() {
    let sandbox = Sandbox::new();
    let strange = Oid::new("1".repeat(40)).unwrap();
    let error = pool(&sandbox).acquire("slot", &strange, &CheckoutMode::Fresh);
    assert!(matches!(error, Err(GitError::Missing { .. })), "{error:?}");
}
