//! Whether a feature gets on: one that fails with the same tree for the same reason again and again
//! is stopped, and a person is told, long before its iterations are used up.

use super::block::Block;
use super::event::Event;
use super::feature::{FeatureState, LandStep, Trail};
use super::feedback::Feedback;
use super::state::Run;
use super::step::Draft;
use crate::exit::Exit;
use crate::ids::{FeatureId, Oid};

impl Trail {
    /// An iteration failed with this mark.
    pub(super) fn failed_with(&mut self, mark: Option<&str>) {
        self.same = match (mark, self.same.take()) {
            (Some(mark), Some((last, times))) if last == mark => Some((last, times + 1)),
            (Some(mark), _) => Some((mark.to_owned(), 1)),
            (None, _) => None,
        };
    }
}

impl Run {
    /// What an iteration that fails now failed with, and why: the same for the same tree and the same
    /// reason. `None` where one of them is not known.
    pub(super) fn mark_of(&self, id: &FeatureId, why: &Feedback) -> Option<String> {
        let (_, plan) = self.plan()?;
        let feature = plan.features.get(id)?;
        let tree: Option<&Oid> = match &feature.state {
            FeatureState::Landing(LandStep::Gates { merged, .. }) => Some(&merged.tree),
            FeatureState::Landing(
                LandStep::AwaitingTarget | LandStep::Merging | LandStep::Updating { .. },
            )
            | FeatureState::Queued
            | FeatureState::Working { .. }
            | FeatureState::Verifying { .. }
            | FeatureState::InReview
            | FeatureState::Blocked(_)
            | FeatureState::Landed { .. }
            | FeatureState::Failed { .. }
            | FeatureState::Cancelled { .. }
            | FeatureState::Skipped { .. } => feature.tested.as_ref().map(|tested| &tested.tree),
        };
        match why {
            Feedback::Gate { gate, job, exit, .. } => {
                let digest = self.jobs.get(job)?.evidence.as_ref()?.digest.as_ref()?;
                Some(format!("{} gate {gate} {} {digest}", tree?, ending(exit)))
            }
            Feedback::NoChange => Some(format!("{} no_change", feature.base.as_ref()?)),
            Feedback::Review { comments, .. } => Some(format!("{} review {comments}", tree?)),
            Feedback::HookRefused { .. }
            | Feedback::LeftBranch { .. }
            | Feedback::SyncConflict { .. }
            | Feedback::Unusable { .. }
            | Feedback::Unresolved { .. } => None,
        }
    }
}

/// An end without what differs from one time to the next.
fn ending(exit: &Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no code".to_owned(),
    }
}

impl Draft {
    /// Stops a feature that does not get on. True if it did.
    pub(super) fn stop_if_stuck(&mut self, id: &FeatureId, reason: &str) -> bool {
        let Some((spec, _)) = self.run.plan() else { return false };
        let same = self.run.trails.get(id).and_then(|trail| trail.same.as_ref());
        let Some((_, times)) = same.filter(|(_, times)| (1..=*times).contains(&spec.same_max))
        else {
            return false;
        };
        let block = Block::NoProgress { times: *times, reason: reason.to_owned() };
        self.emit(Event::Blocked { feature: id.clone(), block });
        true
    }
}
