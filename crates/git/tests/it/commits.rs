//! Committing what is left over.

use std::fs;
use std::path::PathBuf;

use tidegate_git::{Change, CommitMode, CommitOutcome, CommitRequest, GitError, Oid};

use crate::sandbox::{Sandbox, WHEN, hook, make_executable, os, write};

struct Desk {
    sandbox: Sandbox,
    worktree: PathBuf,
    base: Oid,
}

impl Desk {
    fn new() -> Self {
        Self::of(Sandbox::new())
    }

    fn of(sandbox: Sandbox) -> Self {
        let base = sandbox.oid("main");
        let prepared =
            sandbox.repo().prepare_worktree(&sandbox.worktree_request("feat", &base)).unwrap();
        Self { sandbox, worktree: prepared.path, base }
    }

    fn request(&self, mode: CommitMode) -> CommitRequest {
        CommitRequest {
            worktree: self.worktree.clone(),
            branch: "tidegate/r1/feat".into(),
            base: self.base.clone(),
            message: "Build feat\n".into(),
            trailers: vec![
                ("Tidegate-Run".into(), "r1".into()),
                ("Tidegate-Feature".into(), "feat".into()),
            ],
            when_unix_s: WHEN,
            mode,
        }
    }

    fn commit(&self) -> CommitOutcome {
        self.sandbox.repo().commit_leftovers(&self.request(CommitMode::Auto)).unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        self.sandbox.git_in(&self.worktree, args)
    }

    fn head(&self) -> Oid {
        Oid::new(self.git(&["rev-parse", "HEAD"])).unwrap()
    }
}

#[test]
fn leftovers_of_all_kinds_are_committed_once_with_identity_and_trailers() {
    let desk = Desk::new();
    fs::remove_file(desk.worktree.join("a.txt")).unwrap();
    write(&desk.worktree.join("src/lib.txt"), "changed\n");
    for name in [&b"new\nline"[..], b"caf\xe9", b"\"quoted\"", b"-dash", b" -> "] {
        fs::write(desk.worktree.join(os(name)), "x").unwrap();
    }
    let CommitOutcome::Committed { oid } = desk.commit() else { panic!() };
    assert_eq!(desk.head(), oid);
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
    assert_eq!(desk.git(&["diff", "--name-only", "-z", "HEAD^"]).matches('\0').count(), 7);
    let shown = desk.git(&["show", "-s", "--format=%an <%ae> %at %ct %P%n%B"]);
    assert_eq!(
        shown,
        format!(
            "Ada <ada@example.invalid> {WHEN} {WHEN} {}\nBuild feat\n\nTidegate-Run: r1\nTidegate-Feature: feat",
            desk.base
        )
    );
    let trailers = desk.git(&["show", "-s", "--format=%(trailers:key=Tidegate-Run,valueonly)"]);
    assert_eq!(trailers, "r1");
    assert_eq!(desk.commit(), CommitOutcome::AlreadyCommitted { oid });
}

#[test]
fn untouched_worktree_is_no_change() {
    let desk = Desk::new();
    assert_eq!(desk.commit(), CommitOutcome::NoChange);
    // Another time, the same content.
    write(&desk.worktree.join("src/lib.txt"), "library\n");
    assert_eq!(desk.commit(), CommitOutcome::NoChange);
}

#[test]
fn agent_mode_reports_leftovers_and_accepts_its_own_commit() {
    let desk = Desk::new();
    write(&desk.worktree.join("new.txt"), "x");
    let request = desk.request(CommitMode::Agent);
    let outcome = desk.sandbox.repo().commit_leftovers(&request).unwrap();
    let CommitOutcome::LeftOver { committed: None, paths } = outcome else { panic!("{outcome:?}") };
    assert_eq!((paths.len(), paths[0].change), (1, Change::Untracked));
    desk.git(&["add", "-A"]);
    desk.git(&["commit", "-q", "-m", "mine"]);
    let outcome = desk.sandbox.repo().commit_leftovers(&request).unwrap();
    assert_eq!(outcome, CommitOutcome::AlreadyCommitted { oid: desk.head() });
}

#[test]
fn refusing_hook_is_an_outcome_with_its_words_and_loses_nothing() {
    let desk = Desk::new();
    hook(&desk.sandbox, "pre-commit", "echo out; echo no ticket >&2; exit 7");
    write(&desk.worktree.join("new.txt"), "x");
    for _ in 0..2 {
        let outcome = desk.commit();
        let CommitOutcome::HookRefused { output } = outcome else { panic!("{outcome:?}") };
        assert!(output.contains("no ticket"), "{output}");
    }
    assert_eq!(desk.head(), desk.base);
    assert_eq!(fs::read(desk.worktree.join("new.txt")).unwrap(), b"x");
    hook(&desk.sandbox, "pre-commit", "exit 0");
    hook(&desk.sandbox, "commit-msg", "echo 'Reviewed: yes' >> \"$1\"");
    assert!(matches!(desk.commit(), CommitOutcome::Committed { .. }));
    assert!(desk.git(&["show", "-s", "--format=%B"]).ends_with("Reviewed: yes"));
}

#[test]
fn hooks_path_in_a_tracked_folder_is_honoured() {
    let sandbox = Sandbox::new();
    sandbox.write("hooks/pre-commit", "#!/bin/sh\ntest -f ticket\n");
    make_executable(&sandbox.user.join("hooks/pre-commit"));
    sandbox.commit_all("hooks");
    sandbox.git(&["config", "core.hooksPath", "hooks"]);
    let desk = Desk::of(sandbox);
    write(&desk.worktree.join("new.txt"), "x");
    assert!(matches!(desk.commit(), CommitOutcome::HookRefused { .. }));
    write(&desk.worktree.join("ticket"), "x");
    assert!(matches!(desk.commit(), CommitOutcome::Committed { .. }));
}

