//! A conflict in the feature's worktree: prepared, checked, given up, and repeated after a crash at any call.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use tidegate_git::{
    AbandonOutcome, AbandonRequest, ConflictFile, ConflictKind, ConflictOutcome, ConflictRequest,
    Flaw, Oid, Operation, Repo, Resolution, ResolutionCheck, SnapshotOutcome, SnapshotRequest,
    Vault,
};

use crate::dying_exec::{DyingExec, Moment};
use crate::sandbox::{Sandbox, WHEN, difference, picture, write};

const BRANCH: &str = "tidegate/r1/feat";

/// A feature whose branch conflicts with the target in `a.txt`, and the request to prepare that.
struct Scene {
    sandbox: Sandbox,
    request: ConflictRequest,
    base: Oid,
}

impl Scene {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let base = sandbox.oid("main");
        let request = sandbox.worktree_request("feat", &base);
        let worktree = sandbox.repo().prepare_worktree(&request).unwrap().path;
        write(&worktree.join("a.txt"), "feature's line\n");
        write(&worktree.join("own.txt"), "own\n");
        sandbox.git_in(&worktree, &["add", "-A"]);
        sandbox.git_in(&worktree, &["commit", "-q", "-m", "Rewrite a"]);
        let feature = Oid::new(sandbox.git_in(&worktree, &["rev-parse", "HEAD"])).unwrap();
        sandbox.write("a.txt", "target's line\n");
        sandbox.write("deep/new.txt", "new\n");
        let target = sandbox.commit_all("Change a otherwise");
        let request = ConflictRequest {
            worktree,
            branch: BRANCH.into(),
            feature,
            target,
            message: "Take main into feat".into(),
        };
        Self { sandbox, request, base }
    }

    fn prepare(&self) -> ConflictOutcome {
        self.sandbox.repo().prepare_conflict(&self.request).unwrap()
    }

    fn files(&self) -> Vec<ConflictFile> {
        match self.prepare() {
            ConflictOutcome::Prepared { files, .. } => files,
            other => panic!("{other:?}"),
        }
    }

    fn git(&self, args: &[&str]) -> String {
        self.sandbox.git_in(&self.request.worktree, args)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.request.worktree.join(name), text);
    }

    fn check(&self) -> Resolution {
        let ConflictRequest { worktree, branch, feature, target, .. } = self.request.clone();
        let check = ResolutionCheck { worktree, branch, feature, target };
        self.sandbox.repo().check_resolution(&check).unwrap()
    }

    fn flaws(&self) -> Vec<Flaw> {
        match self.check() {
            Resolution::Flawed { flaws } => flaws,
            other @ Resolution::Resolved { .. } => panic!("{other:?}"),
        }
    }

    fn vault(&self) -> Vault {
        let dir = self.sandbox.root().join("state/snapshots/p.git");
        Vault::create(&self.sandbox.repo(), &dir).unwrap()
    }

    fn capture(&self, vault: &Vault) -> u32 {
        let request = SnapshotRequest {
            series: "r1/feat".into(),
            worktree: self.request.worktree.clone(),
            base: self.base.clone(),
            branch: BRANCH.into(),
            when_unix_s: WHEN,
            reason: "giving up".into(),
        };
        match vault.take(&self.sandbox.repo(), &request).unwrap() {
            SnapshotOutcome::Taken(snapshot) => snapshot.number,
            other => panic!("{other:?}"),
        }
    }

    fn abandon(&self, repo: &Repo, vault: &Vault, number: u32) -> AbandonOutcome {
        let request = AbandonRequest {
            worktree: &self.request.worktree,
            branch: BRANCH,
            feature: &self.request.feature,
            vault,
            series: "r1/feat",
            number,
        };
        repo.abandon_resolution(&request).unwrap()
    }
}

