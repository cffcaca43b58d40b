//! `tidegate run`: submit, follow to the end, and end with its code.

use tidegate_protocol::{EventView, RunDoc};

use super::logs::{Printer, follow_run};
use super::submit::Work;
use super::wait::tell;
use crate::context::Context;
use crate::ending::{Codes, Patience, wait};
use crate::error::CliError;
use crate::logs::Choice;
use crate::output::{Exit, talk};
use crate::render;

/// Submit, follow to the end, and end with its exit code
///
/// Of a command its output is shown and its own exit code is passed on; of a plan its progress is
/// shown. Ctrl-C detaches: the run goes on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate run plan.toml              run a plan and watch it
  tidegate run -- sh -c 'exit 3'      ends with exit code 3

Exit codes: as `tidegate wait`; of a command its own.")]
pub(crate) struct Args {
    /// Go on while a person is needed
    #[arg(long)]
    ignore_attention: bool,

    #[command(flatten)]
    work: Work,
}

impl Args {
    /// Submits and follows.
    ///
    /// # Errors
    /// As `submit` and `wait`.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let is_launcher = self.work.is_launcher();
        let run = self.work.submit(&home)?.run_id;
        if context.out.is_json() {
            talk(format_args!("run {run}"));
        } else {
            talk(format_args!("run {run} (Ctrl-C detaches; it goes on)"));
        }
        if is_launcher && !context.out.is_json() {
            let mut printer = Printer::new(Choice::default(), None);
            let followed = follow_run(&home, &run, &mut printer, &mut context.out)?;
            if followed != Exit::OK {
                return Ok(followed);
            }
        }
        let patience = Patience { ignore_attention: self.ignore_attention, deadline: None };
        let mut said = render::Progress::default();
        let mut progress = |run: &RunDoc, _: &[EventView]| {
            said.lines(run).iter().for_each(talk);
            Ok(())
        };
        let ending = wait(&home, &run, patience, &mut progress)?;
        if context.out.is_json() || !is_launcher {
            if !context.out.is_json() && !ending.run.features.is_empty() {
                context.out.line(render::features(&ending.run.features))?;
            }
            tell(&ending, context)?;
        } else {
            talk(render::summary(&ending.run));
        }
        Ok(ending.exit(if is_launcher { Codes::PassedThrough } else { Codes::Own }))
    }
}
