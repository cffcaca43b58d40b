//! `tidegate resume`: end a pause of lanes, or release a held run.

use serde_json::Value;
use tidegate_protocol::PauseRequest;

use super::pause::What;
use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// End a pause: of a lane, of all lanes of a project or of the home, or of one run
///
/// Name what was paused, as it was paused: a pause of every lane is not ended for one of them.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("subject").required(true).multiple(true).args(["run", "project", "lane", "all", "feature"])))]
#[command(after_help = "\
Examples:
  tidegate resume --lane main          the lane of this repository
  tidegate resume --project harbour    every lane of a project
  tidegate resume --all                every lane of the home
  tidegate resume r000001              one run that is held
  tidegate resume --feature berths     a feature that is blocked, failed or left over")]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,

    /// Go on with this feature: in the active run that has it, else in a run of its own
    #[arg(long, value_name = "ID", value_parser = values::feature,
          conflicts_with_all = ["run", "project", "all"])]
    feature: Option<String>,
}

impl Args {
    /// Asks.
    ///
    /// # Errors
    /// When there is no such run or project, the run has ended, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        if let Some(feature) = &self.feature {
            return super::launch::resume(context, &home, self.what.lane(), feature);
        }
        match self.what.run() {
            Some(run) => release(context, &home, run),
            None => resume_lanes(context, &home, &self.what),
        }
    }
}

/// Lets a held run begin again.
pub(super) fn release(context: &mut Context, home: &Home, run: &str) -> Result<Exit, CliError> {
    let run = read::run(home, run)?.run_id;
    let request = PauseRequest { reason: None, actor: Some(actor()) };
    let client = Client::new(home)?;
    let answer: Value =
        client.post(&format!("/runs/{run}/resume"), &request, Starting::WhenAbsent)?;
    if context.out.is_json() {
        context.out.data(&answer)?;
        return Ok(Exit::OK);
    }
    let was = if answer["already"] == true { "was not held" } else { "is released" };
    context.out.line(format_args!("{run} {was}"))?;
    Ok(Exit::OK)
}

fn resume_lanes(context: &mut Context, home: &Home, what: &What) -> Result<Exit, CliError> {
    let request = what.lanes(home)?;
    let client = Client::new(home)?;
    let answer: Value = client.post("/lanes/resume", &request, Starting::WhenAbsent)?;
    if context.out.is_json() {
        context.out.data(&answer)?;
        return Ok(Exit::OK);
    }
    let scope = answer["scope"].as_str().unwrap_or_default();
    let was = if answer["already"] == true { "was not paused" } else { "is resumed" };
    context.out.line(format_args!("{scope} {was}"))?;
    context.out.flush()?;
    let rest = answer["stillPaused"].as_array().map_or(&[][..], Vec::as_slice);
    for scope in rest.iter().filter_map(Value::as_str) {
        talk(format_args!("still paused: {scope}"));
    }
    Ok(Exit::OK)
}
