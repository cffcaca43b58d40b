//! `tidegate doctor`: whether this machine and this home are sound. It repairs nothing.

use serde_json::json;

use crate::context::Context;
use crate::doctor::{Check, checks};
use crate::error::CliError;
use crate::output::Exit;
use crate::render::style;

/// Check this machine and this home
///
/// Reads only. Exit 1 when something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate doctor                     git, the kernel, the home
  tidegate doctor --verify            and every event of the store: chains, and rows by replay")]
pub(crate) struct Args {
    /// Replay every event of the store, and compare
    #[arg(long)]
    verify: bool,
}

impl Args {
    /// Checks.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let found = checks(&home, self.verify);
        let sound = found.iter().all(Check::is_sound);
        if context.out.is_json() {
            context.out.data(&json!({ "sound": sound, "checks": found }))?;
        } else {
            for check in &found {
                let (style, word) = match (check.ok, check.warning) {
                    (true, _) => (style::GOOD, "ok"),
                    (false, true) => (style::WARNING, "warning"),
                    (false, false) => (style::ERROR, "wrong"),
                };
                context.out.line(format_args!(
                    "{style}{word:<8}{style:#} {:<10} {}",
                    check.name, check.text
                ))?;
            }
        }
        let code = if sound {
            tidegate_protocol::ExitCode::Ok
        } else {
            tidegate_protocol::ExitCode::Refused
        };
        Ok(code.into())
    }
}
