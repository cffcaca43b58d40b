//! A simulated world: the real engine over the real store, everything else played.
//!
//! [`World`] is one seed's course of events. The host (`host`) keeps processes and job
//! directories, the repositories (`repo`) keep commits and refs; both outlive every daemon. What
//! an adapter of the product does is played by `hands`, with the same table of verdicts.

mod capturing;
mod client;
mod clock;
mod course;
mod daemon;
mod dice;
mod gitwork;
mod hands;
mod held;
mod host;
mod joins;
mod merging;
mod oracle;
mod person;
mod port;
mod programs;
mod repo;
mod scenario;
mod schedule;
mod shim;
mod talk;
mod telling;
mod trace;
mod trouble;
mod turn_orders;

pub use course::{End, Violation, World};
pub use dice::Dice;
