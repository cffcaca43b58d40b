//! Follows the demo's run to its end. In the middle of it the daemon is killed, and then the held agent.

use std::thread;
use std::time::{Duration, Instant};

use tidegate_protocol::{EventView, RunDoc};

use crate::demo::narrator::Narrator;
use crate::demo::product::Product;
use crate::demo::stage::{HELD, Stage};
use crate::demo::victim::{self, Agent, Daemon};
use crate::error::CliError;

/// Longest time that the demo takes. It takes seconds; a slow machine may take a minute.
const LIMIT: Duration = Duration::from_mins(5);
/// Between two looks.
const PACE: Duration = Duration::from_millis(50);

/// What was seen until the end of the run.
#[derive(Debug)]
pub(super) struct Seen {
    /// The run at its end.
    pub(super) run: RunDoc,
    /// The daemon that was killed, and the next one.
    pub(super) daemons: Option<(Daemon, Daemon)>,
    /// The held agent as the next daemon found it: alive, and the same process as before.
    pub(super) adopted: Option<Agent>,
    /// The agent that was killed.
    pub(super) victim: Option<Agent>,
    /// Every gate that failed, as it was recorded.
    pub(super) failures: Vec<EventView>,
}

/// Looks at the run again and again until it has ended.
///
/// # Errors
/// When the product refuses to be asked, or when the run does not end.
pub(super) fn follow(
    stage: &Stage,
    product: &Product<'_>,
    run: &str,
    narrator: &mut Narrator,
) -> Result<Seen, CliError> {
    let deadline = Instant::now() + LIMIT;
    let mut seen = Seen {
        run: product.run(run)?,
        daemons: None,
        adopted: None,
        victim: None,
        failures: Vec::new(),
    };
    loop {
        narrator.show(&seen.run);
        if seen.run.status.is_terminal() {
            seen.failures = product.events(run, "gate-failed")?;
            return Ok(seen);
        }
        if seen.victim.is_none() && stage.is_holding() {
            strike(stage, product, run, &mut seen, narrator)?;
        }
        if Instant::now() >= deadline {
            let waits = seen.run.waits_for.or(seen.run.detail).unwrap_or_default();
            let message = format!("the run has not ended after {} s. {waits}", LIMIT.as_secs());
            return Err(CliError::bug(message));
        }
        thread::sleep(PACE);
        seen.run = product.run(run)?;
    }
}

/// Kills the daemon under the working agent, lets the next one adopt it, then kills the agent.
fn strike(
    stage: &Stage,
    product: &Product<'_>,
    run: &str,
    seen: &mut Seen,
    narrator: &mut Narrator,
) -> Result<(), CliError> {
    let Some(before) = victim::agent(product, run, HELD)? else { return Ok(()) };
    if seen.daemons.is_none()
        && let Some(killed) = victim::kill_daemon(product)?
    {
        narrator.say(&format!("kill -9 {}: the daemon, while agents work", killed.pid));
        product.start()?;
        seen.daemons = product.daemon()?.map(|next| (killed, next));
        seen.adopted = victim::agent(product, run, HELD)?.filter(|now| *now == before);
    }
    seen.victim = victim::kill_agent(product, run, HELD)?;
    if let Some(victim) = &seen.victim {
        narrator.say(&format!("kill -9 {}: the agent of {HELD}, in mid-work", victim.pid));
        stage.let_go()?;
    }
    Ok(())
}
