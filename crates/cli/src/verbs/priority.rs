//! `tidegate priority`: change a run's place among those of its queue.

use serde_json::Value;
use tidegate_protocol::PriorityRequest;

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::output::Exit;
use crate::read;
use crate::work::actor;

/// Change the priority of a run that waits
///
/// Of the runs of a queue the one with the highest priority is next; within a priority they go in
/// the order of their submits. The usual one is 0. What runs is not interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate priority r000007 10    before all of its queue that have less
  tidegate priority r000007 -1    after all that have the usual one")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// The new priority: higher ones first
    #[arg(value_name = "N", allow_negative_numbers = true, value_parser = values::priority)]
    priority: i32,
}

impl Args {
    /// Asks.
    ///
    /// # Errors
    /// When there is no such run, it waits no longer, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let request = PriorityRequest { priority: self.priority, actor: Some(actor()) };
        let client = Client::new(&home)?;
        let path = format!("/runs/{run}/priority");
        let answer: Value = client.post(&path, &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            context.out.line(format_args!("{run} has priority {}", self.priority))?;
        }
        Ok(Exit::OK)
    }
}