#[test]
fn prepared_conflict_has_markers_of_three_sides_and_both_sides_intent() {
    let scene = Scene::new();
    // What the user configured must not resolve anything behind our back.
    scene.sandbox.git(&["config", "merge.conflictStyle", "merge"]);
    scene.sandbox.git(&["config", "rerere.enabled", "true"]);
    let before = scene.sandbox.picture();
    let [file] = scene.files().try_into().unwrap();
    assert_eq!((file.path, file.kind), (PathBuf::from("a.txt"), ConflictKind::Content));
    let subjects = |touches: Vec<tidegate_git::Touch>| -> Vec<String> {
        touches.into_iter().map(|touch| format!("{}: {}", touch.author, touch.subject)).collect()
    };
    assert_eq!(subjects(file.feature), ["Ada: Rewrite a"]);
    assert_eq!(subjects(file.target), ["Ada: Change a otherwise"]);
    let text = fs::read_to_string(scene.request.worktree.join("a.txt")).unwrap();
    for part in ["<<<<<<< ", "feature's line", "||||||| ", "=======", "target's line", ">>>>>>> "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(scene.request.worktree.join("deep/new.txt").exists());
    assert_eq!(difference(&before, &scene.sandbox.picture()), Vec::<PathBuf>::new());
    // Repeated, also after the reconciler has begun: nothing there is touched.
    scene.write("a.txt", "half way\n");
    let half_way = picture(&scene.request.worktree);
    assert_eq!(scene.files().len(), 1);
    assert_eq!(difference(&half_way, &picture(&scene.request.worktree)), Vec::<PathBuf>::new());
}

#[test]
fn each_path_says_what_kind_of_conflict_it_is_in() {
    let mut scene = Scene::new();
    let commits = ["1", "2", "3"].map(|digit| digit.repeat(40));
    let link = |dir: &std::path::Path, commit: &str| {
        let entry = format!("160000,{commit},sub");
        scene.sandbox.git_in(dir, &["update-index", "--add", "--cacheinfo", &entry]);
    };
    // Both sides begin anew, from a base that has it all.
    scene.sandbox.git(&["checkout", "-q", "-B", "main", scene.base.as_str()]);
    scene.sandbox.write("kept.txt", "one\ntwo\nthree\n");
    scene.sandbox.write("moved.txt", "some\nlines\nto\nmove\n");
    scene.sandbox.git(&["add", "-A"]);
    link(&scene.sandbox.user, &commits[0]);
    scene.sandbox.git(&["commit", "-q", "-m", "all of it"]);
    scene.git(&["reset", "-q", "--hard", "main"]);
    fs::remove_file(scene.request.worktree.join("kept.txt")).unwrap();
    scene.git(&["mv", "moved.txt", "elsewhere.txt"]);
    scene.write("both.txt", "feature\n");
    scene.write("place", "a file\n");
    scene.git(&["add", "-A", "kept.txt", "both.txt", "place"]);
    link(&scene.request.worktree, &commits[1]);
    scene.git(&["commit", "-q", "-m", "feature's"]);
    scene.sandbox.write("kept.txt", "one\nTWO\nthree\n");
    fs::remove_file(scene.sandbox.user.join("moved.txt")).unwrap();
    scene.sandbox.write("both.txt", "target\n");
    scene.sandbox.write("place/inside.txt", "a folder\n");
    scene.sandbox.git(&["add", "-A", "kept.txt", "moved.txt", "both.txt", "place"]);
    link(&scene.sandbox.user, &commits[2]);
    scene.sandbox.git(&["commit", "-q", "-m", "target's"]);
    scene.request.feature = Oid::new(scene.git(&["rev-parse", "HEAD"])).unwrap();
    scene.request.target = scene.sandbox.oid("main");
    let found: Vec<_> = scene
        .files()
        .into_iter()
        .map(|file| (file.path.to_str().unwrap().to_owned(), file.kind))
        .collect();
    let expected = [
        ("both.txt", ConflictKind::AddAdd),
        ("elsewhere.txt", ConflictKind::RenameDelete),
        ("kept.txt", ConflictKind::ModifyDelete),
        ("moved.txt", ConflictKind::RenameDelete),
        ("place", ConflictKind::FileDirectory),
        ("sub", ConflictKind::Submodule),
    ];
    assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn resolution_is_good_only_when_nothing_is_left_of_the_conflict() {
    let scene = Scene::new();
    assert_eq!(scene.flaws(), [Flaw::NoMerge], "nothing was begun");
    scene.files();
    let flaws = scene.flaws();
    assert!(flaws.contains(&Flaw::Unmerged { paths: vec!["a.txt".into()] }), "{flaws:?}");
    assert!(flaws.contains(&Flaw::InProgress(Operation::Merge)), "{flaws:?}");
    // Committed with its markers in it.
    scene.git(&["commit", "-q", "-a", "--no-edit"]);
    let [Flaw::Markers { path, lines }] = &scene.flaws()[..] else { panic!() };
    assert_eq!(path, &PathBuf::from("a.txt"));
    assert!(lines.len() >= 4, "{lines:?}");
    scene.write("a.txt", "feature's and target's line\n");
    assert_eq!(scene.flaws()[0], Flaw::Uncommitted { paths: vec!["a.txt".into()] });
    scene.write("own.txt", "changed too\n");
    scene.git(&["commit", "-q", "-a", "-m", "Resolve"]);
    let Resolution::Resolved { commit, outside } = scene.check() else { panic!() };
    assert_eq!(commit.as_str(), scene.git(&["rev-parse", "HEAD"]));
    assert_eq!(outside, [PathBuf::from("own.txt")]);
    assert_eq!(scene.prepare(), ConflictOutcome::AlreadyMerged { head: commit });
}

#[test]
fn resolution_by_a_plain_commit_without_the_target_is_no_merge() {
    let scene = Scene::new();
    scene.files();
    scene.git(&["merge", "--abort"]);
    scene.write("a.txt", "feature's and target's line\n");
    scene.git(&["commit", "-q", "-a", "-m", "Copy it over"]);
    assert_eq!(scene.flaws(), [Flaw::NoMerge]);
    let head = Oid::new(scene.git(&["rev-parse", "HEAD"])).unwrap();
    assert_eq!(scene.prepare(), ConflictOutcome::Moved { head });
}

#[test]
fn worktree_in_another_state_is_left_as_it_is() {
    let scene = Scene::new();
    let same = |expected: ConflictOutcome| {
        let before = picture(&scene.request.worktree);
        assert_eq!(scene.prepare(), expected);
        assert_eq!(difference(&before, &picture(&scene.request.worktree)), Vec::<PathBuf>::new());
    };
    scene.write("stray.txt", "stray");
    same(ConflictOutcome::Dirty { paths: vec!["stray.txt".into()] });
    fs::remove_file(scene.request.worktree.join("stray.txt")).unwrap();
    write(&scene.sandbox.user.join(".git/info/exclude"), "deep\n");
    scene.write("deep/new.txt", "ignored, and in the way");
    same(ConflictOutcome::Dirty { paths: vec!["deep/new.txt".into()] });
    fs::remove_file(scene.request.worktree.join("deep/new.txt")).unwrap();
    scene.git(&["checkout", "-q", "--detach"]);
    same(ConflictOutcome::LeftBranch { found: None });
    scene.git(&["checkout", "-q", BRANCH]);
    assert_eq!(scene.files().len(), 1);
}

#[test]
fn branches_that_merge_are_clean() {
    let mut scene = Scene::new();
    scene.request.target = scene.base.clone();
    scene.request.feature = Oid::new(scene.git(&["rev-parse", "HEAD"])).unwrap();
    assert_eq!(scene.prepare(), ConflictOutcome::Clean);
}

#[test]
fn preparing_converges_from_every_call_and_from_a_merge_killed_in_the_middle() {
    // Just before a call: what was done since the one before is done.
    for at in 0.. {
        let scene = Scene::new();
        let exec = Arc::new(DyingExec::new(at, Moment::BeforeCall));
        let first = scene.sandbox.repo_through(exec.clone()).prepare_conflict(&scene.request);
        assert_eq!(exec.died(), first.is_err(), "{at}");
        assert_eq!(scene.files().len(), 1, "{at}");
        assert_eq!(scene.git(&["diff", "--name-only", "--diff-filter=U"]), "a.txt");
        if !exec.died() {
            break;
        }
    }
    // Killed while it wrote the files: a record, new files, no MERGE_HEAD.
    let scene = Scene::new();
    let admin = scene.git(&["rev-parse", "--absolute-git-dir"]);
    let ConflictRequest { feature, target, .. } = &scene.request;
    let record = format!("tidegate-conflict 1\nfeature {feature}\ntarget {target}\n");
    fs::write(PathBuf::from(&admin).join("tidegate-conflict"), record).unwrap();
    fs::write(PathBuf::from(&admin).join("index.lock"), "").unwrap();
    scene.write("deep/new.txt", "ne");
    scene.write("a.txt", "<<<<<<< HEAD\nfea");
    assert_eq!(scene.files().len(), 1);
    assert_eq!(fs::read(scene.request.worktree.join("deep/new.txt")).unwrap(), b"new\n");
    assert!(!PathBuf::from(admin).join("tidegate-conflict").exists());
}

#[test]
fn giving_up_needs_a_snapshot_of_what_is_there_and_loses_nothing() {
    let scene = Scene::new();
    let (repo, vault) = (scene.sandbox.repo(), scene.vault());
    assert_eq!(scene.abandon(&repo, &vault, 1), AbandonOutcome::AlreadyThere);
    scene.files();
    assert_eq!(scene.abandon(&repo, &vault, 1), AbandonOutcome::NotCaptured);
    scene.write("a.txt", "a wrong idea\n");
    scene.git(&["commit", "-q", "-a", "--no-edit"]);
    scene.write("notes.txt", "of the reconciler\n");
    let stale = scene.capture(&vault);
    scene.git(&["commit", "-q", "--allow-empty", "-m", "After the snapshot"]);
    let before = picture(&scene.request.worktree);
    assert_eq!(scene.abandon(&repo, &vault, stale), AbandonOutcome::NotCaptured);
    assert_eq!(difference(&before, &picture(&scene.request.worktree)), Vec::<PathBuf>::new());
    let number = scene.capture(&vault);
    assert_eq!(scene.abandon(&repo, &vault, number), AbandonOutcome::Abandoned);
    assert_eq!(scene.abandon(&repo, &vault, number), AbandonOutcome::AlreadyThere);
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), scene.request.feature.as_str());
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    assert_eq!(scene.files().len(), 1, "and it can be prepared again");
}

