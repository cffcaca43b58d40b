//! How agents are driven: what one is told, how its program gets it, and what its stream tells.
//!
//! Pure: a manifest and the job's place go in, an argv and a channel for the prompt come out; bytes
//! of output go in, events and the end of the turn come out. It starts nothing, reads no file, and
//! knows no run's state beyond what it is handed.
#![deny(clippy::wildcard_enum_match_arm)]

mod brief;
mod classify;
mod event;
mod judge;
mod launch;
mod lines;
mod path;
mod prompt;
mod reset;
mod rules;
mod talk;

pub use brief::{Before, Brief};
pub use event::{Event, Reset, Trouble};
pub use judge::Judge;
pub use launch::{Launch, LaunchError, Place, PromptInput, Tools, plan};
pub use lines::LINE_BYTES_MAX;
pub use prompt::EVIDENCE_BYTES;
pub use rules::{BadPattern, Rules};
pub use talk::{Dialogue, Due, Opening};
