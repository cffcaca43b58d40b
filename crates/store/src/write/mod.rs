//! What can be written, and only within a turn.

mod command;
mod log;
mod people;
mod projection;
mod save;
#[cfg(test)]
mod tests;

pub use command::{Background, CommandEnd, CommandRecord};
pub(crate) use log::Log;
pub use save::Savepoint;
pub(crate) use save::claimed_at;
