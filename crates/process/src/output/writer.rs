//! The shim's side of the output: takes drained bytes, never blocks on or fails for a full disk.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::OFlags;

use super::frame::{FRAME_BYTES, Frame, FrameKind, Stream};
use super::room::Room;
use crate::clock;
use crate::jobdir::{INDEX, JobDir};
use crate::record::{Bytes, Limits};

/// Frames are written when they are this old, in milliseconds, so that a chatty job does not cost
/// two writes a line; the first after a pause is written at once.
const BATCH_MS: u64 = 100;

/// Frames kept in memory while the disk refuses them; later ones are counted as lost bytes only.
const PENDING_MAX: usize = 2_048;

/// Writes segments and index of one job.
pub(crate) struct OutputWriter {
    segment: File,
    number: u32,
    length: u64,
    /// Number and size of the closed segments that still exist.
    closed: VecDeque<(u32, u64)>,
    index: File,
    index_length: u64,
    pending: Vec<Frame>,
    flushed_ms: u64,
    limits: Limits,
    room: Room,
    bytes: Bytes,
}

impl OutputWriter {
    /// Makes `output.0` and `index`, empty.
    pub(crate) fn create(dir: &JobDir, limits: Limits) -> io::Result<Self> {
        Ok(Self {
            segment: dir.create_file("output.0", OFlags::TRUNC)?,
            number: 0,
            length: 0,
            closed: VecDeque::new(),
            index: dir.create_file(INDEX, OFlags::TRUNC)?,
            index_length: 0,
            pending: Vec::new(),
            flushed_ms: 0,
            room: Room::beyond(limits.reserve_bytes),
            limits,
            bytes: Bytes::default(),
        })
    }

    /// What was drained so far.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Stores what one read of a pipe gave. What the disk refuses is recorded as a gap.
    pub(crate) fn store(&mut self, dir: &JobDir, stream: Stream, bytes: &[u8]) {
        let length = bytes.len() as u64;
        match stream {
            Stream::Stdout => self.bytes.stdout += length,
            Stream::Stderr => self.bytes.stderr += length,
        }
        if self.length >= self.limits.segment_bytes {
            // When there is no room for a new segment the old one goes on.
            let _ = self.rotate(dir);
        }
        let stored = match self.room.take(&self.segment, bytes.len()) {
            0 => 0,
            granted => self.append(&bytes[..granted]),
        };
        self.note(FrameKind::Data, stream, self.length, stored);
        self.length += stored as u64;
        let lost = bytes.len() - stored;
        self.bytes.lost += lost as u64;
        self.note(FrameKind::Gap, stream, self.length, lost);
    }

    fn append(&self, bytes: &[u8]) -> usize {
        let mut stored = 0;
        while stored < bytes.len() {
            match self.segment.write_at(&bytes[stored..], self.length + stored as u64) {
                Ok(0) => break,
                Ok(count) => stored += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        stored
    }

    fn note(&mut self, kind: FrameKind, stream: Stream, offset: u64, length: usize) {
        let Ok(length @ 1..) = u32::try_from(length) else { return };
        let at_wall_ms = clock::wall_ms();
        let frame = Frame { kind, stream, segment: self.number, offset, length, at_wall_ms };
        if self.pending.last_mut().is_some_and(|last| last.absorb(&frame)) {
            return;
        }
        if self.pending.len() < PENDING_MAX {
            self.pending.push(frame);
        }
    }

    fn rotate(&mut self, dir: &JobDir) -> io::Result<()> {
        let next = self.number + 1;
        self.segment = dir.create_file(&format!("output.{next}"), OFlags::TRUNC)?;
        self.closed.push_back((self.number, self.length));
        self.number = next;
        self.length = 0;
        let Some(max) = self.limits.output_bytes_max else { return Ok(()) };
        let mut total: u64 = self.closed.iter().map(|(_, length)| length).sum();
        while total > max {
            let Some((number, length)) = self.closed.pop_front() else { break };
            dir.remove(&format!("output.{number}"))?;
            total -= length;
        }
        Ok(())
    }

    /// When frames are to be flushed, on the monotonic clock; `None` when there are none.
    pub(crate) fn flush_due_ms(&self) -> Option<u64> {
        (!self.pending.is_empty()).then_some(self.flushed_ms + BATCH_MS)
    }

    /// Writes the frames if they are due.
    pub(crate) fn flush_if_due(&mut self, now_ms: u64) {
        if self.flush_due_ms().is_some_and(|due| now_ms >= due) || self.pending.len() > 256 {
            self.flush(now_ms);
        }
    }

    /// Writes the frames that are pending; those that the disk refuses stay pending.
    pub(crate) fn flush(&mut self, now_ms: u64) {
        let mut bytes = Vec::with_capacity(self.pending.len() * FRAME_BYTES);
        for frame in &self.pending {
            bytes.extend_from_slice(&frame.encode());
        }
        self.flushed_ms = now_ms;
        // At a fixed offset: what a full disk cut short is written over by the next try.
        if self.index.write_all_at(&bytes, self.index_length).is_ok() {
            self.index_length += bytes.len() as u64;
            self.pending.clear();
            self.pending.shrink_to(64);
        }
    }
}
