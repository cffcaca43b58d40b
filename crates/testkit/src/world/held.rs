//! What comes of git's work in a repository that another home serves.

use tidegate_core::run::{Effect, Report, RollbackOutcome};

/// What comes of work in a repository that another home serves.
pub(super) enum Held {
    Told(Box<Report>),
    Waits,
}

impl Held {
    pub(super) fn report(self) -> Option<Report> {
        match self {
            Self::Told(report) => Some(*report),
            Self::Waits => None,
        }
    }
}

/// `None` when the work needs no repository.
pub(super) fn held(effect: &Effect) -> Option<Held> {
    match effect {
        Effect::Rollback { feature, to, .. } => {
            let outcome = RollbackOutcome::Failed { detail: "another home".to_owned() };
            let report = Report::RolledBack { feature: feature.clone(), to: *to, outcome };
            Some(Held::Told(Box::new(report)))
        }
        Effect::PrepareWorktree { feature, .. }
        | Effect::PrepareConflict { feature }
        | Effect::Commit { feature, .. }
        | Effect::Merge { feature, .. } => {
            let by = "another home".to_owned();
            let report = Report::RepoHeld { feature: feature.clone(), by };
            Some(Held::Told(Box::new(report)))
        }
        Effect::UpdateTarget { .. }
        | Effect::Inspect { .. }
        | Effect::AwaitClean { .. }
        | Effect::AwaitRepo { .. }
        | Effect::AwaitRemote { .. }
        | Effect::AwaitRetry { .. } => Some(Held::Waits),
        // What is captured stands in the home.
        Effect::WatchWorktree { .. }
        | Effect::Capture { .. }
        | Effect::SuperviseJob { .. }
        | Effect::StopJob { .. }
        | Effect::WatchAgents { .. }
        | Effect::SweepAgents { .. }
        | Effect::TypeMessage { .. }
        | Effect::Converse { .. }
        | Effect::ReadResult { .. } => None,
    }
}
