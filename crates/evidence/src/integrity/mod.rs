//! What a change did to the tests, gates, CI and hooks that judge it.
//!
//! Reads the old and new content of changed files, lexes it lightly, and names what weakens a check.
//! It runs nothing and does not judge whether the change was right: a person does.

mod assertion;
mod change;
mod compare;
mod config_file;
mod conventions;
mod excuse;
mod expression;
mod finding;
mod gate_file;
mod guard;
mod inspect;
mod inventory;
mod language;
mod lexer;
mod line_assertion;
mod matching;
mod outline;
mod script_line;
mod threshold_line;
mod touched;

pub use change::{Change, ChangedFile, GateCommand, Side};
pub use conventions::{Conventions, InvalidConvention};
pub use finding::{Finding, Kind, Severity};
pub use inspect::inspect;
