//! `tidegate send`: a person tells the agent of a feature something.

use tidegate_protocol::{SendAnswer, SendRequest};

use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::input::text_or_stdin;
use crate::output::{Exit, talk};
use crate::read;
use crate::work::actor;

/// Send a message to the agent of a feature
///
/// It is typed into the terminal of an agent that has one, said at once to one that is talked with by
/// its protocol, stands in `tidegate inbox` inside the
/// agent's job, and in the task of the next attempt as long as no agent said that it acted on it.
/// `tidegate inbox` tells how far it is known to have come: queued, written, accepted, consumed, failed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate send berths 'The quay has two sides'
  tidegate send r000001/berths - < notes.txt
  tidegate send berths --interrupt 'Not that quay: the left one'")]
pub(crate) struct Args {
    /// The feature, as FEATURE or RUN/FEATURE
    #[arg(value_name = "FEATURE")]
    feature: String,

    /// The message; `-` reads standard input
    #[arg(value_name = "MESSAGE")]
    message: String,

    /// Break off what the agent is at, where its protocol can, and have it take the message first
    #[arg(long)]
    interrupt: bool,
}

impl Args {
    /// Sends.
    ///
    /// # Errors
    /// When there is no such feature, it has ended, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let (run, feature) = read::feature_named(&home, &self.feature)?;
        let message = text_or_stdin(self.message)?;
        let request =
            SendRequest { feature, message, interrupt: self.interrupt, actor: Some(actor()) };
        let path = format!("/runs/{run}/send");
        let sent: SendAnswer = Client::new(&home)?.post(&path, &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&sent)?;
        } else {
            let (number, word) = (sent.message, &sent.delivery);
            talk(format_args!("message {number} to {run}/{} is {word}", sent.feature));
        }
        Ok(Exit::OK)
    }
}
