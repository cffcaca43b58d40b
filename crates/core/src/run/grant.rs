//! What admission gives to features, one thing at a time. It must not know how admission decides.

use super::limited::Parked;
use super::locks::LockWait;
use crate::ids::{AgentName, FeatureId, GateName};

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
    /// A wait in the stead of a slot: the account of its agent is limited.
    Park {
        /// For which feature.
        feature: FeatureId,
        /// By what.
        parked: Parked,
    },
    /// The word why it gets no slot, or that this is over: the account of its agent is refused.
    Hold {
        /// For which feature.
        feature: FeatureId,
        /// The run and the feature whose agent was refused.
        by: Option<String>,
    },
    /// An agent in the stead of the role's own, whose account lets nobody work; or that one again.
    StandIn {
        /// For which feature.
        feature: FeatureId,
        /// Which agent.
        agent: Option<AgentName>,
    },
    /// The target, for one landing.
    Target {
        /// For which feature.
        feature: FeatureId,
    },
}
