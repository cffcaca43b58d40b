//! `tidegate approve`: a person's consent to land one exact commit.

use serde_json::Value;
use tidegate_protocol::ApproveRequest;

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// Let a feature land that waits for a person
///
/// The consent is for the commit that you name: when the feature has another one by now, nothing
/// lands. `tidegate status RUN` shows the commit, its worktree has the change.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  git show 4f2c...                                       look at it first
  tidegate approve r000001 --feature berths --commit 4f2c...")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// The feature
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: String,

    /// The full id of the commit that you looked at
    #[arg(long, value_name = "OID")]
    commit: String,
}

impl Args {
    /// Gives the consent.
    ///
    /// # Errors
    /// When the feature waits for none, has another commit by now, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let request = ApproveRequest {
            feature: self.feature.clone(),
            commit: self.commit,
            actor: Some(actor()),
        };
        let client = Client::new(&home)?;
        let answer: Value =
            client.post(&format!("/runs/{run}/approve"), &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            talk(format_args!("{} may land", self.feature));
        }
        Ok(Exit::OK)
    }
}
