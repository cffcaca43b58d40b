//! `tidegate progress`: a launcher says how far it is.

use serde_json::json;
use tidegate_daemon::launcher::{Finalized, Journal};
use tidegate_daemon::spool;

use crate::args::values;
use crate::context::Context;
use crate::error::CliError;
use crate::launcher_files::Launcher;
use crate::output::Exit;
use crate::verbs::agent::now;

/// Say how far a launcher is: called from within it
///
/// Writes the newest entry of the run's journal; works while no daemon lives. If the launcher is
/// lost later, the journal decides where it is started again, or how its run has ended.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate progress --wave 2 --phase building
  tidegate progress --wave 3 --finalized completed --exit-code 0")]
#[command(group = clap::ArgGroup::new("news").args(["wave", "phase", "finalized"]).required(true).multiple(true))]
pub(crate) struct Args {
    /// The wave that it works on; without it the one of the entry before
    #[arg(long, value_name = "N")]
    wave: Option<u32>,

    /// Its own word for what it does
    #[arg(long, value_name = "PHASE", value_parser = values::label)]
    phase: Option<String>,

    /// The whole run has ended, so or so
    #[arg(long, value_name = "END", value_enum)]
    finalized: Option<End>,

    /// The exit code of that end
    #[arg(long, value_name = "N", requires = "finalized", allow_negative_numbers = true)]
    exit_code: Option<i32>,

    /// The run; without it the one in the environment
    #[arg(long, value_name = "RUN", value_parser = values::run)]
    run_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum End {
    /// It ended well
    Completed,
    /// It ended badly
    Failed,
}

impl Args {
    /// Writes the entry.
    ///
    /// # Errors
    /// When no run is meant, or the file cannot be written.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let launcher = Launcher::find(context, self.run_id.as_deref())?;
        let before = match self.wave {
            Some(_) => None,
            None => spool::read(&launcher.directory).journal.and_then(|entry| entry.wave),
        };
        let finalized = self
            .finalized
            .map(|end| Finalized { completed: end == End::Completed, exit_code: self.exit_code });
        let journal =
            Journal { wave: self.wave.or(before), phase: self.phase, finalized, at: now() };
        spool::progress(&launcher.directory, &journal).map_err(launcher.failed())?;
        launcher.nudge();
        if context.out.is_json() {
            context.out.data(&json!({
                "runId": launcher.run,
                "wave": journal.wave,
                "phase": journal.phase,
                "finalized": finalized.map(|word| if word.completed { "completed" } else { "failed" }),
                "exitCode": self.exit_code,
            }))?;
        }
        Ok(Exit::OK)
    }
}
