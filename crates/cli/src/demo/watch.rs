//! Follows the demo's run to its end, and kills the held agent in the middle of its work.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use tidegate_protocol::{EvidenceDoc, RunDoc};

use crate::demo::narrator::Narrator;
use crate::demo::product::Product;
use crate::demo::stage::{HELD, Stage};
use crate::demo::victim::{self, Victim};
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
    /// The agent that was killed.
    pub(super) victim: Option<Victim>,
    /// The first gate that failed, by feature.
    pub(super) failures: BTreeMap<String, EvidenceDoc>,
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
    let mut victim = None;
    let mut failures = BTreeMap::new();
    loop {
        let now = product.run(run)?;
        for feature in &now.features {
            let failed = feature.evidence.clone().filter(|gate| gate.passed == Some(false));
            if let Some(evidence) = failed {
                failures.entry(feature.id.clone()).or_insert(evidence);
            }
        }
        narrator.show(&now);
        if now.status.is_terminal() {
            return Ok(Seen { run: now, victim, failures });
        }
        if victim.is_none() && stage.is_holding() {
            victim = victim::kill(product, run, HELD)?;
            if let Some(victim) = &victim {
                stage.let_go()?;
                narrator.say(&format!("kill -9 {}: the agent of {HELD}, in mid-work", victim.pid));
            }
        }
        if Instant::now() >= deadline {
            let waits = now.waits_for.or(now.detail).unwrap_or_default();
            let message = format!("the run has not ended after {} s. {waits}", LIMIT.as_secs());
            return Err(CliError::bug(message));
        }
        thread::sleep(PACE);
    }
}
