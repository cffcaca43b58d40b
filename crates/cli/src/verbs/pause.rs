//! `tidegate pause`: let nothing more begin, in lanes or of a run.

use serde_json::Value;
use tidegate_protocol::{LanesRequest, PauseRequest};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::{Repository, actor};

/// Let nothing more begin: in a lane, in all lanes of a project or of the home, or of one run
///
/// A paused lane claims no further run; a paused run is passed over while it waits, and begins no
/// further feature, gate or landing while it runs. Jobs that run go on: `tidegate cancel` ends them.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("subject").required(true).multiple(true).args(["run", "project", "lane", "all"])))]
#[command(after_help = "\
Examples:
  tidegate pause --lane main                         the lane of this repository
  tidegate pause --project harbour                   every lane of a project
  tidegate pause --all --reason \"the host is slow\"   every lane of the home
  tidegate pause r000001                             one run: the same as `tidegate hold`")]
pub(crate) struct Args {
    #[command(flatten)]
    what: What,

    /// Why, for those who find it paused
    #[arg(long, value_name = "TEXT", value_parser = values::label)]
    reason: Option<String>,
}

/// A run, or lanes.
#[derive(Debug, clap::Args)]
pub(super) struct What {
    /// Run id, or the beginning of one
    #[arg(
        value_name = "RUN",
        value_parser = values::run,
        conflicts_with_all = ["project", "lane", "all"],
    )]
    run: Option<String>,

    /// The lanes of this project
    #[arg(long, value_name = "ID", value_parser = values::project, conflicts_with = "all")]
    project: Option<String>,

    /// This lane; without --project that of the working directory's repository
    #[arg(long, value_name = "NAME", value_parser = values::lane)]
    lane: Option<String>,

    /// The lanes of every project
    #[arg(long)]
    all: bool,
}

impl Args {
    /// Asks.
    ///
    /// # Errors
    /// When there is no such run or project, the run has ended, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        match &self.what.run {
            Some(run) => pause_run(context, &home, run, self.reason),
            None => pause_lanes(context, &home, &self.what, self.reason),
        }
    }
}

/// Keeps a run from beginning anything more.
pub(super) fn pause_run(
    context: &mut Context,
    home: &Home,
    run: &str,
    reason: Option<String>,
) -> Result<Exit, CliError> {
    let run = read::run(home, run)?.run_id;
    let request = PauseRequest { reason, actor: Some(actor()) };
    let client = Client::new(home)?;
    let answer: Value =
        client.post(&format!("/runs/{run}/pause"), &request, Starting::WhenAbsent)?;
    if context.out.is_json() {
        context.out.data(&answer)?;
        return Ok(Exit::OK);
    }
    let was = if answer["already"] == true { "was held already" } else { "is held" };
    context.out.line(format_args!("{run} {was}"))?;
    context.out.flush()?;
    match answer["liveJobs"].as_u64().unwrap_or(0) {
        0 => {}
        1 => talk(format_args!("1 job goes on to its end; `tidegate cancel {run}` ends it")),
        n => talk(format_args!("{n} jobs go on to their end; `tidegate cancel {run}` ends them")),
    }
    Ok(Exit::OK)
}

fn pause_lanes(
    context: &mut Context,
    home: &Home,
    what: &What,
    reason: Option<String>,
) -> Result<Exit, CliError> {
    let request = LanesRequest { reason, ..what.lanes(home)? };
    let client = Client::new(home)?;
    let answer: Value = client.post("/lanes/pause", &request, Starting::WhenAbsent)?;
    if context.out.is_json() {
        context.out.data(&answer)?;
        return Ok(Exit::OK);
    }
    let scope = answer["scope"].as_str().unwrap_or_default();
    let was = if answer["already"] == true { "was paused already" } else { "is paused" };
    context.out.line(format_args!("{scope} {was}"))?;
    context.out.flush()?;
    let running = answer["running"].as_array().map_or(&[][..], Vec::as_slice);
    let ids: Vec<&str> = running.iter().filter_map(Value::as_str).collect();
    if !ids.is_empty() {
        talk(format_args!("these runs go on: {}", ids.join(", ")));
    }
    Ok(Exit::OK)
}

impl What {
    /// The run, when it is one.
    pub(super) fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// The lane that was named.
    pub(super) fn lane(&self) -> Option<&str> {
        self.lane.as_deref()
    }

    /// The lanes that are meant.
    pub(super) fn lanes(&self, home: &Home) -> Result<LanesRequest, CliError> {
        let project = match (&self.project, self.all) {
            (Some(project), _) => Some(project.clone()),
            (None, true) => None,
            (None, false) => Some(project_here(home)?),
        };
        let lane = self.lane.clone();
        Ok(LanesRequest { project, lane, reason: None, actor: Some(actor()) })
    }
}

/// The project of the working directory's repository.
fn project_here(home: &Home) -> Result<String, CliError> {
    let repository = Repository::here()?;
    let root = repository.root().to_string_lossy().into_owned();
    let known = read::projects(home)?.projects.into_iter().find(|project| project.root == root);
    known.map(|project| project.id).ok_or_else(|| {
        CliError::refused(format!("{root} is no project of this home"))
            .hint("name one with --project; `tidegate project list` shows them")
    })
}
