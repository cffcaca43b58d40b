//! `tidegate hold`: pass a run over, or let it begin again.

use super::{pause, resume};
use crate::args::values;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;

/// Hold a run: while it waits it is passed over, while it runs nothing more of it begins
///
/// Jobs that run go on. Other runs of its queue are not held; a run that is active keeps its queue.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate hold r000001 --reason \"wait for the review\"
  tidegate hold r000001 --release    the same as `tidegate resume r000001`")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// Let it begin again
    #[arg(long, conflicts_with = "reason")]
    release: bool,

    /// Why, for those who find it held
    #[arg(long, value_name = "TEXT", value_parser = values::label)]
    reason: Option<String>,
}

impl Args {
    /// Asks.
    ///
    /// # Errors
    /// When there is no such run, it has ended, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        if self.release {
            resume::release(context, &home, &self.run)
        } else {
            pause::pause_run(context, &home, &self.run, self.reason)
        }
    }
}
