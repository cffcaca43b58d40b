//! Waiting for the answer to a question, inside a job: over the lives of any number of daemons, none
//! of which it starts.

use std::time::Duration;

use tidegate_protocol::{AskAnswer, ErrorCode, QuestionDoc};
use tokio::time::Instant;

use crate::client::{Client, Feed, Filter, Wake};
use crate::error::CliError;
use crate::home::Home;
use crate::read;

/// How often the store is looked at while no daemon can be followed.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How a wait ended.
pub(crate) enum Waited {
    /// With the answer.
    Answered(Box<QuestionDoc>),
    /// The question needs no answer any more, and why.
    Closed(String),
    /// The deadline passed.
    TimedOut,
    /// Ctrl-C.
    Detached,
}

/// Waits until the question is answered or closed.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn wait_for_answer(
    home: &Home,
    asked: &AskAnswer,
    timeout: Option<Duration>,
) -> Result<Waited, CliError> {
    Client::new(home)?.block_on(follow(home, asked, timeout))
}

async fn follow(
    home: &Home,
    asked: &AskAnswer,
    timeout: Option<Duration>,
) -> Result<Waited, CliError> {
    let deadline = timeout.and_then(|limit| Instant::now().checked_add(limit));
    let kinds = [
        "question-answered",
        "committed",
        "checked",
        "planned",
        "reviewed",
        "feature-retried",
        "rollback-requested",
        "feature-failed",
        "feature-cancelled",
        "landed",
        "run-completed",
        "run-failed",
        "run-cancelled",
    ];
    let kinds = kinds.map(str::to_owned).to_vec();
    let filter = Filter { run: Some(asked.run_id.clone()), kinds, ..Filter::default() };
    let mut feed = Feed::new(home, filter)?;
    loop {
        let passed = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match feed.next(deadline, std::future::pending()).await {
            Ok(Wake::Connected | Wake::Events(_) | Wake::Extra) => {}
            Ok(Wake::TimedOut) => return Ok(Waited::TimedOut),
            Ok(Wake::Interrupted) => return Ok(Waited::Detached),
            Err(error) if error.code() == Some(ErrorCode::DaemonUnreachable) => {
                // The next daemon answers, and the answer is in the store.
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Err(error) => return Err(error),
        }
        let question = read::question(home, &asked.question_id)?;
        if question.answer.is_some() {
            return Ok(Waited::Answered(Box::new(question)));
        }
        if let Some(why) = question.closed {
            return Ok(Waited::Closed(why));
        }
        if passed {
            return Ok(Waited::TimedOut);
        }
    }
}
