//! `tidegate events`: what was recorded, in its order.

use tidegate_protocol::{EventPage, EventView};

use crate::args::values;
use crate::client::{Client, Feed, Filter, Wake};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, Out, talk};
use crate::read;
use crate::render;

/// Events that one look at the store gives.
const PAGE: u32 = 1000;

/// Print the recorded events of the home or of a run
///
/// With --json and -f every event is an envelope on a line of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate events                               everything that was recorded
  tidegate events r000001                       of one run
  tidegate events -f --kind launcher-started    from now on, one kind
  tidegate events --after 120 --limit 20        a page")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: Option<String>,

    /// Go on with what is recorded from now on
    #[arg(short, long, conflicts_with = "limit")]
    follow: bool,

    /// Only events with a higher number than this
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,

    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    /// Only events of this type
    #[arg(long, value_name = "TYPE", value_parser = values::kind)]
    kind: Option<String>,

    /// Only events about this feature of the run
    #[arg(long, value_name = "ID", value_parser = values::feature, requires = "run")]
    feature: Option<String>,
}

impl Args {
    /// Prints, and follows if asked to.
    ///
    /// # Errors
    /// When the store cannot be read, no daemon answers, or standard output is closed.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = match &self.run {
            Some(run) => Some(read::run(&home, run)?.run_id),
            None => None,
        };
        let filter = Filter { run, feature: self.feature, kind: self.kind, after: self.after };
        if self.follow {
            return follow(&home, filter, &mut context.out);
        }
        print(&home, filter, self.limit, &mut context.out)
    }
}

fn print(
    home: &Home,
    mut filter: Filter,
    limit: Option<u32>,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let mut left = limit.unwrap_or(u32::MAX);
    let mut all = EventPage { events: Vec::new(), next: None };
    loop {
        let mut page = read::events(home, &filter, left.min(PAGE))?;
        left = left.saturating_sub(u32::try_from(page.events.len()).unwrap_or(u32::MAX));
        if out.is_json() {
            all.events.append(&mut page.events);
        } else {
            page.events.iter().try_for_each(|event| out.line(render::event(event)))?;
        }
        all.next = page.next;
        match page.next {
            Some(next) if left > 0 => filter.after = next,
            Some(_) | None => break,
        }
    }
    if out.is_json() {
        out.data(&all)?;
    }
    Ok(Exit::OK)
}

fn follow(home: &Home, filter: Filter, out: &mut Out) -> Result<Exit, CliError> {
    let client = Client::new(home)?;
    client.block_on(async {
        let mut feed = Feed::new(home, filter)?;
        loop {
            match feed.next(None, std::future::pending()).await? {
                Wake::Events(events) => {
                    events.iter().try_for_each(|event| one(event, out))?;
                    out.flush()?;
                }
                Wake::Connected | Wake::Extra | Wake::TimedOut => {}
                Wake::Interrupted => {
                    let after = feed.after();
                    talk(format_args!("detached: go on with `--after {after} -f`"));
                    return Ok(Exit::DETACHED);
                }
            }
        }
    })
}

fn one(event: &EventView, out: &mut Out) -> Result<(), CliError> {
    if out.is_json() { out.data(event) } else { out.line(render::event(event)) }
}
