//! `tidegate agent`: a launcher starts agents under supervision, or registers its own.

use std::ffi::OsString;

use clap::Subcommand;
use serde_json::json;
use tidegate_daemon::ids::AgentId;
use tidegate_daemon::launcher::{AgentDisposition, AgentEnd};
use tidegate_daemon::spool;
use tidegate_daemon::time::WallMs;
use tidegate_protocol::{StartAgentAnswer, StartAgentRequest, Text};

use crate::agent_wait::wait_for_agent;
use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::launcher_files::{Launcher, own_process};
use crate::output::Exit;

/// Start, register and report the agents of a launcher: called from within it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate agent start --id docs -- ./write-docs.sh     a job of its own; prints job_id=
  tidegate agent start --id docs --wait -- ./write.sh   and end with its exit code
  tidegate agent register --id docs                     the program that calls this
  tidegate agent register --id far --remote             it runs elsewhere: heartbeats speak for it
  tidegate agent heartbeat --id far
  tidegate agent exit --id docs --code 0")]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Have the daemon start an agent as a job of its own
    ///
    /// Needs the daemon: without one exit 4, and it may be tried again.
    Start(Start),
    /// Register a process that the launcher started by itself
    Register(Register),
    /// Say that an agent is alive
    Heartbeat {
        #[command(flatten)]
        who: Who,
    },
    /// Say that an agent has ended
    Exit {
        #[command(flatten)]
        who: Who,
        /// Its exit code
        #[arg(
            long,
            value_name = "N",
            required_unless_present = "disposition",
            allow_negative_numbers = true
        )]
        code: Option<i32>,
        /// How it ended [default: by its code]
        #[arg(long, value_enum)]
        disposition: Option<Disposition>,
    },
}

#[derive(Debug, clap::Args)]
struct Who {
    /// The agent
    #[arg(long, value_name = "ID", value_parser = values::agent)]
    id: String,
    /// The run; without it the one in the environment
    #[arg(long, value_name = "RUN", value_parser = values::run)]
    run_id: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Start {
    #[command(flatten)]
    who: Who,
    /// Its role, for people
    #[arg(long, value_name = "ROLE", value_parser = values::role)]
    role: Option<String>,
    /// Give it a terminal of its own; `tidegate attach` shows it
    #[arg(long)]
    pty: bool,
    /// Wait for its end, and end with its exit code
    #[arg(long)]
    wait: bool,
    /// Its command and arguments
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct Register {
    #[command(flatten)]
    who: Who,
    /// Its process; without it the program that calls this
    #[arg(long, value_name = "PID", conflicts_with = "remote",
          value_parser = clap::value_parser!(u32).range(2..))]
    pid: Option<u32>,
    /// Its log
    #[arg(long, value_name = "FILE", value_parser = values::label)]
    log: Option<String>,
    /// Its terminal session
    #[arg(long, value_name = "NAME", value_parser = values::label)]
    session: Option<String>,
    /// It runs on another host: it is never signalled, and only heartbeats speak for it
    #[arg(long)]
    remote: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Disposition {
    /// It ended well
    Completed,
    /// It ended badly
    Failed,
    /// It was ended
    Terminated,
}

impl Args {
    /// Does it.
    ///
    /// # Errors
    /// When no run is meant, a file cannot be written, or `start` reaches no daemon.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        match self.verb {
            Verb::Start(start) => start.run(context),
            Verb::Register(register) => register.run(context),
            Verb::Heartbeat { who } => {
                let (launcher, agent) = who.find(context)?;
                spool::heartbeat(&launcher.directory, &agent, now()).map_err(launcher.failed())?;
                tell(context, &launcher, &agent)
            }
            Verb::Exit { who, code, disposition } => {
                let (launcher, agent) = who.find(context)?;
                let disposition = match (disposition, code) {
                    (Some(Disposition::Completed), _) | (None, Some(0)) => {
                        AgentDisposition::Completed
                    }
                    (Some(Disposition::Failed) | None, _) => AgentDisposition::Failed,
                    (Some(Disposition::Terminated), _) => AgentDisposition::Terminated,
                };
                let end = AgentEnd { code, disposition, at: now() };
                spool::exit(&launcher.directory, &agent, &end).map_err(launcher.failed())?;
                tell(context, &launcher, &agent)
            }
        }
    }
}

impl Who {
    fn find(&self, context: &Context) -> Result<(Launcher, AgentId), CliError> {
        let agent = AgentId::new(self.id.clone()).map_err(|e| CliError::usage(e.to_string()))?;
        Ok((Launcher::find(context, self.run_id.as_deref())?, agent))
    }
}

impl Start {
    fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let (launcher, agent) = self.who.find(context)?;
        if self.argv.first().is_some_and(|program| program.is_empty()) {
            return Err(CliError::usage("the command after `--` must not be empty"));
        }
        let request = StartAgentRequest {
            agent_id: agent.to_string(),
            role: self.role,
            argv: self.argv.into_iter().map(Text::from).collect(),
            terminal: self.pty,
        };
        let client = Client::new(&launcher.home)?;
        let path = format!("/runs/{}/agents", launcher.run);
        let answer: StartAgentAnswer = client.post(&path, &request, Starting::Never)?;
        drop(client);
        if self.wait {
            return wait_for_agent(&launcher.home, &answer, &mut context.out);
        }
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            context.out.line(format_args!("job_id={}", answer.job_id))?;
        }
        Ok(Exit::OK)
    }
}

impl Register {
    fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let (launcher, agent) = self.who.find(context)?;
        let process = match (self.remote, self.pid) {
            (true, _) => None,
            (false, Some(pid)) => Some(own_process(&launcher, pid)?),
            (false, None) => Some(own_process(&launcher, calling_pid()?)?),
        };
        let (log, session) = (self.log.as_deref(), self.session.as_deref());
        spool::register(&launcher.directory, &agent, process, log, session, now())
            .map_err(launcher.failed())?;
        tell(context, &launcher, &agent)
    }
}

/// The program that called us.
fn calling_pid() -> Result<u32, CliError> {
    let parent = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
    match parent.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 1) {
        Some(pid) => Ok(pid),
        None => Err(CliError::usage("the program that called this is gone")
            .hint("name the process with `--pid PID`")),
    }
}

fn tell(context: &mut Context, launcher: &Launcher, agent: &AgentId) -> Result<Exit, CliError> {
    launcher.nudge();
    if context.out.is_json() {
        let agent = agent.to_string();
        context.out.data(&json!({ "runId": launcher.run, "agentId": agent }))?;
    }
    Ok(Exit::OK)
}

/// Wall time, for records that people read.
pub(super) fn now() -> WallMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    WallMs(since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
}
