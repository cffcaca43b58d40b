//! `tidegate status`: one run, one wave, or all lanes at a glance.

use serde_json::json;
use tidegate_daemon::views::{RunQuery, WaveQuery};

use crate::args::values;
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::render;

/// Runs that are looked at for the overview, beside all that are active.
const RUNS_MAX: u32 = 500;

/// Show one run, the runs of a wave, or all lanes at a glance
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate status                          all lanes at a glance
  tidegate status r000001                  one run on a page
  tidegate status r000001 --oneline        run_id=... status=... on one line
  tidegate status --wave 2 --agent docs    one agent of the most relevant run of wave 2")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run, conflicts_with = "wave")]
    run: Option<String>,

    /// Print key=value pairs on one line
    #[arg(long, conflicts_with = "wave")]
    oneline: bool,

    /// Summarise the most relevant run of this wave
    #[arg(long, value_name = "N")]
    wave: Option<u32>,

    /// Of that wave only this agent
    #[arg(long, value_name = "ID", value_parser = values::label, requires = "wave")]
    agent: Option<String>,

    /// Only runs of this project
    #[arg(long, value_name = "ID", value_parser = values::project)]
    project: Option<String>,

    /// Only runs of this lane
    #[arg(long, value_name = "NAME", value_parser = values::lane)]
    lane: Option<String>,

    /// Only runs of this ad-hoc queue
    #[arg(long, value_name = "ID", value_parser = values::adhoc)]
    adhoc_run: Option<String>,
}

impl Args {
    /// Shows it.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        match (&self.run, self.wave) {
            (Some(run), _) => self.one(context, &home, run),
            (None, Some(wave)) => self.wave(context, &home, wave),
            (None, None) => self.lanes(context, &home),
        }
    }

    fn one(&self, context: &mut Context, home: &Home, run: &str) -> Result<Exit, CliError> {
        let document = read::run(home, run)?;
        let other = |wanted: &Option<String>, has: &str| {
            wanted.as_ref().is_some_and(|wanted| wanted != has)
        };
        if other(&self.project, &document.project) || other(&self.lane, &document.lane) {
            let queue = format!("{}/{}", document.project, document.lane);
            return Err(tidegate_protocol::Problem::not_found(format!(
                "{} is not in that queue but in {queue}",
                document.run_id
            ))
            .into());
        }
        if context.out.is_json() {
            context.out.data(&document)?;
        } else if self.oneline {
            context.out.line(render::oneline(&document))?;
        } else {
            context.out.line(render::run_page(&document))?;
        }
        Ok(Exit::OK)
    }

    fn wave(&self, context: &mut Context, home: &Home, wave: u32) -> Result<Exit, CliError> {
        let Self { project, lane, adhoc_run: adhoc, agent, .. } = self;
        let (project, lane) = (project.clone(), lane.clone());
        let (adhoc, agent) = (adhoc.clone(), agent.clone());
        let found = read::wave(home, &WaveQuery { wave, project, lane, adhoc, agent })?;
        if context.out.is_json() {
            context.out.data(&found)?;
        } else if let Some(found) = found {
            context.out.line(render::wave_page(&found))?;
        } else {
            talk(format_args!("no run of wave {wave}"));
        }
        Ok(Exit::OK)
    }

    fn lanes(&self, context: &mut Context, home: &Home) -> Result<Exit, CliError> {
        let runs = read::list(home, &self.query())?.runs;
        if self.oneline && !context.out.is_json() {
            runs.iter().try_for_each(|run| context.out.line(render::oneline(run)))?;
            return Ok(Exit::OK);
        }
        let daemon = read::daemon(home)?;
        let lanes = render::lanes_of(runs);
        if context.out.is_json() {
            context.out.data(&json!({ "daemon": daemon, "lanes": lanes }))?;
            return Ok(Exit::OK);
        }
        if lanes.is_empty() {
            talk("no runs");
        } else {
            context.out.line(render::lanes(&lanes))?;
        }
        if !daemon.running {
            context.out.flush()?;
            talk("no daemon runs");
        }
        Ok(Exit::OK)
    }

    fn query(&self) -> RunQuery {
        RunQuery {
            project: self.project.clone(),
            lane: self.lane.clone(),
            adhoc: self.adhoc_run.clone(),
            limit: Some(RUNS_MAX),
            ..RunQuery::default()
        }
    }
}
