//! What a shim answers to a request. The fencing token is checked before anything else.

use super::state::{Cause, Shim, Stage};
use super::terminal::{Attachment, Size};
use crate::control::{Attach, Op, PROTOCOL, Refused, Reply, Request};

/// Longest name of an actor that is recorded, in characters.
const ACTOR_CHARS_MAX: usize = 200;

impl Shim {
    /// Answers everything that was asked since the last turn.
    pub(crate) fn answer_requests(&mut self) {
        for (connection, line) in self.control.receive() {
            let outcome = self.handle(&line);
            let (generation, epoch) = self.token;
            let error = outcome.as_ref().err().copied();
            let status = self.status();
            let reply =
                Reply { v: PROTOCOL, ok: error.is_none(), error, generation, epoch, status };
            if let Ok(line) = serde_json::to_vec(&reply) {
                self.control.answer(connection, line);
            }
            if let Ok(Some(attach)) = outcome {
                self.attach(connection, attach);
            }
        }
    }

    /// Does what is asked; somebody who may attach is to be attached once that is answered.
    fn handle(&mut self, line: &[u8]) -> Result<Option<Attach>, Refused> {
        let request: Request = serde_json::from_slice(line).map_err(|_| not_understood(line))?;
        let token = (request.generation, request.epoch);
        if token < self.token {
            return Err(Refused::StaleEpoch);
        }
        self.token = token;
        match request.op {
            Op::Hello | Op::Status => Ok(None),
            Op::Stop { actor, grace_ms } => {
                let actor = actor.chars().take(ACTOR_CHARS_MAX).collect();
                let stopping = self.stop(Cause::Stop { actor }, grace_ms);
                if stopping { Ok(None) } else { Err(Refused::AlreadyEnded) }
            }
            Op::Attach(attach) => {
                let terminal = self.terminal.as_ref().ok_or(Refused::NoTerminal)?;
                if matches!(self.stage, Stage::Recording { .. } | Stage::Recorded) {
                    return Err(Refused::AlreadyEnded);
                }
                if terminal.is_full() { Err(Refused::TooMany) } else { Ok(Some(attach)) }
            }
            Op::Input { seq, bytes } => {
                let input = self.input.as_mut().ok_or(Refused::NoInput)?;
                input.accept(seq, bytes.as_bytes()).map(|()| None)
            }
            Op::CloseInput { seq } => {
                let input = self.input.as_mut().ok_or(Refused::NoInput)?;
                input.close(seq).map(|()| None)
            }
        }
    }

    fn attach(&mut self, connection: u64, attach: Attach) {
        let Some(terminal) = &mut self.terminal else { return };
        let Some(stream) = self.control.release(connection) else { return };
        terminal.attach(Attachment {
            stream,
            size: Size::near(attach.rows, attach.cols),
            reads_only: attach.read_only,
            history: attach.history,
            token: self.token,
        });
    }
}

/// Tells a request of a later protocol from noise.
fn not_understood(line: &[u8]) -> Refused {
    match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) if value.get("op").is_some() => Refused::UnknownOp,
        Ok(_) | Err(_) => Refused::BadRequest,
    }
}
