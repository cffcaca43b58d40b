//! Repositories and configs of the scenes that need more than a gate and a builder.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::scripts::{LFS, OWN_FILE, POINTER, SAME_FILE, SETUP, STEPS};
use crate::harness::Repo;
use crate::plan_stage::Stage;

/// Two builders of one file and who joins their work; the target follows a branch of a remote.
pub(super) fn reconciled() -> Stage {
    let words = [("[gate.test]", "[role.reconciler]\nagent = \"scribe\"\n[gate.test]")];
    let stage = Stage::with(SAME_FILE, "true", &words);
    follow_remote(&stage);
    stage
}

/// Submodules, files in Git LFS, ports, a setup hook that fails first; what lands is replayed.
pub(super) fn furnished() -> Stage {
    let worktree = format!("[worktree]\nlfs = \"pull\"\nports = 1\nsetup = {SETUP:?}\n[review]");
    let words =
        [("strategy = \"merge\"", "strategy = \"rebase\""), ("[review]", worktree.as_str())];
    let stage = Stage::on(with_art, OWN_FILE, &words);
    let programs = stage.home.beside("user/bin");
    std::fs::create_dir(&programs).unwrap();
    let program = programs.join("git-lfs");
    std::fs::write(&program, LFS).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    follow_remote(&stage);
    stage
}

/// One builder whose work waits for a person.
pub(super) fn tended() -> Stage {
    Stage::with(STEPS, "true", &[("policy = \"auto\"", "policy = \"person\"")])
}

fn with_art(folder: &Path) -> Repo {
    let repo = crate::shapes::submodules(folder);
    let pointer = folder.join("pointer");
    std::fs::write(&pointer, POINTER).unwrap();
    repo.git(&["config", "filter.lfs.clean", &format!("cat '{}'", pointer.display())]);
    repo.write(".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n");
    repo.write("art/logo.psd", POINTER);
    repo.write("check.sh", "test -f third/a/lib.txt && grep -qx art art/logo.psd\n");
    repo.commit("art");
    repo
}

fn follow_remote(stage: &Stage) {
    let bare = stage.home.beside("remote.git");
    let path = bare.to_str().unwrap();
    let repo = stage.home.repo();
    repo.git(&["init", "--quiet", "--bare", "--initial-branch=main", path]);
    repo.git(&["remote", "add", "keeper", path]);
    repo.git(&["push", "--quiet", "--set-upstream", "keeper", "main"]);
}
