//! Waiting for a run: until its end is recorded, a person is needed, or the deadline passes.

use std::time::Duration;

use tidegate_protocol::{EventView, ExitCode, RunDoc, RunKind, RunStatus};
use tokio::time::Instant;

use crate::client::{Client, Feed, Filter, Wake};
use crate::error::CliError;
use crate::home::Home;
use crate::output::{Exit, talk};
use crate::read;

/// When a wait ends before its run does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Patience {
    /// How long to wait; `None` without a deadline. Zero looks once.
    pub(crate) deadline: Option<Duration>,
    /// Goes on while a person is needed.
    pub(crate) ignore_attention: bool,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The end of the run is recorded.
    Ended,
    /// The run cannot go on without a person.
    PersonNeeded,
    /// The deadline passed.
    TimedOut,
    /// Ctrl-C.
    Detached,
}

/// How a wait ended, and the run as it was then.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// Why.
    pub(crate) reason: Reason,
    /// The run.
    pub(crate) run: RunDoc,
}

/// Which exit codes an ending gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codes {
    /// Ours.
    Own,
    /// A launcher's own, where it is known.
    PassedThrough,
}

/// Sees the run whenever something of it was recorded, with the events that said so.
pub(crate) type Watch<'w> = dyn FnMut(&RunDoc, &[EventView]) -> Result<(), CliError> + 'w;

/// Waits for `run`. `watch` sees the run whenever something of it was recorded, with the events
/// that said so.
///
/// # Errors
/// When there is no such run, no daemon answers, or `watch` fails.
pub(crate) fn wait(
    home: &Home,
    run: &str,
    patience: Patience,
    watch: &mut Watch<'_>,
) -> Result<Ending, CliError> {
    let document = read::run(home, run)?;
    watch(&document, &[])?;
    if let Some(reason) = reason(&document, patience) {
        return Ok(Ending { reason, run: document });
    }
    if patience.deadline == Some(Duration::ZERO) {
        return Ok(Ending { reason: Reason::TimedOut, run: document });
    }
    let client = Client::new(home)?;
    client.block_on(follow(home, document, patience, watch))
}

/// While a run is being ended, what hinders it is looked for this often: no event tells that a shim is
/// stopped.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

async fn follow(
    home: &Home,
    mut document: RunDoc,
    patience: Patience,
    watch: &mut Watch<'_>,
) -> Result<Ending, CliError> {
    let deadline = patience.deadline.and_then(|limit| Instant::now().checked_add(limit));
    let run = document.run_id.clone();
    let filter = Filter { run: Some(run.clone()), ..Filter::default() };
    let mut feed = Feed::new(home, filter)?;
    loop {
        let again = async {
            if document.cancel_requested_by.is_none() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        };
        let events = match feed.next(deadline, again).await? {
            Wake::Connected | Wake::Extra => Vec::new(),
            Wake::Events(events) => events,
            Wake::Interrupted => {
                talk(format!("detached; the run goes on: tidegate wait {run}"));
                return Ok(Ending { reason: Reason::Detached, run: document });
            }
            Wake::TimedOut => return Ok(Ending { reason: Reason::TimedOut, run: document }),
        };
        document = read::run(home, &run)?;
        watch(&document, &events)?;
        if let Some(reason) = reason(&document, patience) {
            return Ok(Ending { reason, run: document });
        }
    }
}

/// Why a wait ends at this sight of the run, if it does. Only recorded ends count.
fn reason(run: &RunDoc, patience: Patience) -> Option<Reason> {
    if run.status.is_terminal() {
        return run.recorded.then_some(Reason::Ended);
    }
    let waits = run.attention.iter().any(|one| !one.is_warning());
    let needed = run.status == RunStatus::Running && waits;
    (needed && !patience.ignore_attention).then_some(Reason::PersonNeeded)
}

impl Ending {
    /// The exit code of the program.
    pub(crate) fn exit(&self, codes: Codes) -> Exit {
        match self.reason {
            Reason::Ended => ended(&self.run, codes),
            Reason::PersonNeeded => ExitCode::PersonNeeded.into(),
            Reason::TimedOut => match codes {
                Codes::Own => ExitCode::TimedOut.into(),
                Codes::PassedThrough => ExitCode::DeadlineBeforeCode.into(),
            },
            Reason::Detached => Exit::DETACHED,
        }
    }
}

fn ended(run: &RunDoc, codes: Codes) -> Exit {
    let passes = codes == Codes::PassedThrough && run.kind == RunKind::Launcher;
    match run.status {
        RunStatus::Completed => Exit::OK,
        RunStatus::Cancelled => ExitCode::RunCancelled.into(),
        RunStatus::Failed => match run.exit_code.filter(|code| passes && *code != 0) {
            Some(code) => Exit::passed_through(code),
            None => ExitCode::RunFailed.into(),
        },
        RunStatus::Pending | RunStatus::Running => ExitCode::Bug.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use tidegate_protocol::AttentionDoc;

    fn run(status: RunStatus, code: Option<i32>) -> RunDoc {
        let mut run = sample();
        (run.status, run.exit_code) = (status, code);
        run
    }

    fn exit(reason: Reason, run: RunDoc, codes: Codes) -> u8 {
        Ending { reason, run }.exit(codes).code()
    }

    #[test]
    fn exit_code_of_each_ending_is_the_public_one() {
        let table = [
            (Reason::Ended, RunStatus::Completed, Some(0), 0, 0),
            (Reason::Ended, RunStatus::Failed, Some(3), 10, 3),
            (Reason::Ended, RunStatus::Failed, None, 10, 10),
            (Reason::Ended, RunStatus::Failed, Some(0), 10, 10),
            (Reason::Ended, RunStatus::Failed, Some(300), 10, 10),
            (Reason::Ended, RunStatus::Cancelled, Some(3), 11, 11),
            (Reason::PersonNeeded, RunStatus::Running, None, 12, 12),
            (Reason::TimedOut, RunStatus::Running, None, 5, 124),
            (Reason::Detached, RunStatus::Running, None, 130, 130),
        ];
        for (reason, status, code, own, passed) in table {
            assert_eq!(exit(reason, run(status, code), Codes::Own), own, "{reason:?} {status}");
            let through = exit(reason, run(status, code), Codes::PassedThrough);
            assert_eq!(through, passed, "{reason:?} {status} passed through");
        }
    }

    #[test]
    fn end_that_is_not_recorded_is_waited_for() {
        let mut seen = run(RunStatus::Failed, Some(3));
        seen.recorded = false;
        assert_eq!(reason(&seen, Patience::default()), None);
        seen.recorded = true;
        assert_eq!(reason(&seen, Patience::default()), Some(Reason::Ended));
    }

    #[test]
    fn person_who_is_needed_ends_the_wait_unless_ignored() {
        let mut seen = run(RunStatus::Running, None);
        seen.attention = vec![AttentionDoc {
            reason: "conflict".into(),
            feature: None,
            job_id: None,
            message: "x".into(),
            unblocks: "y".into(),
            commit: None,
        }];
        assert_eq!(reason(&seen, Patience::default()), Some(Reason::PersonNeeded));
        let patience = Patience { ignore_attention: true, ..Patience::default() };
        assert_eq!(reason(&seen, patience), None);
    }
}
