//! `tidegate retry`: once more what did not land.

use tidegate_protocol::{RetryAnswer, RetryRequest};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// Try once more what did not land
///
/// Of a run that goes on: one feature. Of a run that has ended: a new run of everything that did
/// not land.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate retry r000001                     a new run of what did not land
  tidegate retry r000001 --feature berths    one feature of a run that goes on")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// The feature of a run that goes on
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: Option<String>,
}

impl Args {
    /// Asks for it.
    ///
    /// # Errors
    /// When it is not legal in the run's state, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let request = RetryRequest { feature: self.feature, actor: Some(actor()) };
        let client = Client::new(&home)?;
        let answer: RetryAnswer =
            client.post(&format!("/runs/{run}/retry"), &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
            return Ok(Exit::OK);
        }
        context.out.line(format_args!("run_id={}", answer.run_id))?;
        context.out.flush()?;
        match (&answer.retry_of, &answer.feature) {
            (Some(old), _) => talk(format_args!("{} repeats {old}", answer.run_id)),
            (None, Some(feature)) => talk(format_args!("{feature} is back in its queue")),
            (None, None) => {}
        }
        Ok(Exit::OK)
    }
}
