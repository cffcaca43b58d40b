//! One sample, or more, of every fact: what the codec must carry both ways.

mod facts;
mod parts;
mod works;

pub(super) use facts::{events, home_events};