#[test]
fn giving_up_in_the_middle_of_anything_converges() {
    let midst: [&[&[&str]]; 3] = [
        &[],
        &[&["merge", "--abort"], &["checkout", "-q", "--detach"]],
        &[&["merge", "--abort"], &["rebase", "main"]],
    ];
    for commands in midst {
        for at in 0.. {
            let scene = Scene::new();
            let vault = scene.vault();
            scene.files();
            for command in commands {
                scene.sandbox.output_in(&scene.request.worktree, command);
            }
            let number = scene.capture(&vault);
            let exec = Arc::new(DyingExec::new(at * 3, Moment::AfterCall));
            let request = AbandonRequest {
                worktree: &scene.request.worktree,
                branch: BRANCH,
                feature: &scene.request.feature,
                vault: &vault,
                series: "r1/feat",
                number,
            };
            let first = scene.sandbox.repo_through(exec.clone()).abandon_resolution(&request);
            let again = scene.abandon(&scene.sandbox.repo(), &vault, number);
            assert_ne!(again, AbandonOutcome::NotCaptured, "{commands:?} {at} {first:?}");
            assert_eq!(scene.git(&["symbolic-ref", "HEAD"]), format!("refs/heads/{BRANCH}"));
            assert_eq!(scene.git(&["rev-parse", "HEAD"]), scene.request.feature.as_str());
            assert_eq!(scene.git(&["status", "--porcelain"]), "");
            if !exec.died() {
                break;
            }
        }
    }
}
