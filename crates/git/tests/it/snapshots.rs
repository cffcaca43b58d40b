//! Snapshots of hostile worktrees: what is captured, that nothing there changes, and that all of it comes back.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tidegate_git::{KEPT, Oid, Snapshot, SnapshotOutcome, WhyLeftOut};

use crate::sandbox::{Sandbox, difference, make_executable, picture, write};
use crate::scene::Scene;

fn left(snapshot: &Snapshot) -> Vec<(String, WhyLeftOut)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    snapshot.left_out.iter().map(|left| (text(&left.path), left.why)).collect()
}

/// A name, and what is done to a worktree.
type Deed = (&'static str, fn(&Scene));

/// Makes of a worktree what an agent could at its worst.
pub(crate) fn devastate(scene: &Scene) {
    write(&scene.path(".gitignore"), "target/\n*.log\n");
    write(&scene.path("target/big.o"), "object");
    write(&scene.path("notes.log"), "log");
    write(&scene.path("a.txt"), "changed\r\n");
    fs::remove_file(scene.path("src/lib.txt")).unwrap();
    write(&scene.path("src/new dir/fresh\nline.txt"), "fresh");
    write(&scene.path(OsStr::from_bytes(b"not-utf8-\xff\xfe.txt")), "bytes");
    write(&scene.path("\"quoted\" \\ name"), "q");
    write(&scene.path(":(glob)magic*"), "m");
    write(&scene.path("run.sh"), "#!/bin/sh\n");
    make_executable(&scene.path("run.sh"));
    symlink("/etc/passwd", scene.path("out")).unwrap();
    symlink("nowhere\nat all", scene.path("dangling")).unwrap();
    symlink("src", scene.path("folder-link")).unwrap();
    fs::create_dir_all(scene.path("hollow/inside")).unwrap();
    write(&scene.path("staged.txt"), "staged");
    scene.git(&["add", "staged.txt"]);
    write(&scene.path("staged.txt"), "and changed again");
    write(&scene.path("gone-after-add.txt"), "only in the index");
    scene.git(&["add", "gone-after-add.txt"]);
    fs::remove_file(scene.path("gone-after-add.txt")).unwrap();
    let nested = scene.path("nested");
    fs::create_dir(&nested).unwrap();
    scene.sandbox.git_in(&nested, &["init", "-q"]);
    write(&nested.join(".gitignore"), "hidden\n");
    write(&nested.join("hidden"), "h");
    write(&nested.join("inner/kept.txt"), "inner");
    scene.sandbox.git_in(&nested, &["add", "-A"]);
    scene.sandbox.git_in(&nested, &["commit", "-q", "-m", "nested"]);
    write(&nested.join("inner/loose.txt"), "loose");
}

#[test]
fn hostile_worktree_is_captured_without_a_trace_and_comes_back_after_its_removal() {
    let scene = Scene::new();
    devastate(&scene);
    let admin = scene.repo.common_dir().join("worktrees");
    let (before, status, records) =
        (picture(&scene.request.worktree), scene.status(), picture(&admin));
    let snapshot = scene.taken();
    assert_eq!(difference(&before, &picture(&scene.request.worktree)), Vec::<PathBuf>::new());
    assert_eq!(difference(&records, &picture(&admin)), Vec::<PathBuf>::new());
    assert_eq!(scene.status(), status);
    assert_eq!(
        left(&snapshot),
        [
            ("nested/.git".to_owned(), WhyLeftOut::NestedRecords),
            ("nested/hidden".to_owned(), WhyLeftOut::Ignored),
            ("notes.log".to_owned(), WhyLeftOut::Ignored),
            ("target".to_owned(), WhyLeftOut::Ignored),
        ]
    );
    let mut expected = scene.files();
    for gone in ["target", "target/big.o", "notes.log", "nested/hidden"] {
        expected.remove(Path::new(gone));
    }
    fs::remove_dir_all(&scene.request.worktree).unwrap();
    scene.sandbox.git(&["worktree", "prune"]);
    scene.sandbox.git(&["branch", "-D", &scene.request.branch]);
    scene.sandbox.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(scene.restore(snapshot.number), SnapshotOutcome::NoWorktree);
    assert_eq!(difference(&expected, &scene.files()), Vec::<PathBuf>::new());
    assert_eq!(scene.status(), status);
}

#[test]
fn second_snapshot_without_a_change_is_skipped_and_each_kind_of_change_is_seen() {
    let scene = Scene::new();
    devastate(&scene);
    assert_eq!(scene.taken().number, 1);
    assert!(matches!(scene.take(), SnapshotOutcome::Unchanged { number: 1, .. }));
    let changes: [Deed; 8] = [
        ("content", |s| write(&s.path("a.txt"), "another")),
        ("mode", |s| make_executable(&s.path("a.txt"))),
        ("removal", |s| fs::remove_file(s.path("a.txt")).unwrap()),
        ("new folder", |s| fs::create_dir(s.path("fresh")).unwrap()),
        ("link", |s| {
            fs::remove_file(s.path("out")).unwrap();
            symlink("/etc/group", s.path("out")).unwrap();
        }),
        ("index", |s| drop(s.git(&["add", "run.sh"]))),
        ("commit", |s| drop(s.git(&["commit", "-q", "-m", "by the agent"]))),
        ("ignored", |s| write(&s.path(".gitignore"), "")),
    ];
    for (number, (what, change)) in changes.into_iter().enumerate() {
        change(&scene);
        assert_eq!(scene.taken().number, u32::try_from(number).unwrap() + 2, "{what}");
        assert!(matches!(scene.take(), SnapshotOutcome::Unchanged { .. }), "{what}");
    }
}

#[test]
fn refreshed_index_alone_is_no_change() {
    let scene = Scene::new();
    write(&scene.path("a.txt"), "changed");
    scene.taken();
    let index = scene.sandbox.user.join(".git/worktrees/feat-r1/index");
    let bytes = fs::read(&index).unwrap();
    fs::remove_file(&index).unwrap();
    fs::write(&index, bytes).unwrap();
    assert!(matches!(scene.take(), SnapshotOutcome::Unchanged { number: 1, .. }));
}

#[test]
fn commits_of_a_deleted_branch_come_back_though_both_repositories_collected_garbage() {
    let scene = Scene::new();
    write(&scene.path("one.txt"), "1");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "one"]);
    let head = scene.git(&["rev-parse", "HEAD"]);
    write(&scene.path("two.txt"), "2");
    scene.git(&["add", "two.txt"]);
    let status = scene.status();
    let number = scene.taken().number;
    // What a pack of the user has may go from there, so it stays here.
    scene.sandbox.git(&["gc", "--quiet"]);
    scene.vault.collect().unwrap();
    fs::remove_dir_all(&scene.request.worktree).unwrap();
    scene.sandbox.git(&["worktree", "prune"]);
    scene.sandbox.git(&["branch", "-D", &scene.request.branch]);
    scene.sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    scene.sandbox.git(&["gc", "--quiet", "--prune=now"]);
    // Alone it cannot read what it borrows, so git refuses to collect anything; ours may.
    scene.sandbox.output_in(scene.vault.dir(), &["gc", "--quiet", "--prune=now"]);
    scene.vault.collect().unwrap();
    scene.restore(number);
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(scene.git(&["log", "--format=%s", "-1"]), "one");
    assert_eq!(scene.status(), status);
}

