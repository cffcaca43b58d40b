//! `tidegate ask`: an agent or a launcher asks people, and waits for the answer if it wants to.

use std::time::Duration;

use tidegate_protocol::{AskAnswer, AskRequest, ErrorCode, Problem, QuestionDoc};

use crate::answer_wait::{Waited, wait_for_answer};
use crate::args::values;
use crate::client::{Client, Starting};
use crate::context::Context;
use crate::error::{CliError, printable};
use crate::output::{Exit, talk};

/// Ask people something, from inside a job
///
/// The question stands in `tidegate inbox` and in the run's `attention` until someone answers. The
/// agent that asks goes on. When it ends without a commit, or with exit code 12, while its question is
/// open, its feature waits without a slot; the answer starts the next attempt, and stands in its task.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate ask 'By name or by number?' --choice 'by name' --choice 'by number' --wait
  tidegate ask 'Which port?' --wait --timeout 10m || exit 12
  tidegate ask 'Which port?'; exit 12      end, and be started again with the answer

Exit codes: 0 asked or answered, 4 no daemon answers, 5 nobody answered in time.")]
pub(crate) struct Args {
    /// The question
    #[arg(value_name = "QUESTION")]
    question: String,

    /// An answer to offer; may be repeated
    #[arg(long = "choice", value_name = "TEXT")]
    choices: Vec<String>,

    /// Wait for the answer, and print it
    #[arg(long)]
    wait: bool,

    /// Give up waiting after this time: 500ms, 30s, 5m, 2h; a bare number is seconds
    #[arg(long, value_name = "DURATION", requires = "wait", value_parser = values::duration)]
    timeout: Option<Duration>,
}

impl Args {
    /// Asks.
    ///
    /// # Errors
    /// When this is no agent or launcher, no daemon answers, or the answer will not come.
    pub(crate) fn run(self, context: &mut Context) -> Result<Exit, CliError> {
        let job = std::env::var_os("TIDEGATE_JOB_DIR").map(std::path::PathBuf::from);
        let home = context.home_of_job(job.as_deref())?;
        let request = AskRequest { question: self.question, choices: self.choices, waits: false };
        let asked: AskAnswer = Client::new(&home)?.post("/questions", &request, Starting::Never)?;
        if !self.wait {
            if context.out.is_json() {
                context.out.data(&asked)?;
            } else {
                context.out.line(format_args!("question_id={}", asked.question_id))?;
            }
            return Ok(Exit::OK);
        }
        talk(format_args!("asked {}: waits for an answer", asked.question_id));
        match wait_for_answer(&home, &asked, self.timeout)? {
            Waited::Answered(question) => tell(context, &question),
            Waited::Closed(why) => {
                let message = format!("question {} gets no answer: {why}", asked.question_id);
                Err(CliError::new(ErrorCode::InvalidStatusTransition, message))
            }
            Waited::TimedOut => Err(timed_out(&asked.question_id)),
            Waited::Detached => Ok(Exit::DETACHED),
        }
    }
}

fn tell(context: &mut Context, question: &QuestionDoc) -> Result<Exit, CliError> {
    if context.out.is_json() {
        context.out.data(question)?;
    } else if let Some(answer) = &question.answer {
        context.out.line(printable(&answer.text))?;
    }
    Ok(Exit::OK)
}

fn timed_out(question: &str) -> CliError {
    let message = format!("nobody has answered {question} yet");
    let problem = Problem::new(ErrorCode::WaitTimedOut, message).with("questionId", question);
    CliError::from(problem)
        .hint("the question stays open; exit with code 12 to be started again with its answer")
}
