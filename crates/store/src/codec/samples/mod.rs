//! One sample, or more, of every fact: what the codec must carry both ways.

mod cleanups;
mod commands;
mod facts;
mod parts;
mod people;
mod works;

pub(crate) use facts::{events, home_events};
pub(crate) use parts::{exits, feature_states, purposes};
pub(crate) use people::{messages, questions};
