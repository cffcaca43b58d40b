//! The daemon's side of the control socket: one request, one reply, bounded waiting.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::protocol::{Attach, LINE_BYTES_MAX, Op, PROTOCOL, Refused, Reply, Request};
use crate::jobdir::{CONTROL, JobDir};

/// Why a shim did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// There is no shim at the socket, or it does not answer in time (it may be stopped: its lock
    /// says whether it lives).
    #[error("{doing} the shim: {source}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The answer is not one of the protocol.
    #[error("the shim answered in another language: {detail}")]
    Protocol {
        /// What is wrong with it.
        detail: String,
    },
    /// The shim belongs to another attempt.
    #[error("the shim has another nonce")]
    OtherNonce,
    /// The shim refused.
    #[error("the shim refused: {why:?}")]
    Refused {
        /// Why.
        why: Refused,
        /// Its answer, with its status.
        reply: Box<Reply>,
    },
}

/// A connection to one shim.
#[derive(Debug)]
pub struct ControlClient {
    stream: BufReader<UnixStream>,
    generation: u64,
    epoch: u64,
}

impl ControlClient {
    /// Connects with the fencing token (generation, epoch), says hello and compares the nonce.
    /// Each request waits `patience` at most.
    ///
    /// # Errors
    /// All of [`ControlError`].
    pub fn connect(
        dir: &JobDir,
        nonce: &str,
        token: (u64, u64),
        patience: Duration,
    ) -> Result<(Self, Reply), ControlError> {
        let io = |doing| move |source| ControlError::Io { doing, source };
        let stream = UnixStream::connect(dir.short_path(CONTROL)).map_err(io("connect to"))?;
        stream.set_read_timeout(Some(patience)).map_err(io("connect to"))?;
        stream.set_write_timeout(Some(patience)).map_err(io("connect to"))?;
        let (generation, epoch) = token;
        let mut client = Self { stream: BufReader::new(stream), generation, epoch };
        let reply = client.ask(Op::Hello)?;
        if reply.status.nonce != nonce {
            return Err(ControlError::OtherNonce);
        }
        Ok((client, reply))
    }

    /// Asks the shim to end its job.
    ///
    /// # Errors
    /// All of [`ControlError`]; [`Refused::AlreadyEnded`] when the main process was faster.
    pub fn stop(&mut self, actor: &str, grace_ms: u64) -> Result<Reply, ControlError> {
        self.ask(Op::Stop { actor: actor.to_owned(), grace_ms })
    }

    /// Asks for the state of the job.
    ///
    /// # Errors
    /// All of [`ControlError`].
    pub fn status(&mut self) -> Result<Reply, ControlError> {
        self.ask(Op::Status)
    }

    /// Attaches to the job's terminal: from now on the connection carries frames. Gives it with the
    /// first bytes of them, if some came with the reply.
    ///
    /// # Errors
    /// All of [`ControlError`]; [`Refused::UnknownOp`] by a shim that is older than terminals.
    pub fn attach(mut self, attach: Attach) -> Result<(UnixStream, Vec<u8>), ControlError> {
        self.ask(Op::Attach(attach))?;
        let received = self.stream.buffer().to_vec();
        let stream = self.stream.into_inner();
        let io = |source| ControlError::Io { doing: "attach to", source };
        stream.set_read_timeout(None).map_err(io)?;
        stream.set_write_timeout(None).map_err(io)?;
        Ok((stream, received))
    }

    /// Writes to the job's input, durably and once: a number that was accepted before is answered
    /// alike.
    ///
    /// # Errors
    /// All of [`ControlError`].
    pub fn input(&mut self, seq: u64, bytes: &[u8]) -> Result<Reply, ControlError> {
        let bytes = OsString::from_vec(bytes.to_vec()).into();
        self.ask(Op::Input { seq, bytes })
    }

    /// Ends the job's input when all that was accepted is written.
    ///
    /// # Errors
    /// All of [`ControlError`].
    pub fn close_input(&mut self, seq: u64) -> Result<Reply, ControlError> {
        self.ask(Op::CloseInput { seq })
    }

    fn ask(&mut self, op: Op) -> Result<Reply, ControlError> {
        let request = Request { v: PROTOCOL, generation: self.generation, epoch: self.epoch, op };
        let mut line = serde_json::to_vec(&request)
            .map_err(|error| ControlError::Protocol { detail: error.to_string() })?;
        line.push(b'\n');
        let io = |doing| move |source| ControlError::Io { doing, source };
        self.stream.get_mut().write_all(&line).map_err(io("write to"))?;
        let mut answer = Vec::new();
        let mut limited = self.stream.by_ref().take(LINE_BYTES_MAX as u64);
        limited.read_until(b'\n', &mut answer).map_err(io("read from"))?;
        if answer.is_empty() {
            return Err(io("read from")(io::ErrorKind::UnexpectedEof.into()));
        }
        let reply: Reply = serde_json::from_slice(&answer)
            .map_err(|error| ControlError::Protocol { detail: error.to_string() })?;
        match reply.error {
            Some(why) => Err(ControlError::Refused { why, reply: Box::new(reply) }),
            None => Ok(reply),
        }
    }
}
