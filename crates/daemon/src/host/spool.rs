//! Repositories that were registered while no daemon ran: one file each in `spool/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidegate_core::home::Place;
use tidegate_git::{Git, Repo};

use super::files::HomeFiles;
use crate::engine::{Command, Handle};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Registration {
    v: u32,
    root: String,
}

/// Leaves word for the next daemon that the repository at `root` is to be registered.
///
/// # Errors
/// When the file cannot be written.
pub fn leave_registration(home: &Path, root: &Path) -> io::Result<()> {
    super::files::prepare_home(home)?;
    let root = root.to_str().ok_or_else(|| io::Error::other("the path is not UTF-8"))?;
    let bytes = serde_json::to_vec(&Registration { v: 1, root: root.to_owned() })?;
    let name = format!("project-{}.json", &tidegate_store::blob_id(root.as_bytes()).as_str()[..16]);
    crate::spool::write(&HomeFiles::new(home).spool(), &name, &bytes)
}

/// Has what was left registered by the engine, beside its other work; a file is removed once its
/// fact is durable.
pub(super) fn ingest(files: &HomeFiles, handle: &Handle, git: &Git) {
    let found = pending(&files.spool());
    if found.is_empty() {
        return;
    }
    let (handle, git) = (handle.clone(), git.clone());
    let work = move || {
        for path in found {
            match register(&path, &handle, &git) {
                Ok(()) => drop(fs::remove_file(&path)),
                Err(why) => {
                    tracing::warn!(path = %path.display(), why, "a registration is left");
                }
            }
        }
    };
    if let Err(error) = std::thread::Builder::new().name("spool".into()).spawn(work) {
        tracing::warn!(%error, "registrations are left for the next start");
    }
}

fn pending(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_registration = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    entries.map(|entry| entry.path()).filter(is_registration).collect()
}

fn register(path: &Path, handle: &Handle, git: &Git) -> Result<(), String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let registration: Registration =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let place = place_of(git, Path::new(&registration.root)).map_err(|error| error.to_string())?;
    let answer = handle.call(Command::RegisterProject { place }, None);
    match answer.blocking_recv() {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(problem)) => Err(problem.to_string()),
        Err(_) => Err("the daemon is ending".to_owned()),
    }
}

/// Where the repository that `cwd` lies in is.
///
/// # Errors
/// What finding it gives.
pub fn place_of(git: &Git, cwd: &Path) -> Result<Place, tidegate_git::GitError> {
    let repo = Repo::discover(git, cwd)?;
    let common_dir = repo.common_dir().to_owned();
    // A bare repository is its own root.
    let root = repo.worktree().unwrap_or(&common_dir).to_owned();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Ok(Place { root: text(&root), common_dir: text(&common_dir) })
}
