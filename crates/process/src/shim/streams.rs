//! The pipes or the terminal of the main process: drained into the output, whatever the disk says.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::child::{REPORT_BYTES, Stage, read_report};
use super::terminal::Terminal;
use crate::jobdir::JobDir;
use crate::output::{OutputWriter, Stream};
use crate::record::Bytes;

/// Bytes read from a pipe at once. The buffer is the shim's largest.
const BUFFER_BYTES: usize = 64 << 10;

/// Reads of one pipe before the other and the control socket get their turn.
const READS_PER_TURN: usize = 8;

/// Why the program could not be executed.
pub(crate) struct ExecFailure {
    pub(crate) stage: Option<Stage>,
    pub(crate) error: std::io::Error,
}

/// The shim's ends of the pipes.
pub(crate) struct Streams {
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    report: Option<OwnedFd>,
    writer: OutputWriter,
    buffer: Box<[u8]>,
}

impl Streams {
    pub(crate) fn new(
        output: (Option<OwnedFd>, Option<OwnedFd>),
        report: Option<OwnedFd>,
        writer: OutputWriter,
    ) -> Self {
        let (stdout, stderr) = output;
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        Self { stdout, stderr, report, writer, buffer }
    }

    /// The descriptors to wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [&self.stdout, &self.stderr].into_iter().flatten().map(AsFd::as_fd)
    }

    /// What was drained so far.
    pub(crate) fn bytes(&self) -> Bytes {
        self.writer.bytes()
    }

    /// When the index is to be flushed, on the monotonic clock.
    pub(crate) fn flush_due_ms(&self) -> Option<u64> {
        self.writer.flush_due_ms()
    }

    /// Drains both pipes for a turn and flushes the index if that is due.
    pub(crate) fn turn(&mut self, dir: &JobDir, now_ms: u64, terminal: Option<&mut Terminal>) {
        self.drain(dir, READS_PER_TURN, terminal);
        self.writer.flush_if_due(now_ms);
    }

    /// Drains what is left in the pipes, 16 MiB each at most, and flushes the index.
    pub(crate) fn finish(&mut self, dir: &JobDir, now_ms: u64, terminal: Option<&mut Terminal>) {
        // A terminal gives little at a time; it holds little as well.
        self.drain(dir, (16 << 20) / BUFFER_BYTES, terminal);
        self.writer.flush(now_ms);
    }

    fn drain(&mut self, dir: &JobDir, reads: usize, mut terminal: Option<&mut Terminal>) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let pipe = match stream {
                Stream::Stdout => &mut self.stdout,
                Stream::Stderr => &mut self.stderr,
            };
            for _ in 0..reads {
                let Some(fd) = pipe else { break };
                match rustix::io::read(&*fd, &mut self.buffer[..]) {
                    Ok(0) => *pipe = None,
                    Ok(count) => {
                        let bytes = &self.buffer[..count];
                        self.writer.store(dir, stream, bytes);
                        if let Some(terminal) = terminal.as_deref_mut() {
                            terminal.take(bytes);
                        }
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => break,
                    Err(_) => *pipe = None,
                }
            }
        }
    }

    /// Why the exec failed, once the child has said so. Asked when the main process has ended.
    pub(crate) fn exec_failure(&mut self) -> Option<ExecFailure> {
        let report = self.report.take()?;
        let mut bytes = [0; REPORT_BYTES];
        let read = rustix::io::read(&report, &mut bytes);
        (read == Ok(REPORT_BYTES)).then(|| {
            let (stage, error) = read_report(bytes);
            ExecFailure { stage, error }
        })
    }
}
