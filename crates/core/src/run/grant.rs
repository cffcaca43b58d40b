//! What admission gives to features, one thing at a time. It must not know how admission decides.

use super::locks::LockWait;
use crate::ids::{FeatureId, GateName};

/// A resource that admission gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// A slot of the run and the home.
    Slot {
        /// For which feature.
        feature: FeatureId,
    },
    /// A gate slot of the home.
    Gate {
        /// For which feature.
        feature: FeatureId,
        /// For which gate of it.
        gate: GateName,
        /// Its number, from 0.
        slot: u32,
    },
    /// A place in the line for the locks of a feature that cannot have them yet.
    Line {
        /// For which feature.
        feature: FeatureId,
        /// Which place.
        wait: LockWait,
    },
    /// The target, for one landing.
    Target {
        /// For which feature.
        feature: FeatureId,
    },
}
