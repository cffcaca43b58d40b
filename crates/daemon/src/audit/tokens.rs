//! Tokens and the highwater: they only rise.

use tidegate_core::home::HomeEvent;
use tidegate_store::{Acknowledged, HomeRow, StoreError, View};

use super::finding::{Finding, Invariant};

pub(super) fn check(
    view: &View<'_>,
    home: &HomeRow,
    known: Option<&Acknowledged>,
    found: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let mut say = |text: String| found.push(Finding::new(Invariant::I7, "home", text));
    match known {
        // The mark was read first: the store can only have gone on since.
        Some(known) if home.turn < known.turn => say(format!(
            "the store has {} transactions, {} were acknowledged: it went back in time",
            home.turn, known.turn
        )),
        Some(known)
            if (home.token.generation, home.token.epoch) < (known.generation, known.epoch) =>
        {
            say(format!(
                "the token of the store is {}.{}, {}.{} was given",
                home.token.generation, home.token.epoch, known.generation, known.epoch
            ));
        }
        None if home.turn > 1 => say("the highwater file is missing or damaged".to_owned()),
        Some(_) | None => {}
    }
    let events = match view.home_events() {
        Ok(events) => events,
        // The log's own check names it.
        Err(StoreError::Corrupt(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let tokens = events.iter().filter_map(|event| match event {
        HomeEvent::DaemonStarted { epoch, generation, .. } => Some((*generation, *epoch)),
        HomeEvent::DaemonStopped { .. }
        | HomeEvent::ProjectRegistered { .. }
        | HomeEvent::LanePaused { .. }
        | HomeEvent::LaneResumed { .. }
        | HomeEvent::CleanupAsked { .. }
        | HomeEvent::RemovalProved { .. }
        | HomeEvent::RestoreAsked { .. }
        | HomeEvent::RestoreEnded { .. }
        | HomeEvent::CleanupEnded { .. }
        | HomeEvent::CommandAccepted(_)
        | HomeEvent::CommandCompleted(_)
        | HomeEvent::CommandFailed(_)
        | HomeEvent::BackgroundEnded(_)
        | HomeEvent::ProjectRemoved { .. } => None,
    });
    let mut newest = (0, 0);
    for token in tokens {
        if token <= newest || token.1 <= newest.1 {
            let (one, other) = (newest, token);
            say(format!("token {}.{} was given behind {}.{}", other.0, other.1, one.0, one.1));
        }
        newest = newest.max(token);
    }
    Ok(())
}
