//! Reading what jobs wrote: segments joined by their index, attempts joined in their order, while
//! they are written or after. It changes nothing and waits for nothing.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_process::output::{Frame, OutputReader, Stream};
use tidegate_protocol::{ErrorCode, Problem};

use super::log_file::PlainLog;
use super::log_tail::Start;

/// Where reading starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// At the beginning.
    All,
    /// So many bytes before the end.
    Bytes(u64),
    /// So many lines before the end.
    Lines(u64),
}

/// What is shown of an agent that has ended.
pub const TAIL_FINISHED: Tail = Tail::Bytes(12_000);
/// What is shown of one that runs, before it is followed.
pub const TAIL_RUNNING: Tail = Tail::Lines(200);

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which of the log's sources it is from, in the order that they were added.
    pub source: usize,
    /// Whether it was written to standard error.
    pub is_stderr: bool,
    /// Wall time of the first byte in milliseconds; 0 where it is not known.
    pub at_ms: u64,
    /// The bytes; `None` for a gap.
    pub bytes: Option<Vec<u8>>,
    /// Bytes that are missing here: the disk refused them, or their segment was removed.
    pub lost: u64,
}

/// One source of a log.
#[derive(Debug)]
enum Source {
    Job { dir: PathBuf, reader: OutputReader, frames: VecDeque<Frame> },
    Plain(PlainLog),
}

/// The output of several attempts as one.
#[derive(Debug, Default)]
pub struct Log {
    sources: Vec<Source>,
    /// The source that is read now.
    at: usize,
    /// Bytes of the next piece that lie before the start.
    skip: u64,
}

impl Log {
    /// A log without sources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next attempt: a job's directory.
    pub fn add_job(&mut self, job_dir: &Path) {
        let (dir, reader) = (job_dir.to_owned(), OutputReader::new(job_dir));
        self.sources.push(Source::Job { dir, reader, frames: VecDeque::new() });
    }

    /// Adds a plain file, as a launcher names one for its agent.
    pub fn add_file(&mut self, path: &Path) {
        self.sources.push(Source::Plain(PlainLog::new(path)));
    }

    /// Whether there is anything to read from.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Starts at `tail` before the present end. Called before the first piece is read.
    ///
    /// # Errors
    /// [`ErrorCode::Io`], [`ErrorCode::Corrupt`] when an index is damaged.
    pub fn start_at(mut self, tail: Tail) -> Result<Self, Problem> {
        let mut missing = match tail {
            Tail::All => return Ok(self),
            Tail::Bytes(bytes) => Start::bytes(bytes),
            Tail::Lines(lines) => Start::lines(lines),
        };
        for (number, source) in self.sources.iter_mut().enumerate().rev() {
            self.at = number;
            match source {
                Source::Job { dir, reader, .. } => {
                    let (frame, skip) = missing.back_in_job(dir).map_err(problem)?;
                    *reader = OutputReader::new(dir).from_frame(frame);
                    self.skip = skip;
                }
                Source::Plain(file) => {
                    missing.back_in_file(file).map_err(problem)?;
                    self.skip = 0;
                }
            }
            if missing.is_reached() {
                break;
            }
        }
        Ok(self)
    }

    /// The next piece. `None` at the end for now: more may be written, more may be added.
    ///
    /// # Errors
    /// [`ErrorCode::Io`], [`ErrorCode::Corrupt`] when an index is damaged.
    pub fn next_piece(&mut self) -> Result<Option<Piece>, Problem> {
        while self.at < self.sources.len() {
            if let Some(piece) = self.read_current().map_err(problem)? {
                return Ok(Some(self.without_skipped(piece)));
            }
            // The last source may grow; an earlier one may not, once a later attempt exists.
            if self.at + 1 == self.sources.len() {
                break;
            }
            self.at += 1;
        }
        Ok(None)
    }

    fn read_current(&mut self) -> io::Result<Option<Piece>> {
        let number = self.at;
        match &mut self.sources[number] {
            Source::Plain(file) => Ok(file.next_bytes()?.map(|bytes| Piece {
                source: number,
                is_stderr: false,
                at_ms: 0,
                bytes: Some(bytes),
                lost: 0,
            })),
            Source::Job { reader, frames, .. } => {
                if frames.is_empty() {
                    frames.extend(reader.next_frames()?);
                }
                let Some(frame) = frames.front() else { return Ok(None) };
                let bytes = match reader.bytes(frame) {
                    // The index may be durable before the bytes are: look again later.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                    other => other?,
                };
                let lost = if bytes.is_none() { u64::from(frame.length) } else { 0 };
                let piece = Piece {
                    source: number,
                    is_stderr: frame.stream == Stream::Stderr,
                    at_ms: frame.at_wall_ms,
                    bytes,
                    lost,
                };
                frames.pop_front();
                Ok(Some(piece))
            }
        }
    }

    fn without_skipped(&mut self, mut piece: Piece) -> Piece {
        let skip = std::mem::take(&mut self.skip);
        match &mut piece.bytes {
            Some(bytes) => {
                let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(bytes.len());
                bytes.drain(..skip);
            }
            None => piece.lost = piece.lost.saturating_sub(skip),
        }
        piece
    }
}

/// The pieces up to the present end.
impl Iterator for Log {
    type Item = Result<Piece, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
fn problem(error: io::Error) -> Problem {
    let damaged = error.kind() == io::ErrorKind::InvalidData;
    let code = if damaged { ErrorCode::Corrupt } else { ErrorCode::Io };
    Problem::new(code, format!("read the output: {error}"))
}
