//! Requests and replies on the wire.

use serde::{Deserialize, Serialize};
use tidegate_core::exit::Identity;

use crate::record::{Bytes, IdentityRecord, Text};

/// Version of the protocol.
pub(crate) const PROTOCOL: u32 = 1;

/// Longest reply that is read, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = 16 << 10;

/// Longest request that is read, in bytes: the longest input, each byte written as `\\u0000`.
pub(crate) const REQUEST_BYTES_MAX: usize = 512 << 10;

/// Longest input of one request, in bytes; longer input is sent in parts.
pub const INPUT_BYTES_MAX: usize = 64 << 10;

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
    /// Show me the terminal: after an accepting reply the connection carries frames. Nothing may be
    /// sent before that reply.
    Attach(Attach),
    /// Write this to the job's input. Durable when it is answered; a `seq` that is known is answered
    /// and not written again.
    Input {
        /// Number of the input: one more than the last one that was accepted, from 1.
        seq: u64,
        /// What is written, [`INPUT_BYTES_MAX`] at most.
        bytes: Text,
    },
    /// End the job's input once all that was accepted is written.
    CloseInput {
        /// As of [`Op::Input`].
        seq: u64,
    },
}

/// How somebody attaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// Rows of the client's window.
    pub rows: u16,
    /// Columns of the client's window.
    pub cols: u16,
    /// Nothing that the client types reaches the job, and its window does not count.
    #[serde(default)]
    pub read_only: bool,
    /// The first snapshot begins with what has scrolled off the screen.
    #[serde(default)]
    pub history: bool,
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
    /// The job has no terminal.
    NoTerminal,
    /// The job's input is no pipe that is kept open.
    NoInput,
    /// Too many are attached.
    TooMany,
    /// An input before this one is missing: the status says which was accepted last.
    OutOfOrder,
    /// The job does not read its input: try again when it does.
    InputFull,
    /// The job's input was closed.
    InputClosed,
    /// The disk refused: nothing was accepted.
    Storage,
    /// A reason of a later protocol.
    #[serde(other)]
    Unknown,
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
    /// The job's terminal, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalStatus>,
    /// The job's input, if it is kept open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputStatus>,
}

/// A terminal, as its shim knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalStatus {
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    /// How many are attached.
    pub clients: u32,
}

/// How far a job's input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputStatus {
    /// The last number that is durable.
    pub accepted: u64,
    /// The last number of which the job's pipe has every byte.
    pub written: u64,
    /// The end of the input was accepted.
    pub closed: bool,
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
    /// A phase of a later protocol.
    #[serde(other)]
    Unknown,
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
    fn requests_of_terminals_and_input_have_the_frozen_form() {
        let attach = Attach { rows: 24, cols: 80, read_only: true, history: false };
        let request = Request { v: 1, generation: 0, epoch: 3, op: Op::Attach(attach) };
        let line = r#"{"v":1,"epoch":3,"op":"attach","rows":24,"cols":80,"read_only":true}"#;
        assert_eq!(serde_json::from_str::<Request>(line).unwrap(), request);
        let op = Op::Input { seq: 4, bytes: "a\n".into() };
        let line = r#"{"v":1,"epoch":3,"op":"input","seq":4,"bytes":"a\n"}"#;
        assert_eq!(serde_json::from_str::<Request>(line).unwrap().op, op);
        let line = r#"{"v":1,"epoch":3,"op":"close_input","seq":5}"#;
        assert_eq!(serde_json::from_str::<Request>(line).unwrap().op, Op::CloseInput { seq: 5 });
    }

    #[test]
    fn request_of_hello_has_the_frozen_form() {
        let request = Request { v: 1, generation: 2, epoch: 3, op: Op::Hello };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(text, r#"{"v":1,"generation":2,"epoch":3,"op":"hello"}"#);
    }
    #[test]
    fn reply_of_the_first_version_is_read() {
        let line = r#"{"v":1,"ok":true,"epoch":5,"status":{"job":"j","attempt":1,"nonce":"n",
            "shim":{"pid":7,"start_ticks":1,"boot_id":"b"},
            "child":{"pid":8,"start_ticks":2,"boot_id":"b"},
            "phase":"running","bytes":{"stdout":1,"stderr":0,"lost":0}}}"#;
        let reply: Reply = serde_json::from_str(line).unwrap();
        assert_eq!((reply.generation, reply.status.phase), (0, Phase::Running));
    }

    #[test]
    fn reply_of_a_later_version_is_read_for_what_is_frozen() {
        let line = r#"{"v":9,"ok":false,"error":"low_tide","epoch":5,"moorings":[1],
            "status":{"job":"j","attempt":1,"nonce":"n","tide":"high",
            "shim":{"pid":7,"start_ticks":1,"boot_id":"b","cell":4},
            "child":{"pid":8,"start_ticks":2,"boot_id":"b"},
            "phase":"hibernating","bytes":{"stdout":1,"stderr":0,"lost":0,"sound":3}}}"#;
        let reply: Reply = serde_json::from_str(line).unwrap();
        assert_eq!(reply.error, Some(Refused::Unknown));
        assert_eq!((reply.status.phase, reply.status.nonce.as_str()), (Phase::Unknown, "n"));
    }
}
