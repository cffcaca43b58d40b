//! The job's standard streams: both ends of each, made before the fork.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};

use super::child::ChildStdio;
use super::terminal::{self, Pty, Size};
use crate::record::{OutputMode, Spec, Stdin};

/// The shim's ends.
pub(crate) struct Stdio {
    /// What is drained: standard output, or the terminal; and standard error.
    pub(crate) output: (Option<OwnedFd>, Option<OwnedFd>),
    /// Where the job's open input is written to.
    pub(crate) input: Option<OwnedFd>,
    pub(crate) terminal: Option<(Pty, Size)>,
}

impl Stdio {
    /// Opens what `spec` asks for: our ends, which do not block, and the child's.
    pub(crate) fn open(spec: &Spec) -> io::Result<(Self, ChildStdio)> {
        let mut ours = Self { output: (None, None), input: None, terminal: None };
        let mut theirs = ChildStdio::default();
        match spec.output {
            OutputMode::Null => {}
            OutputMode::Pipe => {
                let (stdout, stdout_writer) = pipe(Reads::Shim)?;
                let (stderr, stderr_writer) = pipe(Reads::Shim)?;
                ours.output = (Some(stdout), Some(stderr));
                theirs.output = Some((stdout_writer, stderr_writer));
            }
            OutputMode::Terminal { rows, cols } => {
                let size = Size::near(rows, cols);
                let pty = terminal::open(size)?;
                ours.output.0 = Some(pty.master.try_clone()?);
                theirs.output = Some((pty.slave.try_clone()?, pty.slave.try_clone()?));
                theirs.input = Some(pty.slave.try_clone()?);
                // What is typed by number is journaled; what is typed by those attached is not.
                ours.input = Some(pty.master.try_clone()?);
                ours.terminal = Some((pty, size));
            }
        }
        match spec.stdin {
            Stdin::Null => {}
            Stdin::File(_) => {
                theirs.input = None;
                ours.input = None;
            }
            Stdin::Pipe => {
                let (reader, writer) = pipe(Reads::Job)?;
                theirs.input = Some(reader);
                ours.input = Some(writer);
            }
        }
        Ok((ours, theirs))
    }
}

/// Who reads from a pipe.
#[derive(Clone, Copy)]
enum Reads {
    Shim,
    Job,
}

/// A pipe of which the shim's end does not block: reader, then writer.
fn pipe(reads: Reads) -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    match reads {
        Reads::Shim => rustix::io::ioctl_fionbio(&reader, true)?,
        Reads::Job => rustix::io::ioctl_fionbio(&writer, true)?,
    }
    Ok((reader, writer))
}
