//! How one feature evolves by snapshots of its worktree.

use super::event::Event;
use super::feature::{Feature, FeatureState, Trail, WorkStep};

impl Feature {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of snapshots are handed here, by a match that lists them"
    )]
    pub(super) fn apply_of_capture(&mut self, event: &Event, trail: &mut Trail) {
        match event {
            Event::SnapshotTaken { captured, .. } => trail.snapshot = captured.number,
            Event::RollbackRequested { to, .. } => {
                self.state = FeatureState::building(WorkStep::RollingBack(*to));
            }
            Event::RolledBack { .. } => {
                // Whatever was built and looked at is no longer there: a builder goes on from it.
                trail.built = None;
                trail.checked = false;
                self.failures = 0;
                self.iteration = 0;
                self.approved = false;
                self.tested = None;
                self.conflict = None;
                self.sync = None;
                self.state = FeatureState::building(WorkStep::AwaitingSlot);
            }
            _ => {}
        }
    }
}