#[test]
fn rollback_captures_what_is_there_and_can_be_rolled_back_itself() {
    let scene = Scene::new();
    write(&scene.path("a.txt"), "first");
    let first = (scene.taken().number, scene.files(), scene.status());
    fs::remove_file(scene.path("a.txt")).unwrap();
    write(&scene.path("a.txt/now/a/folder.txt"), "second");
    write(&scene.path("src/more.txt"), "more");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "second"]);
    write(&scene.path("src/more.txt"), "uncommitted");
    let second = (scene.files(), scene.status());
    let captured = match scene.restore(first.0) {
        SnapshotOutcome::Taken(snapshot) => snapshot.number,
        other => panic!("{other:?}"),
    };
    assert_eq!((scene.files(), scene.status()), (first.1, first.2));
    scene.restore(captured);
    assert_eq!((scene.files(), scene.status()), second);
}

#[test]
fn conflict_in_the_index_is_given_back() {
    let scene = Scene::new();
    let other = scene.sandbox.branch("other", "main", &[("a.txt", Some("theirs\n"))]);
    write(&scene.path("a.txt"), "ours\n");
    scene.git(&["commit", "-q", "-am", "ours"]);
    let merged = scene.sandbox.output_in(&scene.request.worktree, &["merge", other.as_str()]);
    assert!(!merged.status.success());
    let number = scene.taken().number;
    let stages = scene.git(&["ls-files", "--stage"]);
    fs::remove_dir_all(&scene.request.worktree).unwrap();
    scene.restore(number);
    assert_eq!(scene.git(&["ls-files", "--stage"]), stages);
    assert!(fs::read_to_string(scene.path("a.txt")).unwrap().contains("<<<<<<<"));
}

