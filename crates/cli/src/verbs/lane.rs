//! `tidegate lane`: the queues of the home.

use clap::Subcommand;
use tidegate_protocol::{LaneDoc, LaneList, PauseDoc};

use crate::context::Context;
use crate::error::{CliError, printable};
use crate::output::{Exit, talk};
use crate::read;
use crate::render::table;

/// List lanes: what each runs, what waits, and what is paused
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate lane list                 every queue with a run that waits or runs
  tidegate pause --lane main         claim nothing more from a lane
  tidegate resume --lane main        go on")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the queues with runs that wait or run, and the pauses
    List,
}

impl Args {
    /// Lists.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let Verb::List = self.verb;
        let home = context.home()?;
        let list = read::lanes(&home)?;
        if context.out.is_json() {
            context.out.data(&list)?;
            return Ok(Exit::OK);
        }
        if list.lanes.is_empty() {
            talk("no run waits or runs");
        } else {
            context.out.line(page(&list.lanes))?;
        }
        for pause in idle_pauses(&list) {
            context.out.line(format_args!("paused: {}, {}", pause.scope, by(pause)))?;
        }
        Ok(Exit::OK)
    }
}

fn page(lanes: &[LaneDoc]) -> String {
    let rows = lanes.iter().map(|lane| {
        let name = match &lane.adhoc_run_id {
            Some(adhoc) => format!("{}/{}+{adhoc}", lane.project, lane.lane),
            None => format!("{}/{}", lane.project, lane.lane),
        };
        let none = || "-".to_owned();
        vec![
            name,
            lane.active.clone().unwrap_or_else(none),
            lane.next.clone().unwrap_or_else(none),
            lane.pending.to_string(),
            lane.held.to_string(),
            lane.paused.as_ref().map(by).unwrap_or_default(),
        ]
    });
    table(&["QUEUE", "RUNS", "NEXT", "PENDING", "HELD", "PAUSED"], rows.collect())
}

/// The pauses that no queue of the table shows.
fn idle_pauses(list: &LaneList) -> impl Iterator<Item = &PauseDoc> {
    let shown = |pause: &PauseDoc| list.lanes.iter().any(|l| l.paused.as_ref() == Some(pause));
    list.pauses.iter().filter(move |pause| !shown(pause))
}

fn by(pause: &PauseDoc) -> String {
    let reason = pause.reason.as_ref().map(|text| format!(": {}", printable(text)));
    format!("by {} since {}{}", pause.by, pause.since, reason.unwrap_or_default())
}
