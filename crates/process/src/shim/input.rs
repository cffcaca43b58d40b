//! The job's input when it stays open: what was accepted is durable, and is written once.
//!
//! `stdin.log` holds every input from the first on: see [`crate::inputs`].
//!
//! What the job has not read yet waits there and not in memory. It never waits for the job.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use fail::fail_point;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::control::{INPUT_BYTES_MAX, InputStatus, Refused};
use crate::inputs::{HEAD_BYTES, Head};
use crate::jobdir::{JobDir, STDIN_LOG};

/// Bytes that the job has not read, at most; more is refused until it reads.
const UNREAD_BYTES_MAX: u64 = 8 << 20;

/// Bytes written at once.
const CHUNK_BYTES: u64 = 16 << 10;

/// An open input.
pub(crate) struct Input {
    log: File,
    length: u64,
    /// Where the first record begins that is not wholly written.
    position: u64,
    /// How much of it is written.
    within: u64,
    /// `None` when the job or we closed it.
    pipe: Option<OwnedFd>,
    status: InputStatus,
}

impl Input {
    /// An input that nothing was written to yet.
    pub(crate) fn create(dir: &JobDir, pipe: OwnedFd) -> io::Result<Self> {
        let log = dir.create_file(STDIN_LOG, OFlags::TRUNC)?;
        dir.sync()?;
        let status = InputStatus { accepted: 0, written: 0, closed: false };
        Ok(Self { log, length: 0, position: 0, within: 0, pipe: Some(pipe), status })
    }

    /// For those who ask.
    pub(crate) fn status(&self) -> InputStatus {
        self.status
    }

    /// The descriptor to wait for, while something waits to be written.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().filter(|_| self.position < self.length).map(AsFd::as_fd)
    }

    /// Takes an input, durably, and begins to write it.
    pub(crate) fn accept(&mut self, seq: u64, bytes: &[u8]) -> Result<(), Refused> {
        self.append(seq, bytes, false)
    }

    /// Takes the end of the input.
    pub(crate) fn close(&mut self, seq: u64) -> Result<(), Refused> {
        self.append(seq, &[], true)
    }

    fn append(&mut self, seq: u64, bytes: &[u8], closes: bool) -> Result<(), Refused> {
        if seq <= self.status.accepted {
            return Ok(());
        }
        if self.status.closed || self.pipe.is_none() {
            return Err(Refused::InputClosed);
        }
        if seq != self.status.accepted + 1 {
            return Err(Refused::OutOfOrder);
        }
        if bytes.len() > INPUT_BYTES_MAX {
            return Err(Refused::BadRequest);
        }
        if self.length - self.position > UNREAD_BYTES_MAX {
            return Err(Refused::InputFull);
        }
        let length = u32::try_from(bytes.len()).map_err(|_| Refused::BadRequest)?;
        let record = [&Head { closes, length, seq }.encode()[..], bytes].concat();
        if self.store(&record).is_err() {
            // What was written of it is not read: the next one is written over it.
            let _ = self.log.set_len(self.length);
            return Err(Refused::Storage);
        }
        self.length += record.len() as u64;
        self.status.accepted = seq;
        self.status.closed = closes;
        self.pass();
        Ok(())
    }

    fn store(&self, record: &[u8]) -> io::Result<()> {
        fail_point!("input.before_append", |_| Err(Errno::NOSPC.into()));
        self.log.write_all_at(record, self.length)?;
        fail_point!("input.before_fsync", |_| Err(Errno::IO.into()));
        self.log.sync_data()?;
        fail_point!("input.after_fsync");
        Ok(())
    }

    /// Writes what the job takes now.
    pub(crate) fn pass(&mut self) {
        while self.position < self.length {
            match self.pass_some() {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    // The job closed its end, or the log cannot be read: nothing more will be written.
                    self.pipe = None;
                    return;
                }
            }
        }
    }

    /// Writes one part; false when the pipe is full.
    fn pass_some(&mut self) -> io::Result<bool> {
        let Some(pipe) = &self.pipe else { return Ok(false) };
        let mut head = [0; HEAD_BYTES];
        self.log.read_exact_at(&mut head, self.position)?;
        let head = Head::decode(head);
        let rest = u64::from(head.length) - self.within;
        if rest > 0 {
            let mut bytes = vec![0; usize::try_from(rest.min(CHUNK_BYTES)).unwrap_or(0)];
            self.log.read_exact_at(&mut bytes, self.position + HEAD_BYTES as u64 + self.within)?;
            match rustix::io::write(pipe, &bytes) {
                Ok(count) => self.within += count as u64,
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        if self.within == u64::from(head.length) {
            self.position += HEAD_BYTES as u64 + self.within;
            self.within = 0;
            self.status.written = head.seq;
            if head.closes {
                self.pipe = None;
            }
        }
        Ok(true)
    }
}
