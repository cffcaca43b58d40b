//! `tidegate restore`: what an agent wrote, from a snapshot of its worktree.

use std::path::PathBuf;

use tidegate_protocol::{ErrorCode, RestorationDoc, RestoreRequest, SnapshotList};

use super::cleanup::follow;
use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;
use crate::render::table;
use crate::work::actor;

/// Give back what an agent wrote
///
/// Snapshots are taken while an agent works and whenever one ends; uncommitted work is in them, what
/// the repository ignores and files over 50 MB are not. They outlive the worktree and its branch.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate restore r000001 --list                             which snapshots there are
  tidegate restore r000001 --feature berths --to /tmp/berths  the newest one's files
  tidegate restore r000001 --feature berths                   worktree and branch come back
  tidegate rollback r000001 --feature berths --to 3           a living worktree goes back itself")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// The feature
    #[arg(long, value_name = "ID", value_parser = values::feature, required_unless_present = "list")]
    feature: Option<String>,

    /// The snapshot's number; the newest when absent
    #[arg(long, value_name = "N", conflicts_with = "list")]
    snapshot: Option<u32>,

    /// Write the files to this folder, which must be empty or not there yet; without it the feature's
    /// own worktree and branch come back, of an ended run
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// List the snapshots instead
    #[arg(long, conflicts_with = "to")]
    list: bool,
}

impl Args {
    /// Lists or restores.
    ///
    /// # Errors
    /// When there is no such run or snapshot, or the folder has something in it.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let Some(feature) = self.feature.as_ref().filter(|_| !self.list) else {
            let list = read::snapshots(&home, &self.run, self.feature.as_deref())?;
            return show(context, &list);
        };
        let Some(to) = &self.to else { return self.in_place(&home, feature, context) };
        let to = std::path::absolute(to).map_err(|source| CliError::io("resolve", to, &source))?;
        let done = read::restore(&home, &self.run, feature, self.snapshot, &to)?;
        if context.out.is_json() {
            context.out.data(&done)?;
            return Ok(Exit::OK);
        }
        context.out.line(&done.to)?;
        context.out.flush()?;
        talk(format_args!("snapshot {} of {} is in {}", done.number, done.feature, done.to));
        let count = u64::try_from(done.not_captured.len()).unwrap_or(u64::MAX);
        let count = count.saturating_add(done.not_captured_more);
        if count > 0 {
            let first: Vec<String> =
                done.not_captured.iter().take(5).map(|left| printable(&left.path)).collect();
            talk(format_args!("{count} not captured: {} (`--json` names them)", first.join(", ")));
        }
        Ok(Exit::OK)
    }
}

impl Args {
    /// Has the daemon put the worktree and the branch back.
    fn in_place(
        &self,
        home: &Home,
        feature: &str,
        context: &mut Context,
    ) -> Result<Exit, CliError> {
        let run = read::run(home, &self.run)?.run_id;
        let actor = Some(actor());
        let request =
            RestoreRequest { feature: feature.to_owned(), snapshot: self.snapshot, actor };
        let client = Client::new(home)?;
        let path = format!("/runs/{run}/restore");
        let asked: RestorationDoc = client.post(&path, &request, Starting::WhenAbsent)?;
        let document = follow(home, &format!("restore {}", asked.restore), || {
            let document = read::restoration(home, asked.restore)?;
            Ok(Some(document).filter(|document| document.done))
        })?;
        if let Some(why) = &document.failure {
            let text = format!("{feature} was not put back: {}", printable(why));
            return Err(CliError::new(ErrorCode::Io, text));
        }
        if context.out.is_json() {
            context.out.data(&document)?;
        } else {
            talk(format_args!("{feature} is back as of snapshot {}", document.snapshot));
        }
        Ok(Exit::OK)
    }
}

fn show(context: &mut Context, list: &SnapshotList) -> Result<Exit, CliError> {
    if context.out.is_json() {
        context.out.data(list)?;
        return Ok(Exit::OK);
    }
    let rows = list.snapshots.iter().map(|one| {
        vec![
            one.feature.clone(),
            one.number.to_string(),
            one.taken_at.as_str().to_owned(),
            printable(&one.reason),
        ]
    });
    context.out.line(table(&["FEATURE", "N", "TAKEN AT", "WHY"], rows.collect()))?;
    Ok(Exit::OK)
}
