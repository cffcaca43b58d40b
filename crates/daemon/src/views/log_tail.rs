//! Finding the place so many bytes or lines before the end of a log, backwards, without reading all
//! of it.

use std::io;
use std::path::Path;

use tidegate_process::output::{Frame, OutputReader};

use super::log_file::PlainLog;

/// Bytes of a plain file that are looked at together.
const BLOCK_BYTES: u64 = 64 * 1024;

/// What is still missing of a tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    unit: Unit,
    missing: u64,
    /// Lines: whether a byte was met already. The newline at the very end starts no line.
    begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Lines,
}

impl Start {
    pub(super) fn bytes(count: u64) -> Self {
        Self { unit: Unit::Bytes, missing: count, begun: false }
    }

    pub(super) fn lines(count: u64) -> Self {
        Self { unit: Unit::Lines, missing: count, begun: false }
    }

    /// Whether the place was found.
    pub(super) fn is_reached(&self) -> bool {
        self.missing == 0
    }

    /// The frame in which the tail starts, or the first one, and the bytes of that frame that lie
    /// before the start.
    pub(super) fn back_in_job(&mut self, job_dir: &Path) -> io::Result<(u64, u64)> {
        let mut reader = OutputReader::new(job_dir);
        let frames = all_frames(&mut reader)?;
        if self.is_reached() {
            return Ok((frames.len() as u64, 0));
        }
        for (number, frame) in frames.iter().enumerate().rev() {
            let skip = match self.unit {
                Unit::Bytes => self.take_bytes(u64::from(frame.length)),
                Unit::Lines => {
                    let bytes = reader.bytes(frame).unwrap_or_default().unwrap_or_default();
                    self.take_lines(&bytes)
                }
            };
            if let Some(skip) = skip {
                return Ok((number as u64, skip));
            }
        }
        Ok((0, 0))
    }

    /// Sets `file` at the start of the tail, or at its beginning.
    pub(super) fn back_in_file(&mut self, file: &mut PlainLog) -> io::Result<()> {
        let mut end = file.length()?;
        while end > 0 && !self.is_reached() {
            let from = match self.unit {
                Unit::Bytes => 0,
                Unit::Lines => end.saturating_sub(BLOCK_BYTES),
            };
            let skip = match self.unit {
                Unit::Bytes => self.take_bytes(end),
                Unit::Lines => self.take_lines(&file.between(from, end)?),
            };
            end = from + skip.unwrap_or(0);
        }
        file.seek(end);
        Ok(())
    }

    /// Takes `length` bytes into the tail; gives how many of them are too many once it is full.
    fn take_bytes(&mut self, length: u64) -> Option<u64> {
        if self.missing > length {
            self.missing -= length;
            return None;
        }
        let skip = length - self.missing;
        self.missing = 0;
        Some(skip)
    }

    /// As [`Start::take_bytes`], by lines.
    fn take_lines(&mut self, bytes: &[u8]) -> Option<u64> {
        if self.missing == 0 {
            return Some(bytes.len() as u64);
        }
        for (place, byte) in bytes.iter().enumerate().rev() {
            if *byte == b'\n' && self.begun {
                self.missing -= 1;
                if self.missing == 0 {
                    return Some(place as u64 + 1);
                }
            }
            self.begun = true;
        }
        None
    }
}

fn all_frames(reader: &mut OutputReader) -> io::Result<Vec<Frame>> {
    let mut all = Vec::new();
    loop {
        let more = reader.next_frames()?;
        if more.is_empty() {
            return Ok(all);
        }
        all.extend(more);
    }
}
