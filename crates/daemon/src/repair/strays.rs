//! Job directories that the store does not know: the store was restored, or lost its newest part.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tidegate_core::ids::JobId;
use tidegate_core::verdict::Mark;
use tidegate_process::JobDir;
use tidegate_process::observe::look;
use tidegate_store::{KnownJob, OpenError, Reader};

use super::verdicts::is_acknowledged;

/// A job directory that the store does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stray {
    /// Its name.
    pub job: String,
    /// Its run, if the name is that of a job.
    pub run_id: Option<String>,
    /// Where it is.
    pub directory: PathBuf,
    /// Whether a shim holds its lock: then it lives.
    pub alive: bool,
    /// Whether a person said that it may go on.
    pub kept: bool,
    /// Why it is one.
    pub why: String,
    /// Pid of its main process, where it was started under the running kernel.
    pub pid: Option<u32>,
    /// Exit code, where it ended with one.
    pub exit_code: Option<i32>,
    /// Its command line.
    pub argv: Vec<String>,
    /// Token that it was started under: generation, then epoch.
    pub token: Option<(u64, u64)>,
}

impl Stray {
    /// Whether a person has to say something before anything starts.
    pub fn holds(&self) -> bool {
        self.alive && !self.kept
    }
}

/// The strays of a home by its store, read only.
///
/// # Errors
/// [`OpenError`] when the store cannot be read.
pub fn of_home(home: &Path) -> Result<Vec<Stray>, OpenError> {
    let names = names(home);
    let mut reader = match Reader::open(home) {
        Ok(reader) => reader,
        Err(OpenError::NoStore { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let known = reader
        .read(|view| view.known_jobs())
        .map_err(|error| tidegate_store::advise(home, error))?;
    Ok(among(home, names, &known))
}

/// The strays of a home, by what its store knows.
pub fn strays(home: &Path, known: &BTreeMap<JobId, KnownJob>) -> Vec<Stray> {
    among(home, names(home), known)
}

fn names(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(home.join("jobs")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn among(home: &Path, names: Vec<String>, known: &BTreeMap<JobId, KnownJob>) -> Vec<Stray> {
    let strays = names.into_iter().filter_map(|name| {
        let directory = home.join("jobs").join(&name);
        let id = JobId::parse(&name).ok();
        match id.as_ref().and_then(|id| known.get(id)) {
            // Its end is recorded: nothing of it can start again.
            Some(KnownJob { is_finished: true, .. }) => None,
            Some(KnownJob { nonce, is_quarantined, .. }) => {
                let (other, alive) = is_of_another(&directory, nonce)?;
                // Its run says so already, and what has ended holds nothing up.
                if *is_quarantined && !alive {
                    return None;
                }
                Some(stray(home, name, directory, id.as_ref(), other))
            }
            None => {
                let why = "the store does not know it".to_owned();
                Some(stray(home, name, directory, id.as_ref(), why))
            }
        }
    });
    strays.collect()
}

/// Why the records of a directory are not of the attempt with this nonce, and whether it lives;
/// `None` when they are.
fn is_of_another(directory: &Path, nonce: &str) -> Option<(String, bool)> {
    let seen = look(directory, nonce).ok()?;
    match (seen.started, seen.exit) {
        (Mark::Suspicious { detail }, _) | (_, Mark::Suspicious { detail }) => {
            Some((detail, seen.lock_held))
        }
        (
            Mark::Absent | Mark::Present(_) | Mark::Tombstone,
            Mark::Absent | Mark::Present(_) | Mark::Tombstone,
        ) => None,
    }
}

fn stray(home: &Path, job: String, directory: PathBuf, id: Option<&JobId>, why: String) -> Stray {
    let spec = JobDir::open(&directory).ok().and_then(|dir| dir.read_spec().ok());
    let nonce = spec.as_ref().map(|spec| spec.nonce.clone()).unwrap_or_default();
    let seen = look(&directory, &nonce).ok();
    let (mut pid, mut exit_code) = (None, None);
    if let Some(seen) = &seen {
        if let Mark::Present(started) = &seen.started
            && seen.same_boot
        {
            pid = Some(started.child.pid);
        }
        if let Mark::Present(exit) = &seen.exit {
            exit_code = exit.code;
        }
    }
    Stray {
        run_id: id.map(|id| id.run().to_string()),
        alive: seen.is_some_and(|seen| seen.lock_held),
        kept: is_acknowledged(home, &job),
        why,
        pid,
        exit_code,
        argv: spec.as_ref().map(words).unwrap_or_default(),
        token: spec.map(|spec| (spec.generation, spec.epoch)),
        job,
        directory,
    }
}

fn words(spec: &tidegate_process::Spec) -> Vec<String> {
    spec.argv.iter().map(|word| word.as_os_str().to_string_lossy().into_owned()).collect()
}
