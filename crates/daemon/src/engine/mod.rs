//! The engine: one synchronous thread that owns the store and moves every run.

mod command;
mod handle;

pub use command::{Command, Idempotency, Submit};
pub use handle::{Answer, Handle, Inbox, Message, Reports, Request, inbox};
