//! How agents are driven: what a builder is told, and how its program gets it.
//!
//! Pure: a manifest and the job's place go in, an argv and a channel for the prompt come out. It
//! starts nothing, and knows no run's state beyond what it is handed.
#![deny(clippy::wildcard_enum_match_arm)]

mod brief;
mod launch;
mod prompt;

pub use brief::Brief;
pub use launch::{Launch, LaunchError, Place, PromptInput, plan};
pub use prompt::EVIDENCE_BYTES;
