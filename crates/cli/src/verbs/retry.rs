//! `tidegate retry`: once more what did not land.

use tidegate_protocol::{ErrorCode, RetryAnswer, RetryRequest, RunDoc, RunStatus};

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
        let document = read::run(&home, &self.run)?;
        refuse_in_vain(&document, self.feature.as_deref())?;
        let run = document.run_id;
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

/// Refuses what the end of a run has made pointless, and says what can be done instead. An end
/// never changes, so the daemon need not be asked.
fn refuse_in_vain(run: &RunDoc, feature: Option<&str>) -> Result<(), CliError> {
    let id = &run.run_id;
    let refused = |what: &str| {
        let message = format!("{id} has {what}");
        CliError::new(ErrorCode::InvalidStatusTransition, message)
    };
    match (run.status, feature) {
        (RunStatus::Completed, _) if run.recorded => {
            Err(refused("completed: there is nothing to retry")
                .hint("submit its work again to do it once more"))
        }
        (RunStatus::Failed | RunStatus::Cancelled, Some(_)) if run.recorded => {
            Err(refused("ended: its features are retried by a new run")
                .hint(format!("`tidegate retry {id}` makes a run of all that did not land")))
        }
        (
            RunStatus::Completed
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Pending
            | RunStatus::Running,
            _,
        ) => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::render::sample;

    fn refusal(status: RunStatus, feature: Option<&str>) -> Option<String> {
        let mut run = sample();
        (run.status, run.recorded) = (status, true);
        refuse_in_vain(&run, feature).err().map(|error| error.to_string())
    }

    #[test]
    fn retry_of_an_end_says_what_can_be_done_instead() {
        assert!(refusal(RunStatus::Completed, None).unwrap().contains("nothing to retry"));
        let text = refusal(RunStatus::Failed, Some("berths")).unwrap();
        assert!(text.contains(&format!("tidegate retry {}", sample().run_id)), "{text}");
        assert_eq!(refusal(RunStatus::Failed, None), None);
        assert_eq!(refusal(RunStatus::Cancelled, None), None);
        assert_eq!(refusal(RunStatus::Running, Some("berths")), None);
    }
}