#[test]
fn agent_that_left_its_branch_or_base_is_told() {
    let desk = Desk::new();
    desk.git(&["checkout", "-q", "--detach"]);
    assert_eq!(desk.commit(), CommitOutcome::LeftBranch { found: None });
    desk.git(&["checkout", "-q", "-b", "elsewhere"]);
    let found = Some("refs/heads/elsewhere".to_owned());
    assert_eq!(desk.commit(), CommitOutcome::LeftBranch { found });
    desk.git(&["checkout", "-q", "tidegate/r1/feat"]);
    let tree = desk.git(&["rev-parse", "HEAD^{tree}"]);
    let orphan = desk.git(&["commit-tree", "-m", "orphan", &tree]);
    desk.git(&["reset", "-q", "--hard", &orphan]);
    let head = Oid::new(orphan);
    assert_eq!(desk.commit(), CommitOutcome::LeftBase { head });
    desk.git(&["update-ref", "-d", "refs/heads/tidegate/r1/feat"]);
    assert_eq!(desk.commit(), CommitOutcome::LeftBase { head: None });
}

#[test]
fn nested_repository_is_uncommittable_and_named() {
    let desk = Desk::new();
    let nested = desk.worktree.join("vendor/dep");
    fs::create_dir_all(&nested).unwrap();
    desk.sandbox.git_in(&nested, &["init", "-q"]);
    write(&nested.join("x"), "x");
    write(&desk.worktree.join("new.txt"), "x");
    for has_commit in [false, true] {
        let outcome = desk.commit();
        let CommitOutcome::Uncommittable { paths, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(paths.len(), 1, "{has_commit}");
        assert_eq!(paths[0].path, PathBuf::from("vendor/dep"));
        assert_eq!(paths[0].change, Change::NestedRepository);
        if !has_commit {
            desk.sandbox.git_in(&nested, &["add", "-A"]);
            desk.sandbox.git_in(&nested, &["commit", "-q", "-m", "x"]);
        }
    }
    assert_eq!(desk.head(), desk.base);
}

#[test]
fn open_conflict_is_uncommittable() {
    let desk = Desk::new();
    let rival = desk.sandbox.branch("rival", "main", &[("a.txt", Some("rival"))]);
    write(&desk.worktree.join("a.txt"), "mine");
    assert!(matches!(desk.commit(), CommitOutcome::Committed { .. }));
    desk.sandbox.output_in(&desk.worktree, &["merge", rival.as_str()]);
    let outcome = desk.commit();
    let CommitOutcome::Uncommittable { paths, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(paths[0].change, Change::Unmerged);
    write(&desk.worktree.join("a.txt"), "mine");
    desk.git(&["add", "a.txt"]);
    // Resolved to the state before: the merge itself is still to be recorded.
    assert!(matches!(desk.commit(), CommitOutcome::Committed { .. }));
    assert_eq!(desk.git(&["show", "-s", "--format=%P"]).split(' ').count(), 2);
}

#[test]
fn filter_that_fails_is_uncommittable_with_its_words() {
    let desk = Desk::new();
    desk.sandbox.git(&["config", "filter.big.clean", "echo store is away >&2; exit 1"]);
    desk.sandbox.git(&["config", "filter.big.required", "true"]);
    write(&desk.worktree.join(".gitattributes"), "*.bin filter=big\n");
    write(&desk.worktree.join("x.bin"), "x");
    let outcome = desk.commit();
    let CommitOutcome::Uncommittable { output, .. } = outcome else { panic!("{outcome:?}") };
    assert!(output.contains("store is away"), "{output}");
}

#[test]
fn lock_files_of_a_killed_git_are_removed() {
    let desk = Desk::new();
    write(&desk.worktree.join("new.txt"), "x");
    let admin = PathBuf::from(desk.git(&["rev-parse", "--absolute-git-dir"]));
    for lock in ["index.lock", "HEAD.lock"] {
        fs::write(admin.join(lock), "").unwrap();
    }
    let branch = desk.sandbox.user.join(".git/refs/heads/tidegate/r1/feat.lock");
    fs::write(&branch, "").unwrap();
    assert!(matches!(desk.commit(), CommitOutcome::Committed { .. }));
    assert!(!branch.exists());
}

#[test]
fn worktree_that_is_gone_or_foreign_is_an_error() {
    let desk = Desk::new();
    let request = desk.request(CommitMode::Auto);
    fs::remove_file(desk.worktree.join(".git")).unwrap();
    desk.sandbox.git_in(&desk.worktree, &["init", "-q"]);
    let error = desk.sandbox.repo().commit_leftovers(&request).unwrap_err();
    assert!(matches!(error, GitError::ForeignWorktree { .. }), "{error}");
    fs::remove_dir_all(&desk.worktree).unwrap();
    let error = desk.sandbox.repo().commit_leftovers(&request).unwrap_err();
    assert!(matches!(error, GitError::Missing { .. }), "{error}");
}

#[test]
fn fallback_identity_commits_where_nothing_is_configured() {
    let desk = Desk::new();
    fs::write(desk.sandbox.root().join("gitconfig"), "").unwrap();
    write(&desk.worktree.join("new.txt"), "x");
    assert!(matches!(desk.commit(), CommitOutcome::Committed { .. }));
    let shown = desk.git(&["show", "-s", "--format=%an %ae %cn"]);
    assert_eq!(shown, "Tidegate tidegate@localhost Tidegate");
}
