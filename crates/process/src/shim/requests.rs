//! What a shim answers to a request. The fencing token is checked before anything else.

use super::state::{Cause, Shim};
use crate::control::{Op, PROTOCOL, Refused, Reply, Request};

/// Longest name of an actor that is recorded, in characters.
const ACTOR_CHARS_MAX: usize = 200;

impl Shim {
    /// Answers everything that was asked since the last turn.
    pub(crate) fn answer_requests(&mut self) {
        for (connection, line) in self.control.receive() {
            let error = self.handle(&line).err();
            let (generation, epoch) = self.token;
            let status = self.status();
            let reply =
                Reply { v: PROTOCOL, ok: error.is_none(), error, generation, epoch, status };
            if let Ok(line) = serde_json::to_vec(&reply) {
                self.control.answer(connection, line);
            }
        }
    }

    fn handle(&mut self, line: &[u8]) -> Result<(), Refused> {
        let request: Request = serde_json::from_slice(line).map_err(|_| not_understood(line))?;
        let token = (request.generation, request.epoch);
        if token < self.token {
            return Err(Refused::StaleEpoch);
        }
        self.token = token;
        match request.op {
            Op::Hello | Op::Status => Ok(()),
            Op::Stop { actor, grace_ms } => {
                let actor = actor.chars().take(ACTOR_CHARS_MAX).collect();
                let stopping = self.stop(Cause::Stop { actor }, grace_ms);
                if stopping { Ok(()) } else { Err(Refused::AlreadyEnded) }
            }
        }
    }
}

/// Tells a request of a later protocol from noise.
fn not_understood(line: &[u8]) -> Refused {
    match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) if value.get("op").is_some() => Refused::UnknownOp,
        Ok(_) | Err(_) => Refused::BadRequest,
    }
}
