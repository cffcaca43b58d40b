//! Talking with an agent while it works: what is due to be written to it next, from the bytes of both
//! directions so far and what is to be said. It does no I/O and keeps nothing that those bytes do not
//! hold, so after a restart the same conversation goes on where it was: nothing is said twice.

mod claude;
mod codex;

use serde_json::Value;
use tidegate_core::manifest::{Permissions, Protocol};
use tidegate_core::run::{Conversed, ToSay};

use self::claude::Claude;
use self::codex::Codex;
use crate::event::bounded;
use crate::lines::{Line, Splitter};

/// Longest description of a permission that is asked, in bytes.
const ASKED_BYTES: usize = 1_000;

/// How a conversation is opened.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The task.
    pub prompt: &'a str,
    /// The folder that the agent works in.
    pub cwd: &'a str,
    /// The id of its conversation, when it is known.
    pub session: Option<&'a str>,
    /// Whether that was begun by an earlier job.
    pub resumed: bool,
    /// Who says what it may do.
    pub permissions: Permissions,
    /// Tells its jobs apart within the run.
    pub job: u32,
}

/// What is to be done next for a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// These bytes are to be written to the agent, a whole line.
    Write(Vec<u8>),
    /// This is to be reported.
    Tell(Conversed),
    /// The agent's input is to be closed: it has done what it was told, and ends.
    Close,
}

/// The state of one conversation.
#[derive(Debug)]
pub struct Dialogue {
    own: Splitter,
    heard: Splitter,
    speech: Speech,
    /// How many of the facts were reported.
    told: usize,
    closed: bool,
}

#[derive(Debug)]
enum Speech {
    Claude(Claude),
    Codex(Codex),
}

impl Dialogue {
    /// A conversation in which nothing was said yet; `None` when the protocol is none.
    pub fn new(protocol: Protocol) -> Option<Self> {
        let speech = match protocol {
            Protocol::None => return None,
            Protocol::ClaudeStream => Speech::Claude(Claude::default()),
            Protocol::CodexAppServer => Speech::Codex(Codex::default()),
        };
        let (own, heard) = (Splitter::default(), Splitter::default());
        Some(Self { own, heard, speech, told: 0, closed: false })
    }

    /// Takes in what was written to the agent.
    pub fn wrote(&mut self, bytes: &[u8]) {
        let speech = &mut self.speech;
        self.own.feed(bytes, |line| speech.own(line));
    }

    /// Takes in that the agent's input was closed.
    pub fn closed(&mut self) {
        self.closed = true;
    }

    /// Takes in what the agent wrote to its standard output.
    pub fn heard(&mut self, bytes: &[u8]) {
        let speech = &mut self.speech;
        self.heard.feed(bytes, |line| speech.heard(line));
    }

    /// How much of a line was written whose end was not.
    pub fn unfinished(&self) -> &[u8] {
        self.own.open()
    }

    /// What is due now; `None`: the agent has to go on first.
    pub fn due(&mut self, opening: &Opening<'_>, to_say: &ToSay) -> Option<Due> {
        if let Some(fact) = self.speech.facts().get(self.told) {
            self.told += 1;
            return Some(Due::Tell(fact.clone()));
        }
        if self.closed {
            return None;
        }
        match self.speech.next(opening, to_say) {
            Next::Say(value) => {
                let mut line = value.to_string().into_bytes();
                line.push(b'\n');
                Some(Due::Write(line))
            }
            Next::Wait => None,
            Next::Close => Some(Due::Close),
        }
    }
}

/// What a protocol would do next.
enum Next {
    Say(Value),
    Wait,
    Close,
}

impl Speech {
    fn own(&mut self, line: Line<'_>) {
        let value = serde_json::from_slice::<Value>(line.bytes).unwrap_or_default();
        match self {
            Self::Claude(claude) => claude.own(&value, line.oversized),
            Self::Codex(codex) => codex.own(&value, line.oversized),
        }
    }

    fn heard(&mut self, line: Line<'_>) {
        if line.oversized {
            return;
        }
        let Ok(value) = serde_json::from_slice::<Value>(line.bytes) else { return };
        match self {
            Self::Claude(claude) => claude.heard(&value),
            Self::Codex(codex) => codex.heard(&value),
        }
    }

    fn facts(&self) -> &[Conversed] {
        match self {
            Self::Claude(claude) => &claude.facts,
            Self::Codex(codex) => &codex.facts,
        }
    }

    fn next(&self, opening: &Opening<'_>, to_say: &ToSay) -> Next {
        match self {
            Self::Claude(claude) => claude.next(opening, to_say),
            Self::Codex(codex) => codex.next(opening, to_say),
        }
    }
}

/// What an agent wants to do, for a person who is to allow it.
fn wants(what: &str, detail: &Value) -> String {
    let detail = match detail {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    };
    // It is shown in terminals.
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String = format!("May it use {what}? {detail}").chars().map(plain).collect();
    bounded(text.trim(), ASKED_BYTES)
}
