//! The command line as a whole: global flags, the verbs, and how usage errors are told. What a
//! verb does is its own file's business.

#[cfg(test)]
mod reference;
pub(crate) mod values;
mod verb;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use tidegate_protocol::{Envelope, ErrorCode, ExitCode, Problem};

use crate::context::Context;
use crate::error::CliError;
use crate::host::{self, Ended, Mode};
use crate::output::{Exit, Out};
use verb::Verb;

/// Tidegate supervises fleets of coding agents on git repositories.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = false,
    max_term_width = 100,
    after_help = AFTER_HELP,
)]
pub(crate) struct Cli {
    /// State directory [default: `$TIDEGATE_HOME`, `$XDG_STATE_HOME/tidegate` or
    /// ~/.local/state/tidegate]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    home: Option<PathBuf>,

    /// Print the answer as JSON, in one envelope: {"ok":true,"data":...}
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,

    #[command(subcommand)]
    verb: Verb,
}

const AFTER_HELP: &str = "\
Examples:
  tidegate init                       write tidegate.toml and register this repository
  tidegate run plan.toml              run a plan and follow it to its end
  tidegate submit -- ./waves.sh       run your own orchestrating command, supervised
  tidegate list                       what waits for you, what runs, what failed
  tidegate explain RUN                why it runs, waits or failed

A RUN is a run id or an unambiguous beginning of one.

Exit codes: 0 ok, 1 refused or bad input, 2 usage, 3 standard output closed, 4 daemon unreachable
or incompatible, 5 wait timed out, 10 run failed, 11 run cancelled, 12 a person is needed, 70 our
bug, 130 detached with Ctrl-C.";

/// Reads the command line, does what it says, and gives the exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> Exit {
    let json = wants_json(&arguments);
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, json),
    };
    let mut context = Context::new(cli.home, cli.json);
    let done = cli.verb.run(&mut context).and_then(|exit| context.out.flush().map(|()| exit));
    match done {
        Ok(exit) => exit,
        Err(error) => error.report(&mut context.out),
    }
}

/// The daemon of the home at `path`, in the background. One that came second has nobody to tell.
pub(crate) fn run_in_background(path: PathBuf) -> Exit {
    let mut context = Context::new(Some(path), false);
    let mode = Mode { once: false, detached: true };
    match context.home().and_then(|home| host::run(&home, mode)) {
        Ok(Ended::AlreadyRunning | Ended::Stopped) => Exit::OK,
        Err(error) => error.report(&mut context.out),
    }
}

/// The command, for completions and man pages.
pub(crate) fn command() -> clap::Command {
    Cli::command()
}

/// Whether `--json` stands before a `--`: it counts even when the rest does not parse.
fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|one| *one != "--").any(|one| one == "--json")
}

/// Prints what clap says: help on standard output, errors on standard error.
fn usage(error: &clap::Error, json: bool) -> Exit {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if let Err(source) = error.print()
        && is_help
    {
        return CliError::stdout(&source).exit();
    }
    if is_help {
        return Exit::OK;
    }
    if json {
        let problem = Problem::new(ErrorCode::InvalidCliArgs, in_one_line(error))
            .hint("`tidegate help VERB` explains the verb");
        let mut out = Out::new(true);
        let told = out.envelope(&Envelope::<()>::error(problem)).and_then(|()| out.flush());
        if let Err(error) = told {
            return error.exit();
        }
    }
    ExitCode::Usage.into()
}

/// What clap says before the usage, with the names of arguments that it lists below its first line.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let said = text.lines().map(str::trim);
    let said = said.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let line = said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").map_or_else(|| line.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
