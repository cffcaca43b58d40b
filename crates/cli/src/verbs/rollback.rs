//! `tidegate rollback`: a worktree goes back to a snapshot.

use serde_json::Value;
use tidegate_protocol::RollbackRequest;

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// Put the worktree of a feature back to a snapshot
///
/// Files, index and branch become those of the snapshot; what is there now is captured first. It is
/// refused while an agent works there. Afterwards a new agent goes on from it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate restore r000001 --list                    the numbers
  tidegate rollback r000001 --feature berths --to 3")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// The feature
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: String,

    /// The snapshot's number
    #[arg(long, value_name = "N")]
    to: u32,
}

impl Args {
    /// Asks for it.
    ///
    /// # Errors
    /// When an agent works there, the feature has no worktree, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let feature = self.feature.clone();
        let request = RollbackRequest { feature: self.feature, to: self.to, actor: Some(actor()) };
        let client = Client::new(&home)?;
        let answer: Value =
            client.post(&format!("/runs/{run}/rollback"), &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            talk(format_args!("{feature} goes back to snapshot {}", self.to));
        }
        Ok(Exit::OK)
    }
}
