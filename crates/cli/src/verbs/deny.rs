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
  tidegate deny berths -m 'Name the berths, do not number them'
  tidegate deny r000001 --feature berths --commit 4f2c... -m - < comments.txt")]
pub(crate) struct Args {
    /// The feature, as FEATURE or RUN/FEATURE; with `--feature`, the run
    #[arg(value_name = "FEATURE")]
    place: String,

    /// The feature, when the run alone is named before
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: Option<String>,

    /// The full id of the commit that you looked at [default: the one in review now]
    #[arg(long, value_name = "OID")]
    commit: Option<String>,

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
        let (run, feature) = read::place(&home, &self.place, self.feature.as_deref())?;
        let commit = match self.commit {
            Some(commit) => commit,
            None => read::review(&home, &run, &feature, true)?.commit,
        };
        let comments = text_or_stdin(self.message)?;
        let request =
            DenyRequest { feature: feature.clone(), commit, comments, actor: Some(actor()) };
        let client = Client::new(&home)?;
        let answer: Value =
            client.post(&format!("/runs/{run}/deny"), &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            talk(format_args!("{feature} goes back to its builder"));
        }
        Ok(Exit::OK)
    }
}
