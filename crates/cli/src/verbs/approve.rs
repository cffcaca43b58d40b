//! `tidegate approve`: a person's consent to land one exact commit.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use serde_json::Value;
use tidegate_protocol::{ApproveRequest, ErrorCode};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// Let a feature land that waits for a person
///
/// The consent is for one commit: the one of the token that `tidegate review` shows, or the one that you
/// name. When the feature has another one by now, nothing lands. A token is good for one consent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate review berths                                 look at it first
  tidegate approve berths --token 4f2c...-1-9a0b...
  tidegate approve r000001 --feature berths --commit 4f2c...
  tidegate approve berths                                on a terminal: asks before it lands")]
pub(crate) struct Args {
    /// The feature, as FEATURE or RUN/FEATURE; with `--feature`, the run
    #[arg(value_name = "FEATURE")]
    place: String,

    /// The feature, when the run alone is named before
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: Option<String>,

    /// The full id of the commit that you looked at
    #[arg(long, value_name = "OID", conflicts_with = "token")]
    commit: Option<String>,

    /// The token of the review that you looked at
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,

    /// Consent to what is in review now, without a question
    #[arg(long, short, conflicts_with_all = ["commit", "token"])]
    yes: bool,
}

impl Args {
    /// Gives the consent.
    ///
    /// # Errors
    /// When the feature waits for none, has another commit by now, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let (run, feature) = read::place(&home, &self.place, self.feature.as_deref())?;
        let commit = match (self.commit, &self.token) {
            (Some(commit), _) => Some(commit),
            (None, Some(_)) => None,
            (None, None) => Some(in_review(&home, &run, &feature, self.yes)?),
        };
        let request = ApproveRequest {
            feature: feature.clone(),
            commit,
            token: self.token,
            actor: Some(actor()),
        };
        let client = Client::new(&home)?;
        let answer: Value =
            client.post(&format!("/runs/{run}/approve"), &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            talk(format_args!("{feature} may land"));
        }
        Ok(Exit::OK)
    }
}

/// The commit that is in review now, once a person on the terminal wants it to land.
fn in_review(home: &Home, run: &str, feature: &str, sure: bool) -> Result<String, CliError> {
    if !sure && !std::io::stdin().is_terminal() {
        let message = format!("a consent to `{feature}` names its `--token` or its `--commit`");
        return Err(CliError::new(ErrorCode::UserApprovalRequired, message)
            .hint(format!("`tidegate review {run}/{feature}` shows both")));
    }
    let review = read::review(home, run, feature, true)?;
    if !review.awaits_person {
        let message = format!("`{feature}` is {} and waits for no consent", review.state);
        return Err(CliError::new(ErrorCode::InvalidStatusTransition, message));
    }
    if sure {
        return Ok(review.commit);
    }
    let stats = review.stats;
    let mut err = std::io::stderr();
    let _ = write!(
        err,
        "land {} of `{feature}` on {}, {} files, +{} -{}? [y/N] ",
        review.commit, review.target, stats.files, stats.added, stats.removed
    );
    let _ = err.flush();
    let mut said = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut said)
        .map_err(|error| CliError::io("read", std::path::Path::new("standard input"), &error))?;
    if matches!(said.trim(), "y" | "Y" | "yes") {
        return Ok(review.commit);
    }
    Err(CliError::new(ErrorCode::UserApprovalRequired, "nothing was consented to"))
}
