//! `tidegate attach`: look at an agent's terminal and type in it, or follow its log.

use std::path::{Path, PathBuf};

use tidegate_protocol::{ErrorCode, JobDoc};

use super::logs::{Printer, follow_run};
use crate::args::values;
use crate::attach::{Ended, Keys, Screen, Session, Target, choose};
use crate::client::Client;
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::logs::{Choice, end_of_file, last_bytes};
use crate::output::{Exit, talk};
use crate::read;

/// Bytes that are shown of a log that is complete.
const FINISHED_BYTES: u64 = 12_000;

/// Lines that are shown of a log that grows, before it is followed.
const LINES: usize = 200;

/// Attach to an agent's terminal, or follow its log
///
/// With a terminal (`terminal = true`, `--pty`): shows its screen, passes on what you type and the size
/// of your window, until you detach or it ends. It lives with its job: neither this program nor the
/// daemon matters to it. Without one: follows its log; of an agent that has ended, the end of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate attach r000001                          the launcher, or the one agent at work
  tidegate attach r000001 --agent berths           an agent, by its id or its feature
  tidegate attach r000001 --read-only              watch, type nothing
  tidegate attach r000001 --detach-keys ctrl-a,d   other keys to detach")]
pub(crate) struct Args {
    /// Run id, or the beginning of one
    #[arg(value_name = "RUN", value_parser = values::run)]
    run: String,

    /// This agent: its id, or the feature of a plan
    #[arg(long, value_name = "ID", value_parser = values::label, conflicts_with = "dashboard")]
    agent: Option<String>,

    /// The run's dashboard in this terminal
    #[arg(long)]
    dashboard: bool,

    /// Watch only: nothing you type reaches the agent, and your window does not change its size
    #[arg(long)]
    read_only: bool,

    /// Keys that detach, in this order: letters, or `ctrl-` and a letter
    #[arg(long, value_name = "KEYS", default_value = "ctrl-p,ctrl-q")]
    detach_keys: String,
}

impl Args {
    /// Attaches, or follows.
    ///
    /// # Errors
    /// When there is nothing to attach to, or no daemon can be had.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        if self.dashboard {
            let text = "this version has no dashboard in the terminal";
            return Err(CliError::new(ErrorCode::UnsupportedCommand, text)
                .hint(format!("`tidegate status {}` shows the run", self.run)));
        }
        let keys = Keys::parse(&self.detach_keys).ok_or_else(|| {
            let text = format!("`--detach-keys {}` names no keys", self.detach_keys);
            CliError::usage(text).hint("for example `ctrl-p,ctrl-q`")
        })?;
        let home = context.home()?;
        let run = read::run(&home, &self.run)?;
        let jobs = read::jobs(&home, &run.run_id)?.jobs;
        match choose(&run, &jobs, self.agent.as_deref())? {
            Target::Terminal(_) if context.out.is_json() => {
                Err(CliError::usage("a terminal is not shown as JSON")
                    .hint(format!("`tidegate logs {} -f --json` gives its bytes", run.run_id)))
            }
            Target::Terminal(job) if Screen::is_there() => {
                self.attach(&home, &run.run_id, &job, keys)
            }
            Target::Terminal(job) => {
                talk("standard input and output are no terminal: following the log instead");
                log(&home, &run.run_id, &job, context)
            }
            Target::Log(job) => log(&home, &run.run_id, &job, context),
            Target::File { path, ended } => file(&PathBuf::from(path), ended, context),
        }
    }

    fn attach(&self, home: &Home, run: &str, job: &JobDoc, keys: Keys) -> Result<Exit, CliError> {
        let client = Client::new(home)?;
        let detach = keys.text().to_owned();
        let session = Session {
            home,
            run: run.to_owned(),
            job: job.job_id.clone(),
            read_only: self.read_only,
            keys,
        };
        talk(format!("attached to job {}; {detach} detaches", job.job_id));
        let back = match (&self.agent, self.read_only) {
            (Some(agent), true) => format!("tidegate attach {run} --agent {agent} --read-only"),
            (Some(agent), false) => format!("tidegate attach {run} --agent {agent}"),
            (None, true) => format!("tidegate attach {run} --read-only"),
            (None, false) => format!("tidegate attach {run}"),
        };
        match session.run(&client)? {
            Ended::Detached => talk(format!("detached; it goes on: {back}")),
            Ended::Signalled => {
                talk(format!("ended by a signal; the job goes on: {back}"));
                return Ok(Exit::DETACHED);
            }
            Ended::Over => talk(ended(home, run, &job.job_id)),
        }
        Ok(Exit::OK)
    }
}

/// How the job ended, in a line.
fn ended(home: &Home, run: &str, job: &str) -> String {
    let seen = read::jobs(home, run).ok();
    let seen = seen.and_then(|list| list.jobs.into_iter().find(|seen| seen.job_id == job));
    let how = seen.and_then(|seen| match (seen.exit_code, seen.signal, seen.reason) {
        (Some(code), ..) => Some(format!("it exited with code {code}")),
        (None, Some(signal), _) => Some(format!("signal {signal} ended it")),
        (None, None, Some(reason)) => Some(reason.replace('_', " ")),
        (None, None, None) => None,
    });
    match how {
        Some(how) => format!("job {job} has ended: {how}"),
        None => format!("job {job} has ended"),
    }
}

fn log(home: &Home, run: &str, job: &JobDoc, context: &mut Context) -> Result<Exit, CliError> {
    if job.state == "finished" || job.state == "quarantined" {
        let directory = Path::new(&job.dir);
        let bytes = last_bytes(directory, FINISHED_BYTES)
            .map_err(|error| CliError::io("read the output in", directory, &error))?;
        context.out.bytes(&bytes)?;
        talk(ended(home, run, &job.job_id));
        return Ok(Exit::OK);
    }
    let choice = Choice { job: Some(job.job_id.clone()), ..Choice::default() };
    let followed = follow_run(home, run, &mut Printer::new(choice, Some(LINES)), &mut context.out)?;
    if followed == Exit::OK {
        talk(ended(home, run, &job.job_id));
    }
    Ok(followed)
}

/// The end of a file that an agent of a launcher writes by itself.
fn file(path: &Path, ended: bool, context: &mut Context) -> Result<Exit, CliError> {
    let bytes = end_of_file(path, FINISHED_BYTES).map_err(|error| {
        let text = format!("its log {} cannot be read: {error}", path.display());
        CliError::new(ErrorCode::NoLog, text)
    })?;
    context.out.bytes(&bytes)?;
    if !ended {
        talk(format!("its launcher runs it without us; `tail -f {}` follows it", path.display()));
    }
    Ok(Exit::OK)
}
