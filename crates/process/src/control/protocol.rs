//! Requests and replies on the wire.

use serde::{Deserialize, Serialize};
use tidegate_core::exit::Identity;

use crate::record::{Bytes, IdentityRecord};

/// Version of the protocol.
pub(crate) const PROTOCOL: u32 = 1;

/// Longest line that either side reads, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = 16 << 10;

/// A request to a shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Version of the protocol.
    pub v: u32,
    /// Generation of the sender's fencing token.
    #[serde(default)]
    pub generation: u64,
    /// Epoch of the sender's fencing token.
    pub epoch: u64,
    /// What is asked.
    #[serde(flatten)]
    pub op: Op,
}

/// What can be asked of a shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Who are you? Answered with the status.
    Hello,
    /// How is it going? Answered with the status.
    Status,
    /// End the job: TERM, then kill after the grace. Asking again may shorten the grace.
    Stop {
        /// Who asks; stands in the exit record.
        actor: String,
        /// Milliseconds between TERM and KILL.
        grace_ms: u64,
    },
}

/// A shim's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Version of the protocol.
    pub v: u32,
    /// Whether the request was accepted.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Refused>,
    /// Generation of the highest fencing token that the shim has seen.
    #[serde(default)]
    pub generation: u64,
    /// Epoch of the highest fencing token that the shim has seen.
    pub epoch: u64,
    /// The state of the job.
    pub status: Status,
}

/// Why a shim refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// A newer daemon has spoken to this shim.
    StaleEpoch,
    /// The line was not a request.
    BadRequest,
    /// This shim does not know the operation.
    UnknownOp,
    /// The main process has ended already; nothing to stop.
    AlreadyEnded,
}

/// The state of a job, as its shim knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Job id.
    pub job: String,
    /// Attempt number.
    pub attempt: u32,
    /// Nonce of the spec: compare it before believing the rest.
    pub nonce: String,
    /// The shim itself.
    #[serde(with = "IdentityRecord")]
    pub shim: Identity,
    /// The main process.
    #[serde(with = "IdentityRecord")]
    pub child: Identity,
    /// How far it is.
    pub phase: Phase,
    /// What was written so far.
    pub bytes: Bytes,
    /// What cannot be ended or recorded, for a person.
    #[serde(default)]
    pub requires_human: Vec<String>,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The main process runs.
    Running,
    /// TERM was sent, the grace runs.
    Stopping,
    /// The main process ended, grandchildren may finish writing.
    Draining,
    /// The tree is being killed until it is empty.
    Ending,
    /// The exit record is being written.
    Recording,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn request_reads_the_frozen_form() {
        let line = r#"{"v":1,"epoch":7,"op":"stop","actor":"ana","grace_ms":10,"later":true}"#;
        let request: Request = serde_json::from_str(line).unwrap();
        let op = Op::Stop { actor: "ana".into(), grace_ms: 10 };
        assert_eq!(request, Request { v: 1, generation: 0, epoch: 7, op });
    }

    #[test]
    fn request_of_hello_has_the_frozen_form() {
        let request = Request { v: 1, generation: 2, epoch: 3, op: Op::Hello };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(text, r#"{"v":1,"generation":2,"epoch":3,"op":"hello"}"#);
    }
}
