//! The conversation between daemon and shim over `control.sock`.
//!
//! Old shims outlive new daemons: the protocol is line-delimited JSON, tiny, and frozen. One
//! request per line, one reply per line. Fields may be added and unknown ones are ignored; an
//! unknown `op` is answered `unknown_op`. Every request carries the fencing token (generation,
//! epoch) of its sender; one lower than the highest the shim has seen is answered `stale_epoch`
//! and changes nothing. After an accepted `attach` the connection carries frames of a terminal
//! instead, until a newer token is seen. The shim also asks the kernel who is connected: another user is cut off.

mod client;
mod frame;
mod protocol;

pub use client::{ControlClient, ControlError};
pub use frame::{
    FRAME_BYTES_MAX, FrameKind, FrameTooLong, TerminalFrame, decode_frames, encode_frame,
};
pub use protocol::{
    Attach, INPUT_BYTES_MAX, InputStatus, Op, Phase, Refused, Reply, Request, Status,
    TerminalStatus,
};
pub(crate) use protocol::{PROTOCOL, REQUEST_BYTES_MAX};
