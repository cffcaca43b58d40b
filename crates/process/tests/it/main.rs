//! The shim and its surroundings against real processes.
#![expect(clippy::unwrap_used, reason = "tests")]

mod ends;
#[cfg(feature = "failpoints")]
mod faults;
mod fixture;
mod groups;
mod identities;
mod inputs;
mod launches;
mod locks;
mod lost;
mod observing;
mod outputs;
mod removed;
mod stops;
mod terminals;
mod trees;
mod watching;
mod workers;
