//! `tidegate events`: what was recorded, in its order.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tidegate_daemon::views::event_kinds;
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
  tidegate events -f --type launcher-started    from now on, one type
  tidegate events --type landed --since 2h      what landed in the last two hours
  tidegate events --after 120 --limit 20        a page")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run, group = "which")]
    run: Option<String>,

    /// The same as RUN
    #[arg(long = "run", value_name = "RUN", value_parser = values::run, group = "which",
          id = "named_run")]
    named_run: Option<String>,

    /// Go on with what is recorded from now on
    #[arg(short, long, conflicts_with = "limit")]
    follow: bool,

    /// Only events with a higher number than this
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,

    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    /// Only events of this type; may be repeated
    #[arg(long = "type", alias = "kind", value_name = "TYPE", value_parser = values::kind)]
    kinds: Vec<String>,

    /// Only events about this feature of the run
    #[arg(long, value_name = "ID", value_parser = values::feature, requires = "which")]
    feature: Option<String>,

    /// Only what was recorded in this last while, such as 30m
    #[arg(long, value_name = "AGO", value_parser = values::duration)]
    since: Option<Duration>,

    /// Only what was recorded longer ago than this
    #[arg(long, value_name = "AGO", value_parser = values::duration, conflicts_with = "follow")]
    until: Option<Duration>,
}

impl Args {
    /// Prints, and follows if asked to.
    ///
    /// # Errors
    /// When the store cannot be read, no daemon answers, or standard output is closed.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        for kind in &self.kinds {
            known(kind)?;
        }
        let run = match self.run.as_ref().or(self.named_run.as_ref()) {
            Some(run) => Some(read::run(&home, run)?.run_id),
            None => None,
        };
        let filter = Filter {
            run,
            feature: self.feature,
            kinds: self.kinds,
            since: self.since.map(ago),
            until: self.until.map(ago),
            after: self.after,
        };
        if self.follow {
            return follow(&home, filter, &mut context.out);
        }
        print(&home, filter, self.limit, &mut context.out)
    }
}

/// Refuses a type that no event has, and names the one that may have been meant.
fn known(kind: &str) -> Result<(), CliError> {
    if event_kinds().any(|one| one == kind) {
        return Ok(());
    }
    let error = CliError::refused(format!("there is no event type `{kind}`"));
    Err(match read::near(kind, event_kinds()) {
        Some(meant) => error.hint(format!("did you mean `{meant}`?")),
        None => error,
    })
}

/// The moment so long ago, in milliseconds since the Unix epoch.
fn ago(while_: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.saturating_sub(while_).as_millis()).unwrap_or(u64::MAX)
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
