//! Taking and giving back a snapshot again, after the process died at any call of git.

use std::fs;
use std::sync::Arc;

use tidegate_git::{Repo, RestoreRequest, Result, SnapshotOutcome, Vault};

use crate::dying_exec::{DyingExec, Moment};
use crate::sandbox::write;
use crate::scene::Scene;

/// Lets `operation` die before and after every `step`-th of its calls, repeats it, and checks the end.
fn at_every_call<T>(
    step: usize,
    prepare: impl Fn() -> Scene,
    operation: impl Fn(&Scene, &Repo, &Vault) -> Result<T>,
    check: impl Fn(&Scene, T),
) {
    for (first, moment) in [(0, Moment::BeforeCall), (step / 2, Moment::AfterCall)] {
        for at in (first..).step_by(step) {
            let scene = prepare();
            let exec = Arc::new(DyingExec::new(at, moment));
            let dying = scene.sandbox.repo_through(exec.clone());
            let vault = Vault::find(dying.git(), scene.vault.dir(), dying.common_dir()).unwrap();
            let died = operation(&scene, &dying, &vault).is_err();
            assert_eq!(exec.died(), died, "{moment:?} {at}");
            let outcome = operation(&scene, &scene.repo, &scene.vault);
            let outcome = outcome.unwrap_or_else(|error| panic!("{moment:?} {at}: {error}"));
            check(&scene, outcome);
            if !exec.died() {
                break;
            }
        }
    }
}

fn changed() -> Scene {
    let scene = Scene::new();
    write(&scene.path("committed.txt"), "c");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "agent"]);
    write(&scene.path("staged.txt"), "s");
    scene.git(&["add", "-A"]);
    write(&scene.path("deep/er/loose.txt"), "l");
    scene
}

#[test]
fn taking_converges_from_every_call_to_one_snapshot() {
    at_every_call(
        2,
        changed,
        |scene, repo, vault| vault.take(repo, &scene.request),
        |scene, outcome| {
            let number = match outcome {
                SnapshotOutcome::Taken(snapshot) => snapshot.number,
                SnapshotOutcome::Unchanged { number, .. } => number,
                SnapshotOutcome::NoWorktree => panic!("there is one"),
            };
            assert_eq!(number, 1);
            let listed = scene.vault.find_snapshot("r1/feat", Some(1)).unwrap();
            let folder = scene.sandbox.root().join("plain");
            let contents = scene.vault.restore_files(&listed, &folder).unwrap();
            assert!(contents.is_staged);
            assert_eq!(fs::read_to_string(folder.join("deep/er/loose.txt")).unwrap(), "l");
        },
    );
}

#[test]
fn giving_back_converges_from_every_call() {
    at_every_call(
        11,
        || {
            let scene = changed();
            scene.taken();
            fs::remove_file(scene.path("staged.txt")).unwrap();
            write(&scene.path("later.txt"), "later");
            scene.git(&["add", "-A"]);
            scene.git(&["commit", "-q", "-m", "later"]);
            scene
        },
        |scene, repo, vault| {
            let request = RestoreRequest {
                number: 1,
                capture: scene.request.clone(),
                worktree: scene.worktree.clone(),
                keep_tips_below: "refs/tidegate/kept/r1/feat".into(),
            };
            vault.restore_worktree(repo, &request)
        },
        |scene, _| {
            assert_eq!(scene.git(&["log", "-1", "--format=%s"]), "agent");
            assert_eq!(scene.git(&["status", "--porcelain"]), "A  staged.txt\n?? deep/");
            let kept = scene.vault.find_snapshot("r1/feat", Some(2)).unwrap();
            let folder = scene.sandbox.root().join("plain");
            scene.vault.restore_files(&kept, &folder).unwrap();
            assert_eq!(fs::read_to_string(folder.join("later.txt")).unwrap(), "later");
        },
    );
}
