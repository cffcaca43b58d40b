//! What no snapshot needs goes, and only that.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tidegate_git::SnapshotRequest;

use crate::sandbox::write;
use crate::scene::Scene;

/// All files of the private repository's objects.
fn objects(scene: &Scene) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![scene.vault.dir().join("objects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { all.push(path) }
        }
    }
    all
}

fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_hours(2);
    File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn objects_of_a_forgotten_series_go_when_they_are_old_and_those_of_others_stay() {
    let scene = Scene::new();
    write(&scene.path("new.txt"), "one");
    scene.taken();
    let other = SnapshotRequest { series: "r2/feat".into(), ..scene.request.clone() };
    write(&scene.path("new.txt"), "two");
    scene.vault.take(&scene.repo, &other).unwrap();
    let left = scene.vault.dir().join("objects/pack/tmp_pack_abc");
    write(&left, "what a killed call left");
    let before = objects(&scene).len();
    scene.vault.forget("r1/feat").unwrap();
    scene.vault.collect().unwrap();
    assert_eq!(objects(&scene).len(), before, "all of them are young");
    for path in objects(&scene) {
        age(&path);
    }
    scene.vault.collect().unwrap();
    assert!(!left.exists());
    assert!(objects(&scene).len() < before - 1, "{before} {:?}", objects(&scene));
    let to = scene.sandbox.root().join("given");
    let listed = scene.vault.list("r2/feat").unwrap();
    scene.vault.restore_files(&listed[0], &to).unwrap();
    assert_eq!(fs::read_to_string(to.join("new.txt")).unwrap(), "two");
}
