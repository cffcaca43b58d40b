//! `tidegate review`: what a person looks at before a consent.

use tidegate_protocol::{DiffFile, ReviewDoc};

use crate::args::values;
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::inside::is_inside_job;
use crate::output::Exit;
use crate::read;
use crate::render::style;

/// Show what a feature would change, what its gates said, and the token that consents to it
///
/// The difference is the one to the target as it is now: what landing the commit would change there.
/// It reads only. The token is good for one consent to this very commit, feature and target; while the
/// target moves on it stays good, as the merge gates judge what the merge makes of both.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate review berths                  of the one run that has the feature
  tidegate review r000001/berths --stat   names and counts alone
  tidegate approve berths --token TOKEN   let it land")]
pub(crate) struct Args {
    /// The feature, as FEATURE or RUN/FEATURE; with `--feature`, the run
    #[arg(value_name = "FEATURE")]
    place: String,

    /// The feature, when the run alone is named before
    #[arg(long, value_name = "ID", value_parser = values::feature)]
    feature: Option<String>,

    /// Show names and counts, not the difference
    #[arg(long)]
    stat: bool,
}

impl Args {
    /// Shows it.
    ///
    /// # Errors
    /// When there is no such feature, or nothing to look at yet.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let (run, feature) = read::place(&home, &self.place, self.feature.as_deref())?;
        let mut review = read::review(&home, &run, &feature, !is_inside_job(&home))?;
        if context.out.is_json() {
            if self.stat {
                review.diff.clear();
            }
            context.out.data(&review)?;
            return Ok(Exit::OK);
        }
        for line in lines(&review) {
            context.out.line(line)?;
        }
        if !self.stat && !review.diff.is_empty() {
            context.out.line("")?;
            context.out.line(printable(review.diff.trim_end()))?;
            if review.diff_cut {
                context.out.line("(cut off here: the difference is too long)")?;
            }
        }
        Ok(Exit::OK)
    }
}

fn lines(review: &ReviewDoc) -> Vec<String> {
    let (strong, attention) = (style::STRONG, style::ATTENTION);
    let name = format!("{}/{}", review.run_id, review.feature);
    let (word, commit) = (&review.state, &review.commit);
    let mut lines = vec![format!("{strong}{name}{strong:#} {word}, commit {commit}")];
    let short = review.target.strip_prefix("refs/heads/").unwrap_or(&review.target);
    lines.push(match (&review.target_commit, review.merges_cleanly) {
        (None, _) => format!("target {short} does not exist, or the commit is gone"),
        (Some(at), Some(true)) => format!("merges cleanly with {short} at {at}"),
        (Some(at), _) if review.conflicts.is_empty() => {
            format!("{attention}does not merge{attention:#} with {short} at {at}")
        }
        (Some(at), _) => {
            let paths = printable(&review.conflicts.join(", "));
            format!("{attention}conflicts{attention:#} with {short} at {at} in {paths}")
        }
    });
    if let Some(why) = &review.blocked {
        lines.push(format!("{attention}blocked:{attention:#} {}", printable(why)));
    }
    for gate in &review.evidence {
        let verdict = match gate.passed {
            Some(true) if gate.flaky => "passed, flaky",
            Some(true) => "passed",
            Some(false) => "failed",
            None => "runs",
        };
        lines.push(format!("gate {} {verdict}, see {}", gate.gate, gate.log_path));
    }
    for finding in &review.findings {
        let (path, text) = (&finding.path, &finding.excerpt);
        // A finding about a whole file has no line.
        let place =
            if finding.line == 0 { path.clone() } else { format!("{path}:{}", finding.line) };
        let line = format!("{} in {}: {}", finding.kind, printable(&place), printable(text));
        lines.push(format!("{attention}finding:{attention:#} {line}"));
    }
    if let Some(verdict) = &review.verdict {
        let word = if verdict.approved { "approved" } else { "refused" };
        let by = &verdict.job_id;
        lines.push(format!("reviewer {by} {word}: {}", printable(&verdict.comments)));
    }
    let stats = review.stats;
    let differ = if stats.files == 1 { "file differs" } else { "files differ" };
    lines.push(format!(
        "{} {differ} from the {}: {} lines added, {} removed",
        stats.files, review.compared_with, stats.added, stats.removed
    ));
    lines.extend(review.files.iter().map(of_file));
    if let Some(token) = &review.token {
        lines.push(format!("{attention}tidegate approve {name} --token {token}{attention:#}"));
        lines.push(format!(
            "{attention}tidegate deny {name} --commit {} -m TEXT{attention:#}",
            review.commit
        ));
    } else if review.awaits_person {
        lines.push(format!(
            "{attention}tidegate approve {name} --commit {}{attention:#}",
            review.commit
        ));
    }
    lines
}

fn of_file(file: &DiffFile) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let was = file.was.as_ref().map(|was| format!(" (was {})", printable(was)));
    format!(
        "  {} {:>6} {:>6} {}{}",
        file.status,
        format!("+{}", count(file.added)),
        format!("-{}", count(file.removed)),
        printable(&file.path),
        was.unwrap_or_default()
    )
}
