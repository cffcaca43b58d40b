//! `tidegate answer`: a person answers a question of an agent or a launcher, once.

use serde_json::Value;
use tidegate_protocol::AnswerRequest;

use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::CliError;
use crate::input::text_or_stdin;
use crate::output::{Exit, talk};
use crate::work::actor;

/// Answer a question of an agent or a launcher
///
/// The first answer counts, whoever gives it and from wherever; a later one is refused and told what the
/// first one was. `tidegate inbox` has the open questions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate answer r0000010abc-q1 'By name, as the harbour master does'
  tidegate answer r000001-q1 --choice 2
  tidegate answer r000001-q1 - < answer.txt")]
pub(crate) struct Args {
    /// Question id; its run may be the beginning of an id
    #[arg(value_name = "QUESTION")]
    question: String,

    /// The answer; `-` reads standard input
    #[arg(value_name = "TEXT", required_unless_present = "choice")]
    text: Option<String>,

    /// The number of an offered answer, from 1
    #[arg(long, value_name = "NUMBER", conflicts_with = "text",
          value_parser = clap::value_parser!(u32).range(1..))]
    choice: Option<u32>,
}

impl Args {
    /// Answers.
    ///
    /// # Errors
    /// When the question is answered or closed, or no daemon answers.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let home = context.home()?;
        let request = AnswerRequest {
            text: self.text.map(text_or_stdin).transpose()?,
            choice: self.choice,
            actor: Some(actor()),
        };
        let question = crate::args::values::path_part(&self.question)?;
        let path = format!("/questions/{question}/answer");
        let answer: Value = Client::new(&home)?.post(&path, &request, Starting::WhenAbsent)?;
        if context.out.is_json() {
            context.out.data(&answer)?;
        } else {
            talk(format_args!("answered {}", answer["questionId"].as_str().unwrap_or(question)));
        }
        Ok(Exit::OK)
    }
}
