//! `tidegate deny`: a person wants a commit otherwise, and its builder is told how.

use serde_json::Value;
use tidegate_protocol::DenyRequest;

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::input::text_or_stdin;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// Send a feature that waits for a person back to its builder
///
/// The next iteration of the feature is told what you say. It is about the commit that you name: when
/// the feature has another one by now, nothing happens.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate deny r000001 --feature berths --commit 4f2c... -m 'Name the berths, do not number them'
  tidegate deny r000001 --feature berths --commit 4f2c... -m - < comments.txt")]
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

    /// What its builder is told; `-` reads standard input
    #[arg(long, short, value_name = "TEXT")]
    message: String,
}

impl Args {
    /// Gives the word.
    ///
    /// # Errors
    /// When the feature waits for none, has another commit by now, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let comments = text_or_stdin(self.message)?;
        let request = DenyRequest {
            feature: self.feature.clone(),
            commit: self.commit,
            comments,
            actor: Some(actor()),
        };
        let client = Client::new(&home)?;
        let answer: Value =
            client.post(&format!("/runs/{run}/deny"), &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            talk(format_args!("{} goes back to its builder", self.feature));
        }
        Ok(Exit::OK)
    }
}
