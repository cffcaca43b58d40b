//! The pure domain of Tidegate: what a plan, a run, a feature and a job are, and how each moves.
//!
//! Nothing here knows a clock, a file system, a process, an environment, randomness, or a wire
//! format. State changes in one place: [`run::step`] decides which events follow from an input,
//! [`run::Run::apply`] evolves the state by an event, and [`run::Run::outstanding`] derives from
//! the state all I/O that is still to be done.
#![deny(clippy::wildcard_enum_match_arm)]

mod accounts;
pub mod admission;
pub mod budget;
pub mod cleanup;
pub mod command;
pub mod evidence;
pub mod exit;
pub mod home;
pub mod ids;
pub mod integrity;
pub mod launcher;
pub mod limits;
mod lines;
pub mod manifest;
pub mod pause;
pub mod plan;
pub mod run;
pub mod time;
pub mod told;
pub mod verdict;
pub mod workplace;
