//! The conversation between daemon and shim over `control.sock`.
//!
//! Old shims outlive new daemons: the protocol is line-delimited JSON, tiny, and frozen. One
//! request per line, one reply per line. Fields may be added and unknown ones are ignored; an
//! unknown `op` is answered `unknown_op`. Every request carries the fencing token (generation,
//! epoch) of its sender; one lower than the highest the shim has seen is answered `stale_epoch`
//! and changes nothing. The shim also asks the kernel who is connected: another user is cut off.

mod client;
mod protocol;

pub use client::{ControlClient, ControlError};
pub(crate) use protocol::{LINE_BYTES_MAX, PROTOCOL};
pub use protocol::{Op, Phase, Refused, Reply, Request, Status};
