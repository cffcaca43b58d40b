//! The engine: one synchronous thread that owns the store and moves every run.
//!
//! A turn takes a group of messages, reads the clock, steps each run, commits once, then answers
//! and hands effects on. Nothing here does I/O but the store's.

mod answers;
mod cleanups;
mod command;
mod dispatch;
mod endings;
mod handle;
mod launch;
mod live;
mod open;
mod people;
mod record;
mod recover;
mod repeat;
mod requests;
mod resume;
mod reviews;
mod run_loop;
mod turn;
mod turns;

pub use command::{Command, Idempotency, Launch, LaunchWay, Submit, Wording};
pub use dispatch::{Dispatch, Target};
pub use handle::{Answer, Handle, Inbox, Message, Reports, Request, inbox};
pub use recover::{Recovered, recover};
pub use run_loop::{Ended, Real, Until, run};
pub use turn::{Chance, Engine, EngineError};
