//! What holds after every fault, whatever ran: chains, processes, repository, job directories.

use anyhow::{Context, Result};

use super::scenario::Outcome;
use crate::site::{poll, tagged, with_argument};

/// Looks at all of it. The daemon is stopped first: what is true must be true without it.
pub(super) fn check(outcome: &Outcome) -> Result<()> {
    let place = &outcome.place;
    let run = outcome.run["runId"].as_str().context("a run without an id")?;
    let home = place.home().display().to_string();
    poll("the end of every process of the run", || {
        let alive = tagged(run)?.len() + with_argument(&home, "shim")?.len();
        Ok((alive == 0).then_some(()))
    })?;
    place.stop()?;
    place.verb(&["doctor", "--verify"]).context("doctor --verify")?;
    place.git(&["fsck", "--no-dangling"]).context("git fsck")?;
    Ok(())
}
