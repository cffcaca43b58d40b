//! `tidegate wait`: until a run has ended.

use std::time::Duration;

use tidegate_protocol::{ErrorCode, Problem};

use crate::args::values;
use crate::context::Context;
use crate::ending::{Codes, Ending, Patience, Reason, wait};
use crate::error::CliError;
use crate::output::{Exit, talk};
use crate::read;
use crate::render;

/// Wait until a run has ended
///
/// Ends only on what is recorded, and starts the daemon again if that died meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate wait r000001                   until it has ended, however long that takes
  tidegate wait r000001 --timeout 10m     at most ten minutes, then exit 5
  tidegate wait r000001 --timeout 0       look once, start nothing
  tidegate wait r000001 --exit-code       end with the launcher's own exit code

Exit codes: 0 completed, 10 failed, 11 cancelled, 12 a person is needed, 5 timed out. With
--exit-code a launcher's own code, or 124 when the deadline passed.")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// Give up after this time: 500ms, 30s, 5m, 2h; a bare number is seconds
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    timeout: Option<Duration>,

    /// End with the launcher's own exit code
    #[arg(long)]
    exit_code: bool,

    /// Go on while a person is needed
    #[arg(long)]
    ignore_attention: bool,
}

impl Args {
    /// Waits.
    ///
    /// # Errors
    /// When there is no such run, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let run = read::run(&home, &self.run)?.run_id;
        let patience = Patience { deadline: self.timeout, ignore_attention: self.ignore_attention };
        let ending = wait(&home, &run, patience, &mut |_, _| Ok(()))?;
        let codes = if self.exit_code { Codes::PassedThrough } else { Codes::Own };
        tell(&ending, context)?;
        Ok(ending.exit(codes))
    }
}

/// Says how a wait ended: the run on standard output, advice on standard error.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn tell(ending: &Ending, context: &mut Context) -> Result<(), CliError> {
    let run = &ending.run;
    if context.out.is_json() {
        return match ending.reason {
            Reason::TimedOut => context.out.envelope(&tidegate_protocol::Envelope::<()>::error(
                timed_out(run.run_id.as_str())
                    .with("run", serde_json::to_value(run).map_err(CliError::bug)?),
            )),
            Reason::Ended | Reason::PersonNeeded | Reason::Detached => context.out.data(run),
        };
    }
    context.out.line(render::summary(run))?;
    match ending.reason {
        Reason::TimedOut => talk(CliError::from(timed_out(&run.run_id))),
        Reason::PersonNeeded => {
            for one in &run.attention {
                talk(format!("needs you: {} ({})", one.message, one.unblocks));
            }
        }
        Reason::Ended | Reason::Detached => {}
    }
    Ok(())
}

fn timed_out(run: &str) -> Problem {
    Problem::new(ErrorCode::WaitTimedOut, format!("{run} has not ended yet"))
        .hint(format!("`tidegate explain {run}` says what it waits for"))
}
