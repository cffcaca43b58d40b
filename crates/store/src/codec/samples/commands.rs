//! Samples of the facts of commands.
#![expect(clippy::unwrap_used, reason = "tests")]

use tidegate_core::command::{CommandFact, CommandId};
use tidegate_core::home::HomeEvent;
use tidegate_core::ids::{FeatureId, RunId};
use tidegate_core::time::WallMs;

/// Commands about everything, and about nothing.
pub(crate) fn home_events() -> Vec<HomeEvent> {
    let fact = || {
        Box::new(CommandFact {
            request: CommandId::new("c00000a01vu").unwrap(),
            command: "review.approve".into(),
            actor: "user".into(),
            run: Some(RunId::new("r000001abcd").unwrap()),
            feature: Some(FeatureId::new("berths").unwrap()),
            code: None,
            at: WallMs(9),
        })
    };
    let failed = Box::new(CommandFact { code: Some("not_found".into()), run: None, ..*fact() });
    let bare = Box::new(CommandFact { feature: None, ..*fact() });
    vec![
        HomeEvent::CommandAccepted(fact()),
        HomeEvent::CommandCompleted(bare),
        HomeEvent::CommandFailed(failed.clone()),
        HomeEvent::BackgroundEnded(failed),
    ]
}
