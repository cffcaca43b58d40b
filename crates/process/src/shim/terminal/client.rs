//! One attached client: what it is to be sent, and what it sends. It never makes anybody wait.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::screen::Size;
use crate::control::{FrameKind, TerminalFrame, decode_frames, encode_frame};

/// Bytes that wait for a client at most. One that is slower is shown the screen as it is then, and
/// misses what was in between.
const WAITING_BYTES_MAX: usize = 512 << 10;

/// Bytes read from a client in one turn at most.
const READ_BYTES_MAX: usize = 64 << 10;

/// A client.
pub(crate) struct Client {
    stream: UnixStream,
    received: Vec<u8>,
    waiting: Vec<u8>,
    /// How much of `waiting` was sent.
    sent: usize,
    /// Where the frame ends in `waiting` that is sent in part.
    frame_ends: Vec<usize>,
    /// It must be shown the whole screen before any more output.
    pub(crate) needs_snapshot: bool,
    /// The first snapshot shows what has scrolled off as well.
    pub(crate) wants_history: bool,
    pub(crate) reads_only: bool,
    pub(crate) size: Size,
    /// The fencing token that it came with.
    pub(crate) token: (u64, u64),
}

/// What a client sent.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) input: Vec<u8>,
    pub(crate) resized: bool,
}

impl Client {
    pub(crate) fn new(
        stream: UnixStream,
        size: Size,
        reads_only: bool,
        wants_history: bool,
        token: (u64, u64),
    ) -> Self {
        Self {
            stream,
            received: Vec::new(),
            waiting: Vec::new(),
            sent: 0,
            frame_ends: Vec::new(),
            needs_snapshot: true,
            wants_history,
            reads_only,
            size,
            token,
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Whether there is something to be sent.
    pub(crate) fn is_behind(&self) -> bool {
        self.sent < self.waiting.len()
    }

    /// Queues a frame. When too much waits, all of it is dropped but a frame that was begun.
    pub(crate) fn send(&mut self, kind: FrameKind, bytes: &[u8]) {
        encode_frame(&mut self.waiting, kind, bytes);
        self.frame_ends.push(self.waiting.len());
        if self.waiting.len() - self.sent <= WAITING_BYTES_MAX {
            return;
        }
        match kind {
            // As large as it is: it is what replaces the rest.
            FrameKind::Snapshot | FrameKind::End => {}
            FrameKind::Output | FrameKind::Size | FrameKind::Input | FrameKind::Resize => {
                self.drop_waiting();
                self.needs_snapshot = true;
            }
        }
    }

    fn drop_waiting(&mut self) {
        let begun = self.frame_ends.iter().find(|end| **end > self.sent).copied();
        let is_begun = self.frame_ends.iter().all(|end| *end != self.sent) && self.sent > 0;
        let keep = if is_begun { begun.unwrap_or(self.sent) } else { self.sent };
        self.waiting.truncate(keep);
        self.frame_ends.retain(|end| *end <= keep);
    }

    /// Sends what it takes now; false when it is gone.
    pub(crate) fn flush(&mut self) -> bool {
        while self.is_behind() {
            match self.stream.write(&self.waiting[self.sent..]) {
                Ok(0) => return false,
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        if !self.is_behind() {
            self.waiting.clear();
            self.waiting.shrink_to(64 << 10);
            self.frame_ends.clear();
            self.sent = 0;
        }
        true
    }

    /// Sends the rest, for this long at most at a time.
    pub(crate) fn finish(mut self, patience: Duration) {
        let waits = self.stream.set_write_timeout(Some(patience)).is_ok()
            && self.stream.set_nonblocking(false).is_ok();
        if waits {
            self.flush();
        }
    }

    /// Reads what it sent; `None` when it is gone.
    pub(crate) fn receive(&mut self) -> Option<Sent> {
        let mut buffer = [0; 4096];
        let mut read = 0;
        while read < READ_BYTES_MAX {
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => {
                    read += count;
                    self.received.extend_from_slice(&buffer[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        let mut sent = Sent::default();
        for frame in decode_frames(&mut self.received).ok()? {
            self.take(&frame, &mut sent);
        }
        Some(sent)
    }

    fn take(&mut self, frame: &TerminalFrame, sent: &mut Sent) {
        match frame.kind {
            FrameKind::Input if !self.reads_only => sent.input.extend_from_slice(&frame.bytes),
            FrameKind::Resize => {
                let Some((rows, cols)) = frame.as_size() else { return };
                self.size = Size::near(rows, cols);
                sent.resized = true;
            }
            // A reader's keys go nowhere; the rest is not for a client to send.
            FrameKind::Input
            | FrameKind::Snapshot
            | FrameKind::Output
            | FrameKind::Size
            | FrameKind::End => {}
        }
    }
}
