//! What a person can say of a job that the store does not know: it may go on, it is to end, its
//! directory is to be put away.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tidegate_core::ids::JobId;
use tidegate_core::limits::GRACE_MS;
use tidegate_core::verdict::Mark;
use tidegate_process::observe::look;
use tidegate_process::{ControlClient, ControlError, JobDir, Sweep};
use tidegate_store::{OpenError, Reader};

use super::strays::Stray;
use crate::clock;

/// How long a shim may take to answer.
const CONTROL_PATIENCE: Duration = Duration::from_secs(2);
/// How long the end of a whole tree is waited for.
const END_PATIENCE: Duration = Duration::from_secs(30);
/// Pause between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub enum VerdictError {
    /// There is no such stray.
    #[error("`{job}` is no job that the store does not know")]
    NoStray {
        /// The name that was given.
        job: String,
    },
    /// It lives.
    #[error("{job} lives: `tidegate doctor --quarantine stop {job}` ends it")]
    Alive {
        /// The job.
        job: String,
    },
    /// It could not be ended.
    #[error("{job} could not be ended: {why}")]
    NotEnded {
        /// The job.
        job: String,
        /// Why.
        why: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// The home as shims know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its id.
    pub home_id: String,
    /// Its newest token: generation, then epoch.
    pub token: (u64, u64),
}

/// Who a home is to the shims of its jobs.
///
/// # Errors
/// [`OpenError`] when the store cannot be read.
pub fn owner(home: &Path) -> Result<Owner, OpenError> {
    let mut reader = Reader::open(home)?;
    let row =
        reader.read(|view| view.home_row()).map_err(|error| tidegate_store::advise(home, error))?;
    Ok(Owner { home_id: row.home_id, token: (row.token.generation, row.token.epoch) })
}

fn note(home: &Path, job: &str) -> PathBuf {
    home.join("quarantine").join("kept").join(job)
}

/// Whether a person said that the job may go on.
pub fn is_acknowledged(home: &Path, job: &str) -> bool {
    // A name from a directory listing has no separators.
    note(home, job).exists()
}

/// Lets a job go on unsupervised; it holds nothing up any more.
///
/// # Errors
/// [`VerdictError::Io`].
pub fn keep(home: &Path, stray: &Stray) -> Result<(), VerdictError> {
    let path = note(home, &stray.job);
    let io = |source| VerdictError::Io { doing: "write", path: path.clone(), source };
    std::fs::create_dir_all(path.parent().unwrap_or(home)).map_err(io)?;
    std::fs::write(&path, b"").map_err(io)
}

/// Ends a job and all below it, proves that, and puts its directory away; where it is now.
///
/// # Errors
/// [`VerdictError`]; then its directory is where it was.
pub fn stop(home: &Path, stray: &Stray, owner: &Owner) -> Result<PathBuf, VerdictError> {
    let failed = |why: String| VerdictError::NotEnded { job: stray.job.clone(), why };
    let dir = JobDir::open(&stray.directory).map_err(|error| failed(error.to_string()))?;
    let spec = dir.read_spec().map_err(|error| failed(error.to_string()))?;
    let seen = look(&stray.directory, &spec.nonce).map_err(|error| failed(error.to_string()))?;
    if seen.lock_held {
        let token = stray.token.map_or(owner.token, |own| own.max(owner.token));
        let asked = ControlClient::connect(&dir, &spec.nonce, token, CONTROL_PATIENCE)
            .and_then(|(mut client, _)| client.stop("doctor", GRACE_MS));
        match asked {
            // Its main process was faster: the end follows.
            Ok(_) | Err(ControlError::Refused { .. }) => {}
            Err(error) => return Err(failed(error.to_string())),
        }
        wait_for_lock(&stray.directory, &spec.nonce).map_err(failed)?;
    } else if let Mark::Present(started) = &seen.started
        && matches!(seen.exit, Mark::Absent)
        && seen.same_boot
        && let Ok(id) = JobId::parse(&stray.job)
    {
        let tag = crate::adapters::run_tag(&owner.home_id, &id);
        let swept = Sweep::lost_shim(&started.to_core(), &tag)
            .run(END_PATIENCE)
            .map_err(|error| failed(error.to_string()))?;
        if !swept.is_empty() {
            return Err(failed(format!("still alive: {}", swept.survivors.join(", "))));
        }
    }
    put_away(home, stray)
}

/// Puts the directory of a job that has ended away; where it is now.
///
/// # Errors
/// [`VerdictError::Alive`], [`VerdictError::Io`].
pub fn drop_stray(home: &Path, stray: &Stray) -> Result<PathBuf, VerdictError> {
    if look(&stray.directory, "").is_ok_and(|seen| seen.lock_held) {
        return Err(VerdictError::Alive { job: stray.job.clone() });
    }
    put_away(home, stray)
}

fn wait_for_lock(directory: &Path, nonce: &str) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        match look(directory, nonce) {
            Ok(seen) if !seen.lock_held => return Ok(()),
            Ok(_) if begun.elapsed() >= END_PATIENCE => {
                return Err(format!("it has not ended within {} s", END_PATIENCE.as_secs()));
            }
            Ok(_) => std::thread::sleep(PAUSE),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn put_away(home: &Path, stray: &Stray) -> Result<PathBuf, VerdictError> {
    let folder = home.join("quarantine").join("jobs");
    let to = folder.join(format!("{}-{}", stray.job, clock::wall().0));
    let io = |doing: &'static str, path: &Path| {
        let path = path.to_owned();
        move |source| VerdictError::Io { doing, path, source }
    };
    std::fs::create_dir_all(&folder).map_err(io("create", &folder))?;
    std::fs::rename(&stray.directory, &to).map_err(io("put away", &stray.directory))?;
    let sync = |path: &Path| std::fs::File::open(path).and_then(|dir| dir.sync_all());
    sync(&folder).map_err(io("sync", &folder))?;
    let jobs = home.join("jobs");
    sync(&jobs).map_err(io("sync", &jobs))?;
    // The word about it is used up.
    let _ = std::fs::remove_file(note(home, &stray.job));
    Ok(to)
}
