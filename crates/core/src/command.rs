//! Commands of operators as they are remembered: what was asked, where it stands, and what its end
//! hangs on. It must not know what any command does.

use std::fmt;

use crate::ids::{FeatureId, InvalidName, RunId, is_numbered, numbered};
use crate::time::WallMs;

/// One command. `c`, the number of the log's next event as 6 base-32 digits, 4 random ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(String);

impl CommandId {
    /// Makes the id of the command that is taken when the next event has the number `seq`; only the
    /// lowest 20 bits of `entropy` and the lowest 30 of `seq` count.
    pub fn from_parts(seq: u64, entropy: u64) -> Self {
        Self(numbered('c', seq, entropy))
    }

    /// Reads a whole id.
    ///
    /// # Errors
    /// [`InvalidName`] when it is not `c` and ten base-32 digits.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidName> {
        let text = text.into();
        if is_numbered('c', &text) {
            return Ok(Self(text));
        }
        let why = "is not `c` and ten digits of 0-9a-v";
        let text = text.chars().take(64).collect::<String>().escape_debug().to_string();
        Err(InvalidName::Reserved { what: "command id", text, why })
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandStatus {
    /// Recorded and not begun.
    Pending,
    /// Begun; its work has not ended.
    Processing,
    /// Its work is done, or handed over to something that has an id of its own.
    Completed,
    /// Refused, or its work ended badly.
    Failed,
}

impl CommandStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Processing, Self::Completed, Self::Failed];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// The status of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

/// What the end of a command hangs on that is not done at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaits {
    /// The end of its run.
    RunEnd,
    /// The landing of its feature, or whatever keeps that from it.
    Landing,
    /// Its feature's worktree put back.
    Rollback,
    /// The end of this clean-up.
    Cleanup(u64),
    /// The end of this restoration.
    Restore(u64),
}

impl Awaits {
    /// Its text in the record.
    pub fn text(self) -> String {
        match self {
            Self::RunEnd => "run-end".to_owned(),
            Self::Landing => "landing".to_owned(),
            Self::Rollback => "rollback".to_owned(),
            Self::Cleanup(number) => format!("cleanup {number}"),
            Self::Restore(number) => format!("restore {number}"),
        }
    }

    /// Reads that text.
    pub fn from_text(text: &str) -> Option<Self> {
        let number = |rest: &str| rest.parse().ok();
        match text {
            "run-end" => Some(Self::RunEnd),
            "landing" => Some(Self::Landing),
            "rollback" => Some(Self::Rollback),
            other => match other.split_once(' ')? {
                ("cleanup", rest) => number(rest).map(Self::Cleanup),
                ("restore", rest) => number(rest).map(Self::Restore),
                (_, _) => None,
            },
        }
    }
}

/// What the log keeps of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFact {
    /// Which.
    pub request: CommandId,
    /// Its name, such as `run.cancel`.
    pub command: String,
    /// Who gave it.
    pub actor: String,
    /// The run that it is about.
    pub run: Option<RunId>,
    /// The feature that it is about.
    pub feature: Option<FeatureId>,
    /// The code of its failure, where it failed.
    pub code: Option<String>,
    /// When, on the wall clock.
    pub at: WallMs,
}