#[test]
fn submodule_and_its_changes_are_captured_as_files() {
    let sandbox = Sandbox::new();
    let inner = Sandbox::new();
    let url = inner.user.to_str().unwrap().to_owned();
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "sub"]);
    sandbox.commit_all("with a submodule");
    let scene = Scene::of(sandbox);
    // Not checked out, an agent writes into the empty folder.
    write(&scene.path("sub/loose.txt"), "loose");
    let number = scene.taken().number;
    fs::remove_file(scene.path("sub/loose.txt")).unwrap();
    scene.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "update",
        "--init",
        "-q",
        "--force",
    ]);
    write(&scene.path("sub/a.txt"), "changed inside");
    let snapshot = scene.taken();
    assert!(snapshot.left_out.iter().any(|left| left.path == Path::new("sub/.git")));
    let folder = scene.sandbox.root().join("plain");
    let listed = scene.vault.find_snapshot("r1/feat", Some(snapshot.number)).unwrap();
    scene.vault.restore_files(&listed, &folder).unwrap();
    assert_eq!(fs::read_to_string(folder.join("sub/a.txt")).unwrap(), "changed inside");
    let first = scene.vault.find_snapshot("r1/feat", Some(number)).unwrap();
    let folder = scene.sandbox.root().join("plain too");
    scene.vault.restore_files(&first, &folder).unwrap();
    assert_eq!(fs::read_to_string(folder.join("sub/loose.txt")).unwrap(), "loose");
}

#[test]
fn large_special_and_filtered_files_are_listed_or_kept_byte_by_byte() {
    let scene = Scene::new();
    write(&scene.path(".gitattributes"), "* text=auto eol=lf\n");
    write(&scene.path("dos.txt"), "one\r\ntwo\r\n");
    let large = fs::File::create(scene.path("large.bin")).unwrap();
    large.set_len(tidegate_git::FILE_BYTES_MAX + 1).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scene.path("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let snapshot = scene.taken();
    assert_eq!(
        left(&snapshot),
        [("large.bin".to_owned(), WhyLeftOut::TooLarge), ("pipe".to_owned(), WhyLeftOut::Special),]
    );
    let folder = scene.sandbox.root().join("plain");
    let listed = scene.vault.find_snapshot("r1/feat", None).unwrap();
    let contents = scene.vault.restore_files(&listed, &folder).unwrap();
    assert_eq!(fs::read(folder.join("dos.txt")).unwrap(), b"one\r\ntwo\r\n");
    assert_eq!(contents.left_out, snapshot.left_out);
    let refused = scene.vault.restore_files(&listed, &folder).unwrap_err();
    assert!(refused.to_string().contains("is not empty"), "{refused}");
}

#[test]
fn worktree_that_lost_its_git_file_is_captured_all_the_same() {
    let scene = Scene::new();
    write(&scene.path(".gitignore"), "*.log\n");
    write(&scene.path("x.log"), "x");
    write(&scene.path("kept.txt"), "kept");
    fs::remove_file(scene.path(".git")).unwrap();
    let first = scene.taken();
    assert_eq!(left(&first), [("x.log".to_owned(), WhyLeftOut::Ignored)]);
    // An agent makes a repository of its own of it.
    scene.git(&["init", "-q"]);
    let second = scene.taken();
    assert!(left(&second).contains(&(".git".to_owned(), WhyLeftOut::NestedRecords)));
    assert_eq!(second.files, first.files);
}

#[test]
fn twenty_snapshots_are_kept_and_never_the_restored_one_goes() {
    let scene = Scene::new();
    for round in 0..KEPT + 3 {
        write(&scene.path("a.txt"), round.to_string());
        scene.taken();
    }
    let numbers = || -> Vec<u32> {
        scene.vault.list("r1/feat").unwrap().iter().map(|listed| listed.number).collect()
    };
    assert_eq!(numbers(), (4..=23).collect::<Vec<u32>>());
    write(&scene.path("a.txt"), "newest");
    scene.restore(4);
    assert_eq!(fs::read_to_string(scene.path("a.txt")).unwrap(), "3");
    assert_eq!((numbers()[0], *numbers().last().unwrap()), (4, 24));
    scene.vault.forget("r1/feat").unwrap();
    assert_eq!(numbers(), []);
}

#[test]
fn objects_of_the_private_repository_stand_there_or_below_the_base() {
    let scene = Scene::new();
    devastate(&scene);
    scene.git(&["commit", "-q", "-m", "agent"]);
    write(&scene.path("after.txt"), "after");
    let snapshot = scene.taken();
    let objects = scene.sandbox.user.join(".git/objects");
    let base: Oid = scene.request.base.clone();
    let reached = |dir: &Path, args: &[&str], lent: bool| -> std::collections::BTreeSet<String> {
        let mut command = std::process::Command::new("git");
        command.args(args).current_dir(dir);
        if lent {
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let all =
        reached(scene.vault.dir(), &["rev-list", "--objects", snapshot.commit.as_str()], true);
    let borrowed = reached(&scene.sandbox.user, &["rev-list", "--objects", base.as_str()], false);
    let own = reached(
        scene.vault.dir(),
        &["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"],
        false,
    );
    let neither: Vec<&String> =
        all.iter().filter(|oid| !own.contains(*oid) && !borrowed.contains(*oid)).collect();
    assert_eq!(neither, Vec::<&String>::new());
    assert!(all.iter().any(|oid| !own.contains(oid)), "nothing was borrowed");
}
