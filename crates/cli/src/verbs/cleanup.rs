//! `tidegate cleanup`: removes what ended runs left, as far as it is proved that nothing is lost.

use std::time::{Duration, Instant};

use tidegate_protocol::{CleanupAsked, CleanupDoc, CleanupRequest, ErrorCode};

use crate::args::values;
use crate::client::{Client, Starting, ensure};
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// How often it is asked how far a clean-up is.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often it is seen to that a daemon goes on with it.
const ENSURE_EVERY: Duration = Duration::from_secs(2);
/// How long a clean-up is waited for; it goes on by itself.
const WAIT_LIMIT: Duration = Duration::from_mins(30);

/// Remove what ended runs left, as far as nothing is lost by it
///
/// Worktrees, branches and refs of Tidegate, pooled checkouts, old job directories. Each needs a
/// proof: its commits are on the target (by history, patches or content) or stay on a branch, nothing
/// is uncommitted, and a snapshot has its files. What stays is told with the reason. Without `--yes`
/// nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate cleanup                          what would go and what would stay
  tidegate cleanup --yes                    do it
  tidegate cleanup --older-than 7d --yes    after runs that ended a week ago; their output too")]
pub(crate) struct Args {
    /// After this run alone: its id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: Option<String>,

    /// After the runs of this project alone
    #[arg(long, value_name = "ID", value_parser = values::project)]
    project: Option<String>,

    /// After runs that ended so long ago, with their job directories (else those go after 30 days)
    #[arg(long, value_name = "AGE", value_parser = values::age)]
    older_than: Option<Duration>,

    /// Do it
    #[arg(long, short = 'y')]
    yes: bool,

    /// Do it without questions; no proof is left out
    #[arg(long)]
    force: bool,
}

impl Args {
    /// Shows what would go, or removes it.
    ///
    /// # Errors
    /// When there is no such run or project, the run has not ended, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let older = self.older_than.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let request = CleanupRequest {
            run: self.run,
            project: self.project,
            older_than_ms: older,
            delete: false,
            actor: Some(actor()),
        };
        perform(context, &request, self.yes || self.force)
    }
}

/// Does it, or only shows it.
pub(super) fn perform(
    context: &mut Context,
    request: &CleanupRequest,
    really: bool,
) -> Result<Exit, CliError> {
    let home = context.home()?;
    let document = if really {
        let client = Client::new(&home)?;
        let asked: CleanupAsked = client.post("/cleanups", request, Starting::WhenAbsent)?;
        until_done(&home, asked.cleanup)?
    } else {
        read::cleanup_plan(&home, request)?
    };
    if context.out.is_json() {
        context.out.data(&document)?;
    } else {
        show(context, &document)?;
    }
    Ok(Exit::OK)
}

fn until_done(home: &Home, number: u64) -> Result<CleanupDoc, CliError> {
    follow(home, &format!("clean-up {number}"), || {
        let document = read::cleanup(home, number)?;
        Ok(Some(document).filter(|document| document.done))
    })
}

/// Looks until something has ended, and sees to it that a daemon goes on with it.
pub(super) fn follow<T>(
    home: &Home,
    what: &str,
    mut look: impl FnMut() -> Result<Option<T>, CliError>,
) -> Result<T, CliError> {
    let begun = Instant::now();
    let mut ensured = Instant::now();
    loop {
        if let Some(document) = look()? {
            return Ok(document);
        }
        if begun.elapsed() >= WAIT_LIMIT {
            let text = format!("{what} has not ended yet; it goes on by itself");
            return Err(CliError::new(ErrorCode::RequestTimeout, text)
                .hint("`tidegate events` tells when it has"));
        }
        if ensured.elapsed() >= ENSURE_EVERY {
            ensure(home, Starting::WhenAbsent)?;
            ensured = Instant::now();
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn show(context: &mut Context, document: &CleanupDoc) -> Result<(), CliError> {
    let verb = if document.dry_run { "would remove" } else { "removed" };
    for one in &document.removals {
        let (what, name) = (&one.what, printable(&one.name));
        let snapshot = one.snapshot.map(|n| format!(", snapshot {n}")).unwrap_or_default();
        context.out.line(format_args!("{verb} {what} {name} ({}{snapshot})", why(&one.proof)))?;
    }
    for one in &document.kept {
        let (what, name) = (&one.what, printable(&one.name));
        context.out.line(format_args!("kept {what} {name}: {}", printable(&one.why)))?;
    }
    if document.kept_more > 0 {
        context.out.line(format_args!("kept {} more", document.kept_more))?;
    }
    context.out.flush()?;
    let count = document.removals.len();
    match (document.dry_run, count, &document.deleted) {
        (true, 0, None) => talk("nothing to remove"),
        (true, _, None) => talk(format_args!("nothing was changed; `--yes` removes {count}")),
        (true, _, Some(run)) => talk(format_args!("nothing was changed; `--yes` deletes {run}")),
        (false, _, Some(run)) => talk(format_args!("{run} is deleted; its record stays")),
        (false, _, None) => talk(format_args!("{count} removed, {} kept", document.kept.len())),
    }
    Ok(())
}

fn why(proof: &str) -> &str {
    match proof {
        "ancestor" => "on the target",
        "patch_id" => "its patches are on the target",
        "tree" => "its content is on the target",
        "branch" => "its commit stays on a branch",
        "derived" => "made again when needed",
        "recorded" => "recorded",
        "gone" => "gone already",
        other => other,
    }
}
