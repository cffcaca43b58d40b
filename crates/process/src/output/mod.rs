//! What a job wrote: raw bytes in segments `output.N`, and an index of frames beside them.
//!
//! Nothing is added to the bytes. The index says which stream wrote which range and when; bytes at
//! the end that it does not cover yet (for 0.1 s, or for ever after a killed shim) are of unknown
//! stream.

mod frame;
mod reader;
mod room;
mod writer;

pub use frame::{FRAME_BYTES, Frame, FrameKind, Stream};
pub use reader::{OutputReader, Segment};
pub(crate) use writer::OutputWriter;
