//! `tidegate daemon`: run it, start it, replace it, stop it, look at it.

use clap::Subcommand;
use serde_json::Value;
use tidegate_protocol::{ActiveCommand, BackgroundError, DaemonDoc, ErrorCode, RuntimeDoc};

use super::daemon_commands;
use crate::client::{Started, Starting, ensure};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::host;
use crate::output::{Exit, talk};
use crate::read;
use crate::service_unit::service_unit;

/// Run, start, stop, restart or look at the daemon of a home
///
/// Verbs that write or follow start it by themselves. Jobs live under their own shims: they go on
/// when the daemon ends, and the next one takes them over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate daemon start               start it in the background; fine if it runs already
  tidegate daemon start --takeover    replace one that hangs
  tidegate daemon run --once          in the foreground, until nothing runs and nothing waits
  tidegate daemon stop --drain        once nothing runs and nothing waits
  tidegate daemon status              look at it without asking it
  tidegate daemon commands            what it was told to do, and what came of it
  tidegate daemon unit > ~/.config/systemd/user/tidegate.service")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run it in the foreground
    Run {
        /// End once nothing runs and nothing waits
        #[arg(long)]
        once: bool,
    },
    /// Start it in the background; returns when it answers
    Start {
        /// End the present one first, by proved identity, even if it hangs
        #[arg(long)]
        takeover: bool,
    },
    /// Stop it; returns when its lock is free. Jobs go on
    Stop {
        /// Wait until nothing runs and nothing waits
        #[arg(long)]
        drain: bool,
    },
    /// Stop it and start the one of this version
    Restart,
    /// Say whether it runs, and what it is at, without asking it
    Status,
    Commands(daemon_commands::Args),
    /// Print a systemd user unit that runs it
    Unit {
        /// Print it, which is all that is done
        #[arg(long, hide = true)]
        print: bool,
    },
}

impl Args {
    /// Does it.
    ///
    /// # Errors
    /// When the daemon does not start, does not end, or its home cannot be used.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        match self.verb {
            Verb::Run { once } => {
                let mode = host::Mode { once, detached: false };
                let ended = host::run(&home, mode)?;
                if ended == host::Ended::AlreadyRunning {
                    let document = read::daemon(&home)?;
                    return tell(context, &document, "already running");
                }
                Ok(Exit::OK)
            }
            Verb::Start { takeover } => {
                let word = if takeover {
                    host::take_over(&home)?;
                    "started"
                } else {
                    match ensure(&home, Starting::WhenAbsent)? {
                        Started::Now => "started",
                        Started::Already => "already running",
                    }
                };
                tell(context, &read::daemon(&home)?, word)
            }
            Verb::Stop { drain } => {
                let word = if host::stop(&home, drain)? { "stopped" } else { "no daemon runs" };
                tell(context, &read::daemon(&home)?, word)
            }
            Verb::Restart => {
                host::restart(&home)?;
                tell(context, &read::daemon(&home)?, "restarted")
            }
            Verb::Status => {
                let document = read::daemon(&home)?;
                status(context, &document, &read::runtime(&home)?)
            }
            Verb::Commands(args) => args.run(context, &home),
            Verb::Unit { print: _ } => unit(context, &home),
        }
    }
}

fn unit(context: &mut Context, home: &Home) -> Result<Exit, CliError> {
    let program = std::env::current_exe().map_err(CliError::bug)?;
    let Some(text) = service_unit(&program, home.path()) else {
        return Err(CliError::new(
            ErrorCode::InvalidInput,
            "a path with control characters or beyond UTF-8 cannot be written in a unit",
        ));
    };
    if context.out.is_json() {
        context.out.data(&serde_json::json!({ "unit": text }))?;
    } else {
        context.out.bytes(text.as_bytes())?;
    }
    Ok(Exit::OK)
}

fn tell(context: &mut Context, document: &DaemonDoc, word: &str) -> Result<Exit, CliError> {
    if context.out.is_json() {
        context.out.data(document)?;
        return Ok(Exit::OK);
    }
    match document.pid.filter(|_| document.running) {
        Some(pid) => context.out.line(format_args!("{word} (pid {pid})"))?,
        None => context.out.line(word)?,
    }
    Ok(Exit::OK)
}

fn status(
    context: &mut Context,
    document: &DaemonDoc,
    runtime: &RuntimeDoc,
) -> Result<Exit, CliError> {
    if context.out.is_json() {
        context.out.data(&in_one(document, runtime)?)?;
        return Ok(Exit::OK);
    }
    if !document.running {
        context.out.line(format_args!("not running (home {})", document.home))?;
        return tell_runtime(context, runtime);
    }
    let number = |value: Option<u64>| value.map_or("unknown".to_owned(), |n| n.to_string());
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let rows = [
        ("pid", number(document.pid.map(u64::from))),
        ("epoch", number(document.epoch)),
        ("supervisor", known(&document.supervisor_id)),
        ("version", known(&document.version)),
        (
            "acquired",
            document.acquired_at.as_ref().map_or_else(|| "unknown".into(), ToString::to_string),
        ),
        ("home", document.home.clone()),
    ];
    context.out.line("running")?;
    for (label, value) in rows {
        context.out.line(format_args!("  {label:<10} {value}"))?;
    }
    tell_runtime(context, runtime)?;
    if document.version.as_ref().is_some_and(|version| *version != document.client_version) {
        context.out.flush()?;
        let client = &document.client_version;
        talk(format_args!(
            "this is version {client}: `tidegate daemon restart` brings them together"
        ));
    }
    Ok(Exit::OK)
}

/// The document of the lock and that of the runtime, as one.
fn in_one(document: &DaemonDoc, runtime: &RuntimeDoc) -> Result<Value, CliError> {
    let mut all = serde_json::to_value(runtime).map_err(CliError::bug)?;
    let of_lock = serde_json::to_value(document).map_err(CliError::bug)?;
    if let (Value::Object(all), Value::Object(of_lock)) = (&mut all, of_lock) {
        all.extend(of_lock);
    }
    Ok(all)
}

fn tell_runtime(context: &mut Context, runtime: &RuntimeDoc) -> Result<Exit, CliError> {
    let mut tell = |label: &str, command: &ActiveCommand| {
        let run = command.run_id.as_deref().unwrap_or_default();
        let feature = command.feature_id.as_deref().unwrap_or_default();
        let line =
            format!("  {label:<10} {} {} {run} {feature}", command.request_id, command.command);
        context.out.line(line.trim_end())
    };
    for command in &runtime.commands_in_progress {
        tell("command", command)?;
    }
    for command in &runtime.active_background_commands {
        tell("background", command)?;
    }
    if let Some(error) = &runtime.last_background_error {
        let BackgroundError { command, code, message, at, .. } = error;
        context
            .out
            .line(format_args!("  {:<10} {command}: {code}: {message} ({at})", "last error"))?;
    }
    Ok(Exit::OK)
}
