//! `tidegate inbox`: what waits for people; inside a job, what its agent was told and answered.

use tidegate_daemon::views::InboxQuery;
use tidegate_protocol::{InboxDoc, ReceivedRequest};

use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::home::Home;
use crate::inside::job_above;
use crate::output::Exit;
use crate::read;
use crate::render;

/// Show what waits for a person: questions, approvals, blocks
///
/// Reads only: it writes nothing and starts no daemon. Inside a job it shows the messages to the job's
/// agent and the answers to its questions, and tells the daemon, if one runs, which messages were
/// fetched; `--done` says that they were acted on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate inbox                 everything that waits, with what to type
  tidegate inbox --run r000001   of one run
  tidegate inbox --all           answered questions and delivered messages, too
  tidegate inbox --done 1        inside a job: message 1 was acted on")]
pub(crate) struct Args {
    /// Of this run only: its id, or the beginning of it
    #[arg(long, value_name = "RUN", value_parser = values::run)]
    run: Option<String>,

    /// What needs nobody any more, too
    #[arg(long)]
    all: bool,

    /// Inside a job: these messages were acted on
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["run", "all"])]
    done: Vec<u32>,
}

impl Args {
    /// Shows it.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let directory = std::env::var_os("TIDEGATE_JOB_DIR").map(std::path::PathBuf::from);
        let home = context.home_of_job(directory.as_deref())?;
        let job = job_above(&home);
        if !self.done.is_empty() {
            if job.is_none() {
                let message = "only the agent inside its job says that it acted on a message";
                return Err(CliError::usage(message));
            }
            let request = ReceivedRequest { messages: self.done, acted: true };
            receive(&home, &request)?;
        }
        let inbox = match &job {
            Some(job) if self.run.is_none() && !self.all => read::inbox_of_job(&home, job)?,
            Some(_) | None => {
                let query = InboxQuery { run: self.run, all: self.all };
                read::inbox(&home, &query)?
            }
        };
        if context.out.is_json() {
            context.out.data(&inbox)?;
        } else {
            render::inbox(&mut context.out, &inbox)?;
        }
        acknowledge(&home, &inbox);
        Ok(Exit::OK)
    }
}

/// Tells that a job fetched its messages. Without a daemon nobody knows, and nothing is lost.
fn acknowledge(home: &Home, inbox: &InboxDoc) {
    let news = inbox.messages.iter().filter(|message| {
        inbox.job_id.is_some()
            && !(message.delivery == "accepted" && message.job_id == inbox.job_id)
    });
    let messages: Vec<u32> = news.map(|message| message.message).collect();
    if !messages.is_empty() {
        let _ = receive(home, &ReceivedRequest { messages, acted: false });
    }
}

fn receive(home: &Home, request: &ReceivedRequest) -> Result<serde_json::Value, CliError> {
    Client::new(home)?.post("/messages/received", request, Starting::Never)
}
