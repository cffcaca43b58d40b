//! `tidegate list`: runs, those that need you first.

use tidegate_daemon::views::RunQuery;
use tidegate_protocol::RunStatus;

use crate::args::values;
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::output::{Exit, talk};
use crate::read;
use crate::render;

/// List runs: what waits for you, what runs, what failed and why, the rest
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate list                          the first screen
  tidegate list --status failed          only what failed
  tidegate list --lane docs --limit 5    the newest of one lane")]
pub(crate) struct Args {
    /// Only runs with this status
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<RunStatus>,

    /// Only runs of this project
    #[arg(long, value_name = "ID", value_parser = values::project)]
    project: Option<String>,

    /// Only runs of this lane
    #[arg(long, value_name = "NAME", value_parser = values::lane)]
    lane: Option<String>,

    /// Only runs of this ad-hoc queue
    #[arg(long, value_name = "ID", value_parser = values::adhoc)]
    adhoc_run: Option<String>,

    /// With the runs that were deleted
    #[arg(long)]
    all: bool,

    /// Runs on a page
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..=500))]
    limit: u32,

    /// Go on after an earlier page: its `next`
    #[arg(long, value_name = "CURSOR", value_parser = values::label)]
    cursor: Option<String>,
}

fn status(text: &str) -> Result<RunStatus, String> {
    RunStatus::from_word(text).ok_or_else(|| {
        let known: Vec<&str> = RunStatus::ALL.iter().map(|status| status.as_str()).collect();
        format!("the statuses are {}", known.join(", "))
    })
}

impl Args {
    /// Lists.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let Self { status, project, lane, adhoc_run: adhoc, all, limit, cursor } = self;
        let query = RunQuery { status, project, lane, adhoc, all, limit: Some(limit), cursor };
        let page = read::list(&home, &query)?;
        if context.out.is_json() {
            context.out.data(&page)?;
            return Ok(Exit::OK);
        }
        if page.runs.is_empty() {
            talk("no runs");
        } else {
            context.out.line(render::runs(&page.runs))?;
            context.out.flush()?;
        }
        for corrupt in &page.corrupt {
            talk(format_args!("corrupt: {}", printable(&corrupt.message)));
        }
        if let Some(next) = page.next {
            talk(format_args!("there are more: --cursor {next}"));
        }
        Ok(Exit::OK)
    }
}
