//! `tidegate delete`: an ended run goes as a whole, if nothing of it has to stay.

use tidegate_protocol::CleanupRequest;

use super::cleanup::perform;
use crate::args::values;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;
use crate::work::actor;

/// Remove all that an ended run left, snapshots and output included
///
/// By the same proofs as `cleanup`: what is not on the target stays, is told with the reason, and keeps
/// the run from being deleted. The record of what happened stays; `status` says that it is deleted.
/// Without `--yes` nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate delete r000001          what would go and what would stay
  tidegate delete r000001 --yes    do it")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// Do it
    #[arg(long, short = 'y')]
    yes: bool,

    /// Do it without questions; no proof is left out
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Shows what would go, or removes it.
    ///
    /// # Errors
    /// When there is no such run, it has not ended, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let request = CleanupRequest {
            run: Some(self.run),
            delete: true,
            actor: Some(actor()),
            ..CleanupRequest::default()
        };
        perform(context, &request, self.yes || self.force)
    }
}
