//! `tidegate doctor`: whether this machine and this home are sound, and the repairs that a person
//! may ask for. Without such a flag it changes nothing.

use std::path::PathBuf;

use serde_json::json;
use tidegate_daemon::audit::AuditReport;
use tidegate_protocol::ExitCode;

use crate::context::Context;
use crate::doctor::{Check, Severity, audit, checks, verify};
use crate::error::CliError;
use crate::home::Home;
use crate::output::Exit;
use crate::render::style;
use crate::repair;

/// Check this machine and this home; repair a home
///
/// Reads only, but for --restore, --backup and --quarantine with a word. Exit 1 when something is
/// wrong; warnings alone are exit 0.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate doctor                      git, the kernel, the home
  tidegate doctor --verify             and every event of the store: chains, and rows by replay
  tidegate doctor --audit              and what must hold of every home, processes included
  tidegate doctor --backup             copy the store to backups/ now
  tidegate doctor --restore            put the newest whole backup in the store's place
  tidegate doctor --quarantine         jobs that the store does not know
  tidegate doctor --quarantine stop r000001abcd-1")]
pub(crate) struct Args {
    /// Replay every event of the store, and compare
    #[arg(long)]
    verify: bool,
    /// Check the invariants of the home: starts, chains, tokens, processes, worktrees
    #[arg(long)]
    audit: bool,
    /// Copy the store to backups/ now, daemon or not
    #[arg(long, conflicts_with_all = ["restore", "quarantine", "verify", "audit"])]
    backup: bool,
    /// Put a backup in the store's place; the newest whole one without a name. No daemon may run
    #[arg(long, value_name = "BACKUP", num_args = 0..=1, conflicts_with_all = ["quarantine", "verify", "audit"])]
    restore: Option<Vec<PathBuf>>,
    /// Jobs that the store does not know: list them, or say `keep`, `stop` or `drop` and a job
    #[arg(long, value_names = ["WHAT", "JOB"], num_args = 0..=2, conflicts_with_all = ["verify", "audit"])]
    quarantine: Option<Vec<String>>,
}

impl Args {
    /// Checks, or repairs.
    ///
    /// # Errors
    /// When a repair is refused or fails; when standard output is closed.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        if self.backup {
            return repair::back_up(context, &home);
        }
        if let Some(backup) = &self.restore {
            return repair::restore(context, &home, backup.first().map(PathBuf::as_path));
        }
        if let Some(words) = &self.quarantine {
            return repair::quarantine(context, &home, words);
        }
        self.look(context, &home)
    }

    fn look(&self, context: &mut Context, home: &Home) -> Result<Exit, CliError> {
        let mut found = checks(home);
        if self.verify {
            found.push(verify(home));
        }
        let mut report = None;
        if self.audit {
            let (checks, made) = audit(home);
            found.extend(checks);
            report = made;
        }
        let sound = found.iter().all(Check::is_sound);
        tell(context, &found, report.as_ref(), sound)?;
        Ok(if sound { ExitCode::Ok } else { ExitCode::Refused }.into())
    }
}

fn tell(
    context: &mut Context,
    found: &[Check],
    report: Option<&AuditReport>,
    sound: bool,
) -> Result<(), CliError> {
    if context.out.is_json() {
        let mut data = json!({ "sound": sound, "checks": found });
        if let Some(report) = report {
            data["audit"] = serde_json::to_value(report).map_err(CliError::bug)?;
        }
        return context.out.data(&data);
    }
    for check in found {
        let (style, word) = match check.severity {
            Severity::Ok => (style::GOOD, "ok"),
            Severity::Warning => (style::WARNING, "warning"),
            Severity::Wrong => (style::ERROR, "wrong"),
        };
        let (name, text) = (check.name, &check.text);
        context.out.line(format_args!("{style}{word:<8}{style:#} {name:<10} {text}"))?;
        if let Some(todo) = &check.what_to_do {
            context.out.line(format_args!("{:<8} {:<10} → {todo}", "", ""))?;
        }
    }
    Ok(())
}
