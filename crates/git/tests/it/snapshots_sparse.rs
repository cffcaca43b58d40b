//! Snapshots of sparse worktrees: what is left out stays left out, and is not taken for removed.

use std::fs;

use tidegate_git::Furnishing;

use crate::sandbox::{Sandbox, write};
use crate::scene::Scene;

fn scene() -> Scene {
    let sandbox = Sandbox::new();
    sandbox.write("kept/a.txt", "a");
    sandbox.write("out/b.txt", "b");
    sandbox.write("out/deep/c.txt", "c");
    sandbox.commit_all("folders");
    sandbox.git(&["sparse-checkout", "set", "--cone", "kept"]);
    let like = Some(sandbox.repo().common_dir().parent().unwrap().to_owned());
    Scene::furnished(sandbox, Furnishing { like, ..Furnishing::default() })
}

#[test]
fn files_that_a_sparse_checkout_leaves_out_are_not_removed_by_a_restore() {
    let scene = scene();
    assert!(!scene.path("out").exists() && scene.path("kept").exists(), "it is sparse");
    fs::remove_file(scene.path("kept/a.txt")).unwrap();
    write(&scene.path("kept/new.txt"), "new");
    scene.git(&["add", "kept/new.txt"]);
    // One that is left out, and has been written all the same.
    write(&scene.path("out/b.txt"), "changed");
    let (files, status) = (scene.files(), scene.status());
    let tags = scene.git(&["ls-files", "-t"]);
    assert!(tags.contains("S out/deep/c.txt"), "{tags}");
    let number = scene.taken().number;
    assert_eq!(scene.status(), status);

    write(&scene.path("kept/other.txt"), "other");
    scene.restore(number);
    assert_eq!((scene.files(), scene.status()), (files.clone(), status.clone()), "in place");
    assert_eq!(scene.git(&["ls-files", "-t"]), tags);

    fs::remove_dir_all(&scene.request.worktree).unwrap();
    scene.restore(number);
    assert_eq!((scene.files(), scene.status()), (files, status), "made again");
    assert_eq!(scene.git(&["ls-files", "-t"]), tags);
}
