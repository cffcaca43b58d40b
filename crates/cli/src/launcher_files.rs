//! The files by which a launcher speaks to Tidegate, written whole and durable whether a daemon is
//! there or not; then the daemon, if there is one, is told to look.

use std::path::{Path, PathBuf};

use tidegate_protocol::{ErrorCode, RunKind};

use crate::client::nudge;
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
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
            return Ok(Self { home, run: run.clone(), directory: directory.clone() });
        }
        let Some(named) = named else { return Err(nowhere()) };
        let home = context.home_of_job(own_job.as_deref())?;
        let document = read::run(&home, named)?;
        let run = document.run_id;
        match document.state_path.filter(|_| document.kind == RunKind::Launcher) {
            Some(path) => Ok(Self { home, run, directory: PathBuf::from(path) }),
            None => Err(CliError::new(
                ErrorCode::InvalidStatusTransition,
                format!("{run} has no launcher that started"),
            )),
        }
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

fn nowhere() -> CliError {
    CliError::usage(
        "this process belongs to no run: TIDEGATE_RUN_ID and TIDEGATE_JOB_DIR are not set",
    )
    .hint("name the run with `--run-id RUN`, or call this from a launcher")
}
