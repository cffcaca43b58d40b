//! `tidegate cancel`: ask for the end of a run.

use serde_json::Map;
use tidegate_protocol::{CancelAnswer, ErrorCode, EventView, RunDoc, RunStatus};

use super::wait::tell;
use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::ending::{Patience, Reason, wait};
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::read;

/// Ask for the end of a run
///
/// Answers once that is recorded; all processes of the run are then ended, with a grace. What has
/// landed stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cancel r000001             ask for it
  tidegate cancel r000001 --wait      until the last process is proved gone")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// Wait until the processes of the run are proved gone
    #[arg(long)]
    wait: bool,
}

impl Args {
    /// Asks, and waits if asked to.
    ///
    /// # Errors
    /// When there is no such run, it has ended already, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let client = Client::new(&home)?;
        let path = format!("/runs/{run}/cancel");
        let answer: CancelAnswer = client.post(&path, &Map::new(), Starting::WhenAbsent)?;
        if !self.wait {
            if context.out.is_json() {
                context.out.data(&answer)?;
            } else {
                let asked = if answer.already_asked { "was asked already" } else { "is asked" };
                context.out.line(format_args!("{run} {}: its end {asked}", answer.status))?;
            }
            return Ok(Exit::OK);
        }
        if !context.out.is_json() {
            talk(format_args!("{run}: its end is recorded; waiting for its processes"));
        }
        let patience = Patience { deadline: None, ignore_attention: true };
        let mut told = false;
        let mut hindered = |run: &RunDoc, _: &[EventView]| {
            let stall = run.attention.iter().find(|item| item.reason == "shim_unresponsive");
            if let Some(stall) = stall.filter(|_| !told) {
                talk(format_args!("waiting: {}", stall.message));
                talk(format_args!("hint: {}", stall.unblocks));
                told = true;
            }
            Ok(())
        };
        let ending = wait(&home, &run, patience, &mut hindered)?;
        tell(&ending, context)?;
        match (ending.reason, ending.run.status) {
            (Reason::Ended, RunStatus::Cancelled) => Ok(Exit::OK),
            (Reason::Ended, status) => Err(CliError::new(
                ErrorCode::InvalidStatusTransition,
                format!("{run} {status} before it could be cancelled"),
            )),
            (Reason::Detached, _) => Ok(Exit::DETACHED),
            (Reason::PersonNeeded | Reason::TimedOut, _) => {
                Err(CliError::bug("a wait without a deadline ended early"))
            }
        }
    }
}
