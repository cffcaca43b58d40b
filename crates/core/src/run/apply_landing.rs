//! How a feature evolves from its consent to the target.

use super::event::Event;
use super::feature::{Feature, FeatureState, LandStep};
use super::round::Round;

impl Feature {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only the facts of a landing are handed here, by a match that lists them"
    )]
    pub(super) fn apply_of_landing(&mut self, event: &Event) {
        match event {
            Event::Approved { .. } => {
                self.approved = true;
                self.state = FeatureState::Landing(LandStep::AwaitingTarget);
            }
            Event::LandingAdmitted { .. } => {
                self.state = FeatureState::Landing(LandStep::Merging);
            }
            Event::MergePrepared { merged, .. } => {
                self.failures = 0;
                let merged = merged.clone();
                let round = Round::default();
                self.state = FeatureState::Landing(LandStep::Gates { merged, round });
            }
            Event::LandingIntended { merged, .. } => {
                self.state = FeatureState::Landing(LandStep::Updating { merged: merged.clone() });
            }
            Event::TargetMoved { .. } => self.state = FeatureState::Landing(LandStep::Merging),
            Event::Landed { commit, .. } => {
                self.state = FeatureState::Landed { commit: commit.clone() };
            }
            _ => {}
        }
    }
}
