//! What an audit tells.

use serde::Serialize;

/// What must hold of every home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Invariant {
    /// At most one start of an attempt, one living attempt of a purpose.
    I1,
    /// Subjects have numbers without a gap, valid chains, epochs that never fall, and rows that
    /// the log makes.
    I2,
    /// A command has at most one effect.
    I3,
    /// No process of a run that has ended is alive.
    I4,
    /// A run is in one state, and has an owner or can be claimed.
    I5,
    /// Tokens never fall, and what was acknowledged is there.
    I7,
    /// Worktrees of this home belong to runs of this home.
    I8,
}

impl Invariant {
    /// What it says, in a line.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::I1 => "an attempt starts once",
            Self::I2 => "the log is whole",
            Self::I3 => "a command has one effect",
            Self::I4 => "nothing of an ended run lives",
            Self::I5 => "a run has one state and a way forward",
            Self::I7 => "nothing that was acknowledged is missing",
            Self::I8 => "nothing outside was touched",
        }
    }
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Which invariant.
    pub invariant: Invariant,
    /// Of what: a run, a job, `home`, a path.
    pub about: String,
    /// What was found.
    pub text: String,
}

impl Finding {
    /// Makes one.
    pub(crate) fn new(
        invariant: Invariant,
        about: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self { invariant, about: about.into(), text: text.into() }
    }
}

/// What was looked at and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditReport {
    /// Runs.
    pub runs: u64,
    /// Job directories.
    pub jobs: u64,
    /// Living processes of jobs.
    pub processes: u64,
    /// What does not hold.
    pub findings: Vec<Finding>,
}
