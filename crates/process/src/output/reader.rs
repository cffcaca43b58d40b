//! Reading a job's output while it is written, or after. Changes nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::frame::{FRAME_BYTES, Frame, FrameKind};
use crate::jobdir::INDEX;

/// Frames read at once.
const FRAMES_PER_READ: usize = 1_024;

/// A segment that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Its number; segments are read in this order.
    pub number: u32,
    /// Its size now, in bytes.
    pub length: u64,
}

/// Follows the index of one job.
#[derive(Debug)]
pub struct OutputReader {
    dir: PathBuf,
    index: Option<File>,
    position: u64,
    open: Option<(u32, File)>,
}

impl OutputReader {
    /// Starts at the first frame. The directory may not have an index yet.
    pub fn new(job_dir: &Path) -> Self {
        Self { dir: job_dir.to_owned(), index: None, position: 0, open: None }
    }

    /// Starts at frame `number` instead, as counted by [`OutputReader::frame`].
    #[must_use]
    pub fn from_frame(mut self, number: u64) -> Self {
        self.position = number * FRAME_BYTES as u64;
        self
    }

    /// Number of the frame that is read next: how many were passed.
    pub fn frame(&self) -> u64 {
        self.position / FRAME_BYTES as u64
    }

    /// The next frames, in the order in which the bytes arrived; empty at the end for now. A frame
    /// that is not whole yet is left for later.
    ///
    /// # Errors
    /// When the index cannot be read, or holds something that is no frame (`InvalidData`).
    pub fn next_frames(&mut self) -> io::Result<Vec<Frame>> {
        let index = match &self.index {
            Some(index) => index,
            None => match File::open(self.dir.join(INDEX)) {
                Ok(file) => self.index.insert(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            },
        };
        let mut buffer = vec![0; FRAMES_PER_READ * FRAME_BYTES];
        let length = index.read_at(&mut buffer, self.position)?;
        let (frames, _) = buffer[..length].as_chunks::<FRAME_BYTES>();
        let frames: Option<Vec<_>> = frames.iter().map(Frame::decode).collect();
        let frames = frames.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the output index is damaged")
        })?;
        self.position += (frames.len() * FRAME_BYTES) as u64;
        Ok(frames)
    }

    /// The bytes of a frame. `None`: a gap, or its segment was removed to keep the size limit.
    ///
    /// # Errors
    /// When the segment cannot be read or is shorter than the index says.
    pub fn bytes(&mut self, frame: &Frame) -> io::Result<Option<Vec<u8>>> {
        match frame.kind {
            FrameKind::Gap => return Ok(None),
            FrameKind::Data => {}
        }
        let file = match &self.open {
            Some((number, file)) if *number == frame.segment => file,
            _ => match File::open(self.dir.join(format!("output.{}", frame.segment))) {
                Ok(file) => &self.open.insert((frame.segment, file)).1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        let mut bytes = vec![0; frame.length as usize];
        file.read_exact_at(&mut bytes, frame.offset)?;
        Ok(Some(bytes))
    }

    /// The places at which output of a job was drained and could not be kept, oldest first.
    ///
    /// # Errors
    /// As [`OutputReader::next_frames`].
    pub fn gaps(job_dir: &Path) -> io::Result<Vec<Frame>> {
        let mut reader = Self::new(job_dir);
        let mut gaps = Vec::new();
        loop {
            let frames = reader.next_frames()?;
            if frames.is_empty() {
                return Ok(gaps);
            }
            gaps.extend(frames.into_iter().filter(|frame| frame.kind == FrameKind::Gap));
        }
    }

    /// The segments that exist, in order.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn segments(job_dir: &Path) -> io::Result<Vec<Segment>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(job_dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("output."));
            let Some(number) = number.and_then(|number| number.parse().ok()) else { continue };
            // A segment may be removed between listing and looking.
            let Ok(meta) = entry.metadata() else { continue };
            found.push(Segment { number, length: meta.len() });
        }
        found.sort_by_key(|segment| segment.number);
        Ok(found)
    }
}
