//! The output of one job, each line with the time at which it began, by the index beside the output.
//! What could not be kept stands in its place as a line of its own.

use std::io;
use std::path::Path;

use tidegate_daemon::output::{Frame, FrameKind, OutputReader};
use tidegate_protocol::Timestamp;

use super::tail::Tail;

/// What stands before a line whose time the index does not say: its shim was killed.
const UNKNOWN: &str = "------------------------ ";

/// A position in the output of a job, with times.
#[derive(Debug)]
pub(crate) struct Stamped {
    reader: OutputReader,
    /// Where printing begins: segment and offset.
    from: (u32, u64),
    /// Where the index ends that was read.
    end: (u32, u64),
    within_line: bool,
    /// What the index does not cover, once the job has ended.
    rest: Option<Tail>,
}

impl Stamped {
    /// Begins where `tail` stands.
    pub(crate) fn new(directory: &Path, tail: &Tail) -> Self {
        let from = tail.position();
        let reader = OutputReader::new(directory);
        Self { reader, from, end: from, within_line: false, rest: None }
    }

    /// The next lines; empty at the end for now. `ended` says that the job writes no more.
    ///
    /// # Errors
    /// When the index or a segment cannot be read.
    pub(crate) fn read(&mut self, directory: &Path, ended: bool) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        if self.rest.is_none() {
            loop {
                let frames = self.reader.next_frames()?;
                if frames.is_empty() {
                    break;
                }
                for frame in &frames {
                    self.take(frame, &mut out)?;
                }
                if !out.is_empty() {
                    return Ok(out);
                }
            }
            if !ended {
                return Ok(out);
            }
        }
        let (segment, offset) = self.end;
        let rest = self.rest.get_or_insert_with(|| Tail::at(directory, segment, offset));
        let bytes = rest.read()?;
        self.stamp(&bytes, UNKNOWN, &mut out);
        Ok(out)
    }

    fn take(&mut self, frame: &Frame, out: &mut Vec<u8>) -> io::Result<()> {
        let time = format!("{} ", Timestamp::from_ms(frame.at_wall_ms));
        let begin = (frame.segment, frame.offset);
        match frame.kind {
            FrameKind::Gap if begin < self.from => {}
            FrameKind::Gap => {
                if self.within_line {
                    out.push(b'\n');
                }
                self.within_line = false;
                out.extend_from_slice(time.as_bytes());
                out.extend_from_slice(
                    format!("[{} bytes were not kept]\n", frame.length).as_bytes(),
                );
            }
            FrameKind::Data => {
                let end = frame.offset + u64::from(frame.length);
                self.end = self.end.max((frame.segment, end));
                if (frame.segment, end) <= self.from {
                    return Ok(());
                }
                // Removed to keep the size limit, as what came before it.
                let Some(bytes) = self.reader.bytes(frame)? else { return Ok(()) };
                let skip = if begin < self.from { self.from.1 - frame.offset } else { 0 };
                let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(bytes.len());
                self.stamp(&bytes[skip..], &time, out);
            }
        }
        Ok(())
    }

    fn stamp(&mut self, bytes: &[u8], time: &str, out: &mut Vec<u8>) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.within_line {
                out.extend_from_slice(time.as_bytes());
            }
            out.extend_from_slice(line);
            self.within_line = !line.ends_with(b"\n");
        }
    }
}
