//! The files by which a launcher speaks to Tidegate, written whole and durable whether a daemon is
//! there or not; then the daemon, if there is one, is told to look.

use std::path::{Path, PathBuf};

use tidegate_daemon::Identity;
use tidegate_daemon::identity;
use tidegate_daemon::peer::{self, KnownShim, Origin};
use tidegate_protocol::{ErrorCode, RunKind};

use crate::client::nudge;
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::inside::{is_shim, job_above};
use crate::read;

/// The launcher that a verb speaks for.
pub(crate) struct Launcher {
    /// Its home.
    pub(crate) home: Home,
    /// Its run.
    pub(crate) run: String,
    /// Its job directory.
    pub(crate) directory: PathBuf,
}

impl Launcher {
    /// The launcher of the run `named`, else the one in whose environment this process is.
    ///
    /// # Errors
    /// When neither says which run is meant, or that run has no launcher that started.
    pub(crate) fn find(context: &Context, named: Option<&str>) -> Result<Self, CliError> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let own_run = variable("TIDEGATE_RUN_ID").and_then(|run| run.into_string().ok());
        let own_job = variable("TIDEGATE_JOB_DIR").map(PathBuf::from);
        if let (Some(run), Some(directory)) = (&own_run, &own_job)
            && named.is_none_or(|named| named == run)
        {
            let home = context.home_of_job(Some(directory))?;
            let launcher = Self { home, run: run.clone(), directory: directory.clone() };
            launcher.refuse_other_runs()?;
            return Ok(launcher);
        }
        let Some(named) = named else { return Err(nowhere()) };
        let home = context.home_of_job(own_job.as_deref())?;
        let document = read::run(&home, named)?;
        let run = document.run_id;
        let path = document.state_path.filter(|_| document.kind == RunKind::Launcher);
        let launcher = Self { home, run, directory: path.map(PathBuf::from).unwrap_or_default() };
        launcher.refuse_other_runs()?;
        if launcher.directory.as_os_str().is_empty() {
            let message = format!("{} has no launcher that started", launcher.run);
            return Err(CliError::new(ErrorCode::InvalidStatusTransition, message));
        }
        Ok(launcher)
    }

    /// A process inside a job speaks for its own run alone, whatever its environment says.
    fn refuse_other_runs(&self) -> Result<(), CliError> {
        let Some(job) = job_above(&self.home) else { return Ok(()) };
        // A run that has no launcher has no directory.
        let place = self.directory.canonicalize().unwrap_or_else(|_| self.directory.clone());
        let named =
            place.file_name().is_none_or(|name| is_job_of(&name.to_string_lossy(), &self.run));
        if is_job_of(&job, &self.run) && named {
            return Ok(());
        }
        Err(CliError::new(
            ErrorCode::ForbiddenScope,
            "a process inside a job may do this for its own run only",
        ))
    }

    /// Tells the daemon that files changed. Without one, the next finds them at its start.
    pub(crate) fn nudge(&self) {
        nudge(&self.home, &self.run);
    }

    /// What went wrong with one of the files.
    pub(crate) fn failed(&self) -> impl Fn(std::io::Error) -> CliError + use<> {
        let directory: PathBuf = Path::new(&self.directory).to_owned();
        move |source| {
            let error = CliError::io("write in", &directory, &source);
            match source.kind() {
                std::io::ErrorKind::StorageFull => CliError::new(
                    ErrorCode::StorageFull,
                    format!("write in {}: {source}", directory.display()),
                ),
                _ => error,
            }
        }
    }
}

/// The identity of a process that belongs to the launcher's run: it descends from one of the run's
/// shims, or carries the run's tag.
///
/// # Errors
/// `not_found`, `foreign_process`.
pub(crate) fn own_process(launcher: &Launcher, pid: u32) -> Result<Identity, CliError> {
    let place = PathBuf::from(format!("/proc/{pid}"));
    let failed = |source: std::io::Error| CliError::io("identify", &place, &source);
    let process = identity::of(pid)
        .map_err(failed)?
        .ok_or_else(|| CliError::new(ErrorCode::NotFound, format!("there is no process {pid}")))?;
    if is_shim(pid, &launcher.home) {
        return Err(CliError::new(
            ErrorCode::ForeignProcess,
            format!("process {pid} is Tidegate's own: the shim of a job"),
        )
        .hint("name the agent's process with `--pid PID`, or use `--remote`"));
    }
    // The tag of this very process names the home.
    let tag = std::env::var("TIDEGATE_RUN_TAG").unwrap_or_default();
    let home_id = tag.split(':').next().unwrap_or_default();
    let shims = shim_of(launcher).map_err(failed)?;
    match peer::origin(&process, home_id, shims.as_slice()).map_err(failed)? {
        Origin::Job(job) if is_job_of(&job, &launcher.run) => Ok(process),
        Origin::Job(_) | Origin::Outside | Origin::Unknown => Err(CliError::new(
            ErrorCode::ForeignProcess,
            format!("process {pid} is not of run {}", launcher.run),
        )
        .hint("register processes that the launcher started, or use `--remote`")),
    }
}

/// The launcher's own shim, where the store says so and it lives.
fn shim_of(launcher: &Launcher) -> std::io::Result<Option<KnownShim>> {
    let document = read::run(&launcher.home, &launcher.run).ok();
    let Some(recorded) = document.and_then(|run| run.shim_identity) else { return Ok(None) };
    let job = launcher.directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let shim = identity::of(recorded.pid)?
        .filter(|now| now.start_ticks == recorded.start_ticks && now.boot_id == recorded.boot_id);
    Ok(shim.map(|shim| KnownShim { shim, job }))
}

fn is_job_of(job: &str, run: &str) -> bool {
    job.strip_prefix(run).is_some_and(|rest| rest.starts_with('-'))
}

fn nowhere() -> CliError {
    CliError::usage(
        "this process belongs to no run: TIDEGATE_RUN_ID and TIDEGATE_JOB_DIR are not set",
    )
    .hint("name the run with `--run-id RUN`, or call this from a launcher")
}
